package askbacktest

import (
	"encoding/json"
	"slices"

	"github.com/askback/askback"
)

var running = []fact{
	{"ASessionWaitsWhileItAsks", waitsWhileAsking}, // B2
	{"ACompletedSessionKeepsItsResult", completedStays},
	{"AResumeContextIsForTheAgent", privateContext},
	{"ASessionKeyIsOneSession", keyedSession},                  // wire.md §11
	{"ASingleAskHasASessionOfItsOwn", ownSession},              // wire.md §11
	{"EndingASessionEndsItsAsks", endings},                     // wire.md §1
	{"AFinalSessionTakesNothingMore", finalSessions},           // wire.md §1
	{"AnAgentComesBackWhenEverythingIsAnswered", comesBack},    // B5
	{"MessagesAreKeptInOrderAndAnswerNothing", messages},       // wire.md §3
	{"AnotherAgentsSessionDoesNotExist", othersSessions},       // T20
	{"SessionsAreListedNewestFirst", sessionsListed},           // wire.md §3
	{"WhatIsToldToASessionIsChecked", badTells},                // F15
	{"PeopleAgentsAndStatisticsAreSeenByPeople", deskSeen},     // F16
	{"ASearchFindsTitlesQuestionsAndTools", searching},         // wire.md §3
	{"ManyAsksOfOneSessionAtOnceAreCounted", manyInOneSession}, // E8
	{"EndingASessionRacesWithAnswers", endingRaces},            // E10
}

func inSession(key string) askback.Request {
	q := database()
	q.SessionKey = key
	return q
}

// began starts a session.
func (r room) began(agent askback.Seat, q askback.SessionRequest) askback.Session {
	r.Helper()
	one, err := agent.Start(r.ctx(), q)
	if err != nil {
		r.Fatalf("start: %v", err)
	}
	return one
}

// stands expects a session to stand so.
func (r room) stands(seat askback.Seat, id string, status askback.SessionStatus, pending, total int) askback.Session {
	r.Helper()
	one, err := seat.Session(r.ctx(), id)
	if err != nil || one.Status != status || one.AsksPending != pending || one.AsksTotal != total {
		r.Errorf("got session %s, %v, want %s with %d of %d asks open", text(one), err, status, pending, total)
	}
	return one
}

func (r room) tell(seat askback.Seat, id string, t askback.Tell) askback.Session {
	r.Helper()
	one, err := seat.Tell(r.ctx(), id, t)
	if err != nil {
		r.Fatalf("tell %T: %v", t, err)
	}
	return one
}

func waitsWhileAsking(r room) {
	agent, ana := r.agent(), r.person("ana")
	one := r.began(agent, askback.SessionRequest{Key: "run", Title: "Nightly", Metadata: json.RawMessage(`{"branch":"main"}`)})
	if one.Status != askback.SessionRunning || one.Owner != "deploybot" || one.Agent != "deploybot" || one.Title != "Nightly" || string(one.Metadata) != `{"branch":"main"}` || one.Hosted {
		r.Errorf("got session %s, want a running one of deploybot", text(one))
	}
	first, second := r.must(agent, inSession("run")), r.must(agent, askback.Request{SessionID: one.ID, Questions: database().Questions})
	if first.SessionID != one.ID || second.SessionID != one.ID {
		r.Errorf("got asks in sessions %s and %s, want %s", first.SessionID, second.SessionID, one.ID)
	}
	r.stands(ana, one.ID, askback.SessionWaiting, 2, 2)
	r.done(ana.Answer(r.ctx(), first.ID, askback.Choose("SQLite")))
	r.stands(agent, one.ID, askback.SessionWaiting, 1, 2)
	r.done(ana.Decline(r.ctx(), second.ID, ""))
	r.stands(agent, one.ID, askback.SessionRunning, 0, 2)
	third := r.must(agent, inSession("run"))
	r.done(agent.Cancel(r.ctx(), third.ID, ""))
	r.stands(agent, one.ID, askback.SessionRunning, 0, 3)
	done := r.tell(agent, one.ID, askback.Complete{Result: json.RawMessage(`{"ok":true}`)})
	if done.Status != askback.SessionCompleted || string(done.Result) != `{"ok":true}` || done.CompletedAt.IsZero() {
		r.Errorf("got session %s, want it completed with its result", text(done))
	}
	r.stands(agent, one.ID, askback.SessionCompleted, 0, 3)
}

