package decode_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/decode"
	"github.com/askback/askback/internal/wire/jcs"
)

// Every field of the bodies of session requests is read.
func TestSessionBodiesAreParsed(t *testing.T) {
	start, err := decode.SessionRequest([]byte(`{"external": true, "session_key": "k", "agent": "a", "title": "t", "metadata": {"n": 1}, "prompt": null}`))
	check(t, err, start, askback.SessionRequest{Key: "k", Agent: "a", Title: "t", Metadata: []byte(`{"n": 1}`)})
	message, err := decode.Message([]byte(`{"text": "hi"}`), askback.RoleUser)
	check(t, err, message, askback.Command(askback.SendMessage{Text: "hi"}))
	message, err = decode.Message([]byte(`{"text": "hi", "final": true}`), askback.RoleAssistant)
	check(t, err, message, askback.Command(askback.Report{Text: "hi", Final: true}))
	message, err = decode.Message([]byte(`{"text": "hi", "role": "user"}`), askback.RoleAssistant)
	check(t, err, message, askback.Command(askback.SendMessage{Text: "hi"}))
	resume, err := decode.Resume([]byte(`{"message": "go on"}`))
	check(t, err, resume, askback.ResumeSession{Message: "go on"})
	for _, result := range []string{`{"a": [1]}`, `[1]`, `"x"`, `1.50`, `false`} {
		complete, err := decode.Complete([]byte(`{"status": "failed", "result": ` + result + `, "error": "e"}`))
		check(t, err, complete, askback.Complete{Status: askback.SessionFailed, Result: []byte(result), Error: "e"})
	}
	todos, err := decode.Todos(
		[]byte(`{"todos": [{"content": "c", "status": "pending"}, {"content": "d", "status": "completed"}]}`),
	)
	check(t, err, todos,
		askback.SetTodos{Todos: []askback.Todo{{Content: "c", Status: "pending"}, {Content: "d", Status: "completed"}}})
	todos, err = decode.Todos([]byte(`{"todos": []}`))
	check(t, err, todos, askback.SetTodos{})
}

func check[T any](t *testing.T, err error, got, want T) {
	t.Helper()
	if err != nil {
		t.Errorf("got error %v, want %+v", err, want)
	} else if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A body without required fields may be empty.
func TestResumeAndCompleteAcceptAnEmptyBody(t *testing.T) {
	resume, err := decode.Resume(nil)
	check(t, err, resume, askback.ResumeSession{})
	complete, err := decode.Complete(nil)
	check(t, err, complete, askback.Complete{})
}

// The error for an invalid body has a pointer and a fix. A hosted session is invalid, too. A
// duplicate name is a syntax error.
func TestInvalidSessionBodiesAreRejected(t *testing.T) {
	start := func(raw []byte) error { _, err := decode.SessionRequest(raw); return err }
	user := func(raw []byte) error { _, err := decode.Message(raw, askback.RoleUser); return err }
	resume := func(raw []byte) error { _, err := decode.Resume(raw); return err }
	complete := func(raw []byte) error { _, err := decode.Complete(raw); return err }
	todos := func(raw []byte) error { _, err := decode.Todos(raw); return err }
	for _, c := range []struct {
		read          func([]byte) error
		body, pointer string
	}{
		{start, `{}`, "/external"},
		{start, `{"external": false}`, "/external"},
		{start, `{"external": true, "prompt": "x"}`, "/external"},
		{start, `{"external": true, "payload": {}}`, "/external"},
		{start, `{"external": "true"}`, "/external"},
		{start, `{"external": true, "metadata": "x"}`, "/metadata"},
		{start, `{"external": true, "key": "x"}`, "/key"},
		{start, `[]`, ""},
		{user, `{"text": "x", "final": false}`, "/final"},
		{user, `{"text": "x", "role": "system"}`, "/role"},
		{user, `{"text": 1}`, "/text"},
		{resume, `{"text": "x"}`, "/text"},
		{complete, `{"status": 1}`, "/status"},
		{complete, `{"results": 1}`, "/results"},
		{todos, `{}`, "/todos"},
		{todos, `{"todos": null}`, "/todos"},
		{todos, `{"todos": ["x"]}`, "/todos/0"},
		{todos, `{"todos": [{"content": "x", "done": true}]}`, "/todos/0/done"},
	} {
		err := c.read([]byte(c.body))
		bad, ok := errors.AsType[askback.Invalid](err)
		if !ok || bad[0].Pointer != c.pointer || bad[0].Fix == "" {
			t.Errorf("%s: got %v, want a problem at %q with a fix", c.body, err, c.pointer)
		}
	}
	for _, read := range []func([]byte) error{start, user, resume, complete, todos} {
		if _, ok := errors.AsType[*jcs.SyntaxError](read([]byte(`{"text": "a", "text": "b"}`))); !ok {
			t.Error("a body with a duplicate name is accepted")
		}
	}
}
