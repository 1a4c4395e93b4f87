package lifecycle

import (
	"fmt"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/codec"
)

// SessionFormat is the version number of the stored form of sessions. [DecodeSession] reads older formats and
// rejects newer formats.
const SessionFormat = shortFormat

// AppendFixed appends the part of the state that is written once, as JSON.
func (s SessionState) AppendFixed(b []byte) ([]byte, error) { return s.appendFixed(b, SessionFormat) }

// AppendMoving appends the part of the state that each step rewrites, as JSON.
func (s SessionState) AppendMoving(b []byte) ([]byte, error) { return s.appendMoving(b, SessionFormat) }

// DecodeSession returns the state that [SessionState.AppendFixed] and [SessionState.AppendMoving] appended in
// this or an earlier release, with the columns of its row. It returns an error for a newer format.
func DecodeSession(row Row, fixedPart, movingPart []byte) (SessionState, error) {
	var s SessionState
	var fixed, moving int
	errFixed := codec.ReadStored(fixedPart, func(r *codec.Reader) { s.readFixed(r, &fixed) })
	errMoving := codec.ReadStored(movingPart, func(r *codec.Reader) { s.readMoving(r, &moving) })
	one := &s.Session
	if fixed >= shortFormat {
		one.ID, one.Owner, one.Agent, one.CreatedAt = row.ID, row.Owner, row.Agent, row.Created
	}
	if moving >= shortFormat {
		one.Status = askback.SessionStatus(row.Status)
	}
	id := one.ID
	switch newest := max(fixed, moving); {
	case newest > SessionFormat:
		return SessionState{}, fmt.Errorf(
			"session %s is stored in format %d, and this release reads up to %d: use a newer release", id, newest,
			SessionFormat,
		)
	case errFixed != nil:
		return SessionState{}, fmt.Errorf("read a stored session: %v", errFixed)
	case errMoving != nil:
		return SessionState{}, fmt.Errorf("read the state of session %s: %v", id, errMoving)
	case id == "" || s.Session.Status == "":
		return SessionState{}, fmt.Errorf("read session %s: the stored data is incomplete", id)
	}
	for i := range s.Deliveries {
		s.Deliveries[i].SessionID = id
	}
	return s, nil
}
