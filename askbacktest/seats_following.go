package askbacktest

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"sync"

	"github.com/askback/askback"
)

var following = []fact{
	{"AFeedTellsEverythingOnceAndInOrder", feedTells}, // A5, B1, F11
	{"AFeedGoesOnFromItsCursor", feedGoesOn},          // F11
	{"AFeedBeginsWithHowThingsStand", feedSnapshot},   // F11
	{"AFeedShowsEachTheirOwn", feedPrivate},           // T20
	{"AFeedFollowsManyWriters", feedRaces},            // F11
	{"ACursorOfNothingIsRefused", feedCursors},        // wire.md §4
}

// stream reads a feed one event at a time.
type stream struct {
	room
	next func() (askback.Event, error, bool)
}

func (r room) follow(seat askback.Seat, session string, after askback.Cursor) stream {
	ctx, cancel := context.WithCancelCause(r.ctx())
	next, stop := iter.Pull2(seat.Events(ctx, session, after))
	r.Cleanup(func() {
		cancel(errors.New("enough"))
		stop()
	})
	return stream{r, next}
}

// event waits for the next event.
func (s stream) event() askback.Event {
	s.Helper()
	ev, err, ok := s.next()
	if err != nil || !ok {
		s.Fatalf("events: got %v, %v, want an event", err, ok)
	}
	return ev
}

// types waits for events and expects them to have these types.
func (s stream) types(want ...string) (events []askback.Event) {
	s.Helper()
	var got []string
	for range want {
		ev := s.event()
		events, got = append(events, ev), append(got, ev.Type)
	}
	if !slices.Equal(got, want) {
		s.Errorf("got events %q, want %q", got, want)
	}
	return events
}

// saidBy is what an event says under a name.
func saidBy(ev askback.Event, name string) string {
	var data map[string]json.RawMessage
	if json.Unmarshal(ev.Data, &data) != nil {
		return ""
	}
	return string(data[name])
}

func feedTells(r room) {
	agent, ana := r.agent(), r.person("ana")
	one := r.began(agent, askback.SessionRequest{Key: "run"})
	s := r.follow(ana, one.ID, "")
	if shot := s.event(); shot.Type != "snapshot" || saidBy(shot, "asks") != "[]" || shot.Seq != 0 {
		r.Errorf("got %s %s, want an empty snapshot", shot.Type, shot.Data)
	}
	ask := r.must(agent, inSession("run"))
	events := s.types("question_pending", "state_change")
	if got := saidBy(events[0], "question_id"); got != `"`+ask.ID+`"` {
		r.Errorf("got a question about %s, want %s", got, ask.ID)
	}
	if got, want := saidBy(events[0], "ask"), text(ask); got != want {
		r.Errorf("got ask %s, want %s", got, want)
	}
	if got := saidBy(events[1], "type"); got != `"awaiting_user_response"` || saidBy(events[1], "questions") != text(ask.Questions) {
		r.Errorf("got state %s, want the questions of the ask", events[1].Data)
	}
	r.done(ana.Claim(r.ctx(), ask.ID))
	s.types("question_claimed")
	settled := r.done(ana.Answer(r.ctx(), ask.ID, askback.Choose("SQLite")))
	events = s.types("question_answered", "state_change")
	if got, want := saidBy(events[0], "outcome"), text(settled.Outcome); got != want {
		r.Errorf("got outcome %s, want %s", got, want)
	}
	_, err := r.person("ben").Answer(r.ctx(), ask.ID, askback.Choose("PostgreSQL"))
	r.want(err, askback.ErrSettled)
	s.types("answer_refused")
	r.tell(ana, one.ID, askback.SendMessage{Text: "well done"})
	r.tell(agent, one.ID, askback.Report{Text: "thank you", Final: true})
	r.tell(agent, one.ID, askback.SetTodos{Todos: []askback.Todo{{Content: "rest", Status: askback.TodoPending}}})
	r.tell(agent, one.ID, askback.Complete{})
	events = s.types("message", "message", "todos_changed", "session_completed", "state_change")
	if got := saidBy(events[1], "text"); got != `"thank you"` {
		r.Errorf("got message %s", events[1].Data)
	}
	last := int64(0)
	for _, ev := range events {
		if ev.SessionID != one.ID || ev.At.IsZero() || ev.Cursor == "" || last > 0 && ev.Seq != last+1 {
			r.Errorf("got event %s of session %s after %d", text(ev), ev.SessionID, last)
		}
		last = ev.Seq
	}
}

func feedGoesOn(r room) {
	agent, ana := r.agent(), r.person("ana")
	one := r.began(agent, askback.SessionRequest{Key: "run"})
	s := r.follow(ana, one.ID, "")
	at := s.event().Cursor
	for range 5 {
		r.tell(ana, one.ID, askback.SendMessage{Text: "x"})
	}
	var all []askback.Event
	for range 5 {
		all = append(all, s.event())
	}
	for i := range all {
		again := r.follow(ana, one.ID, at)
		for _, want := range all[i:] {
			if got := again.event(); text(got) != text(want) || got.Cursor != want.Cursor {
				r.Errorf("from event %d: got %s, want %s", i, text(got), text(want))
			}
		}
		at = all[i].Cursor
	}
	whole := r.follow(ana, "", "")
	from := whole.event().Cursor
	ask := r.must(agent, database())
	whole.types("question_pending")
	if got := r.follow(ana, "", from).event(); saidBy(got, "question_id") != `"`+ask.ID+`"` {
		r.Errorf("got %s, want the ask %s", text(got), ask.ID)
	}
}

