package httpapi

import "github.com/askback/askback/internal/wire/codec"

// A body is the body of a request that the client sends: a value, and the generated function
// that appends it.
type body[T any] struct {
	value     T
	appendOne func(T, []byte) ([]byte, error)
}

// AppendJSON appends the body to b as JSON.
func (y body[T]) AppendJSON(b []byte) ([]byte, error) { return y.appendOne(y.value, b) }

// withMember returns a function that appends the object of appendOne with one more member. The member has the
// given name, and json as its value.
func withMember[T any](appendOne func(T, []byte) ([]byte, error), name, json string) func(T, []byte) ([]byte, error) {
	return func(value T, b []byte) ([]byte, error) {
		b, err := appendOne(value, b)
		if err != nil {
			return b, err
		}
		b = codec.AppendName(b[:len(b)-1], name) // remove the closing brace of the object
		return append(append(b, json...), '}'), nil
	}
}

type wireReason struct {
	Reason string `json:"reason,omitempty"`
	Hold   bool   `json:"hold,omitempty"`
}

type wireDigest struct {
	Digest string `json:"digest"`
}
