package decode_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/wire/decode"
	"github.com/askback/askback/internal/wire/jcs"
)

// Each form of a body is parsed to its request (C1, C2, D1).
func TestEveryRequestFormIsParsed(t *testing.T) {
	labels := askback.Options("PostgreSQL", "SQLite")
	for body, want := range map[string]askback.Request{
		`{"question": "Name?"}`: {Questions: []askback.Question{{Text: "Name?"}}},
		`{"question": "Which?", "options": ["PostgreSQL", "SQLite"], "default": 1}`: {
			Questions: []askback.Question{{Text: "Which?", Options: labels, Default: []string{"SQLite"}}},
		},
		`{"question": "Which?", "options": ["PostgreSQL", "SQLite"], "default": [0, "SQLite"], "multi_select": true}`: {
			Questions: []askback.Question{
				{Text: "Which?", Options: labels, MultiSelect: true, Default: []string{"PostgreSQL", "SQLite"}},
			},
		},
		`{"question": "Which?", "options": ["PostgreSQL", "SQLite"], "descriptions": ["a server", null], "allow_custom": false}`: {
			Questions: []askback.Question{{Text: "Which?", NoOther: true, Options: []askback.Option{
				{Label: "PostgreSQL", Description: "a server"}, {Label: "SQLite"},
			}}},
		},
		`{"questions": [{"question": "A?", "header": "a", "multiSelect": true, "required": false, "options": [{"label": "x", "preview": "p"}, "y"]}, {"question": "B?"}]}`: {
			Questions: []askback.Question{
				{Text: "A?", Header: "a", MultiSelect: true, Optional: true, Options: []askback.Option{
					{Label: "x", Preview: "p"}, {Label: "y"},
				}},
				{Text: "B?"},
			},
		},
		`{"confirmation": {"tool_name": "rm", "server": "files", "input": {"b": 1, "a":  [2]}, "dangerous": true}}`: {
			Confirmation: &askback.Confirmation{
				ToolName: "rm", Server: "files", Input: json.RawMessage(`{"b": 1, "a":  [2]}`), Dangerous: true,
			},
		},
		`{"question": "A?", "session_key": "s", "agent": "bot", "title": "T", "context": {"n": 1}, "to": ["ana"], "tags": ["prod"], "timeout": "7d", "on_timeout": "decline", "key": "k"}`: {
			Questions: []askback.Question{{Text: "A?"}}, SessionKey: "s", Agent: "bot", Title: "T",
			Context: json.RawMessage(`{"n": 1}`), To: []string{"ana"}, Tags: []string{"prod"},
			Timeout: 7 * 24 * time.Hour, OnTimeout: askback.OnTimeoutDecline, Key: "k",
		},
		`{"question": "A?", "timeout": 90, "title": null}`: {
			Questions: []askback.Question{{Text: "A?"}}, Timeout: 90 * time.Second,
		},
		`{"question": "A?", "deadline": "2026-01-31T18:00:00Z"}`: {
			Questions: []askback.Question{{Text: "A?"}}, Deadline: time.Date(2026, 1, 31, 18, 0, 0, 0, time.UTC),
		},
	} {
		got, err := decode.Request([]byte(body))
		if err != nil {
			t.Errorf("%s: %v", body, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", body, diff)
		}
	}
}

// All problems of a request are returned together, with their pointers (F15).
func TestErrorsNameEveryInvalidField(t *testing.T) {
	for body, pointers := range map[string]string{
		`[]`:                                  "",
		`{"question": 1}`:                     "/question",
		`{"Question": "A?"}`:                  "/Question",
		`{"question": "A?", "colour": "red"}`: "/colour",
		`{"question": "A?", "allow_custom": "yes", "options": "x"}`:           "/allow_custom /options",
		`{"question": "A?", "options": [1, {"lable": "x"}]}`:                  "/options/0 /options/1/lable",
		`{"question": "A?", "options": ["x", "y"], "default": 2}`:             "/default",
		`{"question": "A?", "options": ["x", "y"], "default": -1}`:            "/default",
		`{"question": "A?", "options": ["x", "y"], "descriptions": ["one"]}`:  "/descriptions",
		`{"question": "A?", "timeout": "soon"}`:                               "/timeout",
		`{"question": "A?", "timeout": 0}`:                                    "/timeout",
		`{"question": "A?", "timeout": -5}`:                                   "/timeout",
		`{"question": "A?", "timeout": 1.5}`:                                  "/timeout",
		`{"question": "A?", "deadline": "tomorrow"}`:                          "/deadline",
		`{"question": "A?", "quorum": 1e99}`:                                  "/quorum",
		`{"question": "A?", "to": "ana"}`:                                     "/to",
		`{"question": "A?", "context": 7}`:                                    "/context",
		`{"question": "A?", "questions": [{"question": "B?"}]}`:               "/question",
		`{"confirmation": {"tool_name": "x", "input": [1], "digest": "sha"}}`: "/confirmation/input /confirmation/digest",
	} {
		_, err := decode.Request([]byte(body))
		var bad askback.Invalid
		if !errors.As(err, &bad) {
			t.Errorf("%s: got %v, want Invalid", body, err)
			continue
		}
		var got []string
		for _, p := range bad {
			got = append(got, p.Pointer)
			if p.Detail == "" || p.Fix == "" {
				t.Errorf("%s: %+v has no detail or no fix", body, p)
			}
		}
		if strings.Join(got, " ") != pointers {
			t.Errorf("%s: got %q, want %q", body, strings.Join(got, " "), pointers)
		}
	}
}

// Bytes that are not strict JSON are a syntax error.
func TestInvalidJSONIsASyntaxError(t *testing.T) {
	for _, body := range []string{
		"", "question=A", `{"question": "A?", "question": "B?"}`, "{\"question\": \"\xff\"}", `{"a": "\ud800"}`,
		`{} {}`,
	} {
		_, err := decode.Request([]byte(body))
		var syntax *jcs.SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("%q: got %v, want a syntax error", body, err)
		}
	}
}

