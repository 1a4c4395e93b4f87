package askback_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/askback/askback"
	"github.com/askback/askback/test/kit/golden"
)

var (
	nine    = time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)
	berlin  = time.FixedZone("CET", 3600)
	seconds = func(s float64) time.Time { return nine.Add(time.Duration(s * float64(time.Second))) }
)

// goldenValues are the values whose JSON is in testdata. They are the examples of docs/wire.md §2, and values
// with few and with many fields.
var goldenValues = map[string]any{
	"ask_questions": askback.Ask{
		ID: "ask_01k00000000000000000000000", SessionID: "ses_01k00000000000000000000000", Agent: "deploy-bot",
		Kind: askback.Questions,
		Questions: []askback.Question{{
			ID: "q1", Text: "Which database should we use?", Header: "Database", Default: []string{"PostgreSQL"},
			Options: []askback.Option{
				{Label: "PostgreSQL", Description: "needs a server", Preview: "postgres://…"}, {Label: "SQLite"},
			},
		}},
		To: []string{"ana", "ben"}, Quorum: 1, Tags: []string{"prod"},
		Claims: []askback.Claim{{Name: "ana", At: seconds(61.5)}}, Status: askback.Pending, CreatedAt: nine.In(berlin),
		OnTimeout: askback.OnTimeoutWait,
		PageURL:   "https://ask.example.com/asks/ask_01k00000000000000000000000",
	},
	"ask_every_question": askback.Ask{
		ID: "ask_2", SessionID: "ses_2", Agent: "deploy-bot", Path: []string{"lead", "builder"},
		Kind: askback.Questions, Title: "Set up <prod> & go",
		Questions: []askback.Question{
			{
				ID: "q1", Text: "Which extras?", MultiSelect: true, Options: askback.Options("TLS", "Backups"),
				Default: []string{"TLS", "own"},
			},
			{ID: "q2", Text: "Which region?", NoOther: true, Options: askback.Options("eu", "us")},
			{ID: "q3", Text: "What name?", Optional: true, Default: []string{"null"}},
		},
		Context: json.RawMessage(`{"branch":"main","diff":"<b>&"}`), Quorum: 1, Status: askback.Expired,
		CreatedAt: nine, Deadline: seconds(3600.001), OnTimeout: askback.OnTimeoutDefault,
		Outcome: &askback.Outcome{
			Status: askback.Expired, Reason: "no one answered in time", Actor: askback.Actor{Kind: askback.ActorTimer},
			At: seconds(3600.002), Defaulted: true,
			Answers: []askback.QuestionAnswer{
				{ID: "q1", Question: "Which extras?", Selected: []string{"TLS"}, Other: "own"},
				{ID: "q2", Question: "Which region?"},
				{ID: "q3", Question: "What name?", Other: "null"},
			},
		},
	},
	"ask_confirmation": askback.Ask{
		ID: "ask_3", SessionID: "ses_3", Agent: "deploy-bot", Kind: askback.Confirm,
		Confirmation: &askback.Confirmation{
			ToolName: "drop_table", Server: "db", Description: "Remove the old users",
			Input: json.RawMessage(`{"table":"users","limit":1.0}`), InputPreview: "DROP TABLE users;",
			Tier: "confirm", Dangerous: true, Context: "12 rows", Digest: "sha256:00",
		},
		Context: json.RawMessage(`"after the move"`), Quorum: 1, Status: askback.Pending, CreatedAt: nine,
		Deadline: seconds(60), OnTimeout: askback.OnTimeoutDecline,
	},
	"ask_bare_confirmation": askback.Ask{
		Kind:         askback.Confirm,
		Confirmation: &askback.Confirmation{ToolName: "drop_table", Input: json.RawMessage(`{}`), Tier: "confirm"},
	},
	"ask_bare":     askback.Ask{},
	"outcome_bare": askback.Outcome{},
	"outcome_answered": askback.Outcome{
		Status: askback.Answered,
		Answers: []askback.QuestionAnswer{
			{ID: "q1", Question: "Which database should we use?", Selected: []string{"SQLite"}},
		},
		Actor: askback.Actor{Kind: askback.ActorPerson, Name: "ana"}, Channel: askback.ChannelWeb, At: seconds(0.9999),
	},
	"outcome_approved": askback.Outcome{
		Status: askback.Answered, Comment: "mind the gap", Decision: askback.ApproveAll,
		Input: json.RawMessage(`{"table":"old"}`), GrantID: "grt_1", Reason: "fine",
		Actor: askback.Actor{Kind: askback.ActorPerson, Name: "ana"}, Channel: askback.ChannelSlack, At: nine,
	},
	"outcome_withdrawn": askback.Outcome{
		Status: askback.Cancelled, Reason: "found out",
		Actor: askback.Actor{Kind: askback.ActorAgent, Name: "deploy-bot"}, Channel: askback.ChannelAPI, At: nine,
	},
	"page": askback.Page{
		Items: []askback.Ask{{ID: "ask_1", Kind: askback.Questions, Status: askback.Pending}}, NextCursor: "ask_1",
	},
	"page_bare": askback.Page{},
	"problems":  askback.Invalid{{Pointer: "/questions/0/question", Detail: "is blank", Fix: "write something"}},
}

