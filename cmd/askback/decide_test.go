package main

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/askback/askback"
)

// Dangerous calls, and calls with hidden characters, are never decided together with other calls (T12).
func TestDangerousCallsAreDecidedAlone(t *testing.T) {
	call := func(dangerous bool, input string) askback.Ask {
		return askback.Ask{ID: "ask_1", Kind: askback.Confirm, Confirmation: &askback.Confirmation{
			ToolName: "db.migrate", Dangerous: dangerous, Input: json.RawMessage(input),
		}}
	}
	if err := decidable([]askback.Ask{call(false, `{"a":1}`)}); err != nil {
		t.Errorf("got %v, want none", err)
	}
	for want, a := range map[string]askback.Ask{
		"is dangerous": call(true, `{}`), "hard to see": call(false, "{\"a\":\"x\u200by\"}"),
	} {
		err := decidable([]askback.Ask{call(false, `{}`), a})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		if coded := (exitError{}); !errors.As(err, &coded) || coded.code != exitUsage {
			t.Errorf("got %v, want exit code 2", err)
		}
	}
}

// All open calls of a session are decided, even if the list of calls has several pages. An open question is
// noted and stays open.
func TestAllCallsOfASessionAreDecided(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const calls = 6
	text, session := strings.Repeat("word ", 20), ""
	large := strings.TrimSuffix(strings.Repeat(`"`+text+`",`, 9000), ",") // a page has 4 MB
	for range calls {
		body := `{"session_key": "run", "confirmation": {"tool_name": "label", "input": {"text": [` + large + `]}}}`
		session = s.call(s.agent, "POST", "/asks", body, 201)["session_id"].(string)
	}
	s.call(s.agent, "POST", "/asks", `{"session_key": "run", "questions": [{"question": "Which one?"}]}`, 201)
	p := launch(t, s.env, "answer", "--session", session, "--deny", "--yes")
	if !p.wait() || p.result != nil {
		t.Fatalf("got %v: %q", p.result,
			regexp.MustCompile(`(?m)^(askback: .*|  ask_.*)$`).FindAllString(p.err.String(), -1))
	}
	if got := strings.Count(p.err.String(), ": denied by "); got != calls {
		t.Errorf("decided %d calls, want %d", got, calls)
	}
	if want := "1 question of this session must be answered on its own"; !strings.Contains(p.err.String(), want) {
		t.Errorf("no note %q", want)
	}
	if left := mustRun(t, s.env, "list"); strings.Count(left, "\n") != 1 || !strings.Contains(left, "Which one?") {
		t.Errorf("open after it:\n%.300s", left)
	}
}

// T10: a yes that was typed before the calls were shown approves nothing. Text of an agent that is wider than
// the terminal stays in its frame.
func TestYesTypedBeforeTheCallsIsDiscarded(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	var ids []string
	for _, name := range []string{"one", "two"} {
		body := `{"confirmation": {"tool_name": "label", "input": {"` + name + `": "` + strings.Repeat("x",
			70) + ` forged"}}}`
		ids = append(ids, s.call(s.agent, "POST", "/asks", body, 201)["id"].(string))
	}
	at := startTerminal(t, s.env, 80, "askback", "answer", ids[0], ids[1], "--approve")
	at.typeKeys("yes\r")
	at.waitForScreen(`approve 2 calls\? Type yes: `)
	for line := range strings.Lines(at.screen.String()) {
		if strings.Contains(line, "forged") && !regexp.MustCompile(`^[ a-z]{7}[│┊] `).MatchString(line) {
			t.Errorf("text of the agent leaves its frame: %q", line)
		}
	}
	at.typeKeys("no\r")
	at.waitExit(exitNo)
	if left := mustRun(t, s.env, "list"); strings.Count(left, "\n") != 2 {
		t.Errorf("open after it:\n%.300s", left)
	}
}
