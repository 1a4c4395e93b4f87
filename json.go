package askback

import (
	"bytes"
	"encoding/json"
	"time"
)

// The JSON of docs/wire.md §2: absent values are null, lists are never null, times are
// RFC 3339 in UTC with milliseconds.

const timeForm = "2006-01-02T15:04:05.000Z"

type timestamp struct{ time.Time }

// MarshalJSON writes the time in UTC with milliseconds, or null if it is zero.
func (s timestamp) MarshalJSON() ([]byte, error) {
	if s.IsZero() {
		return []byte("null"), nil
	}
	return s.UTC().AppendFormat(nil, `"`+timeForm+`"`), nil
}

// pointerTo returns a pointer to v, or nil (null in JSON) if v is the zero value.
func pointerTo[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// valueOf returns *p, or the zero value if p is nil.
func valueOf[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// orEmpty returns v, or an empty list (not null in JSON) if v is nil.
func orEmpty[T any](v []T) []T {
	if v == nil {
		return []T{}
	}
	return v
}

// marshal is like json.Marshal but does not escape <, > and &. No frontend embeds
// this JSON in HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

type askJSON struct {
	ID           string          `json:"id"`
	SessionID    string          `json:"session_id"`
	Agent        string          `json:"agent"`
	Owner        string          `json:"owner"`
	Path         []string        `json:"path"`
	Kind         AskKind         `json:"kind"`
	Title        *string         `json:"title"`
	Questions    []Question      `json:"questions"`
	Confirmation *Confirmation   `json:"confirmation"`
	Context      json.RawMessage `json:"context"`
	To           []string        `json:"to"`
	Quorum       int             `json:"quorum"`
	Votes        []struct{}      `json:"votes"`
	Tags         []string        `json:"tags"`
	Claims       []Claim         `json:"claims"`
	Status       Status          `json:"status"`
	CreatedAt    timestamp       `json:"created_at"`
	Deadline     timestamp       `json:"deadline"`
	OnTimeout    OnTimeout       `json:"on_timeout"`
	PageURL      *string         `json:"page_url"`
	Warnings     []Problem       `json:"warnings"`
	Outcome      *Outcome        `json:"outcome"`
	AckedAt      timestamp       `json:"acked_at"`
}

// MarshalJSON writes an ask as in docs/wire.md §2.
func (a Ask) MarshalJSON() ([]byte, error) {
	context := a.Context
	if len(context) == 0 {
		context = json.RawMessage("{}")
	}
	return marshal(askJSON{
		ID: a.ID, SessionID: a.SessionID, Agent: a.Agent, Owner: a.Owner, Path: orEmpty(a.Path), Kind: a.Kind,
		Title: pointerTo(a.Title), Questions: orEmpty(a.Questions), Confirmation: a.Confirmation, Context: context,
		To: orEmpty(a.To), Quorum: a.Quorum, Votes: []struct{}{}, Tags: orEmpty(a.Tags), Claims: orEmpty(a.Claims),
		Status: a.Status, CreatedAt: timestamp{a.CreatedAt}, Deadline: timestamp{a.Deadline},
		OnTimeout: a.OnTimeout, PageURL: pointerTo(a.PageURL), Warnings: orEmpty(a.Warnings), Outcome: a.Outcome,
		AckedAt: timestamp{a.AckedAt},
	})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (a *Ask) UnmarshalJSON(b []byte) error {
	var j askJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	if string(j.Context) == "{}" {
		j.Context = nil
	}
	*a = Ask{
		ID: j.ID, SessionID: j.SessionID, Agent: j.Agent, Owner: j.Owner, Path: orNil(j.Path), Kind: j.Kind,
		Title: valueOf(j.Title), Questions: orNil(j.Questions), Confirmation: j.Confirmation, Context: j.Context,
		To: orNil(j.To), Quorum: j.Quorum, Tags: orNil(j.Tags), Claims: orNil(j.Claims),
		Status: j.Status, CreatedAt: j.CreatedAt.Time, Deadline: j.Deadline.Time,
		OnTimeout: j.OnTimeout, PageURL: valueOf(j.PageURL), Warnings: orNil(j.Warnings), Outcome: j.Outcome,
		AckedAt: j.AckedAt.Time,
	}
	return nil
}

// orNil returns v, or nil if it is empty.
func orNil[T any](v []T) []T {
	if len(v) == 0 {
		return nil
	}
	return v
}

type pageJSON[T any] struct {
	Items      []T     `json:"items"`
	NextCursor *string `json:"next_cursor"`
}

func marshalPage[T any](items []T, cursor string) ([]byte, error) {
	return marshal(pageJSON[T]{orEmpty(items), pointerTo(cursor)})
}

func unmarshalPage[T any](b []byte) (items []T, cursor string, err error) {
	var j pageJSON[T]
	err = json.Unmarshal(b, &j)
	return orNil(j.Items), valueOf(j.NextCursor), err
}

// MarshalJSON writes a page of asks as in docs/wire.md §2.
func (p Page) MarshalJSON() ([]byte, error) { return marshalPage(p.Items, p.NextCursor) }

// UnmarshalJSON reads what MarshalJSON writes.
func (p *Page) UnmarshalJSON(b []byte) (err error) {
	p.Items, p.NextCursor, err = unmarshalPage[Ask](b)
	return err
}

type claimJSON struct {
	Name string    `json:"name"`
	At   timestamp `json:"at"`
}

// MarshalJSON writes a claim as in docs/wire.md §2.
func (c Claim) MarshalJSON() ([]byte, error) {
	return marshal(claimJSON{c.Name, timestamp{c.At}})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (c *Claim) UnmarshalJSON(b []byte) error {
	var j claimJSON
	err := json.Unmarshal(b, &j)
	*c = Claim{j.Name, j.At.Time}
	return err
}

type questionJSON struct {
	ID          string          `json:"id"`
	Text        string          `json:"question"`
	Header      *string         `json:"header"`
	MultiSelect bool            `json:"multiSelect"`
	Options     []Option        `json:"options"`
	AllowCustom bool            `json:"allow_custom"`
	Default     json.RawMessage `json:"default"`
	Required    bool            `json:"required"`
}

// MarshalJSON writes a question as in docs/wire.md §2. The default is a list if the
// question allows several answers, and a string if not.
func (q Question) MarshalJSON() ([]byte, error) {
	var err error
	standard := []byte("null")
	switch {
	case len(q.Default) > 0 && q.MultiSelect:
		standard, err = marshal(q.Default)
	case len(q.Default) > 0:
		standard, err = marshal(q.Default[0])
	}
	if err != nil {
		return nil, err
	}
	return marshal(questionJSON{
		q.ID, q.Text, pointerTo(q.Header), q.MultiSelect, orEmpty(q.Options), !q.NoOther, standard, !q.Optional,
	})
}

// UnmarshalJSON reads what MarshalJSON writes. If allow_custom or required is missing,
// it is true.
func (q *Question) UnmarshalJSON(b []byte) error {
	j := questionJSON{AllowCustom: true, Required: true}
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*q = Question{
		ID: j.ID, Text: j.Text, Header: valueOf(j.Header), MultiSelect: j.MultiSelect, Options: orNil(j.Options),
		NoOther: !j.AllowCustom, Optional: !j.Required,
	}
	if len(j.Default) == 0 || string(j.Default) == "null" {
		return nil
	}
	if j.Default[0] == '[' {
		return json.Unmarshal(j.Default, &q.Default)
	}
	q.Default = make([]string, 1)
	return json.Unmarshal(j.Default, &q.Default[0])
}

type confirmationJSON struct {
	ToolName     string          `json:"tool_name"`
	Server       *string         `json:"server"`
	Description  *string         `json:"description"`
	Input        json.RawMessage `json:"input"`
	InputPreview *string         `json:"input_preview"`
	Tier         string          `json:"tier"`
	Dangerous    bool            `json:"dangerous"`
	NoEdit       bool            `json:"no_edit,omitempty"`
	Context      *string         `json:"context"`
	Digest       string          `json:"digest"`
}

// MarshalJSON writes a confirmation as in docs/wire.md §2.
func (c Confirmation) MarshalJSON() ([]byte, error) {
	return marshal(confirmationJSON{
		c.ToolName, pointerTo(c.Server), pointerTo(c.Description), c.Input, pointerTo(c.InputPreview), c.Tier, c.Dangerous, c.NoEdit,
		pointerTo(c.Context), c.Digest,
	})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (c *Confirmation) UnmarshalJSON(b []byte) error {
	var j confirmationJSON
	err := json.Unmarshal(b, &j)
	*c = Confirmation{
		j.ToolName, valueOf(j.Server), valueOf(j.Description), j.Input, valueOf(j.InputPreview), j.Tier, j.Dangerous, j.NoEdit,
		valueOf(j.Context), j.Digest,
	}
	return err
}

type outcomeJSON struct {
	Status    Status           `json:"status"`
	Answers   []QuestionAnswer `json:"answers"`
	Comment   *string          `json:"comment"`
	Decision  *Decision        `json:"decision"`
	Input     json.RawMessage  `json:"input"`
	Digest    *string          `json:"digest"`
	GrantID   *string          `json:"grant_id"`
	Reason    *string          `json:"reason"`
	By        Actor            `json:"by"`
	Via       *Channel         `json:"via"`
	At        timestamp        `json:"at"`
	Defaulted bool             `json:"default_applied"`
}

// MarshalJSON writes an outcome as in docs/wire.md §2.
func (o Outcome) MarshalJSON() ([]byte, error) {
	return marshal(outcomeJSON{
		o.Status, orEmpty(o.Answers), pointerTo(o.Comment), pointerTo(o.Decision), rawOrNull(o.Input), pointerTo(o.Digest), pointerTo(o.GrantID), pointerTo(o.Reason), o.Actor,
		pointerTo(o.Channel),
		timestamp{o.At},
		o.Defaulted,
	})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (o *Outcome) UnmarshalJSON(b []byte) error {
	var j outcomeJSON
	err := json.Unmarshal(b, &j)
	*o = Outcome{
		j.Status, orNil(j.Answers), valueOf(j.Comment), valueOf(j.Decision), nilIfNull(j.Input), valueOf(j.Digest), valueOf(j.GrantID), valueOf(j.Reason),
		j.By, valueOf(j.Via), j.At.Time, j.Defaulted,
	}
	return err
}

type grantJSON struct {
	ID        string          `json:"id"`
	AskID     *string         `json:"ask_id"`
	Owner     string          `json:"owner"`
	Agent     string          `json:"agent"`
	ToolName  string          `json:"tool_name"`
	Server    *string         `json:"server"`
	Scope     Scope           `json:"scope"`
	SessionID *string         `json:"session_id"`
	Digest    *string         `json:"digest"`
	Input     json.RawMessage `json:"input"`
	Dangerous bool            `json:"dangerous"`
	By        string          `json:"by"`
	CreatedAt timestamp       `json:"created_at"`
	ExpiresAt timestamp       `json:"expires_at"`
	Uses      int             `json:"uses"`
	RevokedAt timestamp       `json:"revoked_at"`
}

// MarshalJSON writes a grant as in docs/wire.md §2.
func (g Grant) MarshalJSON() ([]byte, error) {
	return marshal(grantJSON{
		g.ID, pointerTo(g.AskID), g.Owner, g.Agent, g.ToolName, pointerTo(g.Server), g.Scope, pointerTo(g.SessionID), pointerTo(g.Digest), rawOrNull(g.Input), g.Dangerous,
		g.By,
		timestamp{g.CreatedAt},
		timestamp{g.ExpiresAt},
		g.Uses,
		timestamp{g.RevokedAt},
	})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (g *Grant) UnmarshalJSON(b []byte) error {
	var j grantJSON
	err := json.Unmarshal(b, &j)
	*g = Grant{
		ID: j.ID, AskID: valueOf(j.AskID), Owner: j.Owner, Agent: j.Agent, ToolName: j.ToolName, Server: valueOf(j.Server), Scope: j.Scope,
		SessionID: valueOf(j.SessionID), Digest: valueOf(j.Digest), Input: nilIfNull(j.Input), Dangerous: j.Dangerous, By: j.By,
		CreatedAt: j.CreatedAt.Time, ExpiresAt: j.ExpiresAt.Time, Uses: j.Uses, RevokedAt: j.RevokedAt.Time,
	}
	return err
}

// MarshalJSON writes a page of grants as in docs/wire.md §2.
func (p GrantPage) MarshalJSON() ([]byte, error) { return marshalPage(p.Items, p.NextCursor) }

// UnmarshalJSON reads what MarshalJSON writes.
func (p *GrantPage) UnmarshalJSON(b []byte) (err error) {
	p.Items, p.NextCursor, err = unmarshalPage[Grant](b)
	return err
}

type actorJSON struct {
	Kind ActorKind `json:"kind"`
	Name *string   `json:"name"`
}

// MarshalJSON writes the actor that ended an ask as in docs/wire.md §2.
func (a Actor) MarshalJSON() ([]byte, error) { return marshal(actorJSON{a.Kind, pointerTo(a.Name)}) }

// UnmarshalJSON reads what MarshalJSON writes.
func (a *Actor) UnmarshalJSON(raw []byte) error {
	var j actorJSON
	err := json.Unmarshal(raw, &j)
	*a = Actor{j.Kind, valueOf(j.Name)}
	return err
}

type questionAnswerJSON struct {
	ID       string   `json:"id"`
	Question string   `json:"question"`
	Selected []string `json:"selected"`
	Other    *string  `json:"other"`
	Notes    *string  `json:"notes"`
}

// MarshalJSON writes the answer to a question as in docs/wire.md §2.
func (a QuestionAnswer) MarshalJSON() ([]byte, error) {
	return marshal(questionAnswerJSON{a.ID, a.Question, orEmpty(a.Selected), pointerTo(a.Other), pointerTo(a.Notes)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (a *QuestionAnswer) UnmarshalJSON(b []byte) error {
	var j questionAnswerJSON
	err := json.Unmarshal(b, &j)
	*a = QuestionAnswer{j.ID, j.Question, orNil(j.Selected), valueOf(j.Other), valueOf(j.Notes)}
	return err
}
