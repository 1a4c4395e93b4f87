package decode

import (
	"slices"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/jcs"
)

const exampleRequest = `{"question": "Which database?", "options": ["PostgreSQL", "SQLite"]}`

// Request reads the body of POST /asks (wire.md §2): questions, a confirmation,
// or the flat form of one question, and what goes with them. What was mended of
// questions is in Warnings; a pointer in there is where a thing stands once JSON
// in strings is JSON.
func Request(raw []byte) (askback.Request, error) {
	return request(raw, func(r *reader, b *body) map[string]func(node) {
		return map[string]func(node){
			"confirmation": func(n node) { b.Confirmation = r.confirmation(n) },
			"session_id":   r.text(&b.SessionID),
			"session_key":  r.text(&b.SessionKey),
			"agent":        r.text(&b.Agent),
			"title":        r.text(&b.Title),
			"context":      r.raw(&b.context, `"what the person should know"`, jcs.String, jcs.Object),
			"to":           r.texts(&b.To),
			"quorum":       r.number(&b.Quorum),
			"tags":         r.texts(&b.Tags),
			"timeout":      r.duration(&b.Timeout),
			"deadline":     r.instant(&b.Deadline),
			"on_timeout":   r.text(&b.wait),
			"callback_url": r.text(&b.CallbackURL),
			"key":          r.text(&b.Key),
			"warnings":     func(n node) { b.Warnings = r.problems(n) },
		}
	})
}

// body is a request while it is read.
type body struct {
	askback.Request
	context []byte
	wait    string
}

// request reads questions and the fields that may stand beside them.
func request(raw []byte, beside func(*reader, *body) map[string]func(node)) (askback.Request, error) {
	r, n, exact, err := parseMended(raw)
	if err != nil {
		return askback.Request{}, err
	}
	var out body
	var flat flat
	fields := beside(r, &out)
	fields["questions"] = func(n node) { out.Questions = r.questions(n) }
	r.flatFields(&flat, fields)
	r.spoken(n, exampleRequest, fields)
	out.Context, out.OnTimeout = out.context, askback.OnTimeout(out.wait)
	if flat.seen {
		if out.Questions != nil {
			r.wrong("/question", "an ask has questions, or one question in the flat form, not both", "put it among the questions")
		}
		out.Questions = []askback.Question{r.unflatten(flat)}
	}
	if exact {
		r.refuseMends()
	}
	out.Warnings = r.repairs(out.Warnings)
	return out.Request, r.err()
}

// refuseMends makes errors of mends: a confirmation is taken as it was sent, or
// not at all.
func (r *reader) refuseMends() {
	for _, m := range r.mended {
		r.wrong(m.Pointer, m.Detail, "a body with a confirmation is never mended: send it as it should be")
	}
	r.mended = nil
}

// repairs adds what was mended here to what another program had mended. That
// one may have given the same advice.
func (r *reader) repairs(before []askback.Problem) []askback.Problem {
	out := before
	for _, m := range r.mended {
		given := slices.ContainsFunc(before, func(b askback.Problem) bool { return b.Detail == severalInOne && m.Detail == severalInOne })
		if !given && len(out) < askback.MaxProblems {
			out = append(out, m)
		}
	}
	return out
}

// problems reads what another program of ours mended before.
func (r *reader) problems(n node) (out []askback.Problem) {
	r.each(n, "[]", func(n node) {
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
	var input []byte
	r.fields(n, `{"tool_name": "delete_files", "input": {"paths": ["/tmp/x"]}}`, map[string]func(node){
		"tool_name":     r.text(&c.ToolName),
		"server":        r.text(&c.Server),
		"description":   r.exact("description", &c.Description),
		"input":         r.raw(&input, `{"paths": ["/tmp/x"]}`, jcs.Object),
		"input_preview": r.text(&c.InputPreview),
		"tier":          r.text(&c.Tier),
		"dangerous":     r.flag(&c.Dangerous),
		"no_edit":       r.flag(&c.NoEdit),
		"context":       r.exact("context", &c.Context),
	})
	c.Input = input
	return &c
}
