package conversation_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback/conversation"
	"github.com/askback/askback/test/kit/golden"
)

// A transcript has inputs, then ----, then the results of the machine (A2). Transcripts are the
// specification: keep them short and readable. Their syntax:
//
//	09:00 it starts: Write a poem.
//	09:00 it starts with 2 requests, 3 attempts, 1 asks: Write a poem.   limits
//	09:01 the model replies 1: I need the style.                         to request 1
//	  asks: ask_user_question {"questions": []}                          its calls
//	  reads: files.read {"path": "a"}
//	  writes: files.write {"path": "a"}
//	  confirms: files.delete {"path": "a"}                               reads and confirms: also reads
//	  2 tasks: spawn_agents {}
//	  rejects (there is no tool x): x {}
//	09:01 the model fails 1.1: overloaded                                request 1, attempt 1
//	09:01 the model fails 1.1, again after 30s: overloaded
//	09:02 tool 1 starts                                                  of call 1
//	09:02 tool 1 ends: text                                              or fails
//	09:02 ask 1 returns: text                                            or fails
//	09:02 ask 1 approves with ask_7 {"path": "b"}                        with other arguments
//	09:02 ask 1 ends the run: no one answered
//	09:02 child 1.2 ends: text                                           or fails; the second child of call 1
//	09:03 ana writes: Shorter, please.
//	09:03 ana cancels the turn                                           or the run
//	09:03 the run fails: its definition is gone
//	09:03 the clock is looked at
func TestRunsMatchTranscripts(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			var s conversation.State
			golden.Transcript(t, path, func(input string) string {
				var out strings.Builder
				all := inputs(t, input)
				for _, in := range all {
					r, err := s.Step(in)
					if len(all) > 1 {
						fmt.Fprintf(&out, "%T: ", in)
					}
					out.WriteString(strings.ReplaceAll(describe(r, err), "conversation.", ""))
					s = reopened(t, r.State)
				}
				return strings.ReplaceAll(out.String(), "conversation.", "")
			})
		})
	}
}

// reopened returns a state after it was stored and read.
func reopened(t *testing.T, s conversation.State) conversation.State {
	t.Helper()
	b, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	s, err = conversation.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// inputs parses the lines of a stanza.
func inputs(t *testing.T, text string) (all []conversation.Input) {
	t.Helper()
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "  "):
			reply, ok := all[len(all)-1].(conversation.ModelReplied)
			if !ok {
				t.Fatalf("%q does not follow a reply of the model", line)
			}
			reply.Calls = append(reply.Calls, call(t, strings.TrimSpace(line), len(reply.Calls)))
			all[len(all)-1] = reply
		default:
			all = append(all, input(t, line))
		}
	}
	return all
}

var callForm = regexp.MustCompile(
	`^(asks|reads|writes|confirms|reads and confirms|(\d+) tasks|rejects \((.*)\)): (\S+) (.*)$`,
)

func call(t *testing.T, line string, index int) conversation.Call {
	t.Helper()
	m := callForm.FindStringSubmatch(line)
	if m == nil {
		t.Fatalf("%q is no call", line)
	}
	c := conversation.Call{ID: fmt.Sprintf("toolu_%d", index+1), Tool: m[4], Input: json.RawMessage(m[5])}
	c.Kind = conversation.KindTool
	c.Reads = strings.HasPrefix(m[1], "reads")
	c.Confirm = strings.HasSuffix(m[1], "confirms")
	switch {
	case m[1] == "asks":
		c.Kind = conversation.KindAsk
	case m[2] != "":
		c.Kind = conversation.KindDelegate
		c.Tasks, _ = strconv.Atoi(m[2])
	case m[3] != "":
		c.Kind, c.Error = conversation.KindRejected, m[3]
	}
	return c
}

