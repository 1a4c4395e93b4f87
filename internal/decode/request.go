package decode

import (
	"slices"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/jcs"
)

const exampleRequest = `{"question": "Which database?", "options": ["PostgreSQL", "SQLite"]}`

// Request parses the body of POST /asks (wire.md §2): questions, a confirmation, or the
// flat form of one question, with their common fields. Warnings has the repairs, with
// pointers into the body after JSON in strings was decoded.
func Request(raw []byte) (askback.Request, error) {
	return request(raw, func(r *reader, b *askback.Request) map[string]func(node) {
		return map[string]func(node){
			"confirmation": func(n node) { b.Confirmation = r.confirmation(n) },
			"session_id":   r.text(&b.SessionID),
			"session_key":  r.text(&b.SessionKey),
			"agent":        r.text(&b.Agent),
			"title":        r.text(&b.Title),
			"context":      r.raw(&b.Context, `"what the person should know"`, jcs.String, jcs.Object),
			"to":           r.stringList(&b.To),
			"quorum":       r.number(&b.Quorum),
			"tags":         r.stringList(&b.Tags),
			"timeout":      r.duration(&b.Timeout),
			"deadline":     r.timestamp(&b.Deadline),
			"on_timeout":   r.text((*string)(&b.OnTimeout)),
			"callback_url": r.text(&b.CallbackURL),
			"key":          r.text(&b.Key),
			"warnings":     func(n node) { b.Warnings = r.readWarnings(n) },
		}
	})
}

// request parses questions and the fields that extra returns.
func request(raw []byte, extra func(*reader, *askback.Request) map[string]func(node)) (askback.Request, error) {
	r, n, exact, err := parseRepaired(raw)
	if err != nil {
		return askback.Request{}, err
	}
	var out askback.Request
	var flat flat
	fields := extra(r, &out)
	fields["questions"] = func(n node) { out.Questions = r.questions(n) }
	r.flatFields(&flat, fields)
	r.modelFields(n, exampleRequest, fields)
	if flat.seen {
		if out.Questions != nil {
			r.problem("/question", "send either questions or one question in the flat form, not both", "add it to questions")
		}
		out.Questions = []askback.Question{r.unflatten(flat)}
	}
	if exact {
		r.rejectRepairs()
	}
	out.Warnings = r.mergeWarnings(out.Warnings)
	return out, r.err()
}

// rejectRepairs turns warnings into problems, because a confirmation is never repaired.
func (r *reader) rejectRepairs() {
	for _, m := range r.warnings {
		r.problem(m.Pointer, m.Detail, "a body with a confirmation is never repaired: send it in the correct form")
	}
	r.warnings = nil
}

// mergeWarnings returns earlier warnings, which another program sent, and then those of r,
// up to the limit of askback.MaxProblems. A warning about several questions is not
// repeated.
func (r *reader) mergeWarnings(earlier []askback.Problem) []askback.Problem {
	out := earlier
	for _, m := range r.warnings {
		repeated := slices.ContainsFunc(earlier, func(b askback.Problem) bool { return b.Detail == severalQuestions && m.Detail == severalQuestions })
		if !repeated && len(out) < askback.MaxProblems {
			out = append(out, m)
		}
	}
	return out
}

// readWarnings reads the warnings about repairs by another program, such as an MCP server.
func (r *reader) readWarnings(n node) (out []askback.Problem) {
	r.elements(n, "[]", func(n node) {
		var p askback.Problem
		r.fields(n, `{"pointer": "/header", "detail": "…", "fix": "…"}`, map[string]func(node){
			"pointer": r.text(&p.Pointer), "detail": r.text(&p.Detail), "fix": r.text(&p.Fix),
		})
		out = append(out, p)
	})
	return out
}

func (r *reader) confirmation(n node) *askback.Confirmation {
	var c askback.Confirmation
	r.fields(n, `{"tool_name": "delete_files", "input": {"paths": ["/tmp/x"]}}`, map[string]func(node){
		"tool_name":     r.text(&c.ToolName),
		"server":        r.text(&c.Server),
		"description":   r.verbatim("description", &c.Description),
		"input":         r.raw(&c.Input, `{"paths": ["/tmp/x"]}`, jcs.Object),
		"input_preview": r.text(&c.InputPreview),
		"tier":          r.text(&c.Tier),
		"dangerous":     r.flag(&c.Dangerous),
		"no_edit":       r.flag(&c.NoEdit),
		"context":       r.verbatim("context", &c.Context),
	})
	return &c
}
