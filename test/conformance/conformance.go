// Package conformance tests that an implementation of [askback.Client] keeps the
// promises of its interfaces.
package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback"
)

// A Subject is an implementation of [askback.Client] under test.
type Subject interface {
	// As returns the seat of a principal. Principals of all kinds are asked
	// for, with names of letters and digits, and via askback.ViaAPI.
	As(p askback.Principal) askback.Client
}

// A Clock is a subject whose time can be moved; without one, what deadlines do
// is not tested.
type Clock interface {
	// Advance moves time on and returns when every deadline that was passed
	// has had its effect.
	Advance(by time.Duration)
}

// Client tests an implementation of [askback.Client]. open returns a new, empty
// subject, which may end with its t.
func Client(t *testing.T, open func(t *testing.T) Subject) {
	for _, tests := range [][]testCase{answering, asking, refusing, listing, granting, running, following, racing} {
		for _, f := range tests {
			t.Run(f.name, func(t *testing.T) { f.show(fixture{t, open(t)}) })
		}
	}
	for _, f := range timing {
		t.Run(f.name, func(t *testing.T) {
			subject := open(t)
			clock, ok := subject.(Clock)
			if !ok {
				t.Skip("this subject has no clock to move")
			}
			f.show(fixture{t, subject}, clock)
		})
	}
}

// case is something that is true of every implementation.
type testCase struct {
	name string
	show func(fixture)
}

// fixture is where one case is shown.
type fixture struct {
	*testing.T
	subject Subject
}

// limit bounds each case, so that a wait that never ends is a failure.
const limit = time.Minute

// ctx returns a context that lasts for one case.
func (f fixture) ctx() context.Context {
	ctx, cancel := context.WithTimeoutCause(context.Background(), limit, errors.New("this took more than a minute"))
	f.Cleanup(cancel)
	return ctx
}

func (f fixture) as(kind askback.Kind, name string) askback.Client {
	return f.subject.As(askback.Principal{Kind: kind, Name: name, Channel: askback.ChannelAPI})
}

func (f fixture) agent() askback.Client             { return f.as(askback.Agent, "deploybot") }
func (f fixture) person(name string) askback.Client { return f.as(askback.Responder, name) }

// must asks and expects no error.
func (f fixture) must(seat askback.Client, q askback.Request) askback.Ask {
	f.Helper()
	a, err := seat.Ask(f.ctx(), q)
	if err != nil {
		f.Fatalf("ask: %v", err)
	}
	return a
}

// done expects no error, and returns the ask that came with it.
func (f fixture) done(a askback.Ask, err error) askback.Ask {
	f.Helper()
	if err != nil {
		f.Fatalf("got error %v, want none", err)
	}
	return a
}

// want expects an error.
func (f fixture) want(err, want error) {
	f.Helper()
	if !errors.Is(err, want) {
		f.Errorf("got error %v, want %v", err, want)
	}
}

// settled expects ErrSettled, together with the ask as it was settled.
func (f fixture) settled(got askback.Ask, err error, want askback.Ask) {
	f.Helper()
	f.want(err, askback.ErrSettled)
	f.same(got, want)
}

// same expects two asks to be the same, to the last field.
func (f fixture) same(got, want askback.Ask) {
	f.Helper()
	if g, w := text(got), text(want); g != w {
		f.Errorf("got ask  %s\nwant ask %s", g, w)
	}
}

// pending expects an ask to stand as it was asked.
func (f fixture) pending(want askback.Ask) {
	f.Helper()
	got := f.done(f.person("judge").Get(f.ctx(), want.ID))
	if got.Status != askback.Pending || got.Outcome != nil {
		f.Errorf("got status %s with outcome %s, want pending", got.Status, text(got.Outcome))
	}
	f.same(got, want)
}

// invalid expects problems at these places, each with what is wrong and what
// would be right.
func (f fixture) invalid(err error, pointers ...string) {
	f.Helper()
	var problems askback.Invalid
	if !errors.As(err, &problems) {
		f.Errorf("got error %v, want Invalid at %q", err, pointers)
		return
	}
	var got []string
	for _, p := range problems {
		got = append(got, p.Pointer)
		if p.Detail == "" || p.Fix == "" {
			f.Errorf("the problem at %s has detail %q and fix %q, want both", p.Pointer, p.Detail, p.Fix)
		}
	}
	if !slices.Equal(got, pointers) {
		f.Errorf("got problems at %q, want %q: %v", got, pointers, err)
	}
}

// text is a value as it goes over the wire, which leaves nothing out.
func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// together does something n times at once.
func together(n int, do func(i int)) {
	var group sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		group.Go(func() {
			<-start
			do(i)
		})
	}
	close(start)
	group.Wait()
}

// database is the question that most tests are shown with.
func database() askback.Request {
	return askback.Request{Questions: []askback.Question{{
		Text: "Which database should we use?", Header: "Database", Options: askback.Options("PostgreSQL", "SQLite"),
	}}}
}

// removal is a confirmation.
func removal() askback.Request {
	return askback.Request{Confirmation: &askback.Confirmation{
		ToolName: "delete_files", Server: "files", Description: "Clean up the old builds",
		Input: json.RawMessage(`{"path":"/var/builds","older_than_days":30}`), Dangerous: true,
	}}
}