var inputForms = []struct {
	form *regexp.Regexp
	make func(m []string, n func(int) int, at time.Time) conversation.Input
}{
	{
		regexp.MustCompile(`^it starts(?: with (\d+) requests, (\d+) attempts, (\d+) asks)?: (.*)$`),
		func(m []string, n func(int) int, at time.Time) conversation.Input {
			prompt := conversation.Message{Role: conversation.RoleUser, Text: m[4]}
			return conversation.Started{
				Prompt: prompt, Limits: conversation.Limits{Requests: n(1), Attempts: n(2), Asks: n(3)}, At: at,
			}
		},
	},
	{
		regexp.MustCompile(`^the model replies (\d+): ?(.*)$`),
		func(m []string, n func(int) int, at time.Time) conversation.Input {
			return conversation.ModelReplied{
				Request: n(1), Text: m[2], Usage: conversation.Usage{InputTokens: 10, OutputTokens: 1}, At: at,
			}
		},
	},
	{
		regexp.MustCompile(`^the model fails (\d+)\.(\d+)(?:, again after (\w+))?: (.*)$`),
		func(m []string, n func(int) int, at time.Time) conversation.Input {
			after, _ := time.ParseDuration(m[3])
			return conversation.ModelFailed{
				Request: n(1), Attempt: n(2), Retry: m[3] != "", After: after, Error: m[4], At: at,
			}
		},
	},
	{regexp.MustCompile(`^tool (\d+) starts$`), func(_ []string, n func(int) int, at time.Time) conversation.Input {
		return conversation.ToolStarted{Call: n(1), At: at}
	}},
	{
		regexp.MustCompile(`^tool (\d+) (ends|fails): (.*)$`),
		func(m []string, n func(int) int, at time.Time) conversation.Input {
			return conversation.ToolFinished{Call: n(1), IsError: m[2] == "fails", Text: m[3], At: at}
		},
	},
	{
		regexp.MustCompile(`^ask (\d+) (returns|fails): (.*)$`),
		func(m []string, n func(int) int, at time.Time) conversation.Input {
			return conversation.AskSettled{Call: n(1), IsError: m[2] == "fails", Text: m[3], At: at}
		},
	},
	{
		regexp.MustCompile(`^ask (\d+) approves with (\S+) ?(.*)$`),
		func(m []string, n func(int) int, at time.Time) conversation.Input {
			return conversation.AskSettled{
				Call: n(1), Approved: true, AskID: m[2], Input: json.RawMessage(m[3]), At: at,
			}
		},
	},
	{
		regexp.MustCompile(`^ask (\d+) ends the run: (.*)$`),
		func(m []string, n func(int) int, at time.Time) conversation.Input {
			return conversation.AskSettled{Call: n(1), Text: m[2], Fails: m[2], At: at}
		},
	},
	{
		regexp.MustCompile(`^child (\d+)\.(\d+) (ends|fails): (.*)$`),
		func(m []string, n func(int) int, at time.Time) conversation.Input {
			return conversation.ChildFinished{Call: n(1), Child: n(2) - 1, IsError: m[3] == "fails", Text: m[4], At: at}
		},
	},
	{regexp.MustCompile(`^(\w+) writes: (.*)$`), func(m []string, _ func(int) int, at time.Time) conversation.Input {
		return conversation.PersonWrote{By: m[1], Text: m[2], At: at}
	}},
	{regexp.MustCompile(`^\w+ cancels the turn$`), func(_ []string, _ func(int) int, at time.Time) conversation.Input {
		return conversation.TurnCancelled{At: at}
	}},
	{regexp.MustCompile(`^\w+ cancels the run$`), func(_ []string, _ func(int) int, at time.Time) conversation.Input {
		return conversation.RunCancelled{At: at}
	}},
	{regexp.MustCompile(`^the run fails: (.*)$`), func(m []string, _ func(int) int, at time.Time) conversation.Input {
		return conversation.RunFailed{Error: m[1], At: at}
	}},
	{
		regexp.MustCompile(`^the clock is looked at$`),
		func(_ []string, _ func(int) int, at time.Time) conversation.Input {
			return conversation.Due{At: at}
		},
	},
}

func input(t *testing.T, line string) conversation.Input {
	t.Helper()
	clock, rest, _ := strings.Cut(line, " ")
	for _, f := range inputForms {
		if m := f.form.FindStringSubmatch(rest); m != nil {
			number := func(i int) int { n, _ := strconv.Atoi(m[i]); return n }
			return f.make(m, number, at(t, clock))
		}
	}
	t.Fatalf("%q is no input", line)
	return nil
}

