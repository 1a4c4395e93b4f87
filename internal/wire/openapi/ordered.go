package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// ordered is a JSON object that keeps the order of its members, so that readers see
// routes and fields as they were written.
type ordered[T any] []member[T]

type member[T any] struct {
	name  string
	value T
}

// at returns a pointer to the value of the member with the given name, or nil if no member
// has that name.
func (o ordered[T]) at(name string) *T {
	for i := range o {
		if o[i].name == name {
			return &o[i].value
		}
	}
	return nil
}

// MarshalJSON returns a JSON object with the members in the order of o.
func (o ordered[T]) MarshalJSON() ([]byte, error) {
	members := make([][]byte, len(o))
	for i, m := range o {
		one, err := json.Marshal(map[string]T{m.name: m.value})
		if err != nil {
			return nil, err
		}
		members[i] = one[1 : len(one)-1] // without its braces
	}
	return slices.Concat([]byte("{"), bytes.Join(members, []byte(",")), []byte("}")), nil
}

// UnmarshalJSON decodes a JSON object and keeps the order of its members.
func (o *ordered[T]) UnmarshalJSON(raw []byte) error {
	in := json.NewDecoder(bytes.NewReader(raw))
	open, err := in.Token()
	if err != nil {
		return err
	}
	if open != json.Delim('{') {
		return fmt.Errorf("expected an object, not %v", open)
	}
	*o = ordered[T]{}
	for in.More() {
		name, err := in.Token()
		if err != nil {
			return err
		}
		m := member[T]{name: name.(string)} // the decoder accepts only strings as names
		if err := in.Decode(&m.value); err != nil {
			return err
		}
		*o = append(*o, m)
	}
	return nil
}
