package openapi_test

import (
	"encoding/json"
	"net/http/httptest"
	"path"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/internal/agents/claudecode"
	"github.com/askback/askback/internal/directory"
	"github.com/askback/askback/internal/wire/compat"
	"github.com/askback/askback/internal/wire/decode"
	"github.com/askback/askback/internal/wire/jcs"
	"github.com/askback/askback/internal/wire/openapi"
	"github.com/askback/askback/internal/wire/openapi/openapitest"
	"github.com/askback/askback/store/memstore"
)

// readers maps the schema of each request body to the function that decodes it.
var readers = map[string]func([]byte) error{
	"AskRequest": func(raw []byte) error {
		r, err := decode.Request(raw)
		if err != nil {
			return err
		}
		_, err = r.Normalize()
		return err
	},
	"AnswerRequest":   func(raw []byte) error { _, _, err := decode.AnswerOrHold(raw); return err },
	"DeclineRequest":  func(raw []byte) error { _, _, err := decode.ReasonOrHold(raw); return err },
	"Reason":          func(raw []byte) error { _, err := decode.Reason(raw); return err },
	"EmptyRequest":    decode.Nothing,
	"Digest":          func(raw []byte) error { _, err := decode.Digest(raw); return err },
	"Draft":           func(raw []byte) error { return askback.CheckDraft(raw) },
	"ReassignRequest": func(raw []byte) error { _, err := decode.Reassignment(raw); return err },
	"SnoozeRequest":   func(raw []byte) error { _, err := decode.Snooze(raw); return err },
	"SessionRequest":  func(raw []byte) error { _, err := decode.SessionRequest(raw); return err },
	"MessageRequest":  func(raw []byte) error { return checked(decode.Message(raw, askback.RoleUser)) },
	"ResumeRequest":   func(raw []byte) error { return checked(decode.Resume(raw)) },
	"Completion":      func(raw []byte) error { return checked(decode.Complete(raw)) },
	"Todos":           func(raw []byte) error { return checked(decode.Todos(raw)) },
	"TokenRequest": func(raw []byte) error {
		r, err := decode.TokenRequest(raw)
		if err != nil {
			return err
		}
		return r.Check()
	},
	"EndpointRequest": func(raw []byte) error {
		r, err := decode.EndpointRequest(raw)
		if err != nil {
			return err
		}
		return r.Check()
	},
	"ContactRequest": func(raw []byte) error {
		r, err := decode.ContactRequest(raw)
		if err != nil {
			return err
		}
		return r.Check()
	},
	"PersonRequest": func(raw []byte) error {
		r, err := decode.PersonRequest(raw)
		if err != nil {
			return err
		}
		r.Name = "dana"
		return directory.CheckPerson(r)
	},
	"HookPayload": func(raw []byte) error { _, err := jcs.Parse(raw); return err },
	"GroupRequest": func(raw []byte) error {
		people, err := decode.GroupRequest(raw)
		if err != nil {
			return err
		}
		return directory.CheckGroup("payments", people)
	},
	"RoutesRequest": func(raw []byte) error {
		routes, _, err := decode.RoutesRequest(raw)
		if err != nil {
			return err
		}
		return directory.CheckRoutes(routes, nil, func(string) bool { return true })
	},
	"ContactCodeRequest": func(raw []byte) error { _, err := decode.ContactCode(raw); return err },
	"ResendRequest":      func(raw []byte) error { _, err := decode.Resend(raw); return err },
	"AnyJSON": func(raw []byte) error {
		_, err := claudecode.Dialect.Ask(raw)
		return err
	},
	"TextAnswer": func(raw []byte) error { _, err := compat.ReadTextAnswer(raw); return err },
	"ConversationAnswer": func(raw []byte) error {
		_, err := compat.Respond(raw, askback.Ask{Kind: askback.Questions, Questions: []askback.Question{
			{ID: "q1", Text: "Which database should we use?", Options: askback.Options("PostgreSQL", "SQLite")},
		}})
		return err
	},
}

func checked(t askback.Command, err error) error {
	if err != nil {
		return err
	}
	return t.Check()
}

// bodies returns the names of the schemas of request bodies.
func bodies(t *testing.T) []string {
	t.Helper()
	out := httptest.NewRecorder()
	httpapi.NewHandler(engine.New(memstore.New(), nil), nil).ServeHTTP(out,
		httptest.NewRequest("GET", "/api/openapi.json", nil))
	doc, err := openapi3.NewLoader().LoadFromData(out.Body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			if op.RequestBody != nil {
				names = append(names, path.Base(op.RequestBody.Value.Content[openapi.JSON].Schema.Ref))
			}
		}
	}
	if len(names) == 0 {
		t.Fatal("there are no request bodies")
	}
	return names
}

// Every request body has a decoder, which accepts the examples of its schema without a
// repair (F15).
func TestDecodeAcceptsSchemaExamples(t *testing.T) {
	for _, name := range bodies(t) {
		if _, ok := readers[name]; !ok {
			t.Errorf("no decoder for %s", name)
		}
	}
	all := schemas(t)
	for name, read := range readers {
		for _, example := range all[name].Examples {
			if err := read(example); err != nil {
				t.Errorf("%s: %v\n%s", name, err, example)
			}
		}
	}
	for _, example := range all["AskRequest"].Examples {
		if r, err := decode.Request(example); err != nil || len(r.Warnings) > 0 {
			t.Errorf("this example is repaired: %s: %v", example, r.Warnings)
		}
	}
}

