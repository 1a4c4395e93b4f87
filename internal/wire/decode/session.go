package decode

import (
	"cmp"

	"github.com/askback/askback"
)

const (
	exampleSession = `{"external": true, "session_key": "run-7", "title": "Deploy"}`
)

var sessionNames = append([]string{"external"}, sessionRequestNames...)

// SessionRequest parses the body of POST /sessions: {"external": true, "session_key",
// "agent", "title", "metadata"}, or {"agent", "prompt", "payload", …} for a hosted agent.
func SessionRequest(raw []byte) (askback.SessionRequest, error) {
	r, n, err := parse(raw)
	if err != nil {
		return askback.SessionRequest{}, err
	}
	var out askback.SessionRequest
	var external bool
	r.members(n, exampleSession, sessionNames, func(name string, n node) bool {
		switch name {
		case "external":
			r.flag(n, &external)
		default:
			return r.sessionRequestMember(&out, name, n)
		}
		return true
	})
	switch {
	case r.err() != nil:
	case external && out.Hosted():
		r.problemAt("/external", "an external run has no prompt and no payload", exampleSession)
	case !external && !out.Hosted():
		r.problemAt("/external", "there is no prompt, no payload and no external",
			`{"agent": "poem", "prompt": "…"}, or `+exampleSession)
	}
	return out, r.err()
}

var messageNames = append([]string{"role"}, reportNames...)

// Message parses the body of POST /sessions/{id}/messages: {"text", "role"} and, from the agent, "final". A
// body without "role" has the given role.
func Message(raw []byte, role askback.Role) (askback.Command, error) {
	r, n, err := parse(raw)
	if err != nil {
		return nil, err
	}
	var (
		out       askback.Report
		finalSent bool
		sender    askback.Role
	)
	r.members(n, `{"text": "…"}`, messageNames, func(name string, n node) bool {
		if name == "role" {
			r.text(n, (*string)(&sender))
			return true
		}
		finalSent = finalSent || name == "final"
		return r.reportMember(&out, name, n)
	})
	switch role = cmp.Or(sender, role); {
	case role == askback.RoleAssistant:
		return out, r.err()
	case role != askback.RoleUser:
		r.problemAt("/role", "role must be user or assistant", `"role": "user"`)
	case finalSent:
		r.problemAt("/final", "only a message of the agent can be final", "leave it out")
	}
	return askback.SendMessage{Text: out.Text}, r.err()
}

// Resume parses the body of POST /sessions/{id}/resume: {"message"}, or no body.
func Resume(raw []byte) (askback.ResumeSession, error) {
	var out askback.ResumeSession
	err := optional(raw, `{"message": "…"}`, resumeSessionNames, func(r *reader, name string, n node) bool {
		return r.resumeSessionMember(&out, name, n)
	})
	return out, err
}

// Complete parses the body of POST /sessions/{id}/complete: {"status", "result", "error"},
// or no body.
func Complete(raw []byte) (askback.Complete, error) {
	var out askback.Complete
	err := optional(raw,
		`{"status": "completed", "result": {}}`, completeNames, func(r *reader, name string, n node) bool {
			return r.completeMember(&out, name, n)
		})
	return out, err
}

// optional parses an object without required fields, or an empty body.
func optional(raw []byte, example string, names []string, read func(r *reader, name string, n node) bool) error {
	if len(raw) == 0 {
		return nil
	}
	r, n, err := parse(raw)
	if err != nil {
		return err
	}
	r.members(n, example, names, func(name string, n node) bool { return read(r, name, n) })
	return r.err()
}

const exampleTodos = `{"todos": [{"content": "Save it", "status": "pending"}]}`

// Todos parses the body of PUT /sessions/{id}/todos: {"todos": [{"content", "status"}]}.
func Todos(raw []byte) (askback.SetTodos, error) {
	r, n, err := parse(raw)
	if err != nil {
		return askback.SetTodos{}, err
	}
	var out askback.SetTodos
	found := false
	r.members(n, exampleTodos, setTodosNames, func(name string, n node) bool {
		if name != "todos" {
			return false
		}
		found = true
		r.elements(n, `[{"content": "Save it", "status": "pending"}]`,
			func(n node) { out.Todos = append(out.Todos, r.todo(n)) })
		return true
	})
	if !found && r.err() == nil {
		r.problemAt("/todos", "todos is missing", exampleTodos)
	}
	return out, r.err()
}

func (r *reader) todo(n node) (t askback.Todo) {
	r.members(n, `{"content": "Save it", "status": "pending"}`, todoNames, func(name string, n node) bool {
		return r.todoMember(&t, name, n)
	})
	return t
}
