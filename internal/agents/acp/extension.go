package acp

import (
	"cmp"
	"slices"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/dialog/jsonrpc2"
	"github.com/askback/askback/internal/wire/compat"
	"github.com/askback/askback/internal/wire/jcs"
)

// extensions has the requests of agents beyond the protocol that people are asked about. The agent waits for
// the answer. Cursor documents its requests (https://cursor.com/docs/cli/acp); Grok sends its own with and
// without "_".
var extensions = map[string]func(q *question, p jcs.Value, src []byte) error{
	"cursor/ask_question":     (*question).readCursorQuestion,
	"cursor/create_plan":      (*question).readCursorPlan,
	"_x.ai/ask_user_question": (*question).readGrokQuestion,
	"x.ai/ask_user_question":  (*question).readGrokQuestion,
	"_x.ai/exit_plan_mode":    (*question).readGrokPlan,
	"x.ai/exit_plan_mode":     (*question).readGrokPlan,
}

// quietPrefixes lists the beginnings of the methods of requests that ask people nothing. Qwen Code sends the
// last one to its own editors.
var quietPrefixes = []string{"fs/", "terminal/", "mcp/", "craft/drainMidTurnQueue"}

// asksNothing reports whether a request of this method is known to ask people nothing.
func asksNothing(method string) bool {
	return slices.ContainsFunc(quietPrefixes, func(prefix string) bool { return strings.HasPrefix(method, prefix) })
}

// readCursorQuestion reads a request cursor/ask_question. Each question has options with ids, and the answer
// is a list of ids.
func (q *question) readCursorQuestion(p jcs.Value, _ []byte) error {
	list, _ := p.Get("questions")
	questions, named, err := readQuestions(list)
	if err != nil {
		return err
	}
	for i := range questions {
		questions[i].NoOther = true
		if named[i].id == "" || len(questions[i].Options) == 0 {
			return errUnreadable
		}
		for _, id := range named[i].ids {
			if id == "" {
				return errUnreadable
			}
		}
	}
	q.tool, q.ask.Title = jsonrpc2.StringOf(p, "toolCallId"), jsonrpc2.StringOf(p, "title")
	return q.askQuestions(questions, func(all []compat.ClientAnswer) (any, bool) {
		answers := make([]any, len(all))
		for i, a := range all {
			if len(a.Remarks) > 0 {
				return nil, false // there is no place for notes
			}
			ids := make([]string, len(a.Selected))
			for n, label := range a.Selected {
				ids[n] = named[i].ids[label]
			}
			answers[i] = map[string]any{"questionId": named[i].id, "selectedOptionIds": ids}
		}
		return map[string]any{"outcome": map[string]any{"outcome": "answered", "answers": answers}}, true
	})
}

// readCursorPlan reads a request cursor/create_plan. The reason of a denial reaches the agent.
func (q *question) readCursorPlan(p jcs.Value, src []byte) error {
	if jsonrpc2.StringOf(p, "plan") == "" {
		return errUnreadable
	}
	q.tool = jsonrpc2.StringOf(p, "toolCallId")
	return q.askPlan("create_plan", firstText(p, "overview", "name"),
		members{"plan": raw(p, src, "plan"), "todos": raw(p, src, "todos"), "phases": raw(p, src, "phases")},
		func(approved bool, words string) any {
			outcome := map[string]any{"outcome": "accepted"}
			if !approved {
				outcome = map[string]any{"outcome": "rejected"}
				if words != "" {
					outcome["reason"] = words
				}
			}
			return map[string]any{"outcome": outcome}
		})
}

// readGrokQuestion reads a request _x.ai/ask_user_question. The answers are keyed by the texts of the
// questions.
func (q *question) readGrokQuestion(p jcs.Value, _ []byte) error {
	p = q.unwrap(p)
	list, _ := p.Get("questions")
	questions, _, err := readQuestions(list)
	if err != nil {
		return err
	}
	return q.askQuestions(questions, func(all []compat.ClientAnswer) (any, bool) {
		answers := map[string]any{}
		for i, a := range all {
			answers[questions[i].Text] = a.Line()
			if questions[i].MultiSelect {
				answers[questions[i].Text] = a.AllValues()
			}
		}
		return map[string]any{"outcome": "accepted", "answers": answers}, true
	})
}

// noPlan is the text for people if the agent sent no plan.
const noPlan = "The plan is not in the request. Read it in the editor before you approve it."

// readGrokPlan reads a request _x.ai/exit_plan_mode. Grok 0.2.111 often sends no plan, because it keeps the
// plan in a file. Grok stays in its plan mode after any outcome that it does not know, so a denial names the
// outcome of newer versions that takes the words of the person.
func (q *question) readGrokPlan(p jcs.Value, src []byte) error {
	p = q.unwrap(p)
	description, plan := "", members{"planContent": raw(p, src, "planContent")}
	if strings.TrimSpace(jsonrpc2.StringOf(p, "planContent")) == "" {
		description, plan = noPlan, members{}
	}
	return q.askPlan("exit_plan_mode", description, plan, func(approved bool, words string) any {
		result := map[string]any{"outcome": "approved"}
		if !approved {
			result["outcome"] = "request_changes"
		}
		if words != "" {
			result["feedback"] = words
		}
		return result
	})
}

// unwrap returns the parameters of a request of Grok, which may be in a member params, and reads the session
// and the tool call in them.
func (q *question) unwrap(p jcs.Value) jcs.Value {
	if inner, ok := p.Get("params"); ok && inner.Kind == jcs.Object {
		p = inner
	}
	q.session, q.tool = cmp.Or(jsonrpc2.StringOf(p, "sessionId"), q.session), jsonrpc2.StringOf(p, "toolCallId")
	return p
}

// askPlan makes q ask for the approval of a plan. reply returns the answer to the request for a decision and
// the words of the person. If plan is empty, people do not see the plan: the ask is marked as dangerous, and no
// standing approval counts, because it would cover each other plan that is not shown.
func (q *question) askPlan(
	tool, description string, plan members, reply func(approved bool, words string) any,
) error {
	for name, value := range plan {
		if value == nil {
			delete(plan, name)
		}
	}
	input, err := jcs.Marshal(plan)
	if err != nil {
		return errUnreadable
	}
	isHidden := len(plan) == 0
	q.ask.Confirmation = &askback.Confirmation{
		ToolName: tool, Input: input, Description: description, NoEdit: true, Dangerous: isHidden,
	}
	q.result = func(ask askback.Ask) (any, bool) {
		o := ask.Outcome
		denied := o.Status == askback.Answered && o.Decision == askback.Deny
		if !denied && (!o.Approved() || len(o.Input) > 0 || isHidden && o.Actor.Kind == askback.ActorPolicy) {
			return nil, false
		}
		return reply(!denied, strings.TrimSpace(cmp.Or(o.Reason, o.Comment))), true
	}
	return nil
}

// raw returns the JSON of a member, or nil if the member is missing or null.
func raw(p jcs.Value, src []byte, name string) []byte {
	m, ok := p.Get(name)
	if !ok || m.Kind == jcs.Null {
		return nil
	}
	return m.Raw(src)
}
