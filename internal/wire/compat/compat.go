// Package compat implements the formats of programs that ask people in their own way: ask
// tools of agents, and APIs of other systems.
//
// Each file converts between one format and the types of the root package. This package does
// not use HTTP, storage or the clock, and the root package checks the rules of an answer.
// Bodies of HTTP requests are read strictly. The error is a [jcs.SyntaxError] for bytes that
// are not JSON, and else an [askback.Invalid] with pointers into the body. In the input of
// tools, which a model writes, harmless mistakes are repaired, and the error is a *[Mistake].
package compat

import "time"

// A timestamp is a time in the JSON format of Askback's API.
type timestamp struct{ time.Time }

// MarshalJSON returns the time as a string in RFC 3339 format, in UTC and with milliseconds, or null for the
// zero time.
func (s timestamp) MarshalJSON() ([]byte, error) {
	if s.IsZero() {
		return []byte("null"), nil
	}
	return s.UTC().AppendFormat(nil, `"2006-01-02T15:04:05.000Z"`), nil
}
