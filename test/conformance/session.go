package conformance

import (
	"encoding/json"
	"slices"

	"github.com/askback/askback"
)

var running = []testCase{
	{"SessionWaitsDuringAsk", sessionWaits}, // B2
	{"CompletedSessionKeepsItsResult", completedSession},
	{"ResumeContextIsVisibleToTheAgentOnly", privateMessages},
	{"SameSessionKeyReturnsSameSession", sessionKey},                 // wire.md §11
	{"SingleAskHasItsOwnSession", singleAskSession},                  // wire.md §11
	{"EndOfSessionSettlesItsAsks", endSession},                       // wire.md §1
	{"EndedSessionRejectsCommands", finalSessions},                   // wire.md §1
	{"SessionResumesAfterLastAnswer", resumeSession},                 // B5
	{"MessagesAreOrderedAndAnswerNothing", messages},                 // wire.md §3
	{"ForeignSessionIsNotFound", foreignSessions},                    // T20
	{"SessionsAreListedNewestFirst", listSessions},                   // wire.md §3
	{"InvalidCommandIsRejected", invalidCommands},                    // F15
	{"DirectoryIsVisibleToPeople", directory},                        // F16
	{"SearchFindsTitlesQuestionsAndTools", searchSessions},           // wire.md §3
	{"ConcurrentAsksOfASessionAreCounted", concurrentAsksInSession},  // E8
	{"EndOfSessionDuringAnswersSettlesOnce", concurrentEndAndAnswer}, // E10
}

func inSession(key string) askback.Request {
	q := database()
	q.SessionKey = key
	return q
}

// start starts a session, requires success, and returns the session.
func (f fixture) start(agent askback.Sessions, q askback.SessionRequest) askback.Session {
	f.Helper()
	one, err := agent.Start(f.ctx(), q)
	if err != nil {
		f.Fatalf("start: %v", err)
	}
	return one
}

// wantSession requires this status and these numbers of asks of a session, and returns the
// session.
func (f fixture) wantSession(
	client askback.Sessions, id string, status askback.SessionStatus, pending, total int,
) askback.Session {
	f.Helper()
	one, err := client.Session(f.ctx(), id)
	if err != nil || one.Status != status || one.AsksPending != pending || one.AsksTotal != total {
		f.Errorf("got session %s, %v, want %s with %d of %d asks open", text(one), err, status, pending, total)
	}
	return one
}

func (f fixture) send(client askback.Sessions, id string, t askback.Command) askback.Session {
	f.Helper()
	one, err := client.Send(f.ctx(), id, t)
	if err != nil {
		f.Fatalf("send %T: %v", t, err)
	}
	return one
}

func sessionWaits(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	one := f.start(agent,
		askback.SessionRequest{Key: "run", Title: "Nightly", Metadata: json.RawMessage(`{"branch":"main"}`)})
	if one.Status != askback.SessionRunning || one.Owner != "deploybot" || one.Agent != "deploybot" ||
		one.Title != "Nightly" || string(one.Metadata) != `{"branch":"main"}` || one.Hosted {
		f.Errorf("got session %s, want a running session of deploybot", text(one))
	}
	first, second := f.ask(agent, inSession("run")), f.ask(agent,
		askback.Request{SessionID: one.ID, Questions: database().Questions})
	if first.SessionID != one.ID || second.SessionID != one.ID {
		f.Errorf("got asks in sessions %s and %s, want %s", first.SessionID, second.SessionID, one.ID)
	}
	f.wantSession(ana, one.ID, askback.SessionWaiting, 2, 2)
	f.noError(ana.Answer(f.ctx(), first.ID, askback.Choose("SQLite")))
	f.wantSession(agent, one.ID, askback.SessionWaiting, 1, 2)
	f.noError(ana.Decline(f.ctx(), second.ID, ""))
	f.wantSession(agent, one.ID, askback.SessionRunning, 0, 2)
	third := f.ask(agent, inSession("run"))
	f.noError(agent.Cancel(f.ctx(), third.ID, ""))
	f.wantSession(agent, one.ID, askback.SessionRunning, 0, 3)
	done := f.send(agent, one.ID, askback.Complete{Result: json.RawMessage(`{"ok":true}`)})
	if done.Status != askback.SessionCompleted || string(done.Result) != `{"ok":true}` || done.CompletedAt.IsZero() {
		f.Errorf("got session %s, want it completed with its result", text(done))
	}
	f.wantSession(agent, one.ID, askback.SessionCompleted, 0, 3)
}

