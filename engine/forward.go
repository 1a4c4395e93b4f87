package engine

import (
	"context"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/people"
	"github.com/askback/askback/engine/internal/runs"
	"github.com/askback/askback/engine/internal/send"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/store"
)

// The types of packages in engine/internal that users of the engine need.
type (
	// A Store is the storage that the engine requires.
	Store = txn.Store
	// An Observer receives each event of an ask, after the engine has committed it.
	Observer = txn.Observer
	// Settings are the part of the configuration that [Engine.Set] can replace while the
	// engine runs.
	Settings = txn.Settings
	// A Receiver is a phone or a chat room in the settings.
	Receiver = txn.Receiver
	// A Channel carries messages about asks and sessions to programs or people.
	Channel = txn.Channel
	// A SecretChannel is a [Channel] to the callbacks of asks and sessions. It signs its messages with the
	// secrets of their endpoints. An engine has at most one SecretChannel.
	SecretChannel = txn.SecretChannel
	// An AddressChannel is a [Channel] to contacts, which people add by their address.
	AddressChannel = people.AddressChannel
	// A CodeChannel is a [Channel] to contacts that people link by a code. The channel calls
	// [Engine.LinkContact] with the code and the place from which it was sent.
	CodeChannel = people.CodeChannel

	// A Performer performs the effects that an [Engine] claims.
	Performer = send.Performer
	// An Effect is work outside the process, such as a message to send. It was committed with
	// the change that requires it.
	Effect = send.Effect

	// A Runner starts hosted agents and does the work of their runs outside of the store. Package agent has a
	// Runner. It may also be a [PartialRunner], a [Scheduler], a [CallbackRunner], a [RestrictedRunner] or an
	// [AddressingRunner].
	Runner = runs.Runner
	// A PartialRunner is a [Runner] that has only some of the agents.
	PartialRunner = runs.PartialRunner
	// A Scheduler is a [Runner] whose agents have schedules (E15).
	Scheduler = runs.Scheduler
	// A CallbackRunner is a [Runner] whose agents have callbacks.
	CallbackRunner = runs.CallbackRunner
	// A RestrictedRunner is a [Runner] with agents that only some principals may start.
	RestrictedRunner = runs.RestrictedRunner
	// An AddressingRunner is a [Runner] whose agents may name the recipients of their asks.
	AddressingRunner = runs.AddressingRunner

	// A DirectoryProblem is a problem of a person, a group, a route or a hosted agent.
	DirectoryProblem = people.DirectoryProblem
	// DirectoryReport describes a stored directory.
	DirectoryReport = people.DirectoryReport
)

// KindDirectory is the kind of the record with the people, groups and routes of the API.
const KindDirectory = people.KindDirectory

// InspectDirectory describes the stored record of kind [KindDirectory], and reports its problems with the
// settings. A row without an id means that there is no record. The tokens are the names of the people with a
// valid token. The recipients are the people whom the asks of hosted agents name.
func InspectDirectory(
	file Settings, row store.Record, tokens []string, recipients map[string][]string,
) (DirectoryReport, error) {
	return people.InspectDirectory(file, row, tokens, recipients)
}

// Set replaces the settings.
func (e *Engine) Set(s Settings) { e.people.Set(s) }

// ReadDirectory reads the stored people, groups and routes, unless they were already read. Without this call,
// they are read when they are first needed.
func (e *Engine) ReadDirectory(ctx context.Context) error { return e.people.ReadDirectory(ctx) }

// CheckDirectory returns the problems of the people, groups and routes that apply, such as unknown names of
// people. It also returns each route and each hosted agent whose confirmations have no approver.
// CheckDirectory logs each problem once.
func (e *Engine) CheckDirectory(ctx context.Context) ([]people.DirectoryProblem, error) {
	return e.people.CheckDirectory(ctx)
}

// Person returns the client of a person. The channel, such as a chat, mail or a signed link, has verified the
// identity of the person. For contacts see [Engine.ContactClient]. The error is [askback.ErrForbidden] if
// neither the settings nor the API nor a valid token has the name.
func (e *Engine) Person(ctx context.Context, name string, via askback.Channel) (askback.PersonClient, error) {
	p, err := e.people.Principal(ctx, name, via)
	if err != nil {
		return nil, err
	}
	return linkedClient{e.as(p)}, nil
}

