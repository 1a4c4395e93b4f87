package decode_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/decode"
)

// A sentObject is an object of a request. body is a request in which %s is replaced by the object.
type sentObject struct {
	body    string
	objects []string // valid objects, which together have all fields
	// other names for a field, keyed by the field; "" is the key for names that have no field
	guesses map[string][]string
	parse   func([]byte) error
	others  []string // fields of objects in other rows
}

func parsedRequest(b []byte) error {
	r, err := decode.Request(b)
	if err == nil {
		_, err = r.Normalize()
	}
	return err
}

func parsedQuestions(b []byte) error { _, err := decode.Questions(b); return err }

// parsedAnswer parses an answer to a question.
func parsedAnswer(b []byte) error {
	a, _, err := decode.AnswerOrHold(b)
	if err == nil {
		_, err = a.Normalize(askback.Ask{Kind: askback.Questions, Questions: []askback.Question{
			{ID: "q1", Text: "Which database?", Options: []askback.Option{{Label: "PostgreSQL"}, {Label: "SQLite"}}},
		}})
	}
	return err
}

// parsedDecision parses an answer to a confirmation.
func parsedDecision(b []byte) error {
	a, _, err := decode.AnswerOrHold(b)
	if err == nil {
		call := &askback.Confirmation{ToolName: "pay", Input: json.RawMessage("{}")}
		_, err = a.Normalize(askback.Ask{Kind: askback.Confirm, Confirmation: call})
	}
	return err
}

func parser[T any](f func([]byte) (T, error)) func([]byte) error {
	return func(b []byte) error { _, err := f(b); return err }
}

var (
	questionGuesses = map[string][]string{
		"question":     {"text", "prompt", "message", "Question"},
		"options":      {"choice", "answers", "values", "items"},
		"multiSelect":  {"multi", "allow_multiple", "multiple_choice"},
		"allow_custom": {"allow_other", "allow_free_text"},
		"required":     {"optional"},
		"":             {"question_id", "answer_id", "type", "description", "option_id"},
	}
	oneAnswer = map[string][]string{
		"id":       {"question_id", "questionId", "qid", "key"},
		"question": {"question_text"},
		"selected": {
			"choice",
			"choices",
			"option",
			"options",
			"option_id",
			"value",
			"answer",
			"answers",
			"answer_id",
			"text",
			"label",
			"selection",
		},
		"notes": {"note", "comment"},
		"other": {"custom", "free_text"},
		"":      {"type", "confidence"},
	}
)

