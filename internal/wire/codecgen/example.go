package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// examples returns the examples in the rules of a noun, completed with missing members. A schema has at least
// one example.
func (s *source) examples(noun string, given json.RawMessage) ([]json.RawMessage, error) {
	var out []json.RawMessage
	if json.Unmarshal(given, &out) != nil || len(out) == 0 {
		return nil, errors.New("the rules have no examples")
	}
	for i := range out {
		var err error
		if out[i], err = s.example(noun, out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// example completes an example of a noun, and the examples of other nouns in the example. It adds the
// required members that given lacks, with the values of empty fields. It returns a reference to another
// example unchanged.
func (s *source) example(noun string, given json.RawMessage) (json.RawMessage, error) {
	var values map[string]json.RawMessage
	if json.Unmarshal(given, &values) != nil || values == nil {
		return nil, fmt.Errorf("an example of %s is not an object", noun)
	}
	if _, ok := values["$ref"]; ok {
		return given, nil
	}
	members, err := s.named(noun, "api")
	if err != nil {
		return nil, err
	}
	out := &orderedJSON{}
	for _, m := range members {
		value, ok := values[m.name]
		delete(values, m.name)
		switch {
		case ok:
			if value, err = s.exampleValue(m, value); err != nil {
				return nil, err
			}
			out.set(m.name, value)
		case !m.is("omitempty"):
			out.set(m.name, s.emptyValue(m))
		}
	}
	if len(values) > 0 {
		return nil, fmt.Errorf("an example of %s has %q, which is no member", noun, slices.Sorted(maps.Keys(values)))
	}
	return out.raw(), nil
}

// exampleValue returns the value of a member with complete nouns.
func (s *source) exampleValue(m member, value json.RawMessage) (json.RawMessage, error) {
	switch {
	case m.kind == object, m.kind == pointer && string(value) != "null":
		return s.example(m.elem, value)
	case m.kind == list:
		var items []json.RawMessage
		if json.Unmarshal(value, &items) != nil || items == nil {
			return nil, fmt.Errorf("the example of %s is not an array", m.name)
		}
		for i := range items {
			var err error
			if items[i], err = s.example(m.elem, items[i]); err != nil {
				return nil, err
			}
		}
		return json.Marshal(items)
	}
	return value, nil
}

// emptyValue returns the JSON of an empty field. If the field is one of several constants, it returns the
// first constant.
func (s *source) emptyValue(m member) json.RawMessage {
	switch {
	case m.is("null") || m.kind == instant || m.kind == pointer || m.kind == raw && !m.is("object"):
		return json.RawMessage("null")
	case m.kind == text && len(s.values[m.goType]) > 0:
		return json.RawMessage(fmt.Sprintf("%q", s.values[m.goType][0]))
	case m.kind == text:
		return json.RawMessage(`""`)
	case m.kind == boolean:
		return json.RawMessage(fmt.Sprint(m.is("not")))
	case m.kind == integer, m.kind == number:
		return json.RawMessage("0")
	case m.kind == raw, m.kind == object:
		return json.RawMessage("{}")
	}
	return json.RawMessage("[]")
}
