// Package compat implements the formats of programs that ask people in their own way: ask
// tools of agents, and APIs of other systems.
//
// Each file converts between one format and the types of the root package. This package
// has no HTTP, storage or time, and the root package checks the rules of an answer. Input
// is read strictly: the error is a [jcs.SyntaxError] for bytes that are not JSON, and else
// an [askback.Invalid] with pointers into the body of the client.
package compat

import "time"

// timestamp is a time in the format of the wire; the zero time is null.
type timestamp struct{ time.Time }

// MarshalJSON returns RFC 3339 in UTC with milliseconds.
func (s timestamp) MarshalJSON() ([]byte, error) {
	if s.IsZero() {
		return []byte("null"), nil
	}
	return s.UTC().AppendFormat(nil, `"2006-01-02T15:04:05.000Z"`), nil
}