var sentObjects = []sentObject{
	{"%s", []string{
		`{"question": "Which?", "header": "DB", "options": ["a", "b"], "descriptions": ["c", "d"],
			"multiSelect": true, "default": ["a"]}`,
		`{"question": "Which?", "choices": ["a", "b"], "multi_select": false, "allow_custom": false,
			"required": false}`,
		`{"question": "Which?", "choices": ["a", "b"], "multiple": false, "format": "", "title": "A",
			"agent": "bot", "started_by": "cron", "restarted": true}`,
		`{"questions": [{"question": "Which?", "default": ["a"]}], "session_key": "s", "tags": ["a"],
			"to": ["ana"], "timeout": "1h", "on_timeout": "default", "key": "k"}`,
		`{"question": "Which?", "session_id": "ses_1", "deadline": "2036-01-31T09:00:00Z",
			"callback_url": "https://x.example", "context": "c", "warnings": []}`,
		`{"confirmation": {"tool_name": "pay", "input": {}}, "quorum": 1}`,
	}, map[string][]string{
		"question": {
			"text",
			"prompt",
			"message",
			"ask",
		}, "options": {
			"choice",
			"answers",
			"values",
		}, "context": {
			"description",
			"details",
		},
		"to": {
			"user",
			"person",
			"recipients",
			"assignee",
		}, "callback_url": {
			"webhook_url",
			"callback",
		}, "key": {"idempotency_key"},
		"timeout": {
			"ttl",
			"expires_in",
		}, "deadline": {
			"expires_at",
			"due",
		}, "session_key": {"session"}, "agent": {
			"agent_id",
			"agent_name",
		},
		"": {"question_id", "answer_id", "type", "priority", "tool_name", "tool", "option_id"},
	}, parsedRequest, nil},
	{`{"questions": [%s]}`, []string{
		`{"question": "Which?", "header": "DB", "options": ["a", "b"], "multiSelect": true, "default": ["a"],
			"id": "q1"}`,
		`{"question": "Which?", "choices": ["a", "b"], "multi_select": false, "allow_custom": false,
			"required": false}`,
		`{"question": "Which?", "choices": ["a", "b"], "multiple": false, "format": ""}`,
	}, questionGuesses, parsedRequest, nil},
	{`{"question": "Which?", "options": ["z", %s]}`, []string{
		`{"label": "a", "description": "b", "preview": "c"}`,
	}, map[string][]string{
		"label": {
			"name",
			"title",
			"Label",
		}, "description": {
			"desc",
			"details",
			"hint",
		}, "": {
			"text",
			"value",
			"id",
			"option",
			"recommended",
		},
	}, parsedRequest, nil},
	{`{"confirmation": %s}`, []string{
		`{"tool_name": "pay", "input": {}, "context": "c", "dangerous": true, "description": "d",
			"input_preview": "p", "no_edit": true, "server": "s", "tier": "confirm"}`,
	}, map[string][]string{
		"tool_name": {"tool", "name"}, "input": {"arguments", "args", "tool_input"},
		"": {"question_id", "text"},
	}, parsedRequest, nil},
	{"%s", []string{
		`{"question": "Which?", "header": "DB", "options": ["a", "b"], "descriptions": ["c", "d"],
			"multiSelect": true, "default": ["a"]}`,
		`{"question": "Which?", "choices": ["a", "b"], "multi_select": false, "allow_custom": false,
			"required": false}`,
		`{"questions": [{"question": "Which?"}]}`,
		`{"question": "Which?", "multiple": false, "choices": ["a", "b"], "format": ""}`,
	}, questionGuesses, parsedQuestions, nil},
	{"%s", []string{`{"action": "Pay", "details": "5 €", "default": "no"}`}, map[string][]string{
		"action": {"question", "text"}, "details": {"description", "context"}, "": {"question_id", "options"},
	}, parser(decode.Confirm), nil},
	{
		"%s",
		[]string{`{"tasks": [{"prompt": "a"}]}`},
		map[string][]string{"tasks": {"items"}},
		parser(decode.Tasks),
		nil,
	},
	{`{"tasks": [%s]}`, []string{`{"prompt": "a", "agent": "b"}`}, nil, parser(decode.Tasks), nil},
	{"%s", []string{
		`{"answers": [{"id": "q1", "selected": ["SQLite"]}], "comment": "c", "reason": "r", "hold": true}`,
		`{"answer": "SQLite"}`,
	}, map[string][]string{
		"answer": {
			"choice", "choices", "option", "options", "option_id", "selected", "value", "text",
			"label", "response",
		},
		"comment": {"note", "notes", "message"},
		"":        {"question_id", "id", "question", "answer_id", "ask_id", "type", "status", "action", "approved"},
	}, parsedAnswer, []string{"decision", "grant", "input"}},
	{"%s", []string{
		`{"decision": "approved", "input": {}}`, `{"decision": "approve_all", "grant": {}}`,
	}, map[string][]string{
		"decision": {"action", "status", "approve", "approved", "verdict"},
		"":         {"question_id", "question", "id", "answer_id", "choice", "selected", "text", "option"},
	}, parsedDecision, []string{"answers", "answer", "comment", "reason", "hold"}},
	{`{"answers": [%s]}`, []string{
		`{"id": "q1", "selected": ["SQLite"], "notes": "n"}`,
		`{"question": "Which database?", "selected": ["SQLite"]}`, `{"id": "q1", "other": "x"}`,
	}, oneAnswer, parsedAnswer, nil},
	{
		`{"decision": "approve_all", "grant": %s}`,
		[]string{`{"scope": "tool_and_input", "expires_in": "24h"}`},
		nil,
		parsedDecision,
		nil,
	},
	{"%s", []string{`{"reason": "r"}`}, nil, parser(decode.Reason), nil},
	{
		"%s",
		[]string{`{"to": ["ana"], "delegate": true}`},
		map[string][]string{"to": {"user", "assignee", "people"}},
		parser(decode.Reassignment),
		nil,
	},
	{
		"%s",
		[]string{`{"digest": "sha256:0"}`},
		map[string][]string{"digest": {"hash", "sha256"}},
		parser(decode.Digest),
		nil,
	},
	{
		"%s",
		[]string{`{"until": "2036-01-31T09:00:00Z"}`},
		map[string][]string{"until": {"time", "snooze_until"}},
		parser(decode.Snooze),
		nil,
	},
	{
		"%s",
		[]string{`{"kind": "agent", "name": "bot", "expires_in": "1h"}`},
		map[string][]string{"kind": {"type", "role"}, "name": {"label"}},
		parser(decode.TokenRequest),
		nil,
	},
	{
		"%s",
		[]string{`{"url": "https://x.example", "owner": "bot"}`},
		map[string][]string{"url": {"callback_url", "address"}},
		parser(decode.EndpointRequest),
		nil,
	},
	{
		"%s",
		[]string{`{"channel": "telegram", "label": "a", "address": "b"}`},
		map[string][]string{"channel": {"type"}, "label": {"name"}, "address": {"url"}},
		parser(decode.ContactRequest),
		nil,
	},
	{
		"%s",
		[]string{`{"channel": "telegram"}`},
		map[string][]string{"channel": {"type"}},
		parser(decode.ContactCode),
		nil,
	},
	{
		"%s",
		[]string{`{"since": "2036-01-31T09:00:00Z"}`},
		map[string][]string{"since": {"from"}},
		parser(decode.Resend),
		nil,
	},
	{"%s", []string{
		`{"external": true, "session_key": "s", "title": "t", "metadata": {}, "callback_url": "https://x.example"}`,
		`{"agent": "a", "prompt": "p", "payload": 1}`,
	}, map[string][]string{
		"session_key": {
			"key",
		}, "prompt": {
			"text",
			"message",
			"input",
		}, "agent": {
			"agent_id",
			"agent_name",
		}, "": {"question_id"},
	}, parser(decode.SessionRequest), nil},
	{
		"%s",
		[]string{`{"text": "a", "role": "assistant", "final": true}`},
		map[string][]string{"text": {"message", "content"}},
		func(b []byte) error { _, err := decode.Message(b, askback.RoleAssistant); return err }, nil,
	},
	{
		"%s",
		[]string{`{"message": "m"}`},
		map[string][]string{"message": {"text", "content"}},
		parser(decode.Resume),
		nil,
	},
	{
		"%s",
		[]string{`{"status": "completed", "result": 1, "error": "e"}`},
		map[string][]string{"result": {"output"}, "status": {"state"}},
		parser(decode.Complete),
		nil,
	},
	{
		"%s",
		[]string{`{"todos": [{"content": "a"}]}`},
		map[string][]string{"todos": {"items", "tasks"}},
		parser(decode.Todos),
		nil,
	},
	{
		`{"todos": [%s]}`,
		[]string{`{"content": "a", "status": "pending"}`},
		map[string][]string{"content": {"text", "title", "task"}, "status": {"state"}},
		parser(decode.Todos),
		nil,
	},
	{
		"%s",
		[]string{`{"email": "e", "slack": "s", "time_zone": "UTC", "quiet": "22:00-07:00"}`},
		map[string][]string{"email": {"mail"}, "time_zone": {"tz", "timezone"}},
		parser(decode.PersonRequest),
		nil,
	},
	{
		"%s",
		[]string{`{"people": ["ana"]}`},
		map[string][]string{"people": {"members"}},
		parser(decode.GroupRequest),
		nil,
	},
	{
		"%s",
		[]string{`{"items": [], "revision": 1, "next_cursor": null, "by": "a", "changed_at": null}`},
		map[string][]string{"items": {"routes"}, "revision": {"version"}},
		func(b []byte) error { _, _, err := decode.RoutesRequest(b); return err }, nil,
	},
	{`{"revision": 1, "items": [%s]}`, []string{
		`{"match": {}, "to": ["a"], "approvers": ["b"], "channels": ["c"], "quorum": 1,
			"no_self_approval": true, "remind": ["2h"], "escalate": []}`,
		`{"timeout": "1h", "on_timeout": "default", "join": true, "source": "api", "warning": "w"}`,
	}, nil, func(b []byte) error { _, _, err := decode.RoutesRequest(b); return err }, nil},
	{"%s", []string{`{}`}, map[string][]string{"": {"at", "question_id"}}, decode.Nothing, nil},
}

