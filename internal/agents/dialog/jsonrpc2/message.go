// Package jsonrpc2 reads messages of JSON-RPC 2.0 from programs that are not trusted.
package jsonrpc2

import (
	"bytes"
	"encoding/json"

	"github.com/askback/askback/internal/wire/jcs"
)

// MaxDepth is the maximum depth of nested messages. Arguments that people approve have a lower limit.
const MaxDepth = 512

// A Message is a request, a notification or a response. Members that are missing are nil.
type Message struct {
	// ID is in its canonical form. It is nil in a notification.
	ID     json.RawMessage
	Method string // "" in a response
	Params json.RawMessage
	Result json.RawMessage
	Error  json.RawMessage
}

// IsRequest reports whether the message requires a response.
func (m Message) IsRequest() bool { return m.Method != "" && m.ID != nil }

// Read reads a message. It returns false for any other line, such as a line of a log. If another program may
// accept a line that this package rejects, it also returns an error. An example is a line with half of a
// surrogate pair.
func Read(raw []byte) (m Message, ok bool, err error) {
	if text := bytes.TrimSpace(raw); len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return m, false, nil
	}
	found, err := jcs.Skim(raw, MaxDepth, "id", "method", "params", "result", "error")
	if err != nil {
		return m, false, err
	}
	for _, f := range found {
		value := f.Value.Raw(raw)
		switch f.Name {
		case "id":
			if f.Value.Kind != jcs.Null {
				m.ID = CanonicalID(value)
			}
		case "method":
			m.Method = StringAt(value)
		case "params":
			m.Params = value
		case "result":
			m.Result = value
		case "error":
			m.Error = value
		}
	}
	return m, len(found) > 0, nil
}

// CanonicalID returns the canonical form of an id, so that equal ids are equal texts. It returns raw if raw
// is not JSON.
func CanonicalID(raw json.RawMessage) json.RawMessage {
	if c, err := jcs.Canonical(raw); err == nil {
		return c
	}
	return raw
}

// At returns the value at a path of names, or nil.
func At(raw json.RawMessage, path ...string) json.RawMessage {
	for _, name := range path {
		found, err := jcs.Skim(raw, MaxDepth, name)
		if err != nil || len(found) == 0 {
			return nil
		}
		raw = found[0].Value.Raw(raw)
	}
	return raw
}

// StringAt returns the string at a path of names, or "".
func StringAt(raw json.RawMessage, path ...string) string {
	v, err := jcs.Parse(At(raw, path...))
	if err != nil || v.Kind != jcs.String {
		return ""
	}
	return v.Text()
}

// StringOf returns the string with this name in the object v, or "".
func StringOf(v jcs.Value, name string) string {
	if m, ok := v.Get(name); ok && m.Kind == jcs.String {
		return m.Text()
	}
	return ""
}
