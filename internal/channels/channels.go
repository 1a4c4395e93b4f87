// Package channels describes channels to the program: their names, their settings, and their capabilities.
// Package kinds has the list. Each channel has a folder below channel. The program starts, lists and tests a
// channel only through this package.
package channels

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/directory"
	"github.com/askback/askback/internal/egress"
	"github.com/askback/askback/internal/message/answerlink"
	"github.com/askback/askback/internal/settings"
)

// A Kind is a kind of channel.
type Kind struct {
	Name  string // name in settings, routes and deliveries
	Title string // title that people read
	// Via is the channel that the outcome of an ask records if a person answers through this channel: its
	// name, or [askback.ChannelPush]. If it is "", the channel carries asks to programs, and no route can
	// name it.
	Via askback.Channel
	// Linked is true if messages of the channel have links to pages of the server. Such a channel requires a
	// public address.
	Linked bool
	// Read reads the settings of the channel. It returns nil if the settings do not use the channel.
	Read func(r *settings.Reader, v settings.Value) Settings
}

// Settings are the valid settings of one channel. They are not changed. They may also implement [Receiving],
// [Reaching], [Testing] or [Reloading].
type Settings interface {
	// Open returns the channel.
	Open(h Host) Channel
}

// A Receiving is a channel with receivers in its settings.
type Receiving interface {
	// Receivers returns the receivers. A receiver without a person in the settings belongs to user, the user
	// of the server.
	Receivers(user string) []Receiver
}

// A Reaching can reach people through data in their directory entries, such as an e-mail address.
type Reaching interface {
	// Reach returns the receiver of a person. It reports false if the channel cannot reach the person.
	Reach(p askback.Person) (Receiver, bool)
}

// A Receiver is a phone or a room of a chat. It has the fields of an engine.Receiver.
type Receiver struct {
	Channel string // name of the channel
	Name    string // address at the channel
	Person  string // only person who reads the messages; "" if several people do
	// Addressed is true if the receiver gets only asks that name people.
	Addressed bool
}

// A Testing can send test messages through its channel.
type Testing interface {
	// Tests returns the names that Test accepts.
	Tests() []string
	// Test sends a test message, and returns a text for the user. The error may be a [SettingsError].
	Test(ctx context.Context, name string, h Host) (report string, err error)
}

// A SettingsError describes the settings that are missing for a test.
type SettingsError string

// Error returns the missing settings.
func (e SettingsError) Error() string { return string(e) }

// A Reloading applies some of its settings without a restart of the server.
type Reloading interface {
	// Reload returns the settings that apply after the file was changed to next. If the file has no settings
	// of the channel, next is nil.
	Reload(next Settings) Settings
}

// A Channel is an open channel.
type Channel struct {
	Sender Sender
	// Run reads answers of people until ctx ends. If Run is nil, nothing is read.
	Run func(ctx context.Context, e Engine)
	// Handlers serve the requests of the service, by path.
	Handlers map[string]func(e Engine) http.Handler
}

// A Sender sends messages. It has the obligations of an engine.Channel, and may implement the optional
// interfaces there.
type Sender interface {
	Send(ctx context.Context, n askback.Notification) (receipt string, err error)
}

// An Engine has the methods of the engine that channels need. Package engine documents these methods.
type Engine interface {
	History() History
	Person(ctx context.Context, name string, via askback.Channel) (askback.PersonClient, error)
	ContactClient(
		ctx context.Context, channel, address string, via askback.Channel,
	) (askback.PersonClient, askback.Contact, error)
	LinkContact(ctx context.Context, channel, code, address, label string) (askback.Contact, error)
	ContactAt(ctx context.Context, channel, address string) (askback.Contact, error)
	RemoveContact(ctx context.Context, channel, address string) error
	ChannelSecret(ctx context.Context, channel string) ([]byte, error)
}

// A History provides the earlier asks of a session and their deliveries.
type History interface {
	List(ctx context.Context, q askback.Query) (askback.Page, error)
	Deliveries(ctx context.Context, q askback.DeliveryQuery) (askback.DeliveryPage, error)
}

// A Host provides data of the program that channels need in addition to their settings.
type Host struct {
	// Key returns the key that signs links and values that services send back. Key is called when the key is
	// first needed.
	Key       func() ([]byte, error)
	Log       *slog.Logger
	Version   string             // version of Askback
	User      string             // person who reads the receivers without a person
	PublicURL string             // public address of the server, or ""
	Pages     *answerlink.Signer // signs the links to pages that need no log-in
	People    func() []askback.Person
}

// Link returns a function that returns the address of the page where a person answers an ask without a
// log-in. The function returns "" if the server has no address that people can reach. The outcome records
// via.
func (h Host) Link(via askback.Channel) func(a askback.Ask, person string) string {
	return func(a askback.Ask, person string) string {
		page, ok := strings.CutSuffix(a.PageURL, askback.PagePath(a.ID))
		if u, err := url.Parse(page); !ok || err != nil || egress.IsLoopback(u.Host) {
			return ""
		}
		return h.Pages.URL(page, answerlink.Link{AskID: a.ID, Person: person, Channel: via})
	}
}

// Zone returns the time zone for messages to a person: the zone of the person in the directory, or else the zone of
// the server. If name is "", several people read the messages.
func (h Host) Zone(name string) *time.Location {
	if zone := directory.ZoneOf(h.People(), name); zone != nil {
		return zone
	}
	return time.Local
}

// Must returns channel. It panics if err is not nil, which means that the settings are not valid.
func Must[C any](channel C, err error) C {
	if err != nil {
		panic(err)
	}
	return channel
}

// NotSent describes why a service did not get a test message for a receiver. The text follows the name of the
// service.
func NotSent(receiver string, err error) string {
	var send *askback.SendError
	var name *net.DNSError
	switch {
	case errors.As(err, &send) && errors.As(send.Cause, &name):
		return "cannot be reached: " + name.Error() + "; check the address and the network"
	case errors.Is(err, egress.ErrRefused):
		return "cannot be reached: the connection was refused; check the address, and that the service runs"
	}
	return "did not accept the message for " + receiver + ": " + Failure(err)
}

// Failure returns the reason why a test message was not sent. If an address could not be used, Failure
// includes the address. Agents do not get the address, but the user of a test has the settings, and no log.
func Failure(err error) string {
	var send *askback.SendError
	if errors.Is(err, egress.ErrAddress) && errors.As(err, &send) && send.Cause != nil {
		return "no reply: " + send.Cause.Error() +
			"; correct the address, or allow it with allow in the settings of the channel"
	}
	return err.Error()
}

// Allow returns a function that reads a list of addresses that are allowed although they are not public. The
// function appends them to dst.
func Allow(r *settings.Reader, dst *[]egress.Allowed) func(settings.Value) {
	one := r.Text("addresses and a port, as in 10.1.0.0/16:8080", func(s string) string {
		a, err := egress.ParseAllowed(s)
		if err != nil {
			return err.Error()
		}
		*dst = append(*dst, a)
		return ""
	})
	return func(v settings.Value) { r.List(v, one) }
}
