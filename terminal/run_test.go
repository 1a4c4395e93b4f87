package terminal_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/terminal"
	"github.com/askback/askback/test/kit/golden"
)

// runEvent returns an event of a session with this data.
func runEvent(kind, data string) askback.Event {
	return askback.Event{
		Seq: 1, SessionID: "ses_1", Type: askback.EventType(kind), At: noon, Data: json.RawMessage(data),
	}
}

// poemRun is a run with text, tool calls, todos, a message of a person and a question.
func poemRun() []askback.Event {
	return []askback.Event{
		runEvent("message", `{"role": "user", "by": "ana", "text": "Write a poem."}`),
		runEvent("state_change", `{"type": "llm_requesting"}`),
		runEvent("message_delta", `{"request": 1, "offset": 0, "text": "I look at what is there, and then I ask you for the style of the poem.\nThis "}`),
		runEvent("message_delta", `{"request": 1, "offset": 76, "text": "takes a moment."}`),
		runEvent("message", `{"role": "assistant", "text": "I look at what is there, and then I ask you for the style of the poem.\nThis takes a moment."}`),
		runEvent("tool_input_ready", `{"call_id": "1", "tool": "files__list", "input": {"path": "."}}`),
		runEvent("tool_input_ready", `{"call_id": "2", "tool": "ask_user_question", "input": {"questions": []}}`),
		runEvent("tool_input_ready", `{"call_id": "3", "tool": "files__write", "input": {"path": "poem.txt", "text": "Old pond. A frog leaps in. The sound of the water."}}`),
		runEvent("state_change", `{"type": "tool_executing"}`),
		runEvent("tool_start", `{"call_id": "1", "name": "files__list"}`),
		runEvent("tool_complete", `{"call_id": "1", "name": "files__list", "is_error": false, "output": "a\nb"}`),
		runEvent("state_change", `{"type": "awaiting_user_response", "questions": []}`),
		runEvent("message_queued", `{"by": "ben", "text": "And keep a."}`),
		runEvent("tool_complete",
			`{"call_id": "2", "name": "ask_user_question", "is_error": false, "output": "haiku"}`),
		runEvent("tool_start", `{"call_id": "3", "name": "files__write"}`),
		runEvent("tool_complete",
			`{"call_id": "3", "name": "files__write", "is_error": true, "output": "the disk is full\nsorry"}`),
		runEvent("tool_complete", `{"call_id": "4", "name": "todo_write", "is_error": false, "output": "ok"}`),
		runEvent("todos_changed", `{"todos": [{"content": "Read the topic", "status": "completed"}, {"content": "Write the poem", "status": "in_progress"}, {"content": "Save it", "status": "pending"}]}`),
		runEvent("message", `{"role": "user", "by": "ben", "text": "And keep a."}`),
		runEvent("state_change", `{"type": "llm_requesting"}`),
		runEvent("message", `{"role": "assistant", "text": "Old pond.\nA frog leaps in.", "final": true}`),
		runEvent("state_change", `{"type": "idle"}`),
	}
}

func runViewOf(out *bytes.Buffer, width int, o terminal.RunOptions) *terminal.RunView {
	o.Width, o.Name = func() int { return width }, "ana"
	return terminal.NewRunView(out, o)
}

func showRun(t *testing.T, v *terminal.RunView, events ...askback.Event) {
	t.Helper()
	for _, ev := range events {
		if _, err := v.Show(ev); err != nil {
			t.Fatal(err)
		}
	}
}

// In a pipe, a run has a row for each call, the todos and the messages, except the last message. The command prints
// that message as its result (C7).
func TestRunInAPipeIsPrintedWithoutControlCharacters(t *testing.T) {
	for _, width := range []int{40, 80} {
		var out bytes.Buffer
		v := runViewOf(&out, width, terminal.RunOptions{})
		showRun(t, v, poemRun()...)
		if err := v.End(); err != nil {
			t.Fatal(err)
		}
		golden.Check(t, fmt.Sprintf("testdata/run_pipe_%d.txt", width), out.String())
		if strings.ContainsAny(out.String(), "\x1b\r") {
			t.Error("a pipe gets control characters")
		}
	}
}

