package askbacktest

import (
	"encoding/json"
	"strconv"

	"github.com/askback/askback"
)

// completedStays is what a program that polls for the result relies on.
func completedStays(r room) {
	agent, ana := r.agent(), r.person("ana")
	one := r.began(agent, askback.SessionRequest{Key: "run"})
	keyed := inSession("run")
	keyed.Key = "asked before"
	before := r.must(agent, keyed)
	r.done(ana.Answer(r.ctx(), before.ID, askback.Choose("SQLite")))
	result := askback.Complete{Result: json.RawMessage(`{"ok":true}`)}
	done := r.tell(agent, one.ID, result)
	for _, q := range []askback.Request{inSession("run"), {SessionID: one.ID, Questions: database().Questions}} {
		_, err := agent.Ask(r.ctx(), q)
		r.want(err, askback.ErrEnded)
	}
	for _, t := range []askback.Tell{askback.SendMessage{Text: "thanks"}, askback.ResumeSession{}, askback.EndTurn{}, askback.EndSession{}} {
		_, err := ana.Tell(r.ctx(), one.ID, t)
		r.want(err, askback.ErrEnded)
	}
	for _, t := range []askback.Tell{
		askback.Report{Text: "x"}, askback.Complete{}, askback.Complete{Status: askback.SessionFailed}, askback.SetTodos{}, askback.ResumeSession{},
	} {
		_, err := agent.Tell(r.ctx(), one.ID, t)
		r.want(err, askback.ErrEnded)
	}
	r.tell(agent, one.ID, result) // a repeat
	if again := r.must(agent, keyed); again.ID != before.ID {
		r.Errorf("the same ask again got %s, want %s", again.ID, before.ID)
	}
	got, err := ana.Session(r.ctx(), one.ID)
	if err != nil || text(got) != text(done) {
		r.Errorf("got session %s, %v, want %s", text(got), err, text(done))
	}
	// A session that an ask has of its own ends with it; the next ask has another.
	alone := r.must(agent, database())
	r.done(ana.Answer(r.ctx(), alone.ID, askback.Choose("SQLite")))
	r.open(r.must(agent, database()))
}

// privateContext is a message in which a resume context stands: the agent reads it, and
// people read the rest.
func privateContext(r room) {
	agent, ana := r.agent(), r.person("ana")
	one := r.began(agent, askback.SessionRequest{})
	const told = askback.ResumeOpen + " secret " + askback.ResumeClose + " Go on."
	agents, people := r.follow(agent, one.ID, ""), r.follow(ana, one.ID, "")
	agents.types("snapshot")
	people.types("snapshot")
	r.tell(agent, one.ID, askback.Report{Text: told})
	for _, c := range []struct {
		seat   askback.Seat
		stream stream
		want   string
	}{{agent, agents, told}, {ana, people, "Go on."}} {
		page, err := c.seat.Messages(r.ctx(), one.ID, "", 0)
		if err != nil || len(page.Items) != 1 || page.Items[0].Text != c.want {
			r.Errorf("got messages %s, %v, want %q", text(page), err, c.want)
		}
		if got := saidBy(c.stream.types("message")[0], "text"); got != strconv.Quote(c.want) {
			r.Errorf("got event %s, want %q", got, c.want)
		}
	}
}
