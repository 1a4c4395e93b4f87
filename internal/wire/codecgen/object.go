package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/askback/askback/internal/wire/codec"
)

// An orderedJSON is a JSON object that keeps the order of its members.
type orderedJSON struct {
	names  []string
	values map[string]json.RawMessage
}

func (o *orderedJSON) set(name string, value json.RawMessage) {
	if o.values == nil {
		o.values = map[string]json.RawMessage{}
	}
	if _, ok := o.values[name]; !ok {
		o.names = append(o.names, name)
	}
	o.values[name] = value
}

// remove removes the member with this name and returns its value. ok is false if there is no such member.
func (o *orderedJSON) remove(name string) (value json.RawMessage, ok bool) {
	value, ok = o.values[name]
	delete(o.values, name)
	o.names = slices.DeleteFunc(o.names, func(n string) bool { return n == name })
	return value, ok
}

func (o *orderedJSON) setAny(name string, value any) {
	if raw, err := json.Marshal(value); err == nil && string(raw) != `""` {
		o.set(name, raw)
	}
}

// removeNulls removes the members that are null.
func (o *orderedJSON) removeNulls() {
	o.names = slices.DeleteFunc(o.names, func(n string) bool { return string(o.values[n]) == "null" })
}

// UnmarshalJSON reads an object.
func (o *orderedJSON) UnmarshalJSON(raw []byte) error {
	in := json.NewDecoder(bytes.NewReader(raw))
	if open, err := in.Token(); err != nil || open != json.Delim('{') {
		return fmt.Errorf("expected an object, not %s", raw)
	}
	*o = orderedJSON{}
	for in.More() {
		var value json.RawMessage
		name, err := in.Token()
		if err == nil {
			err = in.Decode(&value)
		}
		if err != nil {
			return err
		}
		o.set(name.(string), value)
	}
	return nil
}

func (o *orderedJSON) raw() json.RawMessage {
	b := []byte("{")
	for _, name := range o.names {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(codec.AppendString(b, name), ':')
		b = append(b, o.values[name]...)
	}
	return append(b, '}')
}
