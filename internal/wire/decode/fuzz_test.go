package decode_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/decode"
	"github.com/askback/askback/internal/wire/jcs"
)

// addSeeds adds malformed calls and other bodies as seeds.
func addSeeds(f *testing.F) {
	for _, body := range []string{
		`{"question": "A?", "options": ["x", "y"], "default": 1}`, `{"questions": [{"question": "A?"}]}`,
		`{"confirmation": {"tool_name": "x", "input": {"a": 1e400}}}`, `{"question": "A?", "descriptions": [null]}`,
		`{"question": "A?", "to": ["ana"], "timeout": "soon", "tags": ["x"], "context": {"a": [1, 2`,
		`{"question": "A?", "deadline": "2026-01-31T18:00:00Z", "on_timeout": "decline"}`, confirmation,
	} {
		f.Add([]byte(body))
	}
	t := &testing.T{}
	for _, w := range malformedCalls(t) {
		f.Add(w.input)
	}
}

// encodeRequest returns the body of POST /asks for a normalized request (wire.md §2).
func encodeRequest(t *testing.T, r askback.Request) []byte {
	t.Helper()
	out := map[string]any{
		"on_timeout": r.OnTimeout, "quorum": r.Quorum, "warnings": r.Warnings, "to": r.To, "tags": r.Tags,
	}
	for name, text := range map[string]string{
		"session_id": r.SessionID, "session_key": r.SessionKey, "agent": r.Agent, "title": r.Title, "key": r.Key,
	} {
		out[name] = text
	}
	if len(r.Context) > 0 {
		out["context"] = r.Context
	}
	if r.Timeout > 0 {
		out["timeout"] = r.Timeout.String()
	}
	if !r.Deadline.IsZero() {
		out["deadline"] = r.Deadline.Format(time.RFC3339Nano)
	}
	if c := r.Confirmation; c != nil {
		out["confirmation"] = members(t, c, "digest")
	} else {
		var questions []any
		for _, q := range r.Questions {
			questions = append(questions, members(t, q, "id"))
		}
		out["questions"] = questions
	}
	b, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// members returns the fields of a value on the wire, without the given field.
func members(t *testing.T, v any, without string) map[string]json.RawMessage {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]json.RawMessage
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	delete(out, without)
	return out
}

// Parsing never panics, arguments are the exact bytes that were sent, and the normal form
// of an accepted request is parsed to itself (F15).
func FuzzRequest(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		checkArguments(t, body)
		r, err := decode.Request(body)
		if err != nil {
			return
		}
		normal, err := r.Normalize()
		if err != nil {
			return
		}
		again, err := normal.Normalize()
		if diff := cmp.Diff(normal, again); err != nil || diff != "" {
			t.Fatalf("Normalize is not idempotent: %v\n%s", err, diff)
		}
		if normal.Timeout%time.Second != 0 {
			return // the wire format has whole seconds
		}
		read, err := decode.Request(encodeRequest(t, normal))
		if err == nil {
			read, err = read.Normalize()
		}
		if diff := cmp.Diff(normal, read, cmp.Comparer(sameJSON)); err != nil || diff != "" {
			t.Fatalf("its encoding is parsed to another request: %v\n%s", err, diff)
		}
	})
}

// sameJSON compares JSON, ignoring how its characters are escaped.
func sameJSON(a, b json.RawMessage) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	one, err := jcs.Canonical(a)
	other, err2 := jcs.Canonical(b)
	if err != nil || err2 != nil {
		return (err == nil) == (err2 == nil)
	}
	return string(one) == string(other)
}

// An accepted answer is strict JSON, and its list form is parsed to the same answer.
func FuzzAnswer(f *testing.F) {
	for _, body := range []string{
		`{"answer": "SQLite"}`, `{"answer": ["a", "b"]}`, `{"answers": {"q2": "x", "Which?": ["y"]}}`,
		`{"answers": {}}`,
		`{"answers": [{"id": "q1", "selected": "x", "notes": "n"}], "comment": "c"}`,
		`{"decision": "denied", "reason": "no"}`,
		`{"decision": "approved", "input": {"a": [1, {"b": 1e99}]}}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		a, err := decode.Answer(body)
		if err != nil {
			return
		}
		if _, err := jcs.Parse(body); err != nil {
			t.Fatalf("%q is not strict JSON: %v", body, err)
		}
		if a.Grant != nil {
			return // a duration has more than one form
		}
		out := map[string]any{"decision": a.Decision, "comment": a.Comment, "reason": a.Reason}
		if a.Answers != nil {
			out["answers"] = a.Answers
		}
		if len(a.Input) > 0 {
			out["input"] = a.Input
		}
		b, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		again, err := decode.Answer(b)
		if diff := cmp.Diff(a, again, cmp.Comparer(sameJSON), cmp.Comparer(sameTexts)); err != nil || diff != "" {
			t.Fatalf("%s: %v\n%s", b, err, diff)
		}
	})
}

func sameTexts(a, b []string) bool { return len(a) == 0 && len(b) == 0 || reflect.DeepEqual(a, b) }

// Every correction is short, is valid UTF-8 and ends with a valid example (F15).
func FuzzCorrection(f *testing.F) {
	addSeeds(f)
	f.Add([]byte(`{"action": "Delete the branch", "details": 1}`))
	f.Add([]byte(`{"action": "` + "x</action>" + `", "default": "maybe"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := decode.Request(body)
		if err == nil {
			_, err = r.Normalize()
		}
		if err != nil {
			checkExample(t, decode.Correction(body, err, decode.Body), decode.Body)
		}
		if _, err := decode.Questions(body); err != nil {
			checkExample(t, decode.Correction(body, err, decode.QuestionsTool), decode.QuestionsTool)
		}
		if _, err := decode.Confirm(body); err != nil {
			checkExample(t, decode.Correction(body, err, decode.ConfirmTool), decode.ConfirmTool)
		}
		checkExample(t, decode.Correction(body, errors.New("\xff"+string(body)), decode.Body), decode.Body)
	})
}
