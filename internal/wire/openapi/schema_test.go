package openapi_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/wire/openapi/openapitest"
)

// A component has the members of a schema that these tests read.
type component struct {
	Description string                     `json:"description"`
	Required    []string                   `json:"required"`
	Properties  map[string]json.RawMessage `json:"properties"`
	More        *bool                      `json:"additionalProperties"`
	Examples    []json.RawMessage          `json:"examples"`
}

func schemas(t *testing.T) map[string]component {
	t.Helper()
	var doc struct {
		Components struct {
			Schemas map[string]component `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(made(t), &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Components.Schemas
}

func TestSchemaExamplesAreValid(t *testing.T) {
	all := schemas(t)
	written, err := filepath.Glob("schemas/*.json")
	generated, errGen := filepath.Glob("schemas/gen/*.json")
	if files := len(written) + len(generated); err != nil || errGen != nil || len(all) != files || files < 60 {
		t.Errorf("the document has %d schemas, there are %d files, %v, %v", len(all), files, err, errGen)
	}
	for name, s := range all {
		if len(s.Examples) == 0 {
			t.Errorf("%s has no example", name)
		}
		if !strings.HasSuffix(s.Description, ".") {
			t.Errorf("the description of %s is not a sentence: %q", name, s.Description)
		}
		for i, example := range s.Examples {
			if err := openapitest.Validate(name, example); err != nil {
				t.Errorf("example %d: %v", i, err)
			}
		}
	}
}

// anything has the fields that accept JSON of any type.
var anything = []string{
	"Session.payload", "Session.result", "Completion.result", "SessionRequest.payload", "ToolInputReady.input",
}

// Other tests compare replies with the schemas. This proves something only if a schema
// rejects unknown fields, missing fields, and fields of another type.
func TestSchemasAreStrict(t *testing.T) {
	for name, s := range schemas(t) {
		if s.Properties == nil {
			continue
		}
		if s.More == nil || *s.More {
			t.Errorf("%s accepts unknown fields", name)
		}
		for _, example := range s.Examples {
			spoil(t, name, s, example)
		}
	}
}

func spoil(t *testing.T, name string, s component, example json.RawMessage) {
	t.Helper()
	refused := func(what string, change func(map[string]any)) {
		var v map[string]any
		if err := json.Unmarshal(example, &v); err != nil {
			t.Fatal(err)
		}
		change(v)
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if openapitest.Validate(name, raw) == nil {
			t.Errorf("%s accepts %s: %s", name, what, raw)
		}
	}
	refused("another field", func(v map[string]any) { v["surprise"] = true })
	for _, field := range s.Required {
		refused("no "+field, func(v map[string]any) { delete(v, field) })
	}
	for field := range s.Properties {
		if !slices.Contains(anything, name+"."+field) {
			refused("a number for "+field, func(v map[string]any) { v[field] = -1.5 })
		}
	}
}

// omitted has the members of replies that are not always sent (docs/wire.md). A problem has the members of
// its type, and a reply in the format of another program has the members of that format.
var omitted = map[string][]string{
	"AgentReply": {"session_id"},
	"Ask": {
		"approvers", "asked_again_at", "follow_ups", "held", "no_self_approval", "reassigned_at", "reassigned_by",
		"recipients", "session_title", "started_by",
	},
	"Route": {
		"approvers", "channels", "escalate", "join", "no_self_approval", "on_timeout", "quorum", "remind", "source",
		"timeout", "to", "warning",
	},
	"AskPage":        {"events_cursor", "snoozes"},
	"Confirmation":   {"no_edit"},
	"Delivery":       {"endpoint_id", "endpoint_status"},
	"Grant":          {"maker_ended"},
	"HeldChanged":    {"why"},
	"Held":           {"grant_expires_at", "grant_scope", "yours"},
	"Option":         {"description", "preview"},
	"Outcome":        {"waiting"},
	"GrantChanged":   {"by"},
	"LoginLink":      {"url"},
	"MessageSent":    {"by"},
	"MessageQueued":  {"by"},
	"Question":       {"format"},
	"Problem":        {"approvers", "ask", "ask_id", "detail", "errors", "outcome", "question_ids"},
	"SessionChanged": {"by"},
	"Session":        {"reads_messages", "started_by"},
	"SessionReply":   {"ask_id", "outcome", "question_ids"},
	"Snapshot":       {"more"},
	"Token":          {"address", "browser"},
}

// Every member of a reply is present, and null if it is absent (docs/wire.md §2). So the schema of a reply
// requires all its members. The replies of the server are checked against the schemas.
func TestSchemasOfRepliesRequireEveryMember(t *testing.T) {
	requests := []string{"AnswerEntry", "Completion", "ConversationAnswer", "Reason", "TextAnswer"}
	for name, s := range schemas(t) {
		if strings.HasSuffix(name, "Request") || slices.Contains(requests, name) {
			continue
		}
		var optional []string
		for member := range s.Properties {
			if !slices.Contains(s.Required, member) {
				optional = append(optional, member)
			}
		}
		slices.Sort(optional)
		if !slices.Equal(optional, omitted[name]) {
			t.Errorf("%s does not require %q, want %q", name, optional, omitted[name])
		}
	}
}

// Validate rejects malformed JSON, unknown schemas, and values that violate docs/wire.md §2
// and §5.
func TestValidateRejectsInvalidValues(t *testing.T) {
	for _, c := range []struct{ name, raw string }{
		{"Ask", `{`},
		{"Ask", `null`},
		{"Asking", `{}`},
		{"Actor", `{"kind": "robot", "name": null}`},
		{"Option", `{"label": ""}`},
		{"Option", `{"label": "` + strings.Repeat("x", limits.MaxLabel+1) + `"}`},
		{"Todo", `{"content": "Save it", "status": "done"}`},
		{"Claim", `{"name": "ana", "at": "2026-01-02T09:00:00Z"}`},
		{"Claim", `{"name": "ana", "at": null}`},
		{"Duration", `"soon"`},
		{"Duration", `0`},
		{"Duration", `-5`},
		{"AskRequest", `{}`},
		{"AskRequest", `{"question": "A?", "questions": [{"question": "A?"}]}`},
		{"AskRequest", `{"question": "A?", "confirmation": {"tool_name": "rm"}}`},
		{"AskRequest", `{"question": "A?", "options": ["only one"]}`},
		{"AskRequest", `{"question": "A?", "quorum": 21}`},
		{"AskRequest", `{"question": "A?", "timeout": "5m", "deadline": "2026-01-02T09:00:00Z"}`},
		{"AskRequest", `{"question": "A?", "session_id": "ses_1", "session_key": "mine"}`},
		{"AskRequest", `{"questions": [{"question": "1"}, {"question": "2"}, {"question": "3"}, {"question": "4"}, {"question": "5"}]}`},
		{"AskRequest", `{"confirmation": {"tool_name": "rm", "digest": "sha256:00"}}`},
		{"AnswerRequest", `{}`},
		{"AnswerRequest", `{"answer": "A", "answers": []}`},
		{"AnswerRequest", `{"decision": "approved", "answer": "A"}`},
		{"AnswerRequest", `{"decision": "yes"}`},
		{"AnswerRequest", `{"answers": [{"selected": ["A"]}]}`},
		{"SessionRequest", `{"external": false}`},
		{"Stats", `{"pending": 0, "oldest_pending_s": 0, "settled": {"pending": 1}, "by_policy": 0, "median_wait_s": 0, "people": [], "agents": [], "partial": false}`},
		{"Problem", `{"type": "about:blank", "title": "Not Found", "status": 404}`},
	} {
		if err := openapitest.Validate(c.name, []byte(c.raw)); err == nil {
			t.Errorf("%s accepts %s", c.name, c.raw)
		}
	}
}

// The schemas have the limits of the code, which docs/wire.md §1 lists.
func TestLimitsInSchemasMatchTheCode(t *testing.T) {
	for _, c := range []struct {
		schema, field, limit string
		want                 int
	}{
		{"OptionRequest", "label", "maxLength", limits.MaxLabel},
		{"OptionRequest", "description", "maxLength", limits.MaxDescription},
		{"OptionRequest", "preview", "maxLength", limits.MaxPreview},
		{"Option", "label", "maxLength", limits.MaxLabel},
		{"Option", "description", "maxLength", limits.MaxDescription},
		// a confirmation that is sent as a question has its arguments in the preview
		{"Option", "preview", "maxLength", limits.MaxInput},
		{"Question", "question", "maxLength", len("Confirm: ") + limits.MaxQuestion},
		{"Question", "options", "maxItems", limits.MaxOptions},
		{"QuestionRequest", "question", "maxLength", limits.MaxQuestion},
		{"QuestionRequest", "options", "maxItems", limits.MaxOptions},
		{"AskRequest", "questions", "maxItems", limits.MaxQuestions},
		{"AskRequest", "question", "maxLength", limits.MaxQuestion},
		{"AskRequest", "options", "maxItems", limits.MaxOptions},
		{"AskRequest", "context", "maxLength", limits.MaxContext},
		{"AskRequest", "title", "maxLength", limits.MaxName},
		{"AskRequest", "to", "maxItems", limits.MaxNames},
		{"AskRequest", "tags", "maxItems", limits.MaxNames},
		{"AskRequest", "key", "maxLength", limits.MaxKey},
		{"AskRequest", "session_key", "maxLength", limits.MaxKey},
		{"AskRequest", "warnings", "maxItems", limits.MaxProblems},
		{"ConfirmationRequest", "description", "maxLength", limits.MaxQuestion},
		{"ConfirmationRequest", "input_preview", "maxLength", limits.MaxPreview},
		{"ConfirmationRequest", "context", "maxLength", limits.MaxContext},
		{"AnswerEntry", "notes", "maxLength", limits.MaxText},
		{"AnswerEntry", "other", "maxLength", limits.MaxText},
		{"AnswerRequest", "comment", "maxLength", limits.MaxText},
		{"AnswerRequest", "reason", "maxLength", limits.MaxText},
		{"Reason", "reason", "maxLength", limits.MaxText},
		{"MessageRequest", "text", "maxLength", limits.MaxMessage},
		{"Todos", "todos", "maxItems", limits.MaxTodos},
		{"Todo", "content", "maxLength", limits.MaxTodo},
		{"Problem", "errors", "maxItems", limits.MaxProblems},
		{"AskPage", "items", "maxItems", askback.MaxLimit},
	} {
		var property map[string]any
		if err := json.Unmarshal(schemas(t)[c.schema].Properties[c.field], &property); err != nil {
			t.Errorf("%s.%s: %v", c.schema, c.field, err)
			continue
		}
		if got, _ := property[c.limit].(float64); int(got) != c.want {
			t.Errorf("%s.%s has %s %v, want %d", c.schema, c.field, c.limit, property[c.limit], c.want)
		}
	}
}

// Code generators make a field with a default required, and need the type of list
// elements. So no field of a request has a default, and every list has items.
func TestSchemasSuitCodeGenerators(t *testing.T) {
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(at, e)
			}
		case map[string]any:
			types, _ := v["type"].([]any)
			if _, has := v["items"]; !has && (v["type"] == "array" || slices.Contains(types, any("array"))) {
				t.Errorf("%s: a list without items", at)
			}
			if _, has := v["default"]; has && v["type"] != nil && strings.Contains(at, "Request") {
				t.Errorf("%s: a default in a request", at)
			}
			for name, e := range v {
				if name != "examples" {
					walk(at+"/"+name, e)
				}
			}
		}
	}
	var doc map[string]any
	if err := json.Unmarshal(made(t), &doc); err != nil {
		t.Fatal(err)
	}
	walk("", doc["components"])
}
