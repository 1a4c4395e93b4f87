package conformance

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/askback/askback"
)

var asking = []testCase{
	{"SameKeyReturnsSameAsk", sameKey},                // a restarted agent repeats its ask
	{"LargestAskIsStored", largestForm},               // wire.md §1
	{"ReusedKeyIsRejected", keyReused},                // wire.md §3
	{"KeysArePerAgent", keysPerAgent},                 // wire.md §11
	{"SessionKeysArePerAgent", sessionKeys},           // wire.md §11
	{"AskInForeignSessionIsRejected", foreignSession}, // wire.md §11
	{"DigestDependsOnTheCall", digestDiffers},         // F7
}

func sameKey(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	requests := []askback.Request{database(), confirmation(), fullRequest()}
	for i, q := range requests {
		q.Key = strings.Repeat("k", i+1)
		if i < 2 {
			q.SessionKey = "run"
		}
		want := f.ask(agent, q)
		if want.Repeated {
			f.Errorf("got a repeated ask, want a new one")
		}
		got := f.ask(agent, q)
		if !got.Repeated {
			f.Errorf("got a new ask, want the repeated one")
		}
		f.wantSame(got, want)
		want = f.noError(ana.Decline(f.ctx(), want.ID, ""))
		got = f.ask(agent, q) // settled between the two requests
		if !got.Repeated {
			f.Errorf("got a new ask, want the settled one")
		}
		f.wantSame(got, want)
	}
	first, second := f.ask(agent, database()), f.ask(agent, database())
	if first.ID == second.ID {
		f.Errorf("got ask %s twice, want two asks without keys", first.ID)
	}
}

func keyReused(f fixture) {
	agent := f.agent()
	q := fullRequest()
	q.Key = "k"
	want := f.ask(agent, q)
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
		"other kind":  func(q *askback.Request) { *q = confirmation(); q.Key = "k" },
	} {
		other := fullRequest()
		other.Key = "k"
		change(&other)
		got, err := agent.Ask(f.ctx(), other)
		if err == nil {
			f.Errorf("another %s: got ask %s, want an error", name, got.ID)
		}
		f.wantError(err, askback.ErrKeyReused)
	}
	f.wantSame(f.ask(agent, q), want)
}

func keysPerAgent(f fixture) {
	q := database()
	q.Key, q.SessionKey = "k", "s"
	seen := map[string]string{}
	for _, name := range []string{"a", "b", "ab", "deploybot"} {
		a := f.ask(f.as(askback.Agent, name), q)
		for _, id := range []string{a.ID, a.SessionID} {
			if other := seen[id]; other != "" {
				f.Errorf("%s and %s share %s", name, other, id)
			}
			seen[id] = name
		}
	}
	q.Key = "bk" // the key "bk" of the agent a, not the key "k" of the agent ab
	if a := f.ask(f.as(askback.Agent, "a"), q); a.Repeated {
		f.Errorf("got the existing ask %s, want a new one", a.ID)
	}
}

func sessionKeys(f fixture) {
	agent := f.agent()
	q := database()
	q.SessionKey = "run 7"
	first, second := f.ask(agent, q), f.ask(agent, q)
	if first.SessionID == "" || first.SessionID != second.SessionID {
		f.Errorf("got sessions %q and %q for one key, want the same", first.SessionID, second.SessionID)
	}
	other := f.ask(f.as(askback.Agent, "otherbot"), q)
	q.SessionKey = "run 8"
	next := f.ask(agent, q)
	q.SessionKey = ""
	none, again := f.ask(agent, q), f.ask(agent, q)
	seen := map[string]bool{}
	for _, a := range []askback.Ask{first, other, next, none, again} {
		if seen[a.SessionID] {
			f.Errorf("got session %s twice, want one for each agent and key", a.SessionID)
		}
		seen[a.SessionID] = true
	}
	q.SessionID = first.SessionID
	if named := f.ask(agent, q); named.SessionID != first.SessionID {
		f.Errorf("got session %s, want %s", named.SessionID, first.SessionID)
	}
}

func foreignSession(f fixture) {
	q := database()
	q.SessionKey = "run 7"
	a := f.ask(f.agent(), q)
	q.SessionKey, q.SessionID = "", a.SessionID
	_, taken := f.as(askback.Agent, "otherbot").Ask(f.ctx(), q)
	f.wantInvalid(taken, "/session_id")
	q.SessionID = "ses_00000000000000000000000000"
	_, none := f.as(askback.Agent, "otherbot").Ask(f.ctx(), q)
	f.wantInvalid(none, "/session_id")
	if taken != nil && none != nil && taken.Error() != none.Error() {
		f.Errorf("got %q for a foreign session and %q for an unknown one, want the same", taken, none)
	}
}

func digestDiffers(f fixture) {
	agent := f.agent()
	want := f.ask(agent, confirmation()).Confirmation.Digest
	q := confirmation()
	q.Confirmation.Input = json.RawMessage("{ \"older_than_days\": 3e1,\n\"path\": \"\\u002fvar/builds\" }")
	q.Confirmation.Description, q.Title, q.Confirmation.Dangerous = "in other words", "Builds", false
	if got := f.ask(agent, q).Confirmation.Digest; got != want {
		f.Errorf("got digest %s for the same arguments, want %s", got, want)
	}
	for name, change := range map[string]func(*askback.Request){
		"input": func(q *askback.Request) {
			q.Confirmation.Input = json.RawMessage(`{"path":"/var","older_than_days":30}`)
		},
		"tool":   func(q *askback.Request) { q.Confirmation.ToolName = "delete_file" },
		"server": func(q *askback.Request) { q.Confirmation.Server = "" },
		"agent":  func(q *askback.Request) { q.Agent = "another" },
	} {
		q := confirmation()
		change(&q)
		if got := f.ask(agent, q).Confirmation.Digest; got == want {
			f.Errorf("another %s has the same digest, %s", name, got)
		}
	}
}
