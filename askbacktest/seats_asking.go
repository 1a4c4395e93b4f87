package askbacktest

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/askback/askback"
)

var asking = []fact{
	{"TheSameKeyIsTheSameAsk", sameKey},                   // an agent that was killed asks again
	{"TheLargestFormIsKeptWhole", largestForm},            // wire.md §1
	{"AKeyStandsForOneContent", keyReused},                // wire.md §3
	{"KeysOfDifferentAgentsNeverMeet", keysApart},         // wire.md §11
	{"ASessionKeyNamesOneSessionOfItsAgent", sessionKeys}, // wire.md §11
	{"NobodyAsksInTheSessionOfAnother", strangersSession}, // wire.md §11
	{"TheDigestBindsWhatRuns", digestBinds},               // F7
}

func sameKey(r room) {
	agent, ana := r.agent(), r.person("ana")
	requests := []askback.Request{database(), removal(), everything()}
	for i, q := range requests {
		q.Key = strings.Repeat("k", i+1)
		if i < 2 {
			q.SessionKey = "run"
		}
		want := r.must(agent, q)
		if want.Repeated {
			r.Errorf("got a repeated ask, want a new one")
		}
		got := r.must(agent, q)
		if !got.Repeated {
			r.Errorf("got a new ask, want the repeated one")
		}
		r.same(got, want)
		want = r.done(ana.Decline(r.ctx(), want.ID, ""))
		got = r.must(agent, q) // settled in between: its outcome
		if !got.Repeated {
			r.Errorf("got a new ask, want the settled one")
		}
		r.same(got, want)
	}
	first, second := r.must(agent, database()), r.must(agent, database())
	if first.ID == second.ID {
		r.Errorf("got ask %s twice, want two asks where there is no key", first.ID)
	}
}

func keyReused(r room) {
	agent := r.agent()
	q := everything()
	q.Key = "k"
	want := r.must(agent, q)
	for name, change := range map[string]func(*askback.Request){
		"question":    func(q *askback.Request) { q.Questions[0].Text += "?" },
		"option":      func(q *askback.Request) { q.Questions[0].Options[1].Label = "C" },
		"preview":     func(q *askback.Request) { q.Questions[0].Options[0].Preview = "" },
		"default":     func(q *askback.Request) { q.Questions[0].Default = []string{"A"} },
		"required":    func(q *askback.Request) { q.Questions[1].Optional = false },
		"title":       func(q *askback.Request) { q.Title = "Another" },
		"label":       func(q *askback.Request) { q.Agent = "another" },
		"session":     func(q *askback.Request) { q.SessionKey = "run 8" },
		"no session":  func(q *askback.Request) { q.SessionKey = "" },
		"people":      func(q *askback.Request) { q.To = []string{"ana"} },
		"everybody":   func(q *askback.Request) { q.To = nil },
		"tags":        func(q *askback.Request) { q.Tags = nil },
		"context":     func(q *askback.Request) { q.Context = json.RawMessage(`"else"`) },
		"timeout":     func(q *askback.Request) { q.Timeout = 2 * time.Hour },
		"on timeout":  func(q *askback.Request) { q.OnTimeout = askback.OnTimeoutFail },
		"no deadline": func(q *askback.Request) { q.Timeout, q.OnTimeout = 0, "" },
		"other kind":  func(q *askback.Request) { *q = removal(); q.Key = "k" },
	} {
		other := everything()
		other.Key = "k"
		change(&other)
		got, err := agent.Ask(r.ctx(), other)
		if err == nil {
			r.Errorf("another %s: got ask %s, want an error", name, got.ID)
		}
		r.want(err, askback.ErrKeyReused)
	}
	r.same(r.must(agent, q), want)
}

func keysApart(r room) {
	q := database()
	q.Key, q.SessionKey = "k", "s"
	seen := map[string]string{}
	for _, name := range []string{"a", "b", "ab", "deploybot"} {
		a := r.must(r.as(askback.Agent, name), q)
		for _, id := range []string{a.ID, a.SessionID} {
			if other := seen[id]; other != "" {
				r.Errorf("%s and %s share %s", name, other, id)
			}
			seen[id] = name
		}
	}
	q.Key = "bk" // of a, and not k of ab
	if a := r.must(r.as(askback.Agent, "a"), q); a.Repeated {
		r.Errorf("got ask %s, which was there before, want a new one", a.ID)
	}
}

func sessionKeys(r room) {
	agent := r.agent()
	q := database()
	q.SessionKey = "run 7"
	first, second := r.must(agent, q), r.must(agent, q)
	if first.SessionID == "" || first.SessionID != second.SessionID {
		r.Errorf("got sessions %q and %q for one key, want the same", first.SessionID, second.SessionID)
	}
	other := r.must(r.as(askback.Agent, "otherbot"), q)
	q.SessionKey = "run 8"
	next := r.must(agent, q)
	q.SessionKey = ""
	none, again := r.must(agent, q), r.must(agent, q)
	seen := map[string]bool{}
	for _, a := range []askback.Ask{first, other, next, none, again} {
		if seen[a.SessionID] {
			r.Errorf("got session %s twice, want one each for other agents, keys, and none", a.SessionID)
		}
		seen[a.SessionID] = true
	}
	q.SessionID = first.SessionID
	if named := r.must(agent, q); named.SessionID != first.SessionID {
		r.Errorf("got session %s, want the one that was named, %s", named.SessionID, first.SessionID)
	}
}

func strangersSession(r room) {
	q := database()
	q.SessionKey = "run 7"
	a := r.must(r.agent(), q)
	q.SessionKey, q.SessionID = "", a.SessionID
	_, taken := r.as(askback.Agent, "otherbot").Ask(r.ctx(), q)
	r.invalid(taken, "/session_id")
	q.SessionID = "ses_00000000000000000000000000"
	_, none := r.as(askback.Agent, "otherbot").Ask(r.ctx(), q)
	r.invalid(none, "/session_id")
	if taken != nil && none != nil && taken.Error() != none.Error() {
		r.Errorf("got %q for a stranger's session and %q for none, want the same", taken, none)
	}
}

func digestBinds(r room) {
	agent := r.agent()
	want := r.must(agent, removal()).Confirmation.Digest
	q := removal()
	q.Confirmation.Input = json.RawMessage("{ \"older_than_days\": 3e1,\n\"path\": \"\\u002fvar/builds\" }")
	q.Confirmation.Description, q.Title, q.Confirmation.Dangerous = "in other words", "Builds", false
	if got := r.must(agent, q).Confirmation.Digest; got != want {
		r.Errorf("got digest %s for the same arguments, want %s", got, want)
	}
	for name, change := range map[string]func(*askback.Request){
		"input": func(q *askback.Request) {
			q.Confirmation.Input = json.RawMessage(`{"path":"/var","older_than_days":30}`)
		},
		"tool":   func(q *askback.Request) { q.Confirmation.ToolName = "delete_file" },
		"server": func(q *askback.Request) { q.Confirmation.Server = "" },
		"agent":  func(q *askback.Request) { q.Agent = "somebody" },
	} {
		q := removal()
		change(&q)
		if got := r.must(agent, q).Confirmation.Digest; got == want {
			r.Errorf("another %s has the same digest, %s", name, got)
		}
	}
}
