package lifecycle

import (
	"fmt"

	"github.com/askback/askback/internal/codec"
)

// SessionFormat is the version number of the stored form of sessions. [DecodeSession]
// rejects newer formats.
const SessionFormat = 1

// EncodeFixed returns the part of the state that is written once, as JSON.
func (s SessionState) EncodeFixed() ([]byte, error) { return s.appendFixed(nil, SessionFormat) }

// Encode returns the part of the state that each step rewrites, as JSON.
func (s SessionState) Encode() ([]byte, error) { return s.appendMoving(nil, SessionFormat) }

// DecodeSession returns the state that [SessionState.EncodeFixed] and
// [SessionState.Encode] encoded, in this release or an older one.
func DecodeSession(fixedPart, movingPart []byte) (SessionState, error) {
	var s SessionState
	var fixed, moving int
	errFixed := codec.Read(fixedPart, func(r *codec.Reader) { s.readFixed(r, &fixed) })
	errMoving := codec.Read(movingPart, func(r *codec.Reader) { s.readMoving(r, &moving) })
	id := s.Session.ID
	switch newest := max(fixed, moving); {
	case newest > SessionFormat:
		return SessionState{}, fmt.Errorf("session %s is stored in format %d, and this release reads up to %d: use a newer release", id, newest, SessionFormat)
	case errFixed != nil:
		return SessionState{}, fmt.Errorf("read a stored session: %v", errFixed)
	case errMoving != nil:
		return SessionState{}, fmt.Errorf("read the state of session %s: %v", id, errMoving)
	case id == "" || s.Session.Status == "":
		return SessionState{}, fmt.Errorf("read session %s: what is stored is not whole", id)
	}
	return s, nil
}
