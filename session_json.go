package askback

import "encoding/json"

type sessionJSON struct {
	ID          string          `json:"id"`
	Agent       string          `json:"agent"`
	Owner       string          `json:"owner"`
	Hosted      bool            `json:"hosted"`
	Title       *string         `json:"title"`
	Status      SessionStatus   `json:"status"`
	Phase       *string         `json:"phase"`
	Payload     json.RawMessage `json:"payload"`
	Result      json.RawMessage `json:"result"`
	Error       *string         `json:"error"`
	Metadata    json.RawMessage `json:"metadata"`
	Todos       []Todo          `json:"todos"`
	ParentID    *string         `json:"parent_id"`
	AsksPending int             `json:"asks_pending"`
	AsksTotal   int             `json:"asks_total"`
	Tokens      int64           `json:"tokens"`
	CostUSD     float64         `json:"cost_usd"`
	CreatedAt   timestamp       `json:"created_at"`
	UpdatedAt   timestamp       `json:"updated_at"`
	CompletedAt timestamp       `json:"completed_at"`
	ResumedAt   timestamp       `json:"resumed_at"`
}

// rawOrNull returns v, or the JSON null if v is empty.
func rawOrNull(v json.RawMessage) json.RawMessage {
	if len(v) == 0 {
		return json.RawMessage("null")
	}
	return v
}

// nilIfNull is the inverse of rawOrNull.
func nilIfNull(v json.RawMessage) json.RawMessage {
	if string(v) == "null" {
		return nil
	}
	return v
}

// MarshalJSON writes a session as in docs/wire.md §2.
func (s Session) MarshalJSON() ([]byte, error) {
	return marshal(sessionJSON{
		ID: s.ID, Agent: s.Agent, Owner: s.Owner, Hosted: s.Hosted, Title: pointerTo(s.Title), Status: s.Status,
		Phase: pointerTo(s.Phase), Payload: rawOrNull(s.Payload), Result: rawOrNull(s.Result), Error: pointerTo(s.Error),
		Metadata: rawOrNull(s.Metadata), Todos: orEmpty(s.Todos), ParentID: pointerTo(s.ParentID), AsksPending: s.AsksPending,
		AsksTotal: s.AsksTotal, Tokens: s.Tokens, CostUSD: s.CostUSD, CreatedAt: timestamp{s.CreatedAt},
		UpdatedAt: timestamp{s.UpdatedAt}, CompletedAt: timestamp{s.CompletedAt}, ResumedAt: timestamp{s.ResumedAt},
	})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Session) UnmarshalJSON(b []byte) error {
	var j sessionJSON
	err := json.Unmarshal(b, &j)
	*s = Session{
		ID: j.ID, Agent: j.Agent, Owner: j.Owner, Hosted: j.Hosted, Title: valueOf(j.Title), Status: j.Status,
		Phase: valueOf(j.Phase), Payload: nilIfNull(j.Payload), Result: nilIfNull(j.Result), Error: valueOf(j.Error),
		Metadata: nilIfNull(j.Metadata), Todos: orNil(j.Todos), ParentID: valueOf(j.ParentID), AsksPending: j.AsksPending,
		AsksTotal: j.AsksTotal, Tokens: j.Tokens, CostUSD: j.CostUSD, CreatedAt: j.CreatedAt.Time,
		UpdatedAt: j.UpdatedAt.Time, CompletedAt: j.CompletedAt.Time, ResumedAt: j.ResumedAt.Time,
	}
	return err
}

// MarshalJSON writes a page of sessions as in docs/wire.md §2.
func (p SessionPage) MarshalJSON() ([]byte, error) { return marshalPage(p.Items, p.NextCursor) }

// UnmarshalJSON reads what MarshalJSON writes.
func (p *SessionPage) UnmarshalJSON(b []byte) (err error) {
	p.Items, p.NextCursor, err = unmarshalPage[Session](b)
	return err
}

type messageJSON struct {
	Seq  int64     `json:"seq"`
	Role Role      `json:"role"`
	By   *string   `json:"by"`
	Text string    `json:"text"`
	At   timestamp `json:"at"`
}

// MarshalJSON writes a message of a session.
func (m Message) MarshalJSON() ([]byte, error) {
	return marshal(messageJSON{m.Seq, m.Role, pointerTo(m.By), m.Text, timestamp{m.At}})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (m *Message) UnmarshalJSON(b []byte) error {
	var j messageJSON
	err := json.Unmarshal(b, &j)
	*m = Message{j.Seq, j.Role, valueOf(j.By), j.Text, j.At.Time}
	return err
}

// MarshalJSON writes a page of messages as in docs/wire.md §2.
func (p MessagePage) MarshalJSON() ([]byte, error) { return marshalPage(p.Items, p.NextCursor) }

// UnmarshalJSON reads what MarshalJSON writes.
func (p *MessagePage) UnmarshalJSON(b []byte) (err error) {
	p.Items, p.NextCursor, err = unmarshalPage[Message](b)
	return err
}

type eventJSON struct {
	Seq       int64           `json:"seq"`
	SessionID string          `json:"session_id"`
	Type      EventType       `json:"type"`
	At        timestamp       `json:"at"`
	Data      json.RawMessage `json:"data"`
}

// MarshalJSON writes the data of an SSE frame (docs/wire.md §4). It omits the cursor,
// which is the id of the frame.
func (e Event) MarshalJSON() ([]byte, error) {
	return marshal(eventJSON{e.Seq, e.SessionID, e.Type, timestamp{e.At}, rawOrNull(e.Data)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (e *Event) UnmarshalJSON(b []byte) error {
	var j eventJSON
	err := json.Unmarshal(b, &j)
	*e = Event{Seq: j.Seq, SessionID: j.SessionID, Type: j.Type, At: j.At.Time, Data: nilIfNull(j.Data)}
	return err
}