func feedSnapshot(r room) {
	agent, ana := r.agent(), r.person("ana")
	open := r.must(agent, inSession("run"))
	r.done(ana.Decline(r.ctx(), r.must(agent, inSession("run")).ID, ""))
	elsewhere := r.must(agent, database())
	shot := r.follow(agent, open.SessionID, "").event()
	if got, want := saidBy(shot, "asks"), text([]askback.Ask{open}); got != want {
		r.Errorf("got asks %s, want %s", got, want)
	}
	if one := r.stands(agent, open.SessionID, askback.SessionWaiting, 1, 2); saidBy(shot, "session") != text(one) {
		r.Errorf("got session %s, want %s", saidBy(shot, "session"), text(one))
	}
	all := r.follow(ana, "", "").event()
	if got, want := saidBy(all, "asks"), text([]askback.Ask{open, elsewhere}); got != want && got != text([]askback.Ask{elsewhere, open}) {
		r.Errorf("got asks %s, want %s", got, want)
	}
	own := r.follow(agent, elsewhere.SessionID, "").event()
	if got, want := saidBy(own, "asks"), text([]askback.Ask{elsewhere}); got != want {
		r.Errorf("the session of a single ask: got asks %s, want %s", got, want)
	}
}

func feedPrivate(r room) {
	agent, other, ana, ben := r.agent(), r.as(askback.Agent, "otherbot"), r.person("ana"), r.person("ben")
	one := r.began(agent, askback.SessionRequest{Key: "run"})
	refused := func(seat askback.Seat, session string, want error) {
		r.Helper()
		next, stop := iter.Pull2(seat.Events(r.ctx(), session, ""))
		defer stop()
		if ev, err, _ := next(); !errors.Is(err, want) {
			r.Errorf("got %s, %v, want %v", text(ev), err, want)
		}
		if _, _, ok := next(); ok {
			r.Errorf("the feed went on after its error")
		}
	}
	refused(other, one.ID, askback.ErrNotFound)
	refused(ana, "ses_00000000000000000000000000", askback.ErrNotFound)
	refused(agent, "", askback.ErrForbidden)

	benFeed := r.follow(ben, one.ID, "")
	benFeed.types("snapshot")
	secret := inSession("run")
	secret.To = []string{"ana"}
	r.done(ana.Answer(r.ctx(), r.must(agent, secret).ID, askback.Choose("SQLite")))
	r.tell(ana, one.ID, askback.SendMessage{Text: "done"})
	for {
		ev := benFeed.event()
		if ev.Type == "message" {
			break
		}
		if ev.Type != "state_change" || saidBy(ev, "questions") != "[]" {
			r.Errorf("ben saw %s of an ask that is put to ana", text(ev))
		}
	}
}

func feedRaces(r room) {
	const writers, each = 8, 10
	agent, ana := r.agent(), r.person("ana")
	one := r.began(agent, askback.SessionRequest{Key: "run"})
	s := r.follow(ana, one.ID, "")
	s.types("snapshot")
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			for range each {
				if _, err := ana.Tell(r.ctx(), one.ID, askback.SendMessage{Text: "x"}); err != nil {
					r.Errorf("tell: %v", err)
				}
			}
		})
	}
	last := int64(0)
	for range writers * each {
		ev := s.event()
		if last > 0 && ev.Seq != last+1 {
			r.Errorf("got event %d after %d", ev.Seq, last)
		}
		last = ev.Seq
	}
	group.Wait()
}

func feedCursors(r room) {
	agent := r.agent()
	one := r.began(agent, askback.SessionRequest{})
	for _, cursor := range []askback.Cursor{"x", "99", "////"} {
		next, stop := iter.Pull2(agent.Events(r.ctx(), one.ID, cursor))
		_, err, _ := next()
		r.invalid(err, "?after")
		stop()
	}
	ana := r.person("ana")
	for _, cursor := range []string{"foo", "\x00", "zzz", "tok_00000000000000000000000000", one.ID + "x"} {
		_, err := ana.List(r.ctx(), askback.Query{Cursor: cursor})
		r.invalid(err, "?cursor")
		_, err = ana.Sessions(r.ctx(), askback.SessionQuery{Cursor: cursor})
		r.invalid(err, "?cursor")
		_, err = ana.Grants(r.ctx(), askback.GrantQuery{Cursor: cursor})
		r.invalid(err, "?cursor")
		_, err = ana.Messages(r.ctx(), one.ID, cursor, 0)
		r.invalid(err, "?cursor")
	}
}
