package decode

import (
	"cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/jcs"
)

const exampleSession = `{"external": true, "session_key": "run-7", "title": "Deploy"}`

// anyKind are all kinds but null, which means that a field is absent.
var anyKind = []jcs.Kind{jcs.Object, jcs.Array, jcs.String, jcs.Number, jcs.Bool}

// SessionRequest parses the body of POST /sessions: {"external": true, "session_key",
// "agent", "title", "metadata"}. It rejects hosted sessions, which are not supported.
func SessionRequest(raw []byte) (askback.SessionRequest, error) {
	r, n, err := parse(raw)
	if err != nil {
		return askback.SessionRequest{}, err
	}
	var out askback.SessionRequest
	var external bool
	hosted := func(n node) {
		r.problem(n.pointer, "hosted sessions are not supported in this release", exampleSession)
	}
	r.fields(n, exampleSession, map[string]func(node){
		"external":    r.flag(&external),
		"session_key": r.text(&out.Key),
		"agent":       r.text(&out.Agent),
		"title":       r.text(&out.Title),
		"metadata":    r.raw(&out.Metadata, "{}", jcs.Object),
		"prompt":      hosted,
		"payload":     hosted,
	})
	if !external && r.err() == nil {
		r.problem("/external", "hosted sessions are not supported in this release", exampleSession)
	}
	return out, r.err()
}

// Message parses the body of POST /sessions/{id}/messages: {"text", "role"} and, from the
// agent, "final". A body without "role" has the role that is passed.
func Message(raw []byte, role askback.Role) (askback.Command, error) {
	r, n, err := parse(raw)
	if err != nil {
		return nil, err
	}
	var (
		text         string
		final        bool
		finalPointer string
		sender       askback.Role
	)
	r.fields(n, `{"text": "…"}`, map[string]func(node){
		"text": r.text(&text),
		"role": r.text((*string)(&sender)),
		"final": func(n node) {
			finalPointer = n.pointer
			r.flag(&final)(n)
		},
	})
	switch role = cmp.Or(sender, role); {
	case role == askback.RoleAssistant:
		return askback.Report{Text: text, Final: final}, r.err()
	case role != askback.RoleUser:
		r.problem("/role", "role must be user or assistant", `"role": "user"`)
	case finalPointer != "":
		r.problem(finalPointer, "only a message of the agent can be final", "leave it out")
	}
	return askback.SendMessage{Text: text}, r.err()
}

// Resume parses the body of POST /sessions/{id}/resume: {"message"}, or no body.
func Resume(raw []byte) (askback.ResumeSession, error) {
	var out askback.ResumeSession
	err := optional(raw, `{"message": "…"}`, func(r *reader) map[string]func(node) {
		return map[string]func(node){"message": r.text(&out.Message)}
	})
	return out, err
}

// Complete parses the body of POST /sessions/{id}/complete: {"status", "result", "error"},
// or no body.
func Complete(raw []byte) (askback.Complete, error) {
	var out askback.Complete
	err := optional(raw, `{"status": "completed", "result": {}}`, func(r *reader) map[string]func(node) {
		return map[string]func(node){
			"status": r.text((*string)(&out.Status)),
			"result": r.raw(&out.Result, "{}", anyKind...),
			"error":  r.text(&out.Error),
		}
	})
	return out, err
}

// optional parses an object without required fields, or an empty body.
func optional(raw []byte, example string, fields func(*reader) map[string]func(node)) error {
	if len(raw) == 0 {
		return nil
	}
	r, n, err := parse(raw)
	if err != nil {
		return err
	}
	r.fields(n, example, fields(r))
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
	r.fields(n, exampleTodos, map[string]func(node){"todos": func(n node) {
		found = true
		r.elements(n, `[{"content": "Save it", "status": "pending"}]`, func(n node) { out.Todos = append(out.Todos, r.todo(n)) })
	}})
	if !found && r.err() == nil {
		r.problem("/todos", "todos is missing", exampleTodos)
	}
	return out, r.err()
}

func (r *reader) todo(n node) askback.Todo {
	var out askback.Todo
	r.fields(n, `{"content": "Save it", "status": "pending"}`, map[string]func(node){
		"content": r.text(&out.Content),
		"status":  r.text((*string)(&out.Status)),
	})
	return out
}
