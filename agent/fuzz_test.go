package agent_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/askback/askback/agent"
	"github.com/askback/askback/conversation"
)

var sentName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// Every call of a model has a plan that can be carried out, or an error that the model can read.
func FuzzPlan(f *testing.F) {
	for tool, input := range map[string]string{
		"ask_user_question": `{"question":"Which?","options":["A","B"]}`,
		"AskUserQuestion":   `"{\"question\":\"Which?\"}"`,
		"confirm_action":    `{"action":"Delete it"}`, "todo_write": `{"todos":[{"content":"a","status":"pending"}]}`,
		"spawn_agents": `{"tasks":[{"prompt":"a","agent":"support"}]}`, "tickets__close": `{"id":1e400}`,
		"tickets__search": "{\"\xff\":0}", "": "",
	} {
		f.Add(tool, input, true, false, false)
		f.Add(tool, input, false, true, true)
	}
	f.Add(strings.Repeat("m", 500), "[", true, false, false)
	f.Add("\xff", "[", false, false, false)
	f.Fuzz(func(t *testing.T, tool, input string, parsed, child, unattended bool) {
		d, m := support()
		r := newRunner(t, d)
		run := conversation.Run{ID: "ses_1", Agent: "support", Unattended: unattended}
		if child {
			run.Path = []string{"support"}
		}
		sent := conversation.Call{Tool: tool, Input: json.RawMessage(input)}
		if parsed {
			sent = agent.NewCall("c1", tool, input, unattended)
		}
		c := plan(t, r, m, run, sent)
		var object map[string]json.RawMessage
		if err := json.Unmarshal(c.Input, &object); err != nil || object == nil || !utf8.Valid(c.Input) ||
			!sentName.MatchString(c.Tool) {
			t.Fatalf("got %q %q", c.Tool, c.Input)
		}
		switch c.Kind {
		case conversation.KindRejected:
			if n := utf8.RuneCountInString(c.Error); n == 0 || n > 400 || !utf8.ValidString(c.Error) {
				t.Errorf("got an error of %d characters: %s", n, c.Error)
			}
		case conversation.KindAsk:
			if q, err := r.Question(run, c); err != nil || child || unattended ||
				len(q.Questions) == 0 && q.Confirmation == nil {
				t.Errorf("got %+v, %v", q, err)
			}
		case conversation.KindDelegate:
			if name, prompt := r.Task(run, c, c.Tasks-1); name != "support" || prompt == "" || child {
				t.Errorf("got %s, %q", name, prompt)
			}
		case conversation.KindTool:
			if c.Confirm {
				if q, err := r.Question(run, c); err != nil || child || unattended || q.Confirmation == nil {
					t.Errorf("got %+v, %v", q, err)
				}
			}
		default:
			t.Errorf("got %+v", c)
		}
	})
}