// A client that follows the suggestions in errors sends a valid request after at most two steps
// (W15). The test misspells each field of each object, and sends names that clients guess.
func TestFollowedSuggestionsAreAccepted(t *testing.T) {
	cases := 0
	for _, s := range sentObjects {
		for _, field := range s.listed(t) {
			tested := strings.Contains(strings.Join(s.objects, ""), strconv.Quote(field)+": ")
			if !tested && !slices.Contains(s.others, field) {
				t.Errorf("%s: no object of the test has the field %s", s.body, field)
			}
		}
		for _, text := range s.objects {
			if err := s.parse([]byte(strings.Replace(s.body, "%s", text, 1))); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			for wrong, field := range s.wrongNames(parsed(text)) {
				object := parsed(text)
				if field == "" {
					object[wrong] = "q1"
				} else {
					object[wrong] = object[field]
					delete(object, field)
				}
				body := parsed(strings.Replace(s.body, "%s", encoded(object), 1))
				s.follow(t, body, field)
				cases++
			}
		}
	}
	if cases < 1500 {
		t.Errorf("tested %d misspelt fields, want at least 1500", cases)
	}
}

// The field optional, which other programs have, is the opposite of required.
func TestOptionalIsExplainedByRequired(t *testing.T) {
	_, err := decode.Request([]byte(`{"question": "Which?", "optional": true}`))
	bad, ok := errors.AsType[askback.Invalid](err)
	if !ok || len(bad) != 1 || bad[0].Pointer != "/optional" || bad[0].Fix != `"required": false` {
		t.Errorf("got %v, want the fix \"required\": false at /optional", err)
	}
}