// at parses a time such as 09:05 or 09:05:30. All transcripts have the same day.
func at(t *testing.T, s string) time.Time {
	t.Helper()
	for _, form := range []string{"15:04", "15:04:05"} {
		if at, err := time.Parse(form, s); err == nil {
			return at.AddDate(2026, 0, 1)
		}
	}
	t.Fatalf("%q is no time", s)
	return time.Time{}
}

// describe returns the text for a result.
func describe(r conversation.Result, err error) string {
	var b strings.Builder
	if err != nil {
		fmt.Fprintf(&b, "rejected: %v\n", err)
	}
	if r.Unchanged {
		if err == nil {
			b.WriteString("–\n")
		}
		return b.String()
	}
	b.WriteString(string(r.State.Phase))
	if due := r.State.Due(); !due.IsZero() {
		b.WriteString(", due " + due.Format("15:04:05"))
	}
	if n := len(r.State.Queued); n > 0 {
		fmt.Fprintf(&b, ", %d waiting", n)
	}
	b.WriteByte('\n')
	for _, m := range conversation.Messages(r.History) {
		b.WriteString("  + " + readMessage(m) + "\n")
	}
	for _, e := range r.Effects {
		b.WriteString("  do: " + readEffect(e) + "\n")
	}
	if len(r.History) > 0 {
		b.WriteString("  history: " + strings.Join(readEvents(r.History), ", ") + "\n")
	}
	return b.String()
}

func readMessage(m conversation.Message) string {
	switch m.Role {
	case conversation.RoleTool:
		if m.Result.IsError {
			return fmt.Sprintf("error of %d: %s", m.Result.N, oneLine(m.Result.Text))
		}
		return fmt.Sprintf("result of %d: %s", m.Result.N, oneLine(m.Result.Text))
	case conversation.RoleUser:
		return strings.TrimSuffix("user "+m.By, " ") + ": " + m.Text
	}
	text := "assistant: " + m.Text
	for _, c := range m.Calls {
		text += fmt.Sprintf("\n    call %d: %s %s", c.N, c.Tool, c.Input)
	}
	return text
}

func readEffect(e conversation.Effect) string {
	switch e := e.(type) {
	case conversation.ExecuteTool:
		text := fmt.Sprintf("ExecuteTool %d", e.Call)
		if e.AskID != "" {
			text += ", approved by " + e.AskID
		}
		if len(e.Input) > 0 {
			text += ", with " + string(e.Input)
		}
		return text
	case conversation.StartChild:
		return fmt.Sprintf("StartChild %d.%d", e.Call, e.Child+1)
	case conversation.CancelChild:
		return fmt.Sprintf("CancelChild %d.%d", e.Call, e.Child+1)
	case conversation.UpdateSession:
		text := "UpdateSession " + string(e.Status)
		if e.Idle {
			text += ", idle"
		}
		return text + fmt.Sprintf(", %d tokens", e.Usage.InputTokens+e.Usage.OutputTokens) + prefixed(", result: ",
			e.Result) + prefixed(", error: ", e.Error)
	case conversation.RequestModel:
		return fmt.Sprintf("RequestModel %d.%d", e.Request, e.Attempt)
	case conversation.OpenAsk:
		return fmt.Sprintf("OpenAsk %d", e.Call)
	case conversation.WithdrawAsk:
		return fmt.Sprintf("WithdrawAsk %d", e.Call)
	}
	return fmt.Sprintf("%T", e)
}

func readEvents(history []conversation.Event) (all []string) {
	for _, e := range history {
		text := string(e.Type)
		switch {
		case e.Phase != "":
			text += " " + string(e.Phase)
		case e.Call != 0:
			text += fmt.Sprintf(" %d", e.Call)
		}
		all = append(all, text)
	}
	return slices.Clip(all)
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

func oneLine(s string) string { return strings.ReplaceAll(s, "\n", " / ") }
