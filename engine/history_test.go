package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
	"github.com/askback/askback/store/sqlite"
)

// The history has up to a hundred late answers, each with its author, its content and the reason for its
// rejection (E10, F6).
func TestHistoryRecordsLateAnswers(t *testing.T) {
	p := newFixture(t, memstore.New(), nil)
	a := p.ask(question())
	if _, err := p.ana.Answer(t.Context(), a.ID, askback.Choose("SQLite")); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for i := range 150 {
		group.Go(func() {
			client := p.engine.As(askback.Principal{
				Kind: askback.Responder, Name: fmt.Sprint("p", i), Channel: askback.ChannelWeb,
			})
			_, err := client.Answer(context.Background(), a.ID, askback.Choose("PostgreSQL"))
			wantError(t, err, askback.ErrSettled)
		})
	}
	group.Wait()
	got := p.history(a)
	if len(got) != 2+lifecycle.MaxRefused || !slices.Equal(got[:2], []string{"question_pending", "question_answered"}) {
		t.Errorf("got %d lines of history, %q …, want %d", len(got), got[:2], 2+lifecycle.MaxRefused)
	}
	events, err := p.store.History(t.Context(), a.SessionID, 2, 1)
	if err != nil || len(events) != 1 {
		t.Fatalf("got %d events and error %v, want one", len(events), err)
	}
	var late lifecycle.Event
	if err := json.Unmarshal(events[0].Data, &late); err != nil {
		t.Fatal(err)
	}
	if late.By == "" || late.Via != askback.ChannelWeb || late.Why != "answered" ||
		late.Answers[0].Selected[0] != "PostgreSQL" {
		t.Errorf("got %s, want who gave which answer, where, and why it was refused", events[0].Data)
	}
}

// The history has the steps in order. It has a person's late decline, but not a late cancellation (B1).
func TestHistoryRecordsEveryStepOfAsk(t *testing.T) {
	p := newFixture(t, memstore.New(), nil)
	a := p.ask(confirmation())
	for _, do := range []func() (askback.Ask, error){
		func() (askback.Ask, error) { return p.ana.Claim(t.Context(), a.ID) },
		func() (askback.Ask, error) {
			return p.ana.Answer(t.Context(), a.ID, askback.Decide(askback.Approve, ""))
		},
		func() (askback.Ask, error) { return p.agent.Consume(t.Context(), a.ID, a.Confirmation.Digest) },
	} {
		if _, err := do(); err != nil {
			t.Fatal(err)
		}
	}
	_, err := p.ben.Decline(t.Context(), a.ID, "no")
	wantError(t, err, askback.ErrSettled)
	_, err = p.agent.Cancel(t.Context(), a.ID, "")
	wantError(t, err, askback.ErrSettled)
	want := []string{"question_pending", "question_claimed", "question_answered", "question_consumed", "answer_refused"}
	if got := p.history(a); !slices.Equal(got, want) {
		t.Errorf("got history %q, want %q", got, want)
	}
	events, err := p.store.History(t.Context(), "", 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range events {
		if e.Seq != int64(i)+1 || e.StreamSeq != int64(i)+1 || e.Stream != a.SessionID {
			t.Errorf("event %d has number %d, and %d in session %s", i, e.Seq, e.StreamSeq, e.Stream)
		}
	}
}

// A pending ask can be answered after a restart, and its approval can be spent after another restart.
func TestOpenAskSurvivesRestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "askback.db")
	session := func(do func(p *fixture)) {
		s, err := sqlite.Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		do(newFixture(t, s, nil))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	r := question()
	r.Key, r.SessionKey = "k", "run"
	c := confirmation()
	c.Timeout, c.OnTimeout, c.Key = 3*time.Hour, askback.OnTimeoutDecline, "c"
	var asked, confirm, won askback.Ask
	session(func(p *fixture) { asked, confirm = p.ask(r), p.ask(c) })
	session(func(p *fixture) {
		if again := p.ask(r); again.ID != asked.ID || !again.Repeated || again.Settled() {
			t.Errorf("got ask %s, repeated %v, %s, want %s, pending", again.ID, again.Repeated, again.Status, asked.ID)
		}
		stop := p.run()
		defer stop()
		w := p.wait(context.Background(), asked.ID)
		var err error
		if won, err = p.ana.Answer(t.Context(), asked.ID, askback.Choose("SQLite")); err != nil {
			t.Fatal(err)
		}
		<-w.done
		wantStatus(t, w.ask, askback.Answered)
		if _, err := p.ana.Answer(t.Context(), confirm.ID, askback.Decide(askback.Approve, "go on")); err != nil {
			t.Fatal(err)
		}
	})
	session(func(p *fixture) {
		again := p.ask(r)
		again.Repeated = false
		if got, want := text(t, again), text(t, won); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		got, err := p.ben.Answer(t.Context(), asked.ID, askback.Choose("PostgreSQL"))
		wantError(t, err, askback.ErrSettled)
		if text(t, got) != text(t, won) {
			t.Errorf("got  %s\nwant %s", text(t, got), text(t, won))
		}
		if _, err := p.agent.Consume(t.Context(), confirm.ID, confirm.Confirmation.Digest); err != nil {
			t.Errorf("got error %v, want none", err)
		}
	})
	session(func(p *fixture) {
		if _, err := p.agent.Consume(t.Context(), confirm.ID,
			confirm.Confirmation.Digest); !errors.Is(err, askback.ErrConsumed) {
			t.Errorf("got error %v, want %v", err, askback.ErrConsumed)
		}
		if got, want := p.history(asked), []string{
			"question_pending", "question_answered", "answer_refused",
		}; !slices.Equal(got, want) {
			t.Errorf("got history %q, want %q", got, want)
		}
	})
}