// Root returns the oldest ancestor of a token, as [auth.Authority.Root] does. The token of a
// principal from [Engine.Person] or [Engine.ContactClient] is its own root.
func (e *Engine) Root(ctx context.Context, token string) (string, error) {
	return e.people.Root(ctx, token)
}

// RootValid reports whether a root that [Engine.Root] returned for a person is still valid at
// the time now.
func (e *Engine) RootValid(ctx context.Context, root, person string, now time.Time) (bool, error) {
	return e.people.RootValid(ctx, root, person, now)
}

// ContactAt returns the contact with an address, and records that it was used. The error is
// [askback.ErrNotFound] if no contact has the address, or if its token or sign-in has ended.
func (e *Engine) ContactAt(ctx context.Context, channel, address string) (askback.Contact, error) {
	return e.people.ContactAt(ctx, channel, address)
}

// ContactClient returns the contact with an address, and the client of its person through a channel. Grants
// that the client makes end with the token or the sign-in of the contact. The error is as for
// [Engine.ContactAt].
func (e *Engine) ContactClient(
	ctx context.Context, channel, address string, via askback.Channel,
) (askback.PersonClient, askback.Contact, error) {
	p, c, err := e.people.ContactPrincipal(ctx, channel, address, via)
	if err != nil {
		return nil, c, err
	}
	return linkedClient{e.as(p)}, c, nil
}

// LinkContact adds the contact from which a person sent a code: an address with a label. The code can be used
// once. The error is [askback.ErrNotFound] if the code is unknown, used or expired, and [askback.ErrTooFast]
// after several such codes from one address.
func (e *Engine) LinkContact(ctx context.Context, channel, code, address, label string) (askback.Contact, error) {
	return e.people.LinkContact(ctx, channel, code, address, label)
}

// RemoveContact removes the contact with an address, after its receiver refused further messages or was
// deleted. The error is [askback.ErrNotFound] if the address is unknown.
func (e *Engine) RemoveContact(ctx context.Context, channel, address string) error {
	return e.people.RemoveContact(ctx, channel, address)
}

// ChannelSecret returns random bytes that stay the same for a channel, such as a key that the service of the
// channel knows. The first call makes the bytes. If they can no longer be decrypted, because the key of the
// state directory has changed, ChannelSecret makes new bytes.
func (e *Engine) ChannelSecret(ctx context.Context, channel string) ([]byte, error) {
	return e.send.ChannelSecret(ctx, channel)
}

// DeadLetters returns the effects that are not tried again, because they failed too often or their result was
// rejected. They are sorted by id. DeadLetters uses the fields Kind, Stream, After, Newest and Limit of the
// query.
func (e *Engine) DeadLetters(ctx context.Context, q store.Query) ([]store.Effect, error) {
	return e.send.DeadLetters(ctx, q)
}

// RetryDeadLetter makes a dead letter due immediately. A delivery starts its attempts again. Another effect
// that has failed too often gets one more attempt. The error is [askback.ErrNotFound] if there is no dead
// letter with this id.
func (e *Engine) RetryDeadLetter(ctx context.Context, id string) error {
	return e.send.RetryDeadLetter(ctx, id)
}

// HostedAgents returns the agents that this engine can start, sorted by name, each with the time of its next
// run.
func (e *Engine) HostedAgents() []askback.HostedAgent { return e.runs.HostedAgents() }

// WatchSnoozes returns a channel that gets a value after each change of the snoozes of a person
// in this process, until stop is called. Several changes may share one value.
func (e *Engine) WatchSnoozes(p askback.Principal) (changed <-chan struct{}, stop func()) {
	return e.db.WatchSnoozes(p)
}

// WatchHeld returns a channel that gets a value after each change of held answers in this
// process, until stop is called. Several changes may share one value.
func (e *Engine) WatchHeld() (changed <-chan struct{}, stop func()) { return e.db.WatchHeld() }
