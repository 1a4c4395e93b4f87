package lifecycle

import (
	"errors"
	"fmt"

	"github.com/askback/askback/internal/wire/codec"
)

// EndpointFormat is the version number of the stored form of endpoints. [DecodeEndpoint]
// rejects newer formats.
const EndpointFormat = 1

// AppendFixed appends the part of the state that is written once, as JSON.
func (s EndpointState) AppendFixed(b []byte) ([]byte, error) { return s.appendFixed(b, EndpointFormat) }

// AppendMoving appends the part of the state that each step rewrites, as JSON.
func (s EndpointState) AppendMoving(b []byte) ([]byte, error) {
	return s.appendMoving(b, EndpointFormat)
}

// DecodeEndpoint returns the state that [EndpointState.AppendFixed] and [EndpointState.AppendMoving]
// appended. The argument id is from the record of the endpoint. DecodeEndpoint returns an error for a newer
// format.
func DecodeEndpoint(id string, fixedPart, movingPart []byte) (EndpointState, error) {
	var s EndpointState
	var fixed, moving int
	err := errors.Join(
		codec.ReadStored(fixedPart, func(r *codec.Reader) { s.readFixed(r, &fixed) }),
		codec.ReadStored(movingPart, func(r *codec.Reader) { s.readMoving(r, &moving) }),
	)
	if newest := max(fixed, moving); newest > EndpointFormat {
		return EndpointState{}, fmt.Errorf(
			"endpoint %s is stored in format %d, and this release reads up to %d: use a newer release", id, newest,
			EndpointFormat,
		)
	}
	if err != nil {
		return EndpointState{}, fmt.Errorf("read endpoint %s: %v", id, err)
	}
	s.Endpoint.ID = id
	return s, nil
}
