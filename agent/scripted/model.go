// Package scripted has a model that follows a script, for tests and demonstrations. A script is a YAML list
// of turns. A turn has a reply, tools or both:
//
//	# poem.yaml
//	- reply: I need to know the style.
//	  tools:
//	    - name: ask_user_question
//	      input: {questions: [{question: What style?, options: [{label: haiku}, {label: sonnet}]}]}
//	- expect: haiku
//	  reply: "Old pond. A frog leaps in."
//
// With expect, the request fails unless the last message contains the text. A turn with an error, such as
// {status: 529}, fails like a request with that status.
package scripted

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/askback/askback/agent"
	"github.com/askback/askback/conversation"
)

// A Model is a model that replies to the n-th request of a run with the n-th turn of a script.
//
// The messages and the number of the attempt determine the turn. So a request that is repeated after a crash
// has the same reply, and several runs can use one Model. A request whose turn a person cancelled gets the
// same turn again.
type Model struct {
	name  string
	turns []turn
	// requests has, for the n-th reply, the indexes of its turns: a turn for each attempt that fails, then
	// the turn with the reply.
	requests [][]int
}

var _ agent.Model = (*Model)(nil)

// Reply implements [agent.Model]. It calls text with each word of the reply.
func (m *Model) Reply(ctx context.Context, r agent.ModelRequest, text func(piece string)) (agent.ModelReply, error) {
	if err := ctx.Err(); err != nil {
		return agent.ModelReply{}, &agent.ModelError{Err: errors.New("the request was cancelled"), Retry: true}
	}
	i, ok := m.turn(r)
	if !ok {
		return agent.ModelReply{}, &agent.ModelError{
			Err: fmt.Errorf("the script %s has %d turns, and none for this request", m.name, len(m.turns)),
		}
	}
	t := m.turns[i]
	if got := last(r.Messages); !strings.Contains(got, t.Expect) {
		return agent.ModelReply{}, &agent.ModelError{Err: fmt.Errorf(
			"turn %d of the script %s expects %q in the last message, which is %q", i+1, m.name, t.Expect, excerpt(got),
		)}
	}
	if t.Error != nil {
		return agent.ModelReply{}, agent.StatusError(t.Error.Status, http.Header{}, time.Time{})
	}
	reply := agent.ModelReply{Text: t.Reply}
	for j, c := range t.Tools {
		reply.Calls = append(reply.Calls,
			conversation.Call{ID: fmt.Sprintf("call_%d_%d", i+1, j+1), Tool: c.Name, Input: c.input})
	}
	if text != nil {
		for word := range strings.SplitAfterSeq(t.Reply, " ") {
			if word != "" {
				text(word)
			}
		}
	}
	return reply, nil
}

// turn returns the index of the turn for the request r. It returns false if the script has no turn for r.
func (m *Model) turn(r agent.ModelRequest) (int, bool) {
	n := 0
	for _, msg := range r.Messages {
		if msg.Role == conversation.RoleAssistant {
			n++
		}
	}
	if n >= len(m.requests) {
		return 0, false
	}
	due, attempt := m.requests[n], max(r.Attempt, 1)
	if attempt <= len(due) {
		return due[attempt-1], true
	}
	// The script does not have this attempt. The reply, if there is one, is repeated, because
	// an attempt may have failed for a reason outside of the script.
	i := due[len(due)-1]
	return i, m.turns[i].Error == nil
}

// last returns the text or the result in the last message, or "" without messages.
func last(messages []conversation.Message) string {
	if len(messages) == 0 {
		return ""
	}
	m := messages[len(messages)-1]
	if m.Result != nil {
		return m.Result.Text
	}
	return m.Text
}

// maxExcerpt is the maximum number of bytes of a message that an error shows.
const maxExcerpt = 500

// excerpt returns s, truncated to maxExcerpt bytes and "…" if it is longer.
func excerpt(s string) string {
	if len(s) <= maxExcerpt {
		return s
	}
	end := maxExcerpt
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
