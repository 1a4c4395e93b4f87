package conformance

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/askback/askback"
)

var asking = []testCase{
	{"TheSameKeyIsTheSameAsk", sameKey},                   // an agent that was killed asks again
	{"TheLargestFormIsKeptWhole", largestForm},            // wire.md §1
	{"AKeyStandsForOneContent", keyReused},                // wire.md §3
	{"KeysOfDifferentAgentsNeverMeet", keysApart},         // wire.md §11
	{"ASessionKeyNamesOneSessionOfItsAgent", sessionKeys}, // wire.md §11
	{"NobodyAsksInTheSessionOfAnother", strangersSession}, // wire.md §11
	{"TheDigestBindsWhatRuns", digestBinds},               // F7
}

func sameKey(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	requests := []askback.Request{database(), removal(), everything()}
	for i, q := range requests {
		q.Key = strings.Repeat("k", i+1)
		if i < 2 {
			q.SessionKey = "run"
		}
		want := f.must(agent, q)
		if want.Repeated {
			f.Errorf("got a repeated ask, want a new one")
		}
		got := f.must(agent, q)
		if !got.Repeated {
			f.Errorf("got a new ask, want the repeated one")
		}
		f.same(got, want)
		want = f.done(ana.Decline(f.ctx(), want.ID, ""))
		got = f.must(agent, q) // settled in between: its outcome
		if !got.Repeated {
			f.Errorf("got a new ask, want the settled one")
		}
		f.same(got, want)
	}
	first, second := f.must(agent, database()), f.must(agent, database())
	if first.ID == second.ID {
		f.Errorf("got ask %s twice, want two asks where there is no key", first.ID)
	}
}

func keyReused(f fixture) {
	agent := f.agent()
	q := everything()
	q.Key = "k"
	want := f.must(agent, q)
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
		got, err := agent.Ask(f.ctx(), other)
		if err == nil {
			f.Errorf("another %s: got ask %s, want an error", name, got.ID)
		}
		f.want(err, askback.ErrKeyReused)
	}
	f.same(f.must(agent, q), want)
}

func keysApart(f fixture) {
	q := database()
	q.Key, q.SessionKey = "k", "s"
	seen := map[string]string{}
	for _, name := range []string{"a", "b", "ab", "deploybot"} {
		a := f.must(f.as(askback.Agent, name), q)
		for _, id := range []string{a.ID, a.SessionID} {
			if other := seen[id]; other != "" {
				f.Errorf("%s and %s share %s", name, other, id)
			}
			seen[id] = name
		}
	}
	q.Key = "bk" // of a, and not k of ab
	if a := f.must(f.as(askback.Agent, "a"), q); a.Repeated {
		f.Errorf("got ask %s, which was there before, want a new one", a.ID)
	}
}

func sessionKeys(f fixture) {
	agent := f.agent()
	q := database()
	q.SessionKey = "run 7"
	first, second := f.must(agent, q), f.must(agent, q)
	if first.SessionID == "" || first.SessionID != second.SessionID {
		f.Errorf("got sessions %q and %q for one key, want the same", first.SessionID, second.SessionID)
	}
	other := f.must(f.as(askback.Agent, "otherbot"), q)
	q.SessionKey = "run 8"
	next := f.must(agent, q)
	q.SessionKey = ""
	none, again := f.must(agent, q), f.must(agent, q)
	seen := map[string]bool{}
	for _, a := range []askback.Ask{first, other, next, none, again} {
		if seen[a.SessionID] {
			f.Errorf("got session %s twice, want one each for other agents, keys, and none", a.SessionID)
		}
		seen[a.SessionID] = true
	}
	q.SessionID = first.SessionID
	if named := f.must(agent, q); named.SessionID != first.SessionID {
		f.Errorf("got session %s, want the one that was named, %s", named.SessionID, first.SessionID)
	}
}

func strangersSession(f fixture) {
	q := database()
	q.SessionKey = "run 7"
	a := f.must(f.agent(), q)
	q.SessionKey, q.SessionID = "", a.SessionID
	_, taken := f.as(askback.Agent, "otherbot").Ask(f.ctx(), q)
	f.invalid(taken, "/session_id")
	q.SessionID = "ses_00000000000000000000000000"
	_, none := f.as(askback.Agent, "otherbot").Ask(f.ctx(), q)
	f.invalid(none, "/session_id")
	if taken != nil && none != nil && taken.Error() != none.Error() {
		f.Errorf("got %q for a stranger's session and %q for none, want the same", taken, none)
	}
}

func digestBinds(f fixture) {
	agent := f.agent()
	want := f.must(agent, removal()).Confirmation.Digest
	q := removal()
	q.Confirmation.Input = json.RawMessage("{ \"older_than_days\": 3e1,\n\"path\": \"\\u002fvar/builds\" }")
	q.Confirmation.Description, q.Title, q.Confirmation.Dangerous = "in other words", "Builds", false
	if got := f.must(agent, q).Confirmation.Digest; got != want {
		f.Errorf("got digest %s for the same arguments, want %s", got, want)
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
		if got := f.must(agent, q).Confirmation.Digest; got == want {
			f.Errorf("another %s has the same digest, %s", name, got)
		}
	}
}