func text(t *testing.T, a askback.Ask) string {
	t.Helper()
	b, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Older databases store the event answer_acked as "answer_received".
func TestEventWithOldNameIsRenamed(t *testing.T) {
	p := newFixture(t, memstore.New(), nil)
	a := p.ask(question())
	old := store.Change{Events: []store.Event{{
		Stream: a.SessionID, Subject: a.ID, Type: "answer_received", At: a.CreatedAt, Data: []byte(`{}`),
	}}}
	first, err := p.store.Commit(t.Context(), old)
	if err != nil {
		t.Fatal(err)
	}
	for ev, err := range p.agent.Events(t.Context(), a.SessionID, askback.Cursor("MC4w")) {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Seq < first {
			continue
		}
		want := fmt.Sprintf(`{"question_id":%q,"session_id":%q}`, a.ID, a.SessionID)
		if ev.Type != askback.EventAnswerAcked || string(ev.Data) != want {
			t.Errorf("got event %s %s, want %s %s", ev.Type, ev.Data, askback.EventAnswerAcked, want)
		}
		return
	}
}

// The first event of a session has the session as it began, whatever happened later.
func TestFirstEventDescribesTheSessionAtItsStart(t *testing.T) {
	s := memstore.New()
	e := engine.New(s, nil)
	agent := e.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
	began, err := agent.Start(t.Context(),
		askback.SessionRequest{Title: "Nightly", Metadata: json.RawMessage(`{"n":1}`)})
	if err != nil {
		t.Fatal(err)
	}
	for _, cmd := range []askback.Command{
		askback.SetTodos{Todos: []askback.Todo{{Content: "Read", Status: askback.TodoPending}}},
		askback.Complete{Result: json.RawMessage(`1`)},
	} {
		if _, err := agent.Send(t.Context(), began.ID, cmd); err != nil {
			t.Fatal(err)
		}
	}
	want, err := began.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	for ev, err := range agent.Events(ctx, began.ID, askback.Beginning) {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Type != askback.EventSessionStarted || string(ev.Data) != `{"session":`+string(want)+`}` {
			t.Errorf("got %s %s, want the session %s", ev.Type, ev.Data, want)
		}
		break
	}
}