func sessionKey(f fixture) {
	agent := f.agent()
	first := f.start(agent, askback.SessionRequest{Key: "run", Title: "A"})
	again := f.start(agent, askback.SessionRequest{Key: "run", Title: "B"})
	if again.ID != first.ID || !again.Repeated || again.Title != "A" || first.Repeated {
		f.Errorf("got %s (repeated %v), want session %s again", text(again), again.Repeated, first.ID)
	}
	if other := f.start(f.as(askback.Agent, "otherbot"), askback.SessionRequest{Key: "run"}); other.ID == first.ID {
		f.Errorf("another agent got session %s with the same key", first.ID)
	}
	if unkeyed := f.start(agent, askback.SessionRequest{}); unkeyed.ID == first.ID || unkeyed.Repeated {
		f.Errorf("a session without a key got %s", unkeyed.ID)
	}
	var ids [8]string
	concurrently(len(ids), func(i int) {
		one, err := agent.Start(f.ctx(), askback.SessionRequest{Key: "race"})
		if err != nil {
			f.Errorf("start: %v", err)
		}
		ids[i] = one.ID
	})
	if slices.ContainsFunc(ids[:], func(id string) bool { return id != ids[0] }) {
		f.Errorf("one key gave sessions %q", ids)
	}
}

func singleAskSession(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	ask := f.ask(agent, database())
	f.wantSession(agent, ask.SessionID, askback.SessionWaiting, 1, 1)
	f.noError(ana.Answer(f.ctx(), ask.ID, askback.Choose("SQLite")))
	f.wantSession(ana, ask.SessionID, askback.SessionCompleted, 0, 1)
	_, err := f.as(askback.Agent, "otherbot").Session(f.ctx(), ask.SessionID)
	f.wantError(err, askback.ErrNotFound)

	second := f.ask(agent, database())
	if one := f.send(ana, second.SessionID,
		askback.EndSession{Reason: "not now"}); one.Status != askback.SessionCompleted || one.AsksPending != 0 {
		f.Errorf("got session %s, want an ended session", text(one))
	}
	got := f.noError(agent.Get(f.ctx(), second.ID))
	if got.Status != askback.Cancelled ||
		got.Outcome.Actor != (askback.Actor{Kind: askback.ActorPerson, Name: "ana"}) ||
		got.Outcome.Reason != "not now" {
		f.Errorf("got outcome %s, want it cancelled by ana", text(got.Outcome))
	}
	third := f.ask(agent, database())
	_, err = ana.Send(f.ctx(), third.SessionID, askback.SendMessage{Text: "hello"})
	f.wantInvalid(err, "")
}

