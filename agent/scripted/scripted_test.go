package scripted_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/askback/askback/agent"
	"github.com/askback/askback/agent/scripted"
	"github.com/askback/askback/conversation"
	"github.com/askback/askback/test/kit/golden"
)

const poem = `
- reply: I need to know the style.
  tools:
    - {name: ask_user_question, input: {questions: [{question: What style?, header: Style, options: [{label: haiku}, {label: sonnet}]}]}}
- error: {status: 529}
- error: {status: 429}
- expect: haiku
  reply: "Old pond. A frog leaps in."
`

func parse(t *testing.T, script string) *scripted.Model {
	t.Helper()
	m, err := scripted.Parse("poem.yaml", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var (
	prompt   = conversation.Message{Role: conversation.RoleUser, Text: "Write a poem."}
	question = conversation.Message{
		Role: conversation.RoleAssistant, Text: "I need to know the style.", Calls: []conversation.Call{{N: 1}},
	}
	poemEnd = conversation.Message{Role: conversation.RoleAssistant, Text: "Old pond."}
)

func result(text string) conversation.Message {
	return conversation.Message{Role: conversation.RoleTool, Result: &conversation.ToolResult{N: 1, Text: text}}
}

func TestRequestGetsTheTurnForItsMessagesAndAttempt(t *testing.T) {
	m := parse(t, poem)
	answered := []conversation.Message{prompt, question, result("the style is haiku")}
	for _, c := range []struct {
		name     string
		messages []conversation.Message
		attempt  int
		text     string
		err      string
		retry    bool
	}{
		{"first", []conversation.Message{prompt}, 1, "I need to know the style.", "", false},
		{
			"first, without the number of the attempt",
			[]conversation.Message{prompt},
			0, "I need to know the style.",
			"", false,
		},
		{"first, again", []conversation.Message{prompt}, 3, "I need to know the style.", "", false},
		{"second fails", answered, 1, "", "status 529", true},
		{"second fails, made again after a crash", answered, 1, "", "status 529", true},
		{"second fails again", answered, 2, "", "status 429", true},
		{"second", answered, 3, "Old pond. A frog leaps in.", "", false},
		{
			"second, with another result",
			[]conversation.Message{prompt, question, result("sonnet")},
			3, "",
			`turn 4 of the script poem.yaml expects "haiku" in the last message, which is "sonnet"`, false,
		},
		{
			"third", append(slices.Clone(answered), poemEnd, prompt), 1, "",
			"the script poem.yaml has 4 turns, and none for this request", false,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var pieces strings.Builder
			reply, err := m.Reply(t.Context(), agent.ModelRequest{Messages: c.messages, Attempt: c.attempt},
				func(s string) { pieces.WriteString(s) })
			if c.err == "" && (err != nil || reply.Text != c.text || pieces.String() != c.text) {
				t.Fatalf("got %q in pieces of %q, %v, want %q", reply.Text, &pieces, err, c.text)
			}
			var failed *agent.ModelError
			if c.err != "" && (!errors.As(err, &failed) || !strings.Contains(err.Error(), c.err) ||
				failed.Retry != c.retry) {
				t.Fatalf("got %v, want %q, retry %v", err, c.err, c.retry)
			}
		})
	}
}

func TestInputsOfScriptedCallsAreJSON(t *testing.T) {
	m := parse(t, `[{tools: [{name: a, input: {n: 1, f: 1.5, "yes": true, no: null, list: [x, {y: "z"}], big: 18446744073709551615}}, {name: b}]}]`)
	reply, err := m.Reply(t.Context(), agent.ModelRequest{Messages: []conversation.Message{prompt}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := json.Marshal(reply.Calls)
	want := `[{"n":0,"id":"call_1_1","tool":"a","input":{"big":18446744073709551615,"f":1.5,"list":["x",{"y":"z"}],"n":1,"no":null,"yes":true},"kind":""},{"n":0,"id":"call_1_2","tool":"b","input":{},"kind":""}]`
	if string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestFailureAtTheEndIsNotRepeated(t *testing.T) {
	m := parse(t, "- error: {status: 503}\n")
	for attempt, want := range map[int]string{1: "status 503", 2: "none for this request"} {
		_, err := m.Reply(t.Context(), agent.ModelRequest{Messages: []conversation.Message{prompt}, Attempt: attempt},
			nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("attempt %d: got %v, want %q", attempt, err, want)
		}
	}
}

// TestInvalidScriptsAreReportedWithTheirPosition reads testdata/invalid: scripts, each with its error in the
// file of the same name with .txt.
func TestInvalidScriptsAreReportedWithTheirPosition(t *testing.T) {
	files, _ := filepath.Glob("testdata/invalid/*.yaml")
	if len(files) < 10 {
		t.Fatalf("got %d files", len(files))
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = scripted.Parse(filepath.Base(f), b); err == nil {
			t.Errorf("%s is accepted", f)
			continue
		}
		golden.Check(t, strings.TrimSuffix(f, ".yaml")+".txt", err.Error()+"\n")
	}
}

func FuzzScriptsDoNotPanic(f *testing.F) {
	files, _ := filepath.Glob("testdata/invalid/*.yaml")
	for _, name := range files {
		b, _ := os.ReadFile(name)
		f.Add(b)
	}
	f.Add([]byte(poem))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := scripted.Parse("s.yaml", b)
		if (m == nil) != (err != nil) {
			t.Fatalf("got %v, %v", m, err)
		}
		if err != nil {
			return
		}
		reply, _ := m.Reply(t.Context(), agent.ModelRequest{Messages: []conversation.Message{prompt}}, nil)
		for _, c := range reply.Calls {
			if !json.Valid(c.Input) || c.Input[0] != '{' {
				t.Fatalf("input %q", c.Input)
			}
		}
	})
}