// A question may be named by its text or by its id. An id in the wrong field is explained (F15).
func TestQuestionIDInWrongFieldIsExplained(t *testing.T) {
	s := sentObject{parse: parsedAnswer}
	for _, body := range []string{
		`{"answers": [{"question": "q1", "selected": ["SQLite"]}]}`,
		`{"answers": [{"id": "q7", "selected": ["SQLite"]}]}`,
		`{"answers": [{"question_id": "q1", "answer": "SQLite"}]}`,
		`{"question_id": "q1", "answer": "SQLite"}`,
		`{"question_id": "q1", "selected": ["SQLite"]}`,
		`{"answers": ["SQLite"]}`,
		`{"answers": "SQLite"}`,
		`{"answers": {"Which?": "SQLite"}}`,
	} {
		s.follow(t, parsed(body), "")
	}
	s.parse = parsedRequest
	s.follow(t, parsed(`{"question": [{"question": "Which?"}]}`), "")
	s.follow(t, parsed(`{"question_id": "q1", "question": "Which?"}`), "")
	s.follow(t, parsed(`{"questions": "Which?"}`), "")
}

// listed returns the fields that are listed in the error for an unknown field.
func (s *sentObject) listed(t *testing.T) []string {
	t.Helper()
	list := unknownFields(s.parse([]byte(strings.Replace(s.body, "%s", `{"zz": 1}`, 1))))
	if len(list) != 1 {
		t.Fatalf("%s: got problems %v, want one unknown field", s.body, list)
	}
	m := fieldsAre.FindStringSubmatch(list[0].Fix)
	if m == nil { // the error lists no fields
		return nil
	}
	return strings.Split(m[1], ", ")
}

// wrongNames maps names that are not fields to the fields that they stand for. The value is "" for a name
// that stands for no field.
func (s *sentObject) wrongNames(object map[string]any) map[string]string {
	out := map[string]string{}
	for field := range object {
		for i := range field {
			out[field[:i]+field[i+1:]] = field                               // a missing letter
			out[field[:i]+field[i:i+1]+field[i:]] = field                    // a letter twice
			out[field[:i]+"x"+field[i+1:]] = field                           // another letter
			out[field[:i]+field[i+1:]+field[i:i+1]] = field                  // a letter at the end
			out[field[:i]+strings.ToUpper(field[i:i+1])+field[i+1:]] = field // another case
		}
		for _, separator := range []string{"-", ""} {
			out[strings.ReplaceAll(field, "_", separator)] = field
		}
		out[field+"s"], out["the_"+field] = field, field
		out[field+"_id"], out[field+"Id"] = "", ""
		for _, wrong := range s.guesses[field] {
			out[wrong] = field
		}
	}
	for _, wrong := range s.guesses[""] {
		out[wrong] = ""
	}
	for _, text := range s.objects {
		for field := range parsed(text) {
			delete(out, field)
		}
	}
	delete(out, "")
	return out
}

// follow changes a body as the errors suggest, until the body is accepted. field is the intended field.
func (s *sentObject) follow(t *testing.T, body map[string]any, field string) {
	t.Helper()
	sent := []string{encoded(body)}
	for {
		err := s.parse([]byte(encoded(body)))
		if err == nil {
			return
		}
		sent = append(sent, err.Error())
		bad, ok := errors.AsType[askback.Invalid](err)
		if !ok || len(sent) > 5 {
			t.Errorf("not accepted after two steps:\n%s", strings.Join(sent, "\n"))
			return
		}
		for _, p := range bad {
			if body, ok = applied(body, p, field); !ok {
				t.Errorf("cannot follow %q:\n%s", p.Fix, strings.Join(sent, "\n"))
				return
			}
		}
		sent = append(sent, encoded(body))
	}
}