// A terminal shows the text as it arrives. The last line and the spinner are replaced, and no part of the
// replaced rows stays (C7).
func TestTerminalShowsTextOfARunAsItArrives(t *testing.T) {
	for _, width := range []int{40, 80} {
		var out bytes.Buffer
		o := terminal.RunOptions{Live: true}
		o.Human = true
		v := runViewOf(&out, width, o)
		events := poemRun()
		showRun(t, v, events[:4]...)
		if screen := screenOf(&out, width); !strings.Contains(screen, "This takes a moment.") ||
			!strings.Contains(screen, "thinking") {
			t.Errorf("while the text arrives, the screen has\n%s", screen)
		}
		showRun(t, v, events[4:]...)
		if err := v.End(); err != nil {
			t.Fatal(err)
		}
		golden.Check(t, fmt.Sprintf("testdata/run_live_%d.txt", width), screenOf(&out, width))
	}
}

// The spinner moves while the run works. While a person answers, neither the spinner nor anything else is
// drawn (C7).
func TestSpinnerStopsWhileAPersonAnswers(t *testing.T) {
	var out bytes.Buffer
	o := terminal.RunOptions{Live: true}
	o.Human = true
	v := runViewOf(&out, 80, o)
	drawn := func(do func()) bool {
		before := out.Len()
		do()
		return out.Len() > before
	}
	spin := func() { _ = v.Spin() }
	if drawn(spin) {
		t.Error("the spinner moves before the run does anything")
	}
	showRun(t, v, runEvent("state_change", `{"type": "llm_requesting"}`))
	if !drawn(spin) {
		t.Error("the spinner stands still while the model is requested")
	}
	showRun(t, v, runEvent("state_change", `{"type": "awaiting_user_response"}`))
	if drawn(spin) {
		t.Error("the spinner moves while the run waits for an answer")
	}
	v.Pause()
	if drawn(func() {
		showRun(t, v, poemRun()[1:12]...)
		spin()
	}) {
		t.Error("something is drawn while a person answers")
	}
	if !drawn(func() { _ = v.Resume() }) || !strings.Contains(screenOf(&out, 80), "list (files)") {
		t.Errorf("after the answer, what happened meanwhile is not shown:\n%s", screenOf(&out, 80))
	}
	_ = v.End()
	if !strings.HasSuffix(out.String(), "\x1b[?25h") {
		t.Error("the cursor stays hidden")
	}
}

// No control sequence of a model, a tool or a person reaches the terminal, and none of their text is left of
// the gutter (T8).
func TestRunShowsHostileTextSafely(t *testing.T) {
	evil := `\u001b]0;owned\u0007\u001b[2J\u001b[H\rSettled: approved\naskback: done\u202e`
	events := []askback.Event{
		runEvent("state_change", `{"type": "llm_requesting"}`),
		runEvent("message_delta", `{"request": 1, "offset": 0, "text": "`+evil+`"}`),
		runEvent("message_delta", `{"request": 1, "offset": 3, "text": "`+evil+`"}`),
		runEvent("message_delta", `{"request": 1, "offset": -7, "text": "`+evil+`"}`),
		runEvent("message", `{"role": "assistant", "text": "`+evil+`"}`),
		runEvent("message", `{"role": "user", "by": "`+evil+`", "text": "`+evil+`"}`),
		runEvent("tool_input_ready", `{"call_id": "`+evil+`", "tool": "`+evil+`", "input": {"`+evil+`": "`+evil+`"}}`),
		runEvent("tool_start", `{"call_id": "`+evil+`", "name": "`+evil+`"}`),
		runEvent("tool_complete",
			`{"call_id": "`+evil+`", "name": "`+evil+`", "is_error": true, "output": "`+evil+`"}`),
		runEvent("todos_changed", `{"todos": [{"content": "`+evil+`", "status": "pending"}]}`),
	}
	for _, live := range []bool{false, true} {
		var out bytes.Buffer
		o := terminal.RunOptions{Live: live}
		o.Human = true
		v := runViewOf(&out, 80, o)
		for _, ev := range events {
			before := out.Len()
			showRun(t, v, ev)
			if live {
				continue
			}
			if strings.ContainsAny(out.String()[before:], "\x1b\r\a\u202e") {
				t.Fatalf("%s writes control characters: %q", ev.Type, out.String()[before:])
			}
		}
		_ = v.End()
		for _, bad := range []string{"\x1b]", "\x1b[2J\x1b[H", "\u202e", "\a"} {
			if strings.Contains(out.String(), bad) {
				t.Errorf("live %t: the output has %q", live, bad)
			}
		}
		for line := range strings.Lines(screenOf(&out, 80)) {
			if strings.HasPrefix(line, "Settled:") || strings.HasPrefix(line, "askback:") {
				t.Errorf("live %t: a row imitates Askback: %q", live, line)
			}
		}
	}
}

