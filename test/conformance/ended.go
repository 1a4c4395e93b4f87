package conformance

import (
	"encoding/json"
	"strconv"

	"github.com/askback/askback"
)

// completedStays is what a program that polls for the result relies on.
func completedStays(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	one := f.began(agent, askback.SessionRequest{Key: "run"})
	keyed := inSession("run")
	keyed.Key = "asked before"
	before := f.must(agent, keyed)
	f.done(ana.Answer(f.ctx(), before.ID, askback.Choose("SQLite")))
	result := askback.Complete{Result: json.RawMessage(`{"ok":true}`)}
	done := f.tell(agent, one.ID, result)
	for _, q := range []askback.Request{inSession("run"), {SessionID: one.ID, Questions: database().Questions}} {
		_, err := agent.Ask(f.ctx(), q)
		f.want(err, askback.ErrEnded)
	}
	for _, t := range []askback.Command{askback.SendMessage{Text: "thanks"}, askback.ResumeSession{}, askback.EndTurn{}, askback.EndSession{}} {
		_, err := ana.Send(f.ctx(), one.ID, t)
		f.want(err, askback.ErrEnded)
	}
	for _, t := range []askback.Command{
		askback.Report{Text: "x"}, askback.Complete{}, askback.Complete{Status: askback.SessionFailed}, askback.SetTodos{}, askback.ResumeSession{},
	} {
		_, err := agent.Send(f.ctx(), one.ID, t)
		f.want(err, askback.ErrEnded)
	}
	f.tell(agent, one.ID, result) // a repeat
	if again := f.must(agent, keyed); again.ID != before.ID {
		f.Errorf("the same ask again got %s, want %s", again.ID, before.ID)
	}
	got, err := ana.Session(f.ctx(), one.ID)
	if err != nil || text(got) != text(done) {
		f.Errorf("got session %s, %v, want %s", text(got), err, text(done))
	}
	// A session that an ask has of its own ends with it; the next ask has another.
	alone := f.must(agent, database())
	f.done(ana.Answer(f.ctx(), alone.ID, askback.Choose("SQLite")))
	f.open(f.must(agent, database()))
}

// privateContext is a message in which a resume context stands: the agent reads it, and
// people read the rest.
func privateContext(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	one := f.began(agent, askback.SessionRequest{})
	const told = askback.ResumeOpen + " secret " + askback.ResumeClose + " Go on."
	agents, people := f.follow(agent, one.ID, ""), f.follow(ana, one.ID, "")
	agents.types("snapshot")
	people.types("snapshot")
	f.tell(agent, one.ID, askback.Report{Text: told})
	for _, c := range []struct {
		seat   askback.Client
		stream stream
		want   string
	}{{agent, agents, told}, {ana, people, "Go on."}} {
		page, err := c.seat.Messages(f.ctx(), one.ID, "", 0)
		if err != nil || len(page.Items) != 1 || page.Items[0].Text != c.want {
			f.Errorf("got messages %s, %v, want %q", text(page), err, c.want)
		}
		if got := saidBy(c.stream.types("message")[0], "text"); got != strconv.Quote(c.want) {
			f.Errorf("got event %s, want %q", got, c.want)
		}
	}
}
