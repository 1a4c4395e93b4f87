package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"sync"

	"github.com/askback/askback"
)

var following = []testCase{
	{"EventsAreCompleteAndOrdered", eventOrder},               // A5, B1, F11
	{"EventsContinueAtCursor", eventCursor},                   // F11
	{"EventsFromTheBeginning", eventsFromBeginning},           // A5, F11
	{"EventsBeginWithSnapshot", eventSnapshot},                // F11
	{"EventsContinueAfterList", eventsAfterList},              // A5, F11
	{"EventsAreFilteredByPrincipal", eventVisibility},         // T20
	{"EventsOfConcurrentWritersAreOrdered", concurrentEvents}, // F11
	{"InvalidCursorIsRejected", invalidCursors},               // wire.md §4
}

// eventsAfterList requires that the events after a list have every later change, and no change that is in the
// list.
func eventsAfterList(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	f.ask(agent, inSession("before"))
	page, err := ana.List(f.ctx(), askback.Query{})
	if err != nil || page.EventsCursor == "" {
		f.Fatalf("list: got %v, %+v, want a cursor of the events", err, page)
	}
	after := f.ask(agent, inSession("after"))
	if ev := f.follow(ana, "", page.EventsCursor).event(); ev.SessionID != after.SessionID {
		f.Errorf("got %s of %s, want the first event of %s", ev.Type, ev.SessionID, after.SessionID)
	}
	if page, err := agent.List(f.ctx(), askback.Query{}); err != nil || page.EventsCursor != "" {
		f.Errorf("list of an agent: got %v, cursor %q, want none", err, page.EventsCursor)
	}
}

// An eventReader reads the events of one stream, one at a time.
type eventReader struct {
	fixture
	next func() (askback.Event, error, bool)
}

func (f fixture) follow(client askback.Events, session string, after askback.Cursor) eventReader {
	ctx, cancel := context.WithCancelCause(f.ctx())
	next, stop := iter.Pull2(client.Events(ctx, session, after))
	f.Cleanup(func() {
		cancel(errors.New("enough"))
		stop()
	})
	return eventReader{f, next}
}

// event waits for the next event and returns it. The test fails if there is an error or the stream ends.
func (s eventReader) event() askback.Event {
	s.Helper()
	ev, err, ok := s.next()
	if err != nil || !ok {
		s.Fatalf("events: got %v, %v, want an event", err, ok)
	}
	return ev
}

// types requires that the next events have these types in this order, and returns the events.
func (s eventReader) types(want ...askback.EventType) (events []askback.Event) {
	s.Helper()
	var got []askback.EventType
	for range want {
		ev := s.event()
		events, got = append(events, ev), append(got, ev.Type)
	}
	if !slices.Equal(got, want) {
		s.Errorf("got events %q, want %q", got, want)
	}
	return events
}

// dataField returns a field of the data of an event as JSON, or "" if the data has no such
// field.
func dataField(ev askback.Event, name string) string {
	var data map[string]json.RawMessage
	if json.Unmarshal(ev.Data, &data) != nil {
		return ""
	}
	return string(data[name])
}

