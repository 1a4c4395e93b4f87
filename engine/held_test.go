package engine_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

// If the process that took a held answer has ended, the timer of the next process sends it.
func TestHeldAnswerIsSentByTheNextProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := memstore.New()
		undo := &engine.Options{Settings: engine.Settings{Undo: 5 * time.Second}}
		first := engine.New(db, undo)
		bot := first.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
		ana := first.As(askback.Principal{Kind: askback.Responder, Name: "ana"})
		a, err := bot.Ask(t.Context(), askback.Request{Questions: []askback.Question{{Text: "Go on?"}}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ana.Hold(t.Context(), a.ID, askback.Choose("yes")); err != nil {
			t.Fatal(err)
		}
		next := engine.New(db, undo) // Run was never called in the first process
		go func() { _ = next.Run(t.Context()) }()
		<-time.After(4 * time.Second)
		synctest.Wait()
		bot = next.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
		if got, err := bot.Get(t.Context(), a.ID); err != nil || got.Settled() {
			t.Errorf("after 4 s: got %s, %v, want pending", got.Status, err)
		}
		<-time.After(time.Second)
		synctest.Wait()
		if got, err := bot.Get(t.Context(), a.ID); err != nil || got.Outcome == nil || got.Outcome.Actor.Name != "ana" {
			t.Errorf("after 5 s: got %+v, %v, want the answer of ana", got.Outcome, err)
		}
	})
}

// An agent sees no trace of a held answer in its stream, not even a gap in the numbers. The stream of people
// has the events.
func TestHeldAnswerIsHiddenFromAgent(t *testing.T) {
	e := engine.New(memstore.New(), &engine.Options{Settings: holding})
	bot := e.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
	ana := e.As(askback.Principal{Kind: askback.Responder, Name: "ana"})
	a, err := bot.Ask(t.Context(), askback.Request{SessionKey: "run", Questions: []askback.Question{{Text: "Go on?"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, do := range []func() (askback.Ask, error){
		func() (askback.Ask, error) { return ana.Hold(t.Context(), a.ID, askback.Choose("yes")) },
		func() (askback.Ask, error) { return ana.Undo(t.Context(), a.ID) },
		func() (askback.Ask, error) { return ana.HoldDecline(t.Context(), a.ID, "no") },
		func() (askback.Ask, error) { return ana.Answer(t.Context(), a.ID, askback.Choose("no")) },
	} {
		if _, err := do(); err != nil {
			t.Fatal(err)
		}
	}
	n := int64(0)
	for _, ev := range readUntil(t, bot, a.SessionID, askback.EventQuestionAnswered) {
		n++
		if ev.Seq != n || ev.Type.ForPeople() {
			t.Errorf("the agent got %s with number %d, want number %d", ev.Type, ev.Seq, n)
		}
	}
	var held, undone int
	for _, ev := range readUntil(t, ana, "", askback.EventQuestionAnswered) {
		switch ev.Type {
		case askback.EventAnswerHeld:
			held++
		case askback.EventAnswerUndone:
			undone++
		default:
			continue
		}
		if ev.Seq != 0 || ev.SessionID != a.SessionID {
			t.Errorf("%s: got number %d in %s, want 0 in %s", ev.Type, ev.Seq, ev.SessionID, a.SessionID)
		}
	}
	if held != 2 || undone != 1 {
		t.Errorf("ana got %d held answers and %d undone ones, want 2 and 1", held, undone)
	}
}

// readUntil returns the events of a stream from its beginning up to the first event of a type.
func readUntil(t *testing.T, c askback.Client, session string, last askback.EventType) (all []askback.Event) {
	t.Helper()
	for ev, err := range c.Events(t.Context(), session, askback.Beginning) {
		if err != nil {
			t.Fatal(err)
		}
		if all = append(all, ev); ev.Type == last {
			break
		}
	}
	return all
}

// A held answer of a person whose token is revoked is not sent. The ask stays pending for others.
func TestHeldAnswerOfARevokedTokenIsDropped(t *testing.T) {
	clock := time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)
	e := engine.New(memstore.New(), &engine.Options{Settings: holding, Now: func() time.Time { return clock }})
	admin := e.As(askback.Principal{Kind: askback.Admin, Name: "root"})
	token, secret, err := admin.CreateToken(t.Context(), askback.TokenRequest{Kind: askback.Responder, Name: "ana"})
	if err != nil {
		t.Fatal(err)
	}
	who, err := e.Authenticate(t.Context(), secret)
	if err != nil {
		t.Fatal(err)
	}
	ana, bot := e.As(who), e.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
	a, err := bot.Ask(t.Context(), askback.Request{Questions: []askback.Question{{Text: "Go on?"}}})
	if err == nil {
		_, err = ana.Hold(t.Context(), a.ID, askback.Choose("yes"))
	}
	if err == nil {
		_, err = admin.RevokeToken(t.Context(), token.ID)
	}
	if err != nil {
		t.Fatal(err)
	}
	clock = clock.Add(limits.MaxUndo)
	ben := e.As(askback.Principal{Kind: askback.Responder, Name: "ben"})
	got, err := ben.Answer(t.Context(), a.ID, askback.Choose("no"))
	if err != nil || got.Outcome.Actor.Name != "ben" {
		t.Errorf("got %+v, %v, want the answer of ben", got.Outcome, err)
	}
	for _, ev := range readUntil(t, ben, "", askback.EventQuestionAnswered) {
		if ev.Type == askback.EventAnswerUndone {
			return
		}
	}
	t.Error("the history does not say that the answer of ana was not sent")
}

// If ben's answer settles the ask, the held answer of another person is recorded as a late answer. The events
// for people are deleted together with the ask.
func TestDroppedHeldAnswerIsListedAsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := memstore.New()
		p := newFixture(t, db, &engine.Options{Settings: engine.Settings{Undo: limits.MaxUndo, Retention: time.Hour}})
		a := p.ask(askback.Request{Questions: []askback.Question{{Text: "Go on?"}}})
		if _, err := p.ana.Hold(t.Context(), a.ID, askback.Choose("yes")); err != nil {
			t.Fatal(err)
		}
		if _, err := p.ben.Answer(t.Context(), a.ID, askback.Choose("no")); err != nil {
			t.Fatal(err)
		}
		late, _, err := p.engine.Reports(askback.Principal{Kind: askback.Responder, Name: "ana"}).LateAnswers(
			t.Context(), a.ID,
		)
		if err != nil || len(late) != 1 || late[0].Name != "ana" || late[0].Answer.Answers[0].String() != "yes" {
			t.Errorf("got %+v, %v, want the answer of ana", late, err)
		}
		if rows, err := db.History(t.Context(), a.ID, 0, 0); err != nil || len(rows) != 1 {
			t.Errorf("got %d events for people, %v, want 1", len(rows), err)
		}
		p.ask(askback.Request{Questions: []askback.Question{{Text: "Another?"}}}) // the newest event is kept
		defer p.run()()
		<-time.After(3 * time.Hour)
		synctest.Wait()
		if _, err := db.Read(t.Context(), "ask", a.ID); !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("the ask was not deleted: %v", err)
		}
		if rows, err := db.History(t.Context(), a.ID, 0, 0); err != nil || len(rows) != 0 {
			t.Errorf("got %d events for people after the ask was deleted, %v", len(rows), err)
		}
	})
}

