// Package compat speaks the words of clients that were made for other systems.
//
// Each dialect is a translation between their bodies and Askback's words:
// nothing here knows HTTP, storage or time, and the rules of an answer stay in
// the root package. Whatever such a client sends is read strictly: bytes that
// are no JSON are a [jcs.SyntaxError], everything else that is wrong is an
// [askback.Invalid] that points into the client's own body.
package compat

import (
	"bytes"
	"encoding/json"
	"time"
)

// stamp writes a time as Askback does everywhere, and null for none.
type stamp struct{ time.Time }

// MarshalJSON writes RFC 3339 in UTC with milliseconds.
func (s stamp) MarshalJSON() ([]byte, error) {
	if s.IsZero() {
		return []byte("null"), nil
	}
	return s.UTC().AppendFormat(nil, `"2006-01-02T15:04:05.000Z"`), nil
}

// marshal is json.Marshal that leaves <, > and & as they were written.
func marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