func keyedSession(r room) {
	agent := r.agent()
	first := r.began(agent, askback.SessionRequest{Key: "run", Title: "A"})
	again := r.began(agent, askback.SessionRequest{Key: "run", Title: "B"})
	if again.ID != first.ID || !again.Repeated || again.Title != "A" || first.Repeated {
		r.Errorf("got %s (repeated %v), want session %s again", text(again), again.Repeated, first.ID)
	}
	if other := r.began(r.as(askback.Agent, "otherbot"), askback.SessionRequest{Key: "run"}); other.ID == first.ID {
		r.Errorf("another agent got session %s by the same key", first.ID)
	}
	if unkeyed := r.began(agent, askback.SessionRequest{}); unkeyed.ID == first.ID || unkeyed.Repeated {
		r.Errorf("a session without a key got %s", unkeyed.ID)
	}
	var ids [8]string
	together(len(ids), func(i int) {
		one, err := agent.Start(r.ctx(), askback.SessionRequest{Key: "race"})
		if err != nil {
			r.Errorf("start: %v", err)
		}
		ids[i] = one.ID
	})
	if slices.ContainsFunc(ids[:], func(id string) bool { return id != ids[0] }) {
		r.Errorf("one key gave sessions %q", ids)
	}
}

func ownSession(r room) {
	agent, ana := r.agent(), r.person("ana")
	ask := r.must(agent, database())
	r.stands(agent, ask.SessionID, askback.SessionWaiting, 1, 1)
	r.done(ana.Answer(r.ctx(), ask.ID, askback.Choose("SQLite")))
	r.stands(ana, ask.SessionID, askback.SessionCompleted, 0, 1)
	_, err := r.as(askback.Agent, "otherbot").Session(r.ctx(), ask.SessionID)
	r.want(err, askback.ErrNotFound)

	second := r.must(agent, database())
	if one := r.tell(ana, second.SessionID, askback.EndSession{Reason: "not now"}); one.Status != askback.SessionCompleted || one.AsksPending != 0 {
		r.Errorf("got session %s, want it over", text(one))
	}
	got := r.done(agent.Get(r.ctx(), second.ID))
	if got.Status != askback.Cancelled || got.Outcome.By != (askback.By{Kind: askback.ByPerson, Name: "ana"}) || got.Outcome.Reason != "not now" {
		r.Errorf("got outcome %s, want it cancelled by ana", text(got.Outcome))
	}
	third := r.must(agent, database())
	_, err = ana.Tell(r.ctx(), third.SessionID, askback.SendMessage{Text: "hello"})
	r.invalid(err, "")
}

func endings(r room) {
	agent, ana := r.agent(), r.person("ana")
	for _, c := range []struct {
		who    askback.Seat
		tell   askback.Tell
		status askback.SessionStatus
		phase  string
		by     askback.By
	}{
		{ana, askback.EndTurn{Reason: "why"}, askback.SessionCompleted, "idle", askback.By{Kind: askback.ByPerson, Name: "ana"}},
		{ana, askback.EndSession{Reason: "why"}, askback.SessionCancelled, "", askback.By{Kind: askback.ByPerson, Name: "ana"}},
		{agent, askback.EndSession{Reason: "why"}, askback.SessionCancelled, "", askback.By{Kind: askback.ByAgent, Name: "deploybot"}},
		{agent, askback.Complete{}, askback.SessionCompleted, "", askback.By{Kind: askback.ByAgent, Name: "deploybot"}},
		{agent, askback.Complete{Status: askback.SessionFailed, Error: "out of disk"}, askback.SessionFailed, "", askback.By{Kind: askback.ByAgent, Name: "deploybot"}},
	} {
		one := r.began(agent, askback.SessionRequest{})
		q := askback.Request{SessionID: one.ID, Questions: database().Questions}
		asks := []askback.Ask{r.must(agent, q), r.must(agent, q), r.must(agent, q)}
		r.done(ana.Answer(r.ctx(), asks[0].ID, askback.Choose("SQLite")))
		got := r.tell(c.who, one.ID, c.tell)
		if got.Status != c.status || got.Phase != c.phase || got.AsksPending != 0 {
			r.Errorf("%T: got session %s, want %s %s", c.tell, text(got), c.status, c.phase)
		}
		for i, ask := range asks {
			ask = r.done(agent.Wait(r.ctx(), ask.ID))
			if i == 0 && ask.Status != askback.Answered || i > 0 && (ask.Status != askback.Cancelled || ask.Outcome.By != c.by) {
				r.Errorf("%T: ask %d got outcome %s", c.tell, i, text(ask.Outcome))
			}
		}
	}
}

