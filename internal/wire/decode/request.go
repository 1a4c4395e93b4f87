package decode

import (
	"slices"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/wire/jcs"
)

const exampleRequest = `{"question": "Which database?", "options": ["PostgreSQL", "SQLite"]}`

// Request parses the body of POST /asks (wire.md §2): questions, a confirmation, or the flat form of one
// question, with their common fields. Warnings lists the repairs. Their pointers refer to the body with all
// JSON in strings decoded.
func Request(raw []byte) (askback.Request, error) { return request(raw, true) }

var (
	bodyNames = slices.Concat(requestNames, flatNames)
	toolNames = slices.Concat([]string{"questions"}, flatNames)
)

// request parses questions and, for the body of a request, its other members.
func request(raw []byte, body bool) (askback.Request, error) {
	r, n, exact, err := parseRepaired(raw)
	if err != nil {
		return askback.Request{}, err
	}
	names := toolNames
	if body {
		names = bodyNames
	}
	var out askback.Request
	var flat flat
	r.modelMembers(n, exampleRequest, names, func(name string, n node) bool {
		switch {
		case name == "questions" && n.Kind == jcs.String && !looksLikeJSON(n.Text()):
			r.problem("expected an array, got a string", `did you mean "question"?`)
			return true
		case name == "questions":
			out.Questions = r.questions(n)
			return true
		case body && r.bodyMember(&out, name, n):
			return true
		}
		known := r.flatMember(&flat, name, n)
		flat.seen = flat.seen || known
		return known
	})
	if flat.seen {
		if out.Questions != nil {
			r.problemAt("/question", "send either questions or one question in the flat form, not both",
				"add it to questions")
		}
		out.Questions = []askback.Question{r.unflatten(&flat)}
	}
	if exact {
		r.rejectRepairs()
	}
	out.Warnings = r.mergeWarnings(out.Warnings)
	return out, r.err()
}

func (r *reader) bodyMember(q *askback.Request, name string, n node) bool {
	switch name {
	case "context":
		r.raw(n, &q.Context, `"what the person should know"`, jcs.String, jcs.Object)
	case "warnings":
		q.Warnings = r.readWarnings(n)
	default:
		return r.requestMember(q, name, n)
	}
	return true
}

// rejectRepairs turns warnings into problems, because a confirmation is never repaired.
func (r *reader) rejectRepairs() {
	for _, m := range r.warnings {
		r.problemAt(m.Pointer, m.Detail, "a body with a confirmation is never repaired: send it in the correct form")
	}
	r.warnings = nil
}

// mergeWarnings returns earlier, the warnings that another program sent, followed by the warnings of r. It
// returns at most [limits.MaxProblems] warnings, and does not repeat a warning about several questions.
func (r *reader) mergeWarnings(earlier []askback.Problem) []askback.Problem {
	out := earlier
	for _, m := range r.warnings {
		repeated := slices.ContainsFunc(earlier,
			func(b askback.Problem) bool { return b.Detail == severalQuestions && m.Detail == severalQuestions })
		if !repeated && len(out) < limits.MaxProblems {
			out = append(out, m)
		}
	}
	return out
}

// readWarnings reads the warnings about repairs by another program, such as an MCP server.
func (r *reader) readWarnings(n node) (out []askback.Problem) {
	r.elements(n, "[]", func(n node) {
		var p askback.Problem
		r.members(n, `{"pointer": "/header", "detail": "…", "fix": "…"}`, problemNames, func(name string, n node) bool {
			return r.problemMember(&p, name, n)
		})
		out = append(out, p)
	})
	return out
}

func (r *reader) confirmation(n node) *askback.Confirmation {
	var c askback.Confirmation
	r.members(n, `{"tool_name": "delete_files", "input": {"paths": ["/tmp/x"]}}`,
		confirmationNames, func(name string, n node) bool {
			if name == "input" {
				r.raw(n, &c.Input, `{"paths": ["/tmp/x"]}`, jcs.Object)
				return true
			}
			return r.confirmationMember(&c, name, n)
		})
	return &c
}