func eventOrder(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	one := f.start(agent, askback.SessionRequest{Key: "run"})
	s := f.follow(ana, one.ID, "")
	if shot := s.event(); shot.Type != "snapshot" || dataField(shot, "asks") != "[]" || shot.Seq != 0 {
		f.Errorf("got %s %s, want an empty snapshot", shot.Type, shot.Data)
	}
	ask := f.ask(agent, inSession("run"))
	events := s.types("question_pending", "state_change")
	if got := dataField(events[0], "question_id"); got != `"`+ask.ID+`"` {
		f.Errorf("got a question about %s, want %s", got, ask.ID)
	}
	if got, want := dataField(events[0], "ask"), text(ask); got != want {
		f.Errorf("got ask %s, want %s", got, want)
	}
	if got := dataField(events[1], "type"); got != `"awaiting_user_response"` ||
		dataField(events[1], "questions") != text(ask.Questions) {
		f.Errorf("got state %s, want the questions of the ask", events[1].Data)
	}
	f.noError(ana.Claim(f.ctx(), ask.ID))
	s.types("question_claimed")
	settled := f.noError(ana.Answer(f.ctx(), ask.ID, askback.Choose("SQLite")))
	events = s.types("question_answered", "state_change")
	if got, want := dataField(events[0], "outcome"), text(settled.Outcome); got != want {
		f.Errorf("got outcome %s, want %s", got, want)
	}
	_, err := f.person("ben").Answer(f.ctx(), ask.ID, askback.Choose("PostgreSQL"))
	f.wantError(err, askback.ErrSettled)
	s.types("answer_refused")
	f.send(ana, one.ID, askback.SendMessage{Text: "well done"})
	f.send(agent, one.ID, askback.Report{Text: "thank you", Final: true})
	f.send(agent, one.ID, askback.SetTodos{Todos: []askback.Todo{{Content: "rest", Status: askback.TodoPending}}})
	f.send(agent, one.ID, askback.Complete{})
	events = s.types("message", "message", "todos_changed", "session_completed", "state_change")
	if got := dataField(events[1], "text"); got != `"thank you"` {
		f.Errorf("got message %s", events[1].Data)
	}
	last := int64(0)
	for _, ev := range events {
		if ev.SessionID != one.ID || ev.At.IsZero() || ev.Cursor == "" || last > 0 && ev.Seq != last+1 {
			f.Errorf("got event %s of session %s after %d", text(ev), ev.SessionID, last)
		}
		last = ev.Seq
	}
}

// eventsFromBeginning requires that a stream from the beginning has no snapshot and begins with the first
// event.
func eventsFromBeginning(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	one := f.start(agent, askback.SessionRequest{Key: "run"})
	f.ask(agent, inSession("run"))
	for _, session := range []string{one.ID, ""} {
		if ev := f.follow(ana, session, askback.Beginning).event(); ev.Type != askback.EventSessionStarted ||
			ev.Seq != 1 || ev.SessionID != one.ID {
			f.Errorf("stream %q begins with %s %d of %s, want the start of %s", session, ev.Type, ev.Seq, ev.SessionID,
				one.ID)
		}
	}
}

func eventCursor(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	one := f.start(agent, askback.SessionRequest{Key: "run"})
	s := f.follow(ana, one.ID, "")
	at := s.event().Cursor
	for range 5 {
		f.send(ana, one.ID, askback.SendMessage{Text: "x"})
	}
	var all []askback.Event
	for range 5 {
		all = append(all, s.event())
	}
	for i := range all {
		again := f.follow(ana, one.ID, at)
		for _, want := range all[i:] {
			if got := again.event(); text(got) != text(want) || got.Cursor != want.Cursor {
				f.Errorf("from event %d: got %s, want %s", i, text(got), text(want))
			}
		}
		at = all[i].Cursor
	}
	whole := f.follow(ana, "", "")
	from := whole.event().Cursor
	ask := f.ask(agent, database())
	whole.types("question_pending")
	if got := f.follow(ana, "", from).event(); dataField(got, "question_id") != `"`+ask.ID+`"` {
		f.Errorf("got %s, want the ask %s", text(got), ask.ID)
	}
}