func finalSessions(r room) {
	agent, ana := r.agent(), r.person("ana")
	one := r.began(agent, askback.SessionRequest{Key: "run"})
	r.tell(ana, one.ID, askback.EndSession{})
	r.tell(ana, one.ID, askback.EndSession{}) // a repeat
	_, err := agent.Ask(r.ctx(), inSession("run"))
	r.want(err, askback.ErrEnded)
	for _, t := range []askback.Tell{askback.SendMessage{Text: "x"}, askback.ResumeSession{}, askback.EndTurn{}} {
		_, err := ana.Tell(r.ctx(), one.ID, t)
		r.want(err, askback.ErrEnded)
	}
	for _, t := range []askback.Tell{askback.Report{Text: "x"}, askback.Complete{}, askback.SetTodos{}} {
		_, err := agent.Tell(r.ctx(), one.ID, t)
		r.want(err, askback.ErrEnded)
	}
}

func comesBack(r room) {
	agent, ana := r.agent(), r.person("ana")
	one := r.began(agent, askback.SessionRequest{Key: "run"})
	todos := []askback.Todo{{Content: "Read", Status: askback.TodoCompleted}, {Content: "Write", Status: askback.TodoPending}}
	r.tell(agent, one.ID, askback.SetTodos{Todos: todos})
	ask := r.must(agent, inSession("run"))
	_, err := agent.Tell(r.ctx(), one.ID, askback.ResumeSession{})
	r.want(err, askback.ErrAsksOpen)
	r.done(ana.Answer(r.ctx(), ask.ID, askback.Choose("SQLite")))
	got := r.stands(agent, one.ID, askback.SessionRunning, 0, 1)
	if !slices.Equal(got.Todos, todos) {
		r.Errorf("got todos %s, want %s", text(got.Todos), text(todos))
	}
	resumed := r.tell(agent, one.ID, askback.ResumeSession{Message: "go on"})
	if resumed.ResumedAt.IsZero() || resumed.Status != askback.SessionRunning {
		r.Errorf("got session %s, want it resumed", text(resumed))
	}
}

