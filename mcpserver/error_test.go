package mcpserver_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/askback/askback"
)

// A failingClient is a client whose methods fail.
type failingClient struct {
	askback.Client
	ask, wait error
}

func (b failingClient) Ask(ctx context.Context, r askback.Request) (askback.Ask, error) {
	if b.ask != nil {
		return askback.Ask{}, b.ask
	}
	return b.Client.Ask(ctx, r)
}

func (b failingClient) Wait(ctx context.Context, id string) (askback.Ask, error) {
	if b.wait != nil {
		return askback.Ask{}, b.wait
	}
	return b.Client.Wait(ctx, id)
}

// The result of a failed call briefly states the next step for the model, without internal details of the
// server.
func TestErrorResultsContainTheNextStep(t *testing.T) {
	for _, test := range []struct {
		err  error
		want string
	}{
		{askback.ErrTooMany, "list_open_questions"},
		{askback.ErrTooFast, "Do other work first"},
		{askback.ErrBusy, "Try once more"},
		{askback.ErrUnreachable, "tell the people you work for"},
		{askback.ErrUnauthorized, "the token must be replaced"},
		{errors.New("pq: secret host"), "Something went wrong on the server"},
		{askback.Invalid{{Pointer: "/x", Detail: strings.Repeat("é", 1000)}}, "/x"},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t)
			f.wrap = func(s askback.Client) askback.Client { return failingClient{Client: s, ask: test.err} }
			got := callTool(t.Context(), f.connectStdio("program", withSessions, nil), "ask_user_question", database)
			text := got.text(t)
			if !got.IsError || !strings.Contains(text, test.want) || strings.Contains(text, "secret") ||
				utf8.RuneCountInString(text) > 400 {
				t.Errorf("%.40v: error %t, %q", test.err, got.IsError, text)
			}
		})
	}
}

func TestFailedWaitReturnsPendingResult(t *testing.T) {
	for _, err := range []error{askback.ErrStopping, askback.ErrUnreachable, askback.ErrTooMany} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t)
			f.wrap = func(s askback.Client) askback.Client { return failingClient{Client: s, wait: err} }
			got := callTool(t.Context(), f.connectStdio("program", withSessions, nil), "ask_user_question", database)
			if s := got.structured(t); got.IsError || s["status"] != "pending" ||
				s["question_id"] != f.pendingAsk().ID {
				t.Errorf("%v: got %v", err, s)
			}
		})
	}
}

// A lateWait is a client whose Wait ends with its context, although the ask is settled.
type lateWait struct{ askback.Client }

func (l lateWait) Wait(ctx context.Context, id string) (askback.Ask, error) {
	<-ctx.Done()
	ask, err := l.Get(context.WithoutCancel(ctx), id)
	return ask, errors.Join(err, ctx.Err())
}

func TestAnswerAtTheEndOfAWaitIsReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.wrap = func(s askback.Client) askback.Client { return lateWait{s} }
		done := startCall(t.Context(), f.connectStdio("program", withSessions, nil), "ask_user_question", database)
		f.answer(f.pendingAsk().ID, askback.Choose("SQLite"))
		if got := (<-done).text(t); !strings.Contains(got, "SQLite") {
			t.Errorf("got %q", got)
		}
	})
}

// A reusedKey is a client whose first key was used by another release for another request.
type reusedKey struct{ askback.Client }

func (s reusedKey) Ask(ctx context.Context, r askback.Request) (askback.Ask, error) {
	if strings.HasSuffix(r.Key, ":0") {
		return askback.Ask{}, askback.ErrKeyReused
	}
	return s.Client.Ask(ctx, r)
}

// A call whose key was used by another release for another request asks under the next key.
func TestKeyOfAnotherReleaseIsSkipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.wrap = func(s askback.Client) askback.Client { return reusedKey{s} }
		done := startCall(t.Context(), f.connectStdio("program", withSessions, nil), "ask_user_question", database)
		f.answer(f.pendingAsk().ID, askback.Choose("SQLite"))
		if got := (<-done).text(t); !strings.Contains(got, "SQLite") {
			t.Errorf("got %q", got)
		}
	})
}