func endSession(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	for _, c := range []struct {
		who     askback.Client
		command askback.Command
		status  askback.SessionStatus
		phase   string
		by      askback.Actor
	}{
		{ana, askback.EndTurn{Reason: "why"}, askback.SessionCompleted, "idle", askback.Actor{
			Kind: askback.ActorPerson, Name: "ana",
		}},
		{ana, askback.EndSession{Reason: "why"}, askback.SessionCancelled, "", askback.Actor{
			Kind: askback.ActorPerson, Name: "ana",
		}},
		{agent, askback.EndSession{Reason: "why"}, askback.SessionCancelled, "", askback.Actor{
			Kind: askback.ActorAgent, Name: "deploybot",
		}},
		{agent, askback.Complete{}, askback.SessionCompleted, "", askback.Actor{
			Kind: askback.ActorAgent, Name: "deploybot",
		}},
		{
			agent,
			askback.Complete{Status: askback.SessionFailed, Error: "out of disk"},
			askback.SessionFailed, "",
			askback.Actor{Kind: askback.ActorAgent, Name: "deploybot"},
		},
	} {
		one := f.start(agent, askback.SessionRequest{})
		q := askback.Request{SessionID: one.ID, Questions: database().Questions}
		asks := []askback.Ask{f.ask(agent, q), f.ask(agent, q), f.ask(agent, q)}
		f.noError(ana.Answer(f.ctx(), asks[0].ID, askback.Choose("SQLite")))
		got := f.send(c.who, one.ID, c.command)
		if got.Status != c.status || got.Phase != c.phase || got.AsksPending != 0 {
			f.Errorf("%T: got session %s, want %s %s", c.command, text(got), c.status, c.phase)
		}
		for i, ask := range asks {
			ask = f.noError(agent.Wait(f.ctx(), ask.ID))
			if i == 0 && ask.Status != askback.Answered ||
				i > 0 && (ask.Status != askback.Cancelled || ask.Outcome.Actor != c.by) {
				f.Errorf("%T: ask %d got outcome %s", c.command, i, text(ask.Outcome))
			}
		}
	}
}

func finalSessions(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	one := f.start(agent, askback.SessionRequest{Key: "run"})
	f.send(ana, one.ID, askback.EndSession{})
	f.send(ana, one.ID, askback.EndSession{}) // repeated
	_, err := agent.Ask(f.ctx(), inSession("run"))
	f.wantError(err, askback.ErrEnded)
	for _, t := range []askback.Command{askback.SendMessage{Text: "x"}, askback.ResumeSession{}, askback.EndTurn{}} {
		_, err := ana.Send(f.ctx(), one.ID, t)
		f.wantError(err, askback.ErrEnded)
	}
	for _, t := range []askback.Command{askback.Report{Text: "x"}, askback.Complete{}, askback.SetTodos{}} {
		_, err := agent.Send(f.ctx(), one.ID, t)
		f.wantError(err, askback.ErrEnded)
	}
}

func resumeSession(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	one := f.start(agent, askback.SessionRequest{Key: "run"})
	todos := []askback.Todo{
		{Content: "Read", Status: askback.TodoCompleted}, {Content: "Write", Status: askback.TodoPending},
	}
	f.send(agent, one.ID, askback.SetTodos{Todos: todos})
	ask := f.ask(agent, inSession("run"))
	_, err := agent.Send(f.ctx(), one.ID, askback.ResumeSession{})
	f.wantError(err, askback.ErrAsksOpen)
	f.noError(ana.Answer(f.ctx(), ask.ID, askback.Choose("SQLite")))
	got := f.wantSession(agent, one.ID, askback.SessionRunning, 0, 1)
	if !slices.Equal(got.Todos, todos) {
		f.Errorf("got todos %s, want %s", text(got.Todos), text(todos))
	}
	resumed := f.send(agent, one.ID, askback.ResumeSession{Message: "go on"})
	if resumed.ResumedAt.IsZero() || resumed.Status != askback.SessionRunning {
		f.Errorf("got session %s, want it resumed", text(resumed))
	}
}

