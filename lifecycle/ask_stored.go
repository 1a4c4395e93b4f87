package lifecycle

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/askback/askback"
)

// AskFormat is the version number of the stored form of asks. [DecodeAsk] reads older
// formats and rejects newer ones.
const AskFormat = 2

// Encode returns the event as JSON, without its type.
func (e Event) Encode() ([]byte, error) { return marshal(e) }

// DecodeEvent returns the event that [Event.Encode] encoded as data, in this release or an
// older one. The type of the event was stored separately as storedType.
func DecodeEvent(storedType string, data []byte) (Event, error) {
	var e Event
	err := json.Unmarshal(data, &e)
	e.Type = eventType(storedType)
	return e, err
}

// eventType returns the event type for a stored type. Older databases contain
// "answer_received", which is now "answer_acked".
func eventType(stored string) askback.EventType {
	if stored == "answer_received" {
		return askback.EventAnswerAcked
	}
	return askback.EventType(stored)
}

// An ask is stored in two parts. Their JSON is independent of the JSON on the wire:
// askFixed is written once, askMoving with each step. Times are in milliseconds since
// 1970.
type askFixed struct {
	Format       int               `json:"v"`
	ID           string            `json:"id"`
	SessionID    string            `json:"session"`
	Owner        string            `json:"owner"`
	Request      string            `json:"request,omitempty"`
	Agent        string            `json:"agent"`
	Path         []string          `json:"path,omitempty"`
	Kind         askback.AskKind   `json:"kind"`
	Title        string            `json:"title,omitempty"`
	Questions    []storedQuestion  `json:"questions,omitempty"`
	Confirmation *storedConfirm    `json:"confirmation,omitempty"`
	Context      json.RawMessage   `json:"context,omitempty"`
	Quorum       int               `json:"quorum"`
	Tags         []string          `json:"tags,omitempty"`
	Created      int64             `json:"created"`
	Deadline     int64             `json:"deadline,omitempty"`
	OnTimeout    askback.OnTimeout `json:"on_timeout"`
	Warnings     []askback.Problem `json:"warnings,omitempty"`
	Repairs      []askback.Problem `json:"repairs,omitempty"` // format 1: Warnings
}

type askMoving struct {
	Format   int            `json:"v"`
	Status   askback.Status `json:"status"`
	To       []string       `json:"to,omitempty"`
	Claims   []storedClaim  `json:"claims,omitempty"`
	Outcome  *storedOutcome `json:"outcome,omitempty"`
	Refused  int            `json:"refused,omitempty"`
	Granted  string         `json:"granted,omitempty"`
	Consumed int64          `json:"consumed,omitempty"`
	Acked    int64          `json:"acked,omitempty"`
	Received int64          `json:"received,omitempty"` // format 1: Acked
}

// storedQuestion, storedConfirm and storedAnswer have the fields of their types in package
// askback in the same order, so that values can be converted. A field that is added there
// breaks the build here.
type storedQuestion struct {
	ID          string           `json:"id"`
	Text        string           `json:"text"`
	Header      string           `json:"header,omitempty"`
	MultiSelect bool             `json:"multi,omitempty"`
	Options     []askback.Option `json:"options,omitempty"`
	NoOther     bool             `json:"no_other,omitempty"`
	Optional    bool             `json:"optional,omitempty"`
	Default     []string         `json:"default,omitempty"`
}

type storedConfirm struct {
	ToolName     string          `json:"tool"`
	Server       string          `json:"server,omitempty"`
	Description  string          `json:"description,omitempty"`
	Input        json.RawMessage `json:"input"`
	InputPreview string          `json:"preview,omitempty"`
	Tier         string          `json:"tier"`
	Dangerous    bool            `json:"dangerous,omitempty"`
	NoEdit       bool            `json:"no_edit,omitempty"`
	Context      string          `json:"context,omitempty"`
	Digest       string          `json:"digest"`
}

type storedClaim struct {
	Name string `json:"name"`
	At   int64  `json:"at"`
}

type storedAnswer struct {
	ID       string   `json:"id"`
	Question string   `json:"-"` // not stored: restore copies it from the question
	Selected []string `json:"selected,omitempty"`
	Other    string   `json:"other,omitempty"`
	Notes    string   `json:"notes,omitempty"`
}

type storedOutcome struct {
	Answers   []storedAnswer    `json:"answers,omitempty"`
	Comment   string            `json:"comment,omitempty"`
	Decision  askback.Decision  `json:"decision,omitempty"`
	Input     json.RawMessage   `json:"input,omitempty"`
	Digest    string            `json:"digest,omitempty"` // of Input; without Input it is that of the confirmation
	GrantID   string            `json:"grant,omitempty"`
	Reason    string            `json:"reason,omitempty"`
	ByKind    askback.ActorKind `json:"by"`
	ByName    string            `json:"name,omitempty"`
	Via       askback.Channel   `json:"via,omitempty"`
	At        int64             `json:"at"`
	Defaulted bool              `json:"defaulted,omitempty"`
}

// EncodeFixed returns the part of the state that is written once, as JSON.
func (s AskState) EncodeFixed() ([]byte, error) {
	f := s.fixed()
	f.Warnings = s.Ask.Warnings
	return marshal(f)
}

// EncodeRequest returns the part of the state that is written once, without the warnings,
// as JSON in format 1. Digests of this JSON are stored, so its form is the same in every
// release.
func (s AskState) EncodeRequest() ([]byte, error) {
	f := s.fixed()
	f.Format = 1
	return marshal(f)
}

