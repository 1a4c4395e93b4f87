package lifecycle

import (
	"encoding/json"
	"fmt"

	"github.com/askback/askback"
)

// SessionFormat is the version number of the stored form of sessions. [DecodeSession]
// rejects newer formats.
const SessionFormat = 1

// A session is stored in two parts like an ask: sessionFixed is written once,
// sessionMoving with each step. Times are in milliseconds since 1970.
type sessionFixed struct {
	Format   int             `json:"v"`
	ID       string          `json:"id"`
	Owner    string          `json:"owner"`
	Agent    string          `json:"agent"`
	Title    string          `json:"title,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
	Created  int64           `json:"created"`
}

type sessionMoving struct {
	Format    int                   `json:"v"`
	Status    askback.SessionStatus `json:"status"`
	Phase     string                `json:"phase,omitempty"`
	Result    json.RawMessage       `json:"result,omitempty"`
	Error     string                `json:"error,omitempty"`
	Todos     []askback.Todo        `json:"todos,omitempty"`
	Pending   int                   `json:"pending,omitempty"`
	Total     int                   `json:"total,omitempty"`
	Updated   int64                 `json:"updated"`
	Completed int64                 `json:"completed,omitempty"`
	Resumed   int64                 `json:"resumed,omitempty"`
}

// EncodeFixed returns the part of the state that is written once, as JSON.
func (s SessionState) EncodeFixed() ([]byte, error) {
	one := s.Session
	return marshal(sessionFixed{
		SessionFormat, one.ID, one.Owner, one.Agent, one.Title, one.Metadata, millis(one.CreatedAt),
	})
}

// Encode returns the part of the state that each step rewrites, as JSON.
func (s SessionState) Encode() ([]byte, error) {
	one := s.Session
	return marshal(sessionMoving{
		SessionFormat, one.Status, one.Phase, one.Result, one.Error, one.Todos, one.AsksPending, one.AsksTotal,
		millis(one.UpdatedAt), millis(one.CompletedAt), millis(one.ResumedAt),
	})
}

// DecodeSession returns the state that [SessionState.EncodeFixed] and
// [SessionState.Encode] encoded, in this release or an older one.
func DecodeSession(fixedPart, movingPart []byte) (SessionState, error) {
	var f sessionFixed
	var m sessionMoving
	errFixed, errMoving := json.Unmarshal(fixedPart, &f), json.Unmarshal(movingPart, &m)
	if newest := max(f.Format, m.Format); newest > SessionFormat {
		return SessionState{}, fmt.Errorf("session %s is stored in format %d, and this release reads up to %d: use a newer release", f.ID, newest, SessionFormat)
	}
	if errFixed != nil {
		return SessionState{}, fmt.Errorf("read a stored session: %v", errFixed)
	}
	if errMoving != nil {
		return SessionState{}, fmt.Errorf("read the state of session %s: %v", f.ID, errMoving)
	}
	if f.ID == "" || m.Status == "" {
		return SessionState{}, fmt.Errorf("read session %s: what is stored is not whole", f.ID)
	}
	return SessionState{askback.Session{
		ID: f.ID, Owner: f.Owner, Agent: f.Agent, Title: f.Title, Metadata: f.Metadata, Status: m.Status, Phase: m.Phase,
		Result: m.Result, Error: m.Error, Todos: m.Todos, AsksPending: m.Pending, AsksTotal: m.Total,
		CreatedAt: instant(f.Created), UpdatedAt: instant(m.Updated), CompletedAt: instant(m.Completed),
		ResumedAt: instant(m.Resumed),
	}}, nil
}
