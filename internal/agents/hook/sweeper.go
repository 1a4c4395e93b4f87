package hook

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/jcs"
)

// gracePeriod is how long the ask of a hook stays open although no call waits for it.
// After a broken connection or a restart of the server, a hook reconnects within seconds.
const gracePeriod = 30 * time.Second

// reasonGone is the reason of an ask that was withdrawn because its hook seemed to have ended.
const reasonGone = "The hook that asked this has ended, so an answer could not be delivered"

// A Sweeper withdraws the asks of hooks whose process was killed or whose connection broke. Such hooks do not
// withdraw their asks.
type Sweeper struct {
	// Programs lists the programs in the labels of agents that have hooks.
	Programs []string
	// List lists the asks of all principals.
	List func(ctx context.Context, q askback.Query) (askback.Page, error)
	// Client returns the client of the agent with the given name.
	Client func(name string) Client
	// Awaited reports whether a call waits for an ask, or a process is alive that will make such a call.
	Awaited func(id string) bool

	unawaited map[string]time.Time // when each ask was first found without a waiting call
	next      time.Time            // no sweep before this time
}

// restFactor is the length of the pause after a sweep divided by the duration of the sweep. Sweeps take long
// if an agent leaves many large asks open.
const restFactor = 30

// Sweep withdraws the asks of hooks for which no call has waited for [gracePeriod]. It must be
// called repeatedly, by one goroutine. After each sweep, it does nothing for restFactor times
// the duration of the sweep.
func (s *Sweeper) Sweep(ctx context.Context, now time.Time) error {
	if now.Before(s.next) {
		return nil
	}
	begun := time.Now()
	defer func() { s.next = now.Add(restFactor * time.Since(begun)) }()
	seen := map[string]time.Time{}
	var failed []error
	err := EachPending(ctx, s.List, func(ask askback.Ask) {
		if !NeedsHook(ask, s.Programs) || s.Awaited(ask.ID) {
			return
		}
		since, known := s.unawaited[ask.ID]
		if !known {
			since = now
		}
		if now.Sub(since) < gracePeriod {
			seen[ask.ID] = since
			return
		}
		failed = append(failed, s.Withdraw(ctx, ask))
	})
	s.unawaited = seen
	return errors.Join(append(failed, err)...)
}

// Withdraw withdraws an ask of a hook that has ended. It does nothing if the ask is settled,
// or if a resumed session can deliver its answer.
func (s *Sweeper) Withdraw(ctx context.Context, ask askback.Ask) error {
	if ask.Settled() || !NeedsHook(ask, s.Programs) {
		return nil
	}
	_, err := s.Client(ask.Owner).Cancel(ctx, ask.ID, reasonGone)
	if errors.Is(err, askback.ErrSettled) || errors.Is(err, askback.ErrNotFound) {
		return nil
	}
	return err
}

// NeedsHook reports whether only the hook that made an ask can deliver its answer. It returns false for a
// deferrable call, because a resumed session can deliver the answer. programs are the programs in the labels
// of agents that have hooks. An agent that an editor runs can have any label. Its asks are recognised by the
// name of the agent's request, which has a slash.
func NeedsHook(ask askback.Ask, programs []string) bool {
	context, err := jcs.Parse(ask.Context)
	if err != nil || context.Kind != jcs.Object {
		return false
	}
	// Unlike encoding/json, this compares names exactly, because agents can write any context.
	text := func(name string) string { v, _ := context.Get(name); return v.Text() }
	seated, _ := context.Get("seated")
	session := cmp.Or(text("session"), text("claude_session"), text("codex_session"))
	name := text("hook")
	if !slices.Contains(programs, programIn(ask.Agent)) && !strings.Contains(name, "/") {
		return false
	}
	switch name {
	case "", permissionPrompt:
		return false
	case "PermissionRequest", "Elicitation":
		return session != ""
	}
	return session != "" && seated.Bool()
}

// permissionPrompt is the name of the hook in the context of an ask of the tool
// permission_prompt, which is not made by a hook.
const permissionPrompt = "permission_prompt"

// withdrawnAsGone reports whether an ask was withdrawn because its hook seemed to have
// ended. The hook may still wait, as on a laptop that was suspended.
func withdrawnAsGone(ask askback.Ask) bool {
	return ask.Settled() && ask.Withdrawn() && ask.Outcome.Reason == reasonGone
}

// EachPending calls do for each open ask in a list.
func EachPending(
	ctx context.Context, list func(context.Context, askback.Query) (askback.Page, error), do func(askback.Ask),
) error {
	q := askback.Query{Status: askback.Pending, Limit: askback.MaxLimit}
	for {
		page, err := list(ctx, q)
		if err != nil {
			return err
		}
		for _, ask := range page.Items {
			do(ask)
		}
		if q.Cursor = page.NextCursor; q.Cursor == "" {
			return nil
		}
	}
}