func messages(r room) {
	agent, ana := r.agent(), r.person("ana")
	one := r.began(agent, askback.SessionRequest{Key: "run"})
	ask := r.must(agent, inSession("run"))
	want := []string{"user ana: first", "assistant : second", "user ana: SQLite"}
	r.tell(ana, one.ID, askback.SendMessage{Text: "first"})
	r.tell(agent, one.ID, askback.Report{Text: "second"})
	r.tell(ana, one.ID, askback.SendMessage{Text: "SQLite"})
	r.pending(ask)
	var got []string
	last := int64(0)
	for cursor := ""; ; {
		page, err := ana.Messages(r.ctx(), one.ID, cursor, 2)
		if err != nil {
			r.Fatalf("messages: %v", err)
		}
		for _, m := range page.Items {
			if got = append(got, string(m.Role)+" "+m.By+": "+m.Text); m.Seq <= last || m.At.IsZero() {
				r.Errorf("got message %s after %d", text(m), last)
			}
			last = m.Seq
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	if !slices.Equal(got, want) {
		r.Errorf("got messages %q, want %q", got, want)
	}
}

func othersSessions(r room) {
	agent, other := r.agent(), r.as(askback.Agent, "otherbot")
	one := r.began(agent, askback.SessionRequest{Key: "run"})
	_, err := other.Session(r.ctx(), one.ID)
	r.want(err, askback.ErrNotFound)
	_, err = other.Messages(r.ctx(), one.ID, "", 0)
	r.want(err, askback.ErrNotFound)
	for _, t := range []askback.Tell{askback.Report{Text: "x"}, askback.EndSession{}, askback.Complete{}, askback.ResumeSession{}, askback.SetTodos{}} {
		_, err := other.Tell(r.ctx(), one.ID, t)
		r.want(err, askback.ErrNotFound)
	}
	_, err = agent.Tell(r.ctx(), one.ID, askback.SendMessage{Text: "as a person"})
	r.want(err, askback.ErrForbidden)
	_, err = r.person("ana").Tell(r.ctx(), one.ID, askback.Report{Text: "as the agent"})
	r.want(err, askback.ErrForbidden)
	_, err = r.person("ana").Start(r.ctx(), askback.SessionRequest{})
	r.want(err, askback.ErrForbidden)
	page, err := other.Sessions(r.ctx(), askback.SessionQuery{})
	if err != nil || len(page.Items) != 0 {
		r.Errorf("got sessions %s, %v, want none", text(page), err)
	}
	_, err = agent.Session(r.ctx(), "ses_00000000000000000000000000")
	r.want(err, askback.ErrNotFound)
}

func sessionsListed(r room) {
	agent, ana := r.agent(), r.person("ana")
	var ids []string
	for _, title := range []string{"Deploy the shop", "Write a poem", "Deploy the blog"} {
		ids = append(ids, r.began(agent, askback.SessionRequest{Title: title}).ID)
	}
	r.tell(agent, ids[1], askback.Complete{})
	r.must(agent, database()) // a session of its own is no row
	list := func(q askback.SessionQuery) (got []string) {
		for {
			page, err := ana.Sessions(r.ctx(), q)
			if err != nil {
				r.Fatalf("sessions: %v", err)
			}
			for _, one := range page.Items {
				got = append(got, one.ID)
			}
			if q.Cursor = page.NextCursor; q.Cursor == "" {
				return got
			}
		}
	}
	sorted := slices.Sorted(slices.Values(ids))
	slices.Reverse(sorted)
	for _, c := range []struct {
		name string
		q    askback.SessionQuery
		want []string
	}{
		{"all", askback.SessionQuery{Limit: 2}, sorted},
		{"completed", askback.SessionQuery{Status: askback.SessionCompleted}, ids[1:2]},
		{"another agent's", askback.SessionQuery{Agent: "otherbot"}, nil},
		{"found", askback.SessionQuery{Search: "dEpLoY The", Limit: 1}, slices.DeleteFunc(slices.Clone(sorted), func(id string) bool { return id == ids[1] })},
	} {
		if got := list(c.q); !slices.Equal(got, c.want) {
			r.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	_, err := ana.Sessions(r.ctx(), askback.SessionQuery{Status: "asleep"})
	r.invalid(err, "/status")
}

func badTells(r room) {
	agent, ana := r.agent(), r.person("ana")
	one := r.began(agent, askback.SessionRequest{})
	for _, c := range []struct {
		who     askback.Seat
		tell    askback.Tell
		pointer string
	}{
		{ana, askback.SendMessage{Text: " "}, "/text"},
		{agent, askback.Complete{Status: "done"}, "/status"},
		{agent, askback.SetTodos{Todos: []askback.Todo{{Content: "a", Status: "maybe"}}}, "/todos/0/status"},
		{agent, askback.SetTodos{Todos: []askback.Todo{{Status: askback.TodoPending}}}, "/todos/0/content"},
	} {
		_, err := c.who.Tell(r.ctx(), one.ID, c.tell)
		r.invalid(err, c.pointer)
	}
	_, err := agent.Start(r.ctx(), askback.SessionRequest{Metadata: json.RawMessage(`[]`), Title: string(make([]rune, 300))})
	r.invalid(err, "/title", "/metadata")
	r.stands(agent, one.ID, askback.SessionRunning, 0, 0)
}

func deskSeen(r room) {
	agent, ana := r.agent(), r.person("ana")
	r.done(ana.Answer(r.ctx(), r.must(agent, database()).ID, askback.Choose("SQLite")))
	r.done(ana.Answer(r.ctx(), r.must(agent, removal()).ID, askback.Decide(askback.Deny, "")))
	r.must(agent, database())
	stats, err := ana.Stats(r.ctx())
	if err != nil || stats.Pending != 1 || stats.Settled[askback.Answered] != 2 || len(stats.Answers) != 1 || stats.Answers[0].Denied != 1 || len(stats.Agents) != 1 {
		r.Errorf("got statistics %s, %v", text(stats), err)
	}
	agents, err := ana.Agents(r.ctx())
	if err != nil || !slices.ContainsFunc(agents, func(a askback.Asking) bool { return a.Name == "deploybot" && a.Pending == 1 }) {
		r.Errorf("got agents %s, %v, want deploybot with one open ask", text(agents), err)
	}
	if _, err := ana.People(r.ctx()); err != nil {
		r.Errorf("people: %v", err)
	}
	_, err = agent.Stats(r.ctx())
	r.want(err, askback.ErrForbidden)
	_, err = agent.People(r.ctx())
	r.want(err, askback.ErrForbidden)
}

func searching(r room) {
	agent, ana := r.agent(), r.person("ana")
	titled := database()
	titled.Title = "The Shop"
	asks := map[string]string{
		"shop": r.must(agent, titled).ID, "delete_f": r.must(agent, removal()).ID,
		"NAME": r.must(agent, askback.Request{Questions: []askback.Question{{Text: "What name?"}}}).ID,
	}
	for search, id := range asks {
		page, err := ana.List(r.ctx(), askback.Query{Search: search})
		if err != nil || len(page.Items) != 1 || page.Items[0].ID != id {
			r.Errorf("%q: got %s, %v, want %s alone", search, text(page), err, id)
		}
	}
	page, err := ana.List(r.ctx(), askback.Query{Search: "nothing of that"})
	if err != nil || len(page.Items) != 0 {
		r.Errorf("got %s, %v, want none", text(page), err)
	}
}

func manyInOneSession(r room) {
	const n = 16
	agent, ana := r.agent(), r.person("ana")
	one := r.began(agent, askback.SessionRequest{Key: "run"})
	together(n, func(i int) {
		a, err := agent.Ask(r.ctx(), inSession("run"))
		if err == nil && i%2 == 0 {
			_, err = ana.Answer(r.ctx(), a.ID, askback.Choose("SQLite"))
		}
		if err != nil {
			r.Errorf("ask and answer: %v", err)
		}
	})
	r.stands(agent, one.ID, askback.SessionWaiting, n/2, n)
}

func endingRaces(r room) {
	agent, ana, ben := r.agent(), r.person("ana"), r.person("ben")
	one := r.began(agent, askback.SessionRequest{Key: "run"})
	var asks []askback.Ask
	for range 12 {
		asks = append(asks, r.must(agent, inSession("run")))
	}
	together(len(asks)+1, func(i int) {
		if i == len(asks) {
			if _, err := ben.Tell(r.ctx(), one.ID, askback.EndSession{}); err != nil {
				r.Errorf("end: %v", err)
			}
			return
		}
		a, err := ana.Answer(r.ctx(), asks[i].ID, askback.Choose("SQLite"))
		if err != nil {
			r.want(err, askback.ErrSettled)
		}
		if !a.Settled() {
			r.Errorf("got %s, %v, want to be told how it ended", text(a), err)
		}
	})
	for _, a := range asks {
		if got := r.done(ana.Get(r.ctx(), a.ID)); got.Status != askback.Answered && got.Status != askback.Cancelled {
			r.Errorf("got an ask that is %s after its session ended", got.Status)
		}
	}
	r.stands(agent, one.ID, askback.SessionCancelled, 0, len(asks))
}
