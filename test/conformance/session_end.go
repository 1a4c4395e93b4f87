package conformance

import (
	"encoding/json"
	"strconv"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/resumecontext"
)

// completedSession tests that a completed session rejects new asks and commands, and that earlier requests
// can be repeated.
func completedSession(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	one := f.start(agent, askback.SessionRequest{Key: "run"})
	keyed := inSession("run")
	keyed.Key = "asked before"
	before := f.ask(agent, keyed)
	f.noError(ana.Answer(f.ctx(), before.ID, askback.Choose("SQLite")))
	result := askback.Complete{Result: json.RawMessage(`{"ok":true}`)}
	done := f.send(agent, one.ID, result)
	for _, q := range []askback.Request{inSession("run"), {SessionID: one.ID, Questions: database().Questions}} {
		_, err := agent.Ask(f.ctx(), q)
		f.wantError(err, askback.ErrEnded)
	}
	for _, t := range []askback.Command{
		askback.SendMessage{Text: "thanks"}, askback.ResumeSession{}, askback.EndTurn{}, askback.EndSession{},
	} {
		_, err := ana.Send(f.ctx(), one.ID, t)
		f.wantError(err, askback.ErrEnded)
	}
	for _, t := range []askback.Command{
		askback.Report{Text: "x"},
		askback.Complete{},
		askback.Complete{Status: askback.SessionFailed},
		askback.SetTodos{},
		askback.ResumeSession{},
	} {
		_, err := agent.Send(f.ctx(), one.ID, t)
		f.wantError(err, askback.ErrEnded)
	}
	f.send(agent, one.ID, result) // repeated
	if again := f.ask(agent, keyed); again.ID != before.ID {
		f.Errorf("the same ask again got %s, want %s", again.ID, before.ID)
	}
	got, err := ana.Session(f.ctx(), one.ID)
	if err != nil || text(got) != text(done) {
		f.Errorf("got session %s, %v, want %s", text(got), err, text(done))
	}
	// The session of a single ask ends with the ask, and the next ask has a new session.
	alone := f.ask(agent, database())
	f.noError(ana.Answer(f.ctx(), alone.ID, askback.Choose("SQLite")))
	f.wantOpen(f.ask(agent, database()))
}

// privateMessages tests a message with a resume context: the agent reads the whole text,
// and people read the text without the context.
func privateMessages(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	one := f.start(agent, askback.SessionRequest{})
	const told = resumecontext.Open + " secret " + resumecontext.Close + " Go on."
	agents, people := f.follow(agent, one.ID, ""), f.follow(ana, one.ID, "")
	agents.types("snapshot")
	people.types("snapshot")
	f.send(agent, one.ID, askback.Report{Text: told})
	for _, c := range []struct {
		client      askback.Client
		eventReader eventReader
		want        string
	}{{agent, agents, told}, {ana, people, "Go on."}} {
		page, err := c.client.Messages(f.ctx(), one.ID, "", 0)
		if err != nil || len(page.Items) != 1 || page.Items[0].Text != c.want {
			f.Errorf("got messages %s, %v, want %q", text(page), err, c.want)
		}
		if got := dataField(c.eventReader.types("message")[0], "text"); got != strconv.Quote(c.want) {
			f.Errorf("got event %s, want %q", got, c.want)
		}
	}
}