func messages(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	one := f.start(agent, askback.SessionRequest{Key: "run"})
	ask := f.ask(agent, inSession("run"))
	want := []string{"user ana: first", "assistant : second", "user ana: SQLite"}
	f.send(ana, one.ID, askback.SendMessage{Text: "first"})
	f.send(agent, one.ID, askback.Report{Text: "second"})
	f.send(ana, one.ID, askback.SendMessage{Text: "SQLite"})
	f.wantPending(ask)
	var got []string
	last := int64(0)
	for cursor := ""; ; {
		page, err := ana.Messages(f.ctx(), one.ID, cursor, 2)
		if err != nil {
			f.Fatalf("messages: %v", err)
		}
		for _, m := range page.Items {
			if got = append(got, string(m.Role)+" "+m.By+": "+m.Text); m.Seq <= last || m.At.IsZero() {
				f.Errorf("got message %s after %d", text(m), last)
			}
			last = m.Seq
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	if !slices.Equal(got, want) {
		f.Errorf("got messages %q, want %q", got, want)
	}
}

func foreignSessions(f fixture) {
	agent, other := f.agent(), f.as(askback.Agent, "otherbot")
	one := f.start(agent, askback.SessionRequest{Key: "run"})
	_, err := other.Session(f.ctx(), one.ID)
	f.wantError(err, askback.ErrNotFound)
	_, err = other.Messages(f.ctx(), one.ID, "", 0)
	f.wantError(err, askback.ErrNotFound)
	for _, t := range []askback.Command{
		askback.Report{Text: "x"},
		askback.EndSession{},
		askback.Complete{},
		askback.ResumeSession{},
		askback.SetTodos{},
	} {
		_, err := other.Send(f.ctx(), one.ID, t)
		f.wantError(err, askback.ErrNotFound)
	}
	_, err = agent.Send(f.ctx(), one.ID, askback.SendMessage{Text: "as a person"})
	f.wantError(err, askback.ErrForbidden)
	_, err = f.person("ana").Send(f.ctx(), one.ID, askback.Report{Text: "as the agent"})
	f.wantError(err, askback.ErrForbidden)
	_, err = f.person("ana").Start(f.ctx(), askback.SessionRequest{})
	f.wantError(err, askback.ErrForbidden)
	page, err := other.Sessions(f.ctx(), askback.SessionQuery{})
	if err != nil || len(page.Items) != 0 {
		f.Errorf("got sessions %s, %v, want none", text(page), err)
	}
	_, err = agent.Session(f.ctx(), "ses_00000000000000000000000000")
	f.wantError(err, askback.ErrNotFound)
}

func listSessions(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	var ids []string
	for _, title := range []string{"Deploy the shop", "Write a poem", "Deploy the blog"} {
		ids = append(ids, f.start(agent, askback.SessionRequest{Title: title}).ID)
	}
	f.send(agent, ids[1], askback.Complete{})
	f.ask(agent, database()) // the session of a single ask is not listed
	list := func(q askback.SessionQuery) (got []string) {
		for {
			page, err := ana.Sessions(f.ctx(), q)
			if err != nil {
				f.Fatalf("sessions: %v", err)
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
		{"found", askback.SessionQuery{Search: "dEpLoY The", Limit: 1}, slices.DeleteFunc(slices.Clone(sorted),
			func(id string) bool { return id == ids[1] })},
	} {
		if got := list(c.q); !slices.Equal(got, c.want) {
			f.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	_, err := ana.Sessions(f.ctx(), askback.SessionQuery{Status: "asleep"})
	f.wantInvalid(err, "/status")
}

func invalidCommands(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	one := f.start(agent, askback.SessionRequest{})
	for _, c := range []struct {
		who     askback.Client
		command askback.Command
		pointer string
	}{
		{ana, askback.SendMessage{Text: " "}, "/text"},
		{agent, askback.Complete{Status: "done"}, "/status"},
		{agent, askback.SetTodos{Todos: []askback.Todo{{Content: "a", Status: "maybe"}}}, "/todos/0/status"},
		{agent, askback.SetTodos{Todos: []askback.Todo{{Status: askback.TodoPending}}}, "/todos/0/content"},
	} {
		_, err := c.who.Send(f.ctx(), one.ID, c.command)
		f.wantInvalid(err, c.pointer)
	}
	_, err := agent.Start(f.ctx(),
		askback.SessionRequest{Metadata: json.RawMessage(`[]`), Title: string(make([]rune, 300))})
	f.wantInvalid(err, "/title", "/metadata")
	f.wantSession(agent, one.ID, askback.SessionRunning, 0, 0)
}

func directory(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	f.noError(ana.Answer(f.ctx(), f.ask(agent, database()).ID, askback.Choose("SQLite")))
	f.noError(ana.Answer(f.ctx(), f.ask(agent, confirmation()).ID, askback.Decide(askback.Deny, "")))
	f.ask(agent, database())
	stats, err := ana.Stats(f.ctx())
	if err != nil || stats.Pending != 1 || stats.Settled[askback.Answered] != 2 || len(stats.Answers) != 1 ||
		stats.Answers[0].Denied != 1 || len(stats.Agents) != 1 {
		f.Errorf("got statistics %s, %v", text(stats), err)
	}
	agents, err := ana.Agents(f.ctx())
	if err != nil || !slices.ContainsFunc(agents, func(a askback.AgentStats) bool {
		return a.Name == "deploybot" && a.Pending == 1
	}) {
		f.Errorf("got agents %s, %v, want deploybot with one open ask", text(agents), err)
	}
	if _, err := ana.People(f.ctx()); err != nil {
		f.Errorf("people: %v", err)
	}
	_, err = agent.Stats(f.ctx())
	f.wantError(err, askback.ErrForbidden)
	_, err = agent.People(f.ctx())
	f.wantError(err, askback.ErrForbidden)
}

func searchSessions(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	titled := database()
	titled.Title = "The Shop"
	asks := map[string]string{
		"shop": f.ask(agent, titled).ID, "delete_f": f.ask(agent, confirmation()).ID,
		"NAME": f.ask(agent, askback.Request{Questions: []askback.Question{{Text: "What name?"}}}).ID,
	}
	for search, id := range asks {
		page, err := ana.List(f.ctx(), askback.Query{Search: search})
		if err != nil || len(page.Items) != 1 || page.Items[0].ID != id {
			f.Errorf("%q: got %s, %v, want only %s", search, text(page), err, id)
		}
	}
	page, err := ana.List(f.ctx(), askback.Query{Search: "nothing of that"})
	if err != nil || len(page.Items) != 0 {
		f.Errorf("got %s, %v, want none", text(page), err)
	}
}

func concurrentAsksInSession(f fixture) {
	const n = 16
	agent, ana := f.agent(), f.person("ana")
	one := f.start(agent, askback.SessionRequest{Key: "run"})
	concurrently(n, func(i int) {
		a, err := agent.Ask(f.ctx(), inSession("run"))
		if err == nil && i%2 == 0 {
			_, err = ana.Answer(f.ctx(), a.ID, askback.Choose("SQLite"))
		}
		if err != nil {
			f.Errorf("ask and answer: %v", err)
		}
	})
	f.wantSession(agent, one.ID, askback.SessionWaiting, n/2, n)
}

func concurrentEndAndAnswer(f fixture) {
	agent, ana, ben := f.agent(), f.person("ana"), f.person("ben")
	one := f.start(agent, askback.SessionRequest{Key: "run"})
	var asks []askback.Ask
	for range 12 {
		asks = append(asks, f.ask(agent, inSession("run")))
	}
	concurrently(len(asks)+1, func(i int) {
		if i == len(asks) {
			if _, err := ben.Send(f.ctx(), one.ID, askback.EndSession{}); err != nil {
				f.Errorf("end: %v", err)
			}
			return
		}
		a, err := ana.Answer(f.ctx(), asks[i].ID, askback.Choose("SQLite"))
		if err != nil {
			f.wantError(err, askback.ErrSettled)
		}
		if !a.Settled() {
			f.Errorf("got %s, %v, want the outcome", text(a), err)
		}
	})
	for _, a := range asks {
		if got := f.noError(ana.Get(f.ctx(), a.ID)); got.Status != askback.Answered && got.Status != askback.Cancelled {
			f.Errorf("got status %s after the end of the session", got.Status)
		}
	}
	f.wantSession(agent, one.ID, askback.SessionCancelled, 0, len(asks))
}