func (s AskState) fixed() askFixed {
	a := s.Ask
	f := askFixed{
		Format: AskFormat, ID: a.ID, SessionID: a.SessionID, Owner: s.Owner, Request: s.Request, Agent: a.Agent,
		Path: a.Path, Kind: a.Kind, Title: a.Title, Confirmation: (*storedConfirm)(a.Confirmation),
		Context: a.Context, Quorum: a.Quorum, Tags: a.Tags, Created: millis(a.CreatedAt),
		Deadline: millis(a.Deadline), OnTimeout: a.OnTimeout,
	}
	for _, q := range a.Questions {
		f.Questions = append(f.Questions, storedQuestion(q))
	}
	return f
}

// Encode returns the part of the state that each step rewrites, as JSON.
func (s AskState) Encode() ([]byte, error) {
	a := s.Ask
	m := askMoving{Format: AskFormat, Status: a.Status, To: a.To, Refused: s.Refused, Granted: s.Granted, Consumed: millis(s.Consumed)}
	if !a.AckedAt.Equal(s.Consumed) { // otherwise restore sets it from consumed
		m.Acked = millis(a.AckedAt)
	}
	for _, c := range a.Claims {
		m.Claims = append(m.Claims, storedClaim{c.Name, millis(c.At)})
	}
	if o := a.Outcome; o != nil {
		m.Outcome = &storedOutcome{
			Comment: o.Comment, Decision: o.Decision, Input: o.Input, GrantID: o.GrantID, Reason: o.Reason,
			ByKind: o.Actor.Kind, ByName: o.Actor.Name, Via: o.Channel, At: millis(o.At), Defaulted: o.Defaulted,
		}
		if len(o.Input) > 0 {
			m.Outcome.Digest = o.Digest
		}
		for _, q := range o.Answers {
			m.Outcome.Answers = append(m.Outcome.Answers, storedAnswer(q))
		}
	}
	return marshal(m)
}

// DecodeAsk returns the state that [AskState.EncodeFixed] and [AskState.Encode] encoded,
// in this release or an older one.
func DecodeAsk(fixedPart, movingPart []byte) (AskState, error) {
	var f askFixed
	var m askMoving
	errFixed, errMoving := json.Unmarshal(fixedPart, &f), json.Unmarshal(movingPart, &m)
	// Unmarshal continues after a value of the wrong type. So the format is known
	// even if a newer release changed the type of another field.
	if newest := max(f.Format, m.Format); newest > AskFormat {
		return AskState{}, fmt.Errorf("ask %s is stored in format %d, and this release reads up to %d: use a newer release", f.ID, newest, AskFormat)
	}
	if errFixed != nil {
		return AskState{}, fmt.Errorf("read a stored ask: %v", errFixed)
	}
	if errMoving != nil {
		return AskState{}, fmt.Errorf("read the state of ask %s: %v", f.ID, errMoving)
	}
	lift(&f, &m)
	if !whole(f, m) {
		return AskState{}, fmt.Errorf("read ask %s: what is stored does not fit together", f.ID)
	}
	return AskState{
		Ask: restore(f, m), Owner: f.Owner, Request: f.Request, Refused: m.Refused, Granted: m.Granted,
		Consumed: instant(m.Consumed),
	}, nil
}

// lift converts parts in format 1, which had other names for two fields.
func lift(f *askFixed, m *askMoving) {
	if f.Format == 1 {
		f.Warnings, f.Repairs = f.Repairs, nil
	}
	if m.Format == 1 {
		m.Acked, m.Received = m.Received, 0
	}
}

// whole reports whether both parts have the required fields and agree with each other.
func whole(f askFixed, m askMoving) bool {
	return f.Format > 0 && m.Format > 0 && f.ID != "" &&
		(f.Kind == askback.Confirm) == (f.Confirmation != nil) &&
		m.Status != "" && (m.Status == askback.Pending) == (m.Outcome == nil) &&
		(m.Outcome == nil || len(m.Outcome.Answers) <= len(f.Questions))
}

func restore(f askFixed, m askMoving) askback.Ask {
	a := askback.Ask{
		ID: f.ID, SessionID: f.SessionID, Agent: f.Agent, Owner: f.Owner, Path: f.Path, Kind: f.Kind, Title: f.Title,
		Confirmation: (*askback.Confirmation)(f.Confirmation), Context: f.Context, To: m.To, Quorum: f.Quorum,
		Tags: f.Tags, Status: m.Status, CreatedAt: instant(f.Created), Deadline: instant(f.Deadline),
		OnTimeout: f.OnTimeout, Warnings: f.Warnings, AckedAt: instant(cmp.Or(m.Acked, m.Consumed)),
	}
	for _, q := range f.Questions {
		a.Questions = append(a.Questions, askback.Question(q))
	}
	for _, c := range m.Claims {
		a.Claims = append(a.Claims, askback.Claim{Name: c.Name, At: instant(c.At)})
	}
	if o := m.Outcome; o != nil {
		a.Outcome = &askback.Outcome{
			Status: m.Status, Comment: o.Comment, Decision: o.Decision, Input: o.Input, Digest: o.Digest,
			GrantID: o.GrantID, Reason: o.Reason, Actor: askback.Actor{Kind: o.ByKind, Name: o.ByName}, Channel: o.Via, At: instant(o.At),
			Defaulted: o.Defaulted,
		}
		if a.Outcome.Approved() && o.Digest == "" && a.Confirmation != nil {
			a.Outcome.Digest = a.Confirmation.Digest
		}
		for i, q := range o.Answers {
			q.Question = a.Questions[i].Text
			a.Outcome.Answers = append(a.Outcome.Answers, askback.QuestionAnswer(q))
		}
	}
	return a
}

// marshal is like json.Marshal but does not escape <, > and &.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func instant(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