// Each form of an answer (wire.md §3) is parsed. The error for an invalid answer has a
// pointer.
func TestEveryAnswerFormIsParsed(t *testing.T) {
	for body, want := range map[string]askback.Answer{
		`{"answer": "SQLite"}`:   {Answers: []askback.QuestionAnswer{{ID: "q1", Selected: []string{"SQLite"}}}},
		`{"answer": ["a", "b"]}`: {Answers: []askback.QuestionAnswer{{ID: "q1", Selected: []string{"a", "b"}}}},
		`{"answers": {"q2": "x", "Which?": ["y"], "q9": "z"}}`: {Answers: []askback.QuestionAnswer{
			{ID: "q2", Selected: []string{"x"}},
			{Question: "Which?", Selected: []string{"y"}},
			{Question: "q9", Selected: []string{"z"}},
		}},
		`{"answers": [{"id": "q1", "selected": ["x"], "other": null, "notes": "n"}], "comment": "c"}`: {
			Answers: []askback.QuestionAnswer{{ID: "q1", Selected: []string{"x"}, Notes: "n"}}, Comment: "c",
		},
		`{"decision": "denied", "reason": "no backup"}`: {Decision: askback.Deny, Reason: "no backup"},
	} {
		got, err := decode.Answer([]byte(body))
		if err != nil {
			t.Errorf("%s: %v", body, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", body, diff)
		}
	}
	for body, pointer := range map[string]string{
		`{"answer": 1}`:                       "/answer",
		`{"answers": {"q1": {"x": 1}}}`:       "/answers/q1",
		`{"answers": {"a/b": 1}}`:             "/answers/a~1b",
		`{"answer": "x", "answers": []}`:      "/answer",
		`{"decision": true}`:                  "/decision",
		`{"Decision": "approved"}`:            "/Decision",
		`{"decision": "denied", "by": "ana"}`: "/by",
	} {
		_, err := decode.Answer([]byte(body))
		var bad askback.Invalid
		if !errors.As(err, &bad) || bad[0].Pointer != pointer {
			t.Errorf("%s: got %v, want a problem at %s", body, err, pointer)
		}
	}
}

// A body with two decisions is rejected, even if their names differ in case (T5).
func TestTwoDecisionsAreRejected(t *testing.T) {
	for _, body := range []string{
		`{"decision": "denied", "decision": "approved"}`, `{"decision": "denied", "Decision": "approved"}`,
		`{"decision": "denied", "\u0064ecision": "approved"}`,
	} {
		if got, err := decode.Answer([]byte(body)); err == nil {
			t.Errorf("%s was read as %+v", body, got)
		}
	}
}

// Unknown fields and a missing digest are rejected.
func TestReasonsAndTokenRequestsAreParsed(t *testing.T) {
	if got, err := decode.Reason([]byte(`{"reason": "why"}`)); got != "why" || err != nil {
		t.Errorf("reason: got %q, %v", got, err)
	}
	if got, err := decode.Reason(nil); got != "" || err != nil {
		t.Errorf("no reason: got %q, %v", got, err)
	}
	if _, err := decode.Reason([]byte(`{"because": "x"}`)); err == nil {
		t.Error("an unknown field in a reason")
	}
	if err := decode.Nothing([]byte(`{"x": 1}`)); err == nil {
		t.Error("a field in an empty body")
	}
	if _, err := decode.Digest([]byte(`{}`)); err == nil {
		t.Error("no digest")
	}
	got, err := decode.TokenRequest([]byte(`{"kind": "agent", "name": "bot", "expires_in": "30d"}`))
	if want := (askback.TokenRequest{Kind: askback.Agent, Name: "bot", ExpiresIn: 720 * time.Hour}); got != want ||
		err != nil {
		t.Errorf("token: got %+v, %v; want %+v", got, err, want)
	}
}

// All options of the longest list are read, in each of its forms.
func TestEveryOptionIsRead(t *testing.T) {
	var labels, objects []string
	var want []string
	for i := range limits.MaxOptions {
		label := fmt.Sprintf("option %d", i+1)
		want = append(want, label)
		labels = append(labels, strconv.Quote(label))
		objects = append(objects, fmt.Sprintf(`{"label": %q, "description": "the one"}`, label))
	}
	list := "[" + strings.Join(labels, ", ") + "]"
	for name, body := range map[string]string{
		"labels": `{"question": "Which?", "options": ` + list + `}`,
		"objects": `{"questions": [{"question": "Which?", "options": [` + strings.Join(objects,
			", ") + `]}]}`,
		"JSON in a string":  `{"question": "Which?", "options": ` + strconv.Quote(list) + `}`,
		"all of it as text": `{"questions": ` + strconv.Quote(`[{"question": "Which?", "options": `+list+`}]`) + `}`,
	} {
		r, err := decode.Request([]byte(body))
		if err == nil {
			r, err = r.Normalize()
		}
		if err != nil || len(r.Questions) != 1 {
			t.Errorf("%s: got %d questions, %v", name, len(r.Questions), err)
			continue
		}
		var got []string
		for _, o := range r.Questions[0].Options {
			got = append(got, o.Label)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: -want +got\n%s", name, d)
		}
	}
}

// All labels of the longest answer are read.
func TestEveryChosenLabelIsRead(t *testing.T) {
	var want []string
	for i := range limits.MaxOptions {
		want = append(want, fmt.Sprintf("option %d", i+1))
	}
	selected, _ := json.Marshal(want)
	got, err := decode.Answer([]byte(`{"answers": [{"id": "q1", "selected": ` + string(selected) + `}]}`))
	if err != nil || len(got.Answers) != 1 {
		t.Fatalf("got %v, %v", got, err)
	}
	if d := cmp.Diff(want, got.Answers[0].Selected); d != "" {
		t.Error(d)
	}
}
