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
	CreatedAt   stamp           `json:"created_at"`
	UpdatedAt   stamp           `json:"updated_at"`
	CompletedAt stamp           `json:"completed_at"`
	ResumedAt   stamp           `json:"resumed_at"`
}

// raw is JSON, or null where there is none.
func raw(v json.RawMessage) json.RawMessage {
	if len(v) == 0 {
		return json.RawMessage("null")
	}
	return v
}

// unraw is the opposite of raw.
func unraw(v json.RawMessage) json.RawMessage {
	if string(v) == "null" {
		return nil
	}
	return v
}

// MarshalJSON writes a session as in wire.md §2.
func (s Session) MarshalJSON() ([]byte, error) {
	return marshal(sessionJSON{
		ID: s.ID, Agent: s.Agent, Owner: s.Owner, Hosted: s.Hosted, Title: null(s.Title), Status: s.Status,
		Phase: null(s.Phase), Payload: raw(s.Payload), Result: raw(s.Result), Error: null(s.Error),
		Metadata: raw(s.Metadata), Todos: list(s.Todos), ParentID: null(s.ParentID), AsksPending: s.AsksPending,
		AsksTotal: s.AsksTotal, Tokens: s.Tokens, CostUSD: s.CostUSD, CreatedAt: stamp{s.CreatedAt},
		UpdatedAt: stamp{s.UpdatedAt}, CompletedAt: stamp{s.CompletedAt}, ResumedAt: stamp{s.ResumedAt},
	})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Session) UnmarshalJSON(b []byte) error {
	var j sessionJSON
	err := json.Unmarshal(b, &j)
	*s = Session{
		ID: j.ID, Agent: j.Agent, Owner: j.Owner, Hosted: j.Hosted, Title: set(j.Title), Status: j.Status,
		Phase: set(j.Phase), Payload: unraw(j.Payload), Result: unraw(j.Result), Error: set(j.Error),
		Metadata: unraw(j.Metadata), Todos: some(j.Todos), ParentID: set(j.ParentID), AsksPending: j.AsksPending,
		AsksTotal: j.AsksTotal, Tokens: j.Tokens, CostUSD: j.CostUSD, CreatedAt: j.CreatedAt.Time,
		UpdatedAt: j.UpdatedAt.Time, CompletedAt: j.CompletedAt.Time, ResumedAt: j.ResumedAt.Time,
	}
	return err
}

type sessionPageJSON struct {
	Items      []Session `json:"items"`
	NextCursor *string   `json:"next_cursor"`
}

// MarshalJSON writes a list as in wire.md §2.
func (p SessionPage) MarshalJSON() ([]byte, error) {
	return marshal(sessionPageJSON{list(p.Items), null(p.NextCursor)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (p *SessionPage) UnmarshalJSON(b []byte) error {
	var j sessionPageJSON
	err := json.Unmarshal(b, &j)
	*p = SessionPage{some(j.Items), set(j.NextCursor)}
	return err
}

type messageJSON struct {
	Seq  int64   `json:"seq"`
	Role Role    `json:"role"`
	By   *string `json:"by"`
	Text string  `json:"text"`
	At   stamp   `json:"at"`
}

// MarshalJSON writes a message of a session.
func (m Message) MarshalJSON() ([]byte, error) {
	return marshal(messageJSON{m.Seq, m.Role, null(m.By), m.Text, stamp{m.At}})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (m *Message) UnmarshalJSON(b []byte) error {
	var j messageJSON
	err := json.Unmarshal(b, &j)
	*m = Message{j.Seq, j.Role, set(j.By), j.Text, j.At.Time}
	return err
}

type messagePageJSON struct {
	Items      []Message `json:"items"`
	NextCursor *string   `json:"next_cursor"`
}

// MarshalJSON writes a list as in wire.md §2.
func (p MessagePage) MarshalJSON() ([]byte, error) {
	return marshal(messagePageJSON{list(p.Items), null(p.NextCursor)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (p *MessagePage) UnmarshalJSON(b []byte) error {
	var j messagePageJSON
	err := json.Unmarshal(b, &j)
	*p = MessagePage{some(j.Items), set(j.NextCursor)}
	return err
}

type eventJSON struct {
	Seq       int64           `json:"seq"`
	SessionID string          `json:"session_id"`
	Type      string          `json:"type"`
	At        stamp           `json:"at"`
	Data      json.RawMessage `json:"data"`
}

// MarshalJSON writes the data of an SSE frame (wire.md §4). The cursor is the
// frame's id.
func (e Event) MarshalJSON() ([]byte, error) {
	return marshal(eventJSON{e.Seq, e.SessionID, e.Type, stamp{e.At}, raw(e.Data)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (e *Event) UnmarshalJSON(b []byte) error {
	var j eventJSON
	err := json.Unmarshal(b, &j)
	*e = Event{Seq: j.Seq, SessionID: j.SessionID, Type: j.Type, At: j.At.Time, Data: unraw(j.Data)}
	return err
}