// The decoder and the schema accept the same request bodies.
func TestDecodeAndSchemasAgree(t *testing.T) {
	for _, c := range []struct {
		name, raw string
		good      bool
	}{
		{"AskRequest", `{"question": "Which?"}`, true},
		{"AskRequest", `{"question": "Which?", "options": []}`, true},
		{
			"AskRequest", `{"question": "Which?", "options": ["A", {"label": "B", "description": "b"}], "default": 1}`,
			true,
		},
		{
			"AskRequest", `{"question": "Which?", "options": ["A", "B"], "multi_select": true, "default": ["A", 1]}`,
			true,
		},
		{"AskRequest", `{"question": "Which?", "options": ["A", "B"], "descriptions": ["a", null]}`, true},
		{"AskRequest", `{"question": "Which?", "header": "A header that is far too long", "timeout": 90, "on_timeout": "decline"}`, true},
		{"AskRequest", `{"question": "Which?", "timeout": "1h30m", "context": {"a": 1}}`, true},
		{"AskRequest", `{"confirmation": {"tool_name": "rm"}}`, true},
		{"AskRequest", `{"question": "Which?", "options": ["A"]}`, false},
		{"AskRequest", `{"question": "Which?", "context": ["a"]}`, false},
		{"AskRequest", `{"question": "Which?", "timeout": "1.5h"}`, false},
		{"AskRequest", `{"question": "Which?", "on_timeout": "approve"}`, false},
		{"AskRequest", `{"question": "Which?", "colour": "red"}`, false},
		{"AskRequest", `{"confirmation": {"tool_name": "rm", "input": [1]}}`, false},
		{"AskRequest", `{"confirmation": {"tool_name": "rm", "tier": "observe"}}`, false},
		{"AnswerRequest", `{"answer": ["A", "B"]}`, true},
		{
			"AnswerRequest",
			`{"answers": [{"id": "q1", "question": "", "selected": [], "other": null, "notes": null}]}`, true,
		},
		{"AnswerRequest", `{"answers": {"q1": ["A"], "Which?": "B"}, "comment": "c"}`, true},
		{"AnswerRequest", `{"decision": "approved", "input": {"a": 1}, "reason": "r"}`, true},
		{"AnswerRequest", `{"answers": "A"}`, false},
		{"AnswerRequest", `{"answers": {"q1": 1}}`, false},
		{"AnswerRequest", `{"decision": true}`, false},
		{"AnswerRequest", `{"decision": "approve_all", "grant": {"scope": "tool", "for": "1d"}}`, false},
		{"Reason", `{}`, true},
		{"Reason", `{"why": "r"}`, false},
		{"Draft", `[]`, false},
		{"SessionRequest", `{"external": true, "metadata": []}`, false},
		{"SessionRequest", `{"external": true, "prompt": "go"}`, false},
		{"SessionRequest", `{}`, false},
		{"MessageRequest", `{"text": ""}`, false},
		{"MessageRequest", `{"text": "hi", "role": "system"}`, false},
		{"Completion", `{"status": "cancelled"}`, false},
		{"Completion", `{"result": [1]}`, true},
		{"Todos", `{"todos": []}`, true},
		{"Todos", `{"todos": [{"content": "c", "status": "later"}]}`, false},
		{"TokenRequest", `{"kind": "root", "name": "eve"}`, false},
		{"TokenRequest", `{"kind": "agent", "name": ""}`, false},
		{"TextAnswer", `{"question_id": "latest"}`, false},
		{"TextAnswer", `{"answer": "A"}`, true},
		{"ConversationAnswer", `{"answers": {"q1": ["SQLite"]}, "annotations": {"q1": {"notes": "n"}}}`, true},
		{"ConversationAnswer", `{"answers": {"q1": "SQLite"}, "annotations": {"q1": {"colour": "red"}}}`, false},
	} {
		if err := readers[c.name]([]byte(c.raw)); (err == nil) != c.good {
			t.Errorf("the reader says of the %s %s: %v", c.name, c.raw, err)
		}
		if err := openapitest.Validate(c.name, []byte(c.raw)); (err == nil) != c.good {
			t.Errorf("the schema says of %s: %v", c.raw, err)
		}
	}
}

// The decoder does not report a field as unknown if the schema has it.
func TestDecodeAcceptsEveryFieldOfSchema(t *testing.T) {
	all := schemas(t)
	for name, read := range readers {
		for field := range all[name].Properties {
			raw, err := json.Marshal(map[string]any{field: nil}) // null is accepted like a missing field
			if err != nil {
				t.Fatal(err)
			}
			if err := read(raw); unknown(err) {
				t.Errorf("%s has %s, and the decoder returns %v", name, field, err)
			}
		}
	}
}

func unknown(err error) bool {
	bad, _ := err.(askback.Invalid)
	for _, p := range bad {
		if p.Detail == "unknown field" {
			return true
		}
	}
	return false
}