func eventSnapshot(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	open := f.ask(agent, inSession("run"))
	f.noError(ana.Decline(f.ctx(), f.ask(agent, inSession("run")).ID, ""))
	elsewhere := f.ask(agent, database())
	shot := f.follow(agent, open.SessionID, "").event()
	if got, want := dataField(shot, "asks"), text([]askback.Ask{open}); got != want {
		f.Errorf("got asks %s, want %s", got, want)
	}
	if one := f.wantSession(agent, open.SessionID, askback.SessionWaiting, 1,
		2); dataField(shot, "session") != text(one) {
		f.Errorf("got session %s, want %s", dataField(shot, "session"), text(one))
	}
	all := f.follow(ana, "", "").event()
	if got, want := dataField(all, "asks"), text([]askback.Ask{open, elsewhere}); got != want &&
		got != text([]askback.Ask{elsewhere, open}) {
		f.Errorf("got asks %s, want %s", got, want)
	}
	own := f.follow(agent, elsewhere.SessionID, "").event()
	if got, want := dataField(own, "asks"), text([]askback.Ask{elsewhere}); got != want {
		f.Errorf("the session of a single ask: got asks %s, want %s", got, want)
	}
}

func eventVisibility(f fixture) {
	agent, other, ana, ben := f.agent(), f.as(askback.Agent, "otherbot"), f.person("ana"), f.person("ben")
	one := f.start(agent, askback.SessionRequest{Key: "run"})
	refused := func(client askback.Events, session string, want error) {
		f.Helper()
		next, stop := iter.Pull2(client.Events(f.ctx(), session, ""))
		defer stop()
		if ev, err, _ := next(); !errors.Is(err, want) {
			f.Errorf("got %s, %v, want %v", text(ev), err, want)
		}
		if _, _, ok := next(); ok {
			f.Errorf("the iteration continued after its error")
		}
	}
	refused(other, one.ID, askback.ErrNotFound)
	refused(ana, "ses_00000000000000000000000000", askback.ErrNotFound)
	refused(agent, "", askback.ErrForbidden)

	benFeed := f.follow(ben, one.ID, "")
	benFeed.types("snapshot")
	secret := inSession("run")
	secret.To = []string{"ana"}
	f.noError(ana.Answer(f.ctx(), f.ask(agent, secret).ID, askback.Choose("SQLite")))
	f.send(ana, one.ID, askback.SendMessage{Text: "done"})
	for {
		ev := benFeed.event()
		if ev.Type == "message" {
			break
		}
		if ev.Type != "state_change" || dataField(ev, "questions") != "[]" {
			f.Errorf("ben received %s of an ask to ana", text(ev))
		}
	}
}

func concurrentEvents(f fixture) {
	const writers, each = 8, 10
	agent, ana := f.agent(), f.person("ana")
	one := f.start(agent, askback.SessionRequest{Key: "run"})
	s := f.follow(ana, one.ID, "")
	s.types("snapshot")
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			for range each {
				if _, err := ana.Send(f.ctx(), one.ID, askback.SendMessage{Text: "x"}); err != nil {
					f.Errorf("send: %v", err)
				}
			}
		})
	}
	last := int64(0)
	for range writers * each {
		ev := s.event()
		if last > 0 && ev.Seq != last+1 {
			f.Errorf("got event %d after %d", ev.Seq, last)
		}
		last = ev.Seq
	}
	group.Wait()
}

func invalidCursors(f fixture) {
	agent := f.agent()
	one := f.start(agent, askback.SessionRequest{})
	for _, cursor := range []askback.Cursor{"x", "99", "////"} {
		next, stop := iter.Pull2(agent.Events(f.ctx(), one.ID, cursor))
		_, err, _ := next()
		f.wantInvalid(err, "?after")
		stop()
	}
	ana := f.person("ana")
	for _, cursor := range []string{"foo", "\x00", "zzz", "tok_00000000000000000000000000", one.ID + "x"} {
		_, err := ana.List(f.ctx(), askback.Query{Cursor: cursor})
		f.wantInvalid(err, "?cursor")
		_, err = ana.Sessions(f.ctx(), askback.SessionQuery{Cursor: cursor})
		f.wantInvalid(err, "?cursor")
		_, err = ana.Grants(f.ctx(), askback.GrantQuery{Cursor: cursor})
		f.wantInvalid(err, "?cursor")
		_, err = ana.Messages(f.ctx(), one.ID, cursor, 0)
		f.wantInvalid(err, "?cursor")
	}
}
