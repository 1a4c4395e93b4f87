// Package conformance tests implementations of [askback.Client].
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
	// As returns the client of a principal. The tests use principals of all
	// kinds, with names of letters and digits and the channel
	// askback.ChannelAPI.
	As(p askback.Principal) askback.Client
}

// A Clock is a [Subject] whose clock the tests can advance. The tests of deadlines are
// skipped if a subject is not a Clock.
type Clock interface {
	// Advance advances the clock, and returns when every deadline that passed
	// has taken effect.
	Advance(by time.Duration)
}

// Client tests an implementation of [askback.Client]. It calls open for each test case.
// open must return a new, empty subject.
func Client(t *testing.T, open func(t *testing.T) Subject) {
	for _, tests := range [][]testCase{
		answering, asking, refusing, listing, snoozing, holding, granting, running, following, racing, contacting,
		directing,
	} {
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

// A testCase tests a property that every implementation must have.
type testCase struct {
	name string
	show func(fixture)
}

// A fixture is the subject of one test case, with helpers.
type fixture struct {
	*testing.T
	subject Subject
}

// limit is the maximum duration of a call.
const limit = time.Minute

// ctx returns a new context that ends after limit or with the test case.
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

// ask makes an ask, requires success, and returns the ask.
func (f fixture) ask(client askback.Asker, q askback.Request) askback.Ask {
	f.Helper()
	a, err := client.Ask(f.ctx(), q)
	if err != nil {
		f.Fatalf("ask: %v", err)
	}
	return a
}

// noError requires that err is nil, and returns the ask.
func (f fixture) noError(a askback.Ask, err error) askback.Ask {
	f.Helper()
	if err != nil {
		f.Fatalf("got error %v, want none", err)
	}
	return a
}

// wantError requires that err is want or wraps it.
func (f fixture) wantError(err, want error) {
	f.Helper()
	if !errors.Is(err, want) {
		f.Errorf("got error %v, want %v", err, want)
	}
}

// wantSettled requires that err is ErrSettled, and that the call returned the settled ask.
func (f fixture) wantSettled(got askback.Ask, err error, want askback.Ask) {
	f.Helper()
	f.wantError(err, askback.ErrSettled)
	f.wantSame(got, want)
}

// wantSame requires two asks to have the same JSON text.
func (f fixture) wantSame(got, want askback.Ask) {
	f.Helper()
	if g, w := text(got), text(want); g != w {
		f.Errorf("got ask  %s\nwant ask %s", g, w)
	}
}

// wantPending requires that the ask with the id of want is pending and the same as want.
func (f fixture) wantPending(want askback.Ask) {
	f.Helper()
	got := f.noError(f.person("judge").Get(f.ctx(), want.ID))
	if got.Status != askback.Pending || got.Outcome != nil {
		f.Errorf("got status %s with outcome %s, want pending", got.Status, text(got.Outcome))
	}
	f.wantSame(got, want)
}

// wantInvalid requires an Invalid error with problems at exactly these pointers, in this
// order, each with a detail and a fix.
func (f fixture) wantInvalid(err error, pointers ...string) {
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

// text returns the JSON of a value or, if the value cannot be encoded, the text of the error.
func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// concurrently calls do(0) to do(n-1) concurrently and returns when all have returned.
func concurrently(n int, do func(i int)) {
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

// database returns a request with one question, which database to use, and two options.
func database() askback.Request {
	return askback.Request{Questions: []askback.Question{{
		Text: "Which database should we use?", Header: "Database", Options: askback.Options("PostgreSQL", "SQLite"),
	}}}
}

// confirmation returns a request to confirm a dangerous call.
func confirmation() askback.Request {
	return askback.Request{Confirmation: &askback.Confirmation{
		ToolName: "delete_files", Server: "files", Description: "Clean up the old builds",
		Input: json.RawMessage(`{"path":"/var/builds","older_than_days":30}`), Dangerous: true,
	}}
}
