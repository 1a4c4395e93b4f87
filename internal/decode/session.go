package decode

import (
	"github.com/askback/askback"
	"github.com/askback/askback/internal/jcs"
)

const exampleSession = `{"external": true, "session_key": "run-7", "title": "Deploy"}`

// anyKind is JSON of whatever kind; null is as if it were not there.
var anyKind = []jcs.Kind{jcs.Object, jcs.Array, jcs.String, jcs.Number, jcs.Bool}

// SessionRequest reads the body of POST /sessions: {"external": true,
// "session_key", "agent", "title", "metadata"}. A hosted run is refused with what
// belongs to it, never taken for another.
func SessionRequest(raw []byte) (askback.SessionRequest, error) {
	r, n, err := parse(raw)
	if err != nil {
		return askback.SessionRequest{}, err
	}
	var (
		out      askback.SessionRequest
		metadata []byte
		external bool
	)
	hosted := func(n node) { r.wrong(n.at, "this release hosts no agents", exampleSession) }
	r.fields(n, exampleSession, map[string]func(node){
		"external":    r.flag(&external),
		"session_key": r.text(&out.Key),
		"agent":       r.text(&out.Agent),
		"title":       r.text(&out.Title),
		"metadata":    r.raw(&metadata, "{}", jcs.Object),
		"prompt":      hosted,
		"payload":     hosted,
	})
	if !external && r.err() == nil {
		r.wrong("/external", "this release hosts no agents", exampleSession)
	}
	out.Metadata = metadata
	return out, r.err()
}

// Message reads the body of POST /sessions/{id}/messages: {"text"} of a person,
// {"text", "final"} of the run itself. Who says neither speaks as the role given.
func Message(raw []byte, role askback.Role) (askback.Command, error) {
	r, n, err := parse(raw)
	if err != nil {
		return nil, err
	}
	var (
		text, as string
		final    bool
		finalAt  string
	)
	r.fields(n, `{"text": "…"}`, map[string]func(node){
		"text": r.text(&text),
		"role": r.text(&as),
		"final": func(n node) {
			finalAt = n.at
			r.flag(&final)(n)
		},
	})
	if as != "" {
		role = askback.Role(as)
	}
	switch {
	case role == askback.RoleAssistant:
		return askback.Report{Text: text, Final: final}, r.err()
	case role != askback.RoleUser:
		r.wrong("/role", "a role is user or assistant", `"role": "user"`)
	case finalAt != "":
		r.wrong(finalAt, "only the run itself says its last word", "leave it out")
	}
	return askback.SendMessage{Text: text}, r.err()
}

// Resume reads the body of POST /sessions/{id}/resume: {"message"}, or none.
func Resume(raw []byte) (askback.ResumeSession, error) {
	var out askback.ResumeSession
	err := optional(raw, `{"message": "…"}`, func(r *reader) map[string]func(node) {
		return map[string]func(node){"message": r.text(&out.Message)}
	})
	return out, err
}

// Complete reads the body of POST /sessions/{id}/complete: {"status", "result",
// "error"}, or none.
func Complete(raw []byte) (askback.Complete, error) {
	var (
		out    askback.Complete
		status string
		result []byte
	)
	err := optional(raw, `{"status": "completed", "result": {}}`, func(r *reader) map[string]func(node) {
		return map[string]func(node){
			"status": r.text(&status),
			"result": r.raw(&result, "{}", anyKind...),
			"error":  r.text(&out.Error),
		}
	})
	out.Status, out.Result = askback.SessionStatus(status), result
	return out, err
}

// optional reads an object of which every field may be left out, and so the
// whole of it.
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

// Todos reads the body of PUT /sessions/{id}/todos: {"todos": [{"content",
// "status"}]}.
func Todos(raw []byte) (askback.SetTodos, error) {
	r, n, err := parse(raw)
	if err != nil {
		return askback.SetTodos{}, err
	}
	var out askback.SetTodos
	said := false
	r.fields(n, exampleTodos, map[string]func(node){"todos": func(n node) {
		said = true
		r.each(n, `[{"content": "Save it", "status": "pending"}]`, func(n node) { out.Todos = append(out.Todos, r.todo(n)) })
	}})
	if !said && r.err() == nil {
		r.wrong("/todos", "there are no todos", exampleTodos)
	}
	return out, r.err()
}

func (r *reader) todo(n node) askback.Todo {
	var out askback.Todo
	var status string
	r.fields(n, `{"content": "Save it", "status": "pending"}`, map[string]func(node){
		"content": r.text(&out.Content),
		"status":  r.text(&status),
	})
	out.Status = askback.TodoStatus(status)
	return out
}
