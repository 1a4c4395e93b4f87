package sdk_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/jcs"
	"github.com/askback/askback/test/interop/clienttest"
)

var database = object{
	"key": "run-1/database", "question": "Which database?", "options": []string{"PostgreSQL", "SQLite"},
}

func deploy(key string) object {
	return object{
		"key": key, "tool_name": "deploy", "description": "Deploy the shop", "input": object{"to": "prod", "count": 3},
	}
}

// The answer reaches three callers: one waited while the server was killed and restarted, one was started
// again with the same key, and one calls after the answer (F9).
func TestAnswerArrivesAfterRestartsOfServerAndCaller(t *testing.T) {
	t.Parallel()
	eachLanguage(t, func(t *testing.T, d driver) {
		server := clienttest.New(t)
		c := call{Call: "ask", Request: database}
		waits := d.start(t, server.URL, server.AgentToken, c)
		killed := d.start(t, server.URL, server.AgentToken, c)
		server.Open(1)
		server.Restart()
		killed.kill()
		again := d.start(t, server.URL, server.AgentToken, c)
		open := server.Open(1)[0]
		waits.running()
		server.Answer(open.ID, askback.Choose("SQLite"))
		for _, p := range []*caller{waits, again, d.start(t, server.URL, server.AgentToken, c)} {
			if r := p.result(); r.Text != "SQLite" || r.Answers["Which database?"] != "SQLite" || r.DefaultApplied {
				t.Errorf("got %+v, want the answer", r)
			}
		}
		a, err := server.Robot.Get(t.Context(), open.ID)
		if err != nil || a.AckedAt.IsZero() {
			t.Errorf("got the ask %+v, %v, want it acked", a, err)
		}
		server.Open(0)
	})
}

// A denied caller gets the reason, and the denial consumes nothing.
func TestDenialContainsTheReason(t *testing.T) {
	t.Parallel()
	eachLanguage(t, func(t *testing.T, d driver) {
		server := clienttest.New(t)
		p := d.start(t, server.URL, server.AgentToken, call{Call: "confirm", Request: deploy("a")})
		open := server.Open(1)[0]
		server.Answer(open.ID, askback.Decide(askback.Deny, "not on Fridays"))
		r := p.result()
		if r.Approved || r.Error != "" || r.Reason != "not on Fridays" {
			t.Errorf("got %+v, want a denial with its reason", r)
		}
		contains(t, r.Message, `Denied by "ana": do not do this, and do not reach the same end in another way, such as with another tool or command. Reason: "not on Fridays".`)
	})
}

// If a person changes the arguments of the agent, the caller gets the changed arguments. The approval is used
// once: a second call with the key gets an error.
func TestApprovalWithChangedArgumentsIsUsedOnce(t *testing.T) {
	t.Parallel()
	eachLanguage(t, func(t *testing.T, d driver) {
		server := clienttest.New(t)
		p := d.start(t, server.URL, server.AgentToken, call{Call: "confirm", Request: deploy("a")})
		open := server.Open(1)[0]
		server.Answer(open.ID,
			askback.Answer{Decision: askback.Approve, Input: json.RawMessage(`{"to": "stagıng €", "count": 1e21}`)})
		r := p.result()
		if !r.Approved || !r.Edited || !strings.Contains(string(r.Input), "stagıng €") {
			t.Errorf("got %+v, want an approval with changed arguments", r)
		}
		a, err := server.Robot.Get(t.Context(), open.ID)
		if err != nil || a.ConsumedAt.IsZero() {
			t.Errorf("got %+v, %v, want a consumed approval", a, err)
		}
		if r := d.start(t, server.URL, server.AgentToken,
			call{Call: "confirm", Request: deploy("a")}).result(); r.Approved || r.Error != "ConsumedError" {
			t.Errorf("got %+v for the second call, want an error", r)
		}
	})
}

// The digest is checked for the arguments that will run. After a mismatch, the approval can still be used.
func TestApprovalIsForTheApprovedArgumentsOnly(t *testing.T) {
	t.Parallel()
	eachLanguage(t, func(t *testing.T, d driver) {
		server := clienttest.New(t)
		others := []object{{"to": "prod", "count": 4}, {"to": "prod"}, {}}
		spend := func(input object) *caller {
			return d.start(t, server.URL, server.AgentToken, call{Call: "spend", Request: deploy("a"), Input: input})
		}
		first := spend(others[0])
		server.Answer(server.Open(1)[0].ID, askback.Decide(askback.Approve, ""))
		for i, p := range []*caller{first, spend(others[1]), spend(others[2])} {
			if r := p.result(); r.Approved || r.Error != "DigestError" {
				t.Errorf("%v: got %+v, want an error", others[i], r)
			}
		}
		// The order of the keys does not matter.
		if r := spend(object{"count": 3, "to": "prod"}).result(); !r.Approved {
			t.Errorf("got %+v for the approved arguments, want an approval", r)
		}
	})
}

// After the deadline, the caller gets an error without an answer. A default is marked as a default.
func TestExpiredAskReturnsAnErrorOrTheDefault(t *testing.T) {
	t.Parallel()
	eachLanguage(t, func(t *testing.T, d driver) {
		server := clienttest.New(t)
		with := func(r object, more object) object {
			out := object{}
			for _, m := range []object{r, more} {
				for k, v := range m {
					out[k] = v
				}
			}
			return out
		}
		soon := object{"timeout": "1s", "on_timeout": "decline"}
		asked := d.start(t, server.URL, server.AgentToken, call{Call: "ask", Request: with(database, soon)})
		confirmed := d.start(t, server.URL, server.AgentToken, call{Call: "confirm", Request: with(deploy("a"), soon)})
		defaulted := d.start(t, server.URL, server.AgentToken, call{Call: "ask", Request: with(database, object{
			"key": "b", "timeout": "1s", "on_timeout": "default", "default": "SQLite",
		})})
		for _, p := range []*caller{asked, confirmed} {
			r := p.result()
			if r.Error != "NotAnsweredError" || r.Status != "expired" || r.Approved {
				t.Errorf("got %+v, want an error", r)
			}
			contains(t, r.Message, "This is not consent")
		}
		if r := defaulted.result(); r.Text != "SQLite" || !r.DefaultApplied {
			t.Errorf("got %+v, want the default, marked", r)
		}
	})
}