// If two browser windows undo an answer at about the time when it is sent, both calls get the same result. An
// answer that was undone is never the outcome.
func TestUndoneAnswerIsNeverTheOutcome(t *testing.T) {
	p := newFixture(t, memstore.New(), &engine.Options{Settings: engine.Settings{Undo: 2 * time.Millisecond}})
	defer p.run()()
	undone, sent := 0, 0
	for n := range 300 {
		a := p.ask(askback.Request{Questions: []askback.Question{{Text: "Go on?"}}})
		if _, err := p.ana.Hold(t.Context(), a.ID, askback.Choose("yes")); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Duration(n%5) * time.Millisecond)
		windows := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := p.ana.Undo(t.Context(), a.ID)
				windows <- err
			}()
		}
		errs := []error{<-windows, <-windows}
		switch {
		case errs[0] == nil && errs[1] == nil:
			undone++
			if got, err := p.agent.Cancel(t.Context(), a.ID, ""); err != nil ||
				got.Outcome.Status != askback.Cancelled {
				t.Fatalf("an answer that was undone was sent: %+v, %v", got.Outcome, err)
			}
		case errors.Is(errs[0], askback.ErrSettled) && errors.Is(errs[1], askback.ErrSettled):
			sent++
		default:
			t.Fatalf("two windows got %v", errs)
		}
	}
	if sent < 60 {
		t.Errorf("%d undone, %d sent; want at least those sent for which Undo came after their time", undone, sent)
	}
}
