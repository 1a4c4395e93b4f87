package mcp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/test/interop/clienttest"
)

// A call is a tool call of a model.
type call struct {
	Tool    string            `json:"tool"`
	Input   string            `json:"input"`
	Timeout int64             `json:"timeout,omitempty"` // in ms; 0 for the default
	Meta    map[string]string `json:"meta,omitempty"`
}

// withTimeout returns the call with another client timeout.
func (c call) withTimeout(d time.Duration) call {
	c.Timeout = d.Milliseconds()
	return c
}

// ask returns a call that asks one question.
func ask(question string, options ...string) call {
	input := map[string]any{"question": question}
	if len(options) > 0 {
		input["options"] = options
	}
	return call{Tool: "ask_user_question", Input: jsonText(input), Timeout: patience.Milliseconds()}
}

// laterCall returns a call of a tool about an earlier question.
func laterCall(tool, id string) call {
	return call{Tool: tool, Input: jsonText(map[string]any{"question_id": id}), Timeout: patience.Milliseconds()}
}

// jsonText returns a value as JSON, like JSON.stringify.
func jsonText(v any) string {
	var b strings.Builder
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	if err := out.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func read(t *testing.T, raw []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
}

// A result is the result of a tool call: text, and JSON for some clients.
type result struct {
	Content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
	Structured struct {
		Status    askback.Status `json:"status"`
		ID        string         `json:"question_id"`
		PageURL   string         `json:"page_url"`
		Next      string         `json:"next"`
		Answers   map[string]any `json:"answers"` // by question
		Confirmed *bool          `json:"confirmed"`
		Questions []struct {
			ID   string   `json:"question_id"`
			Asks []string `json:"asks"`
		} `json:"questions"`
		Outcome *struct {
			Status askback.Status  `json:"status"`
			Input  json.RawMessage `json:"input"`
			Via    string          `json:"via"`
		} `json:"outcome"`
	} `json:"structuredContent"`
	IsError bool `json:"isError"`
}

// text returns the text of the result.
func (r result) text() string {
	var b strings.Builder
	for _, c := range r.Content {
		b.WriteString(c.Text)
	}
	return b.String()
}

// call calls a tool and returns its result.
func (a *agent) call(c call) result {
	a.t.Helper()
	return a.result(a.start("call", c))
}

// result waits for the result of a call and returns it. An error of the client fails the test.
func (a *agent) result(c <-chan reply) result {
	a.t.Helper()
	r := a.await(c)
	if r.Error != nil {
		a.t.Fatalf("no result: %v", r.Error)
	}
	var out result
	read(a.t, r.Result, &out)
	return out
}

// callAndTimeOut calls a tool so that the client times out before there is a result. If the client times out
// before the question was asked, callAndTimeOut calls again with a longer timeout.
func (a *agent) callAndTimeOut(p *clienttest.Instance, c call) {
	a.t.Helper()
	a.timeOutAll(p, 1, func(withTimeout time.Duration) []<-chan reply {
		return []<-chan reply{a.start("call", c.withTimeout(withTimeout))}
	})
}

// timeOutAll calls start with a timeout, and requires that each returned call times out. It repeats this
// with longer timeouts until at least openQuestions questions are open.
func (a *agent) timeOutAll(
	p *clienttest.Instance, openQuestions int, start func(withTimeout time.Duration) []<-chan reply,
) {
	a.t.Helper()
	for withTimeout := short; ; withTimeout *= 2 {
		for _, c := range start(withTimeout) {
			if r := a.await(c); !r.Error.isTimeout() {
				a.t.Fatalf("the client did not time out: %s %v", r.Result, r.Error)
			}
		}
		p.Idle() // otherwise an answer could count as delivered
		got := len(a.openQuestions())
		if got >= openQuestions {
			return
		}
		if withTimeout > 20*short {
			a.t.Fatalf("%d questions are open after a call of %v, want %d", got, withTimeout, openQuestions)
		}
	}
}

// wantAnswer requires that a result is the answer to a question, as text and
// JSON.
func (a *agent) wantAnswer(r result, question, want string) {
	a.t.Helper()
	if got := r.Structured.Answers[question]; got != want || r.IsError {
		a.t.Errorf("structured: got %v, want %q (%+v)", got, want, r)
	}
	if part := fmt.Sprintf("%q = %q", question, want); !strings.Contains(r.text(), part) {
		a.t.Errorf("text: got %q, want %s in it", r.text(), part)
	}
}

// openQuestions returns the ids of the open questions of the agent, oldest first.
func (a *agent) openQuestions() []string {
	a.t.Helper()
	r := a.call(call{Tool: "list_open_questions", Input: "{}", Timeout: patience.Milliseconds()})
	ids := []string{}
	for _, q := range r.Structured.Questions {
		if ids = append(ids, q.ID); !strings.Contains(r.text(), q.ID) {
			a.t.Errorf("the text lacks %s: %q", q.ID, r.text())
		}
	}
	return ids
}
