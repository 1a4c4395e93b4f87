package lifecycle

import (
	"errors"
	"fmt"

	"github.com/askback/askback/internal/wire/codec"
)

// GrantFormat is the version number of the stored form of grants. [DecodeGrant] rejects
// newer formats.
const GrantFormat = 1

// AppendFixed appends the part of the state that is written once, as JSON.
func (s GrantState) AppendFixed(b []byte) ([]byte, error) { return s.appendFixed(b, GrantFormat) }

// AppendMoving appends the part of the state that each step rewrites, as JSON.
func (s GrantState) AppendMoving(b []byte) ([]byte, error) { return s.appendMoving(b, GrantFormat) }

// DecodeGrant returns the state that [GrantState.AppendFixed] and [GrantState.AppendMoving] appended, in this
// or an earlier release. The arguments id and open are from the record of the grant. Early releases recorded
// the expiry of a grant only in the column open. DecodeGrant returns an error for a newer format.
func DecodeGrant(id string, open bool, fixedPart, movingPart []byte) (GrantState, error) {
	var s GrantState
	var fixed, moving int
	err := errors.Join(
		codec.ReadStored(fixedPart, func(r *codec.Reader) { s.readFixed(r, &fixed) }),
		codec.ReadStored(movingPart, func(r *codec.Reader) { s.readMoving(r, &moving) }),
	)
	if newest := max(fixed, moving); newest > GrantFormat {
		return GrantState{}, fmt.Errorf(
			"grant %s is stored in format %d, and this release reads up to %d: use a newer release", id, newest,
			GrantFormat,
		)
	}
	if err != nil {
		return GrantState{}, fmt.Errorf("read grant %s: %v", id, err)
	}
	s.Grant.ID = id
	s.Expired = s.Expired || !open && s.Grant.RevokedAt.IsZero()
	return s, nil
}
