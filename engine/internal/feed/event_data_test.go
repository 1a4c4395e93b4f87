package feed_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/feed"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/store/memstore"
)

// The data of an event equals the output of encoding/json, without HTML escaping, for a struct with the
// members of docs/wire.md §4.
func TestEventDataMatchesEncodingJSON(t *testing.T) {
	e := feed.New(txn.New(memstore.New(), txn.Options{}), nil, nil)
	at := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)
	question := askback.Ask{
		ID: "ask_1", SessionID: "ses_1", Agent: "bot <1>", Kind: askback.Questions, Status: askback.Answered,
		CreatedAt: at,
		Questions: []askback.Question{{ID: "q1", Text: "A & B?", Options: askback.Options("A", "B")}},
		Outcome: &askback.Outcome{
			Status: askback.Answered, Answers: []askback.QuestionAnswer{{ID: "q1", Selected: []string{"A"}}}, At: at,
		},
	}
	confirmation := askback.Ask{
		ID: "ask_2", SessionID: "ses_2", Kind: askback.Confirm, Status: askback.Pending, CreatedAt: at,
		Confirmation: &askback.Confirmation{ToolName: "rm", Input: json.RawMessage(`{"path":"/"}`)},
	}
	full := lifecycle.Event{
		By: "ana <a@b>", Why: "expired", Digest: "sha256:00", State: "waiting", Decision: askback.Approve,
		To: []string{"ben", "@oncall"}, Role: askback.RoleAssistant, Text: "\u2028 \"hi\"", Final: true,
		Todos: []askback.Todo{{Content: "one"}}, Grant: &askback.Grant{ID: "grt_1", CreatedAt: at},
		Session: &askback.Session{ID: "ses_1", CreatedAt: at},
	}
	for _, typ := range []askback.EventType{
		askback.EventQuestionPending, askback.EventQuestionClaimed, askback.EventQuestionAnswered,
		askback.EventQuestionDeclined, askback.EventQuestionCancelled, askback.EventQuestionExpired,
		askback.EventQuestionConsumed, askback.EventAnswerAcked, askback.EventAnswerRefused, askback.EventGrantMade,
		askback.EventSessionStarted, askback.EventStateChange, askback.EventMessage, askback.EventTodosChanged,
		askback.EventQuestionVoted, askback.EventQuestionReminded, askback.EventQuestionEscalated,
		askback.EventQuestionReassigned,
	} {
		for _, a := range []askback.Ask{question, confirmation} {
			for _, h := range []lifecycle.Event{full, {}} {
				h.Type = typ
				want, err := wantData(h, a)
				if err != nil {
					t.Fatal(err)
				}
				got, err := e.EventData(h, a)
				if diff := cmp.Diff(string(want), string(got)); diff != "" || err != nil {
					t.Errorf("%s: error %v\n%s", typ, err, diff)
				}
			}
		}
	}
}

// wantData returns the data of an event by reflection.
func wantData(h lifecycle.Event, a askback.Ask) (json.RawMessage, error) {
	type about struct {
		QuestionID string `json:"question_id"`
		SessionID  string `json:"session_id"`
	}
	this := about{a.ID, a.SessionID}
	switch h.Type {
	case askback.EventQuestionPending:
		return encodeJSON(struct {
			about
			Questions []askback.Question `json:"questions"`
			Ask       askback.Ask        `json:"ask"`
		}{this, a.Form(), pendingAsk(a)})
	case askback.EventQuestionClaimed:
		return encodeJSON(struct {
			about
			By string `json:"by"`
		}{this, h.By})
	case askback.EventQuestionVoted, askback.EventQuestionReminded, askback.EventQuestionEscalated,
		askback.EventQuestionReassigned:
		return encodeJSON(struct {
			about
			By       string           `json:"by,omitempty"`
			Decision askback.Decision `json:"decision,omitempty"`
			To       []string         `json:"to,omitempty"`
			Why      string           `json:"why,omitempty"`
		}{this, h.By, h.Decision, h.To, h.Why})
	case askback.EventQuestionAnswered, askback.EventQuestionDeclined, askback.EventQuestionCancelled,
		askback.EventQuestionExpired:
		return encodeJSON(struct {
			about
			Outcome *askback.Outcome `json:"outcome"`
		}{this, a.Outcome})
	case askback.EventQuestionConsumed:
		return encodeJSON(struct {
			about
			Digest string `json:"digest"`
		}{this, h.Digest})
	case askback.EventAnswerAcked:
		return encodeJSON(this)
	case askback.EventAnswerRefused:
		return encodeJSON(struct {
			about
			By  string `json:"by"`
			Why string `json:"why"`
		}{this, h.By, h.Why})
	}
	return wantSessionData(h, a)
}

// wantSessionData is wantData for an event about a session or a grant.
func wantSessionData(h lifecycle.Event, a askback.Ask) (json.RawMessage, error) {
	switch h.Type {
	case askback.EventStateChange:
		return encodeJSON(struct {
			Type      string             `json:"type"`
			Questions []askback.Question `json:"questions"`
		}{h.State, append([]askback.Question{}, a.Form()...)})
	case askback.EventMessage:
		return encodeJSON(struct {
			Role  askback.Role `json:"role"`
			By    string       `json:"by,omitempty"`
			Text  string       `json:"text"`
			Final bool         `json:"final"`
		}{h.Role, h.By, h.Text, h.Final})
	case askback.EventTodosChanged:
		return encodeJSON(struct {
			Todos []askback.Todo `json:"todos"`
		}{append([]askback.Todo{}, h.Todos...)})
	}
	return encodeJSON(struct {
		Session *askback.Session `json:"session,omitempty"`
		Grant   *askback.Grant   `json:"grant,omitempty"`
		By      string           `json:"by,omitempty"`
	}{h.Session, h.Grant, h.By})
}

func pendingAsk(a askback.Ask) askback.Ask {
	a.Status, a.Outcome, a.Claims, a.AckedAt, a.ConsumedAt = askback.Pending, nil, nil, time.Time{}, time.Time{}
	return a
}

// encodeJSON returns the JSON of a value without HTML escaping. It leaves <, > and & unchanged.
func encodeJSON(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