// If the model is requested again after a broken stream, the text begins again, and a sentence explains it.
func TestRestartedModelTextIsAnnounced(t *testing.T) {
	var out bytes.Buffer
	o := terminal.RunOptions{}
	o.Human = true
	v := runViewOf(&out, 80, o)
	showRun(t, v,
		runEvent("message_delta", `{"request": 1, "offset": 0, "text": "One fish.\nTwo"}`),
		runEvent("message_delta", `{"request": 1, "offset": 0, "text": "Three birds.\nFour"}`),
		runEvent("message", `{"role": "assistant", "text": "Three birds.\nFour", "final": true}`),
	)
	want := " agent │ One fish.\nThe model began again:\n agent │ Three birds.\n       │ Four\n"
	if out.String() != want {
		t.Errorf("the screen has\n%s\nwant\n%s", out.String(), want)
	}
}

// screenOf returns the content of a terminal after an output.
func screenOf(out *bytes.Buffer, width int) string {
	drawn := strings.ReplaceAll(strings.ReplaceAll(out.String(), "\r\n", "\n"), "\n", "\r\n")
	c := emulated(drawn, width)
	var b strings.Builder
	for y := range c.rows {
		row, _ := c.row(y)
		b.WriteString(strings.TrimRight(strings.ReplaceAll(string(row), string(wideFiller), ""), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// For a withheld call, the terminal shows the name, and the reason why there is no more.
func TestWithheldCallShowsOnlyItsName(t *testing.T) {
	var out bytes.Buffer
	v := runViewOf(&out, 100, terminal.RunOptions{})
	showRun(
		t, v,
		runEvent("message", `{"role": "assistant", "text": "", "withheld": true}`),
		runEvent("tool_input_ready", `{"call_id": "1", "name": "files__write", "input": {}, "withheld": true}`),
		runEvent("tool_complete",
			`{"call_id": "1", "name": "files__write", "is_error": false, "output": "", "withheld": true}`),
	)
	if got := out.String(); strings.Count(got, "\n") != 1 ||
		!strings.Contains(got, "· write (files) (only the people who were asked see this call)") {
		t.Errorf("got %q", got)
	}
}

// At a terminal, Markdown of the agent is drawn line by line while it arrives, and code is drawn exactly (C7).
func TestRunShowsMarkdownLineByLine(t *testing.T) {
	const text = "# Plan\nI close the **open tickets**:\n\n- `a.go` first\n  - then *b*\n```go\nx := **y\n```\n" +
		"| a | b |\nSee [docs](https://example.com/x).\n"
	raw, err := json.Marshal(map[string]any{"request": 1, "offset": 0, "text": text + "**rest"})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	v := runViewOf(&out, 80, terminal.RunOptions{Options: terminal.Options{Human: true}})
	showRun(t, v, runEvent("message_delta", string(raw)))
	const want = ` agent │ Plan
       │ I close the open tickets:
       │
       │ • ` + "`a.go`" + ` first
       │   • then b
       │ go
       │   x := **y
       │ | a | b |
       │ See docs (https://example.com/x).
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}
