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

// broken is a seat that fails.
type broken struct {
	askback.Client
	ask, wait error
}

func (b broken) Ask(ctx context.Context, r askback.Request) (askback.Ask, error) {
	if b.ask != nil {
		return askback.Ask{}, b.ask
	}
	return b.Client.Ask(ctx, r)
}

func (b broken) Wait(ctx context.Context, id string) (askback.Ask, error) {
	if b.wait != nil {
		return askback.Ask{}, b.wait
	}
	return b.Client.Wait(ctx, id)
}

// A call that cannot be done says what the model can do about it, shortly, and
// nothing of the inside of the server.
func TestErrorsSayWhatToDo(t *testing.T) {
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
			d := newDesk(t)
			d.seat = func(s askback.Client) askback.Client { return broken{Client: s, ask: test.err} }
			got := call(t.Context(), d.stdio("program", legacy, nil), "ask_user_question", database)
			text := got.text(t)
			if !got.IsError || !strings.Contains(text, test.want) || strings.Contains(text, "secret") || utf8.RuneCountInString(text) > 400 {
				t.Errorf("%.40v: error %t, %q", test.err, got.IsError, text)
			}
		})
	}
}

// Once the ask is written, a wait that fails loses nothing: the model is told to
// come back.
func TestAWaitThatFailsIsPending(t *testing.T) {
	for _, err := range []error{askback.ErrStopping, askback.ErrUnreachable, askback.ErrTooMany} {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t)
			d.seat = func(s askback.Client) askback.Client { return broken{Client: s, wait: err} }
			got := call(t.Context(), d.stdio("program", legacy, nil), "ask_user_question", database)
			if s := got.structured(t); got.IsError || s["status"] != "pending" || s["question_id"] != d.only().ID {
				t.Errorf("%v: got %v", err, s)
			}
		})
	}
}

// late is a seat whose wait ends with its context although the ask is settled.
type late struct{ askback.Client }

func (l late) Wait(ctx context.Context, id string) (askback.Ask, error) {
	<-ctx.Done()
	ask, err := l.Get(context.WithoutCancel(ctx), id)
	return ask, errors.Join(err, ctx.Err())
}

// An answer that comes with the very end of a wait is an answer.
func TestAnAnswerAtTheEndOfAWaitIsGiven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.seat = func(s askback.Client) askback.Client { return late{s} }
		done := start(t.Context(), d.stdio("program", legacy, nil), "ask_user_question", database)
		d.answer(d.only().ID, askback.Choose("SQLite"))
		if got := (<-done).text(t); !strings.Contains(got, "SQLite") {
			t.Errorf("got %q", got)
		}
	})
}

// rereading is a seat before which another release read the same call otherwise.
type rereading struct{ askback.Client }

func (s rereading) Ask(ctx context.Context, r askback.Request) (askback.Ask, error) {
	if strings.HasSuffix(r.Key, ":0") {
		return askback.Ask{}, askback.ErrKeyReused
	}
	return s.Client.Ask(ctx, r)
}

// A call that an earlier release understood otherwise is asked as it is
// understood now.
func TestACallThatIsReadAnewIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.seat = func(s askback.Client) askback.Client { return rereading{s} }
		done := start(t.Context(), d.stdio("program", legacy, nil), "ask_user_question", database)
		d.answer(d.only().ID, askback.Choose("SQLite"))
		if got := (<-done).text(t); !strings.Contains(got, "SQLite") {
			t.Errorf("got %q", got)
		}
	})
}