// Absent values are null, lists are never null, times are UTC with milliseconds
// (docs/wire.md §2).
func TestJSONMatchesGoldenFiles(t *testing.T) {
	for name, v := range goldenValues {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(false)
			enc.SetIndent("", "  ")
			if err := enc.Encode(v); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, filepath.Join("testdata", name+".json"), b.String())
		})
	}
}

// decode returns the value that raw encodes.
func decode[T any](t rapid.TB, raw []byte) (v T) {
	t.Helper()
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v, reading %s", err, raw)
	}
	return v
}

func TestAskIsEqualAfterEncodingAndDecoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyAsk().Draw(t, "ask")
		if rapid.Bool().Draw(t, "settled") {
			want.Outcome = drawOutcome(t, want)
			want.Status = want.Outcome.Status
		}
		raw, err := want.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, decode[askback.Ask](t, raw)); diff != "" {
			t.Errorf("want -, got +, over %s:\n%s", raw, diff)
		}
		// json.Marshal escapes <, > and & in the output of MarshalJSON. The decoded value is the same.
		raw, err = json.Marshal(askback.Page{Items: []askback.Ask{want}, NextCursor: want.ID})
		if err != nil {
			t.Fatal(err)
		}
		page := decode[askback.Page](t, raw)
		if diff := cmp.Diff(askback.Page{Items: []askback.Ask{want}, NextCursor: want.ID}, page,
			cmp.Transformer("value", value)); diff != "" {
			t.Errorf("want -, got +, over %s:\n%s", raw, diff)
		}
	})
}

// value decodes raw, so that a comparison ignores the formatting of raw. If raw is not valid JSON, value
// returns raw as a string.
func value(raw json.RawMessage) (v any) {
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	return v
}

// drawOutcome returns a random outcome of the ask.
func drawOutcome(t *rapid.T, a askback.Ask) *askback.Outcome {
	o := askback.Outcome{
		Status: rapid.SampledFrom(
			[]askback.Status{askback.Answered, askback.Declined, askback.Cancelled, askback.Expired},
		).Draw(t, "status"),
		Reason: rapid.SampledFrom([]string{"", "so"}).Draw(t, "reason"), At: instant().Draw(t, "at"),
		Actor:   askback.Actor{Kind: askback.ActorPerson, Name: words.Draw(t, "by")},
		Channel: rapid.SampledFrom([]askback.Channel{"", askback.ChannelWeb}).Draw(t, "via"),
	}
	if rapid.Bool().Draw(t, "timer") {
		o.Actor, o.Defaulted = askback.Actor{Kind: askback.ActorTimer}, true
	}
	answer, err := anyAnswer(a).Draw(t, "answer").Normalize(a)
	if err != nil {
		return &o
	}
	o.Answers, o.Decision, o.Comment = answer.Answers, answer.Decision, answer.Comment
	if a.Kind == askback.Confirm && rapid.Bool().Draw(t, "edited") {
		o.Answers, o.Input, o.GrantID = nil, rawJSON(true).Draw(t, "input"), "grt_1"
	}
	return &o
}

func TestMissingQuestionFieldsGetDefaults(t *testing.T) {
	got := decode[askback.Question](t, []byte(`{"id": "q1", "question": "Why?"}`))
	if want := (askback.Question{ID: "q1", Text: "Why?"}); !cmp.Equal(got, want) {
		t.Errorf("got %+v, want %+v: own text allowed, and required", got, want)
	}
}

func TestInvalidJSONOfAnAskIsRejected(t *testing.T) {
	for _, raw := range []string{
		`[]`, `{"created_at": "yesterday"}`, `{"questions": [{"default": 1}]}`, `{"claims": [1]}`,
		`{"outcome": {"by": 3}}`, `{"confirmation": "x"}`,
	} {
		var a askback.Ask
		if err := json.Unmarshal([]byte(raw), &a); err == nil {
			t.Errorf("%s: got %+v, want an error", raw, a)
		}
	}
}