// Without the address of a server or a token, the error names the setting to set.
func TestMissingVariableIsExplained(t *testing.T) {
	t.Parallel()
	eachLanguage(t, func(t *testing.T, d driver) {
		c := call{Call: "ask", Request: database}
		for _, p := range []struct {
			caller *caller
			want   []string
		}{
			{d.start(t, "", "", c), []string{"set ASKBACK_URL", "http://127.0.0.1:7575"}},
			{d.start(t, "http://127.0.0.1:7575", "", c), []string{
				"set ASKBACK_TOKEN", "askback token add --kind agent",
			}},
		} {
			r := p.caller.result()
			if r.Error != "AskbackError" {
				t.Errorf("got %+v, want an error", r)
			}
			for _, want := range p.want {
				contains(t, r.Message, want)
			}
		}
	})
}

// Two callers with one key have one ask, and only one of the callers may run the call.
func TestOnlyOneOfTwoCallersWithOneKeyIsApproved(t *testing.T) {
	t.Parallel()
	eachLanguage(t, func(t *testing.T, d driver) {
		server := clienttest.New(t)
		c := call{Call: "confirm", Request: deploy("a")}
		both := []*caller{d.start(t, server.URL, server.AgentToken, c), d.start(t, server.URL, server.AgentToken, c)}
		open := server.Open(1)[0]
		server.Answer(open.ID, askback.Decide(askback.Approve, ""))
		var got []string
		for _, p := range both {
			r := p.result()
			if got = append(got, r.Error); r.Approved != (r.Error == "") {
				t.Errorf("got %+v", r)
			}
		}
		slices.Sort(got)
		if got[0] != "" || got[1] != "ConsumedError" {
			t.Errorf("got the errors %q, want one approval", got)
		}
	})
}

// Errors have a type, the message of the server, and the position of the mistake.
func TestErrorsContainTheMessageOfTheServer(t *testing.T) {
	t.Parallel()
	eachLanguage(t, func(t *testing.T, d driver) {
		server := clienttest.New(t)
		zero := 0
		do := func(token string, c call) result {
			t.Helper()
			return d.start(t, server.URL, token, c).result()
		}
		r := do(server.AgentToken, call{Call: "ask", Request: object{"question": "Which?", "options": []string{"A"}}})
		if r.Error != "InvalidError" || r.Pointer != "/questions/0/options" {
			t.Errorf("got %+v, want an error at the options", r)
		}
		contains(t, r.Message, "2 to 50 options")
		if r := do("askback_wrong", call{Call: "ask", Request: database}); r.Error != "AccessError" || r.Message == "" {
			t.Errorf("got %+v for an unknown token", r)
		}
		if r := do(server.AgentToken, call{Call: "ask", Request: database, WaitMs: &zero}); r.Error != "PendingError" ||
			!strings.Contains(r.Message, "/asks/ask_") {
			t.Errorf("got %+v for a wait that ended, want an error with the page", r)
		}
		other := object{"key": database["key"], "question": "Another question?"}
		if r := do(server.AgentToken, call{Call: "ask", Request: other}); r.Error != "KeyReusedError" {
			t.Errorf("got %+v for a key of another ask", r)
		}
		if r := do(server.AgentToken, call{Call: "cancel", Request: database}); r.Status != "cancelled" {
			t.Errorf("got %+v, want a withdrawn ask", r)
		}
		r = do(server.AgentToken, call{Call: "ask", Request: database})
		if r.Error != "NotAnsweredError" || r.Status != "cancelled" || r.Reason != "not needed" {
			t.Errorf("got %+v, want a cancelled ask", r)
		}
	})
}

// The packages produce the same canonical JSON as the server, because digests depend on it.
func TestCanonicalJSONMatchesTheServer(t *testing.T) {
	t.Parallel()
	values := []string{
		`{"b":[1,2.5,-0,1e21,1e-7,0.000001,123456789012345680000,5e-324,1.7976931348623157e308,4.35,100,1e20,333333333.3333333],"a":{"é":null,"e":true}}`,
		"{\"\\ufb33\":1,\"\\ud83d\\ude00\":2,\"\\r\":3,\"1\":4,\"\\u0080\":5,\"€\":6}",
		"\"\\u2028</script>\\u0000\\u001f\\u007f\\\"\\\\/\\b\\f\\n\\r\\t\"",
		`[]`, `{}`, `""`, `null`, `false`, `-1.5e-9`, `9007199254740991`,
	}
	eachLanguage(t, func(t *testing.T, d driver) {
		var request []json.RawMessage
		for _, v := range values {
			request = append(request, json.RawMessage(v))
		}
		r := d.start(t, "http://127.0.0.1:1", "none", call{Call: "canonical", Request: request}).result()
		for i, v := range values {
			want, err := jcs.Canonical([]byte(v))
			if err != nil {
				t.Fatal(err)
			}
			if i >= len(r.Canonical) || r.Canonical[i] != string(want) {
				t.Errorf("got %q, want %s", r.Canonical, want)
				break
			}
		}
	})
}
