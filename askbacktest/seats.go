package askbacktest

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

// A Subject is an implementation of Asker and Inbox that is put to the test.
// A [Desk] is one.
type Subject interface {
	// As returns the seat of a principal. Principals of all kinds are asked
	// for, with names of letters and digits, and via askback.ViaAPI.
	As(p askback.Principal) askback.Seat
}

// A Clock is a subject whose time can be moved; without one, what deadlines do
// is not tested.
type Clock interface {
	// Advance moves time on and returns when every deadline that was passed
	// has had its effect.
	Advance(by time.Duration)
}

// Seats holds an implementation of Asker and Inbox to what they promise. open
// makes a new, empty subject, which may end with its t.
func Seats(t *testing.T, open func(t *testing.T) Subject) {
	for _, facts := range [][]fact{answering, asking, refusing, listing, granting, running, following, racing} {
		for _, f := range facts {
			t.Run(f.name, func(t *testing.T) { f.show(room{t, open(t)}) })
		}
	}
	for _, f := range timing {
		t.Run(f.name, func(t *testing.T) {
			subject := open(t)
			clock, ok := subject.(Clock)
			if !ok {
				t.Skip("this subject has no clock to move")
			}
			f.show(room{t, subject}, clock)
		})
	}
}

// fact is something that is true of every implementation.
type fact struct {
	name string
	show func(room)
}

// room is where one fact is shown.
type room struct {
	*testing.T
	subject Subject
}

// limit bounds each fact, so that a wait that never ends is a failure.
const limit = time.Minute

// ctx returns a context that lasts for one fact.
func (r room) ctx() context.Context {
	ctx, cancel := context.WithTimeoutCause(context.Background(), limit, errors.New("this took more than a minute"))
	r.Cleanup(cancel)
	return ctx
}

func (r room) as(kind askback.Kind, name string) askback.Seat {
	return r.subject.As(askback.Principal{Kind: kind, Name: name, Via: askback.ViaAPI})
}

func (r room) agent() askback.Seat             { return r.as(askback.Agent, "deploybot") }
func (r room) person(name string) askback.Seat { return r.as(askback.Responder, name) }

// must asks and expects no error.
func (r room) must(seat askback.Seat, q askback.Request) askback.Ask {
	r.Helper()
	a, err := seat.Ask(r.ctx(), q)
	if err != nil {
		r.Fatalf("ask: %v", err)
	}
	return a
}

// done expects no error, and returns the ask that came with it.
func (r room) done(a askback.Ask, err error) askback.Ask {
	r.Helper()
	if err != nil {
		r.Fatalf("got error %v, want none", err)
	}
	return a
}

// want expects an error.
func (r room) want(err, want error) {
	r.Helper()
	if !errors.Is(err, want) {
		r.Errorf("got error %v, want %v", err, want)
	}
}

// settled expects ErrSettled, together with the ask as it was settled.
func (r room) settled(got askback.Ask, err error, want askback.Ask) {
	r.Helper()
	r.want(err, askback.ErrSettled)
	r.same(got, want)
}

// same expects two asks to be the same, to the last field.
func (r room) same(got, want askback.Ask) {
	r.Helper()
	if g, w := text(got), text(want); g != w {
		r.Errorf("got ask  %s\nwant ask %s", g, w)
	}
}

// pending expects an ask to stand as it was asked.
func (r room) pending(want askback.Ask) {
	r.Helper()
	got := r.done(r.person("judge").Get(r.ctx(), want.ID))
	if got.Status != askback.Pending || got.Outcome != nil {
		r.Errorf("got status %s with outcome %s, want pending", got.Status, text(got.Outcome))
	}
	r.same(got, want)
}

// invalid expects problems at these places, each with what is wrong and what
// would be right.
func (r room) invalid(err error, pointers ...string) {
	r.Helper()
	var problems askback.Invalid
	if !errors.As(err, &problems) {
		r.Errorf("got error %v, want Invalid at %q", err, pointers)
		return
	}
	var got []string
	for _, p := range problems {
		got = append(got, p.Pointer)
		if p.Detail == "" || p.Fix == "" {
			r.Errorf("the problem at %s has detail %q and fix %q, want both", p.Pointer, p.Detail, p.Fix)
		}
	}
	if !slices.Equal(got, pointers) {
		r.Errorf("got problems at %q, want %q: %v", got, pointers, err)
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

// database is the question that most facts are shown with.
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
