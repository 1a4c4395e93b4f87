package codec

import (
	"encoding/json"
	"slices"
)

// AppendList appends an array, each element with one.
func AppendList[T any](b []byte, list []T, one func(T, []byte) ([]byte, error)) (_ []byte, err error) {
	b = append(b, '[')
	for i := range list {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = one(list[i], b); err != nil {
			return b, err
		}
	}
	return append(b, ']'), nil
}

// AppendPointer appends *p with one, or null if p is nil.
func AppendPointer[T any](b []byte, p *T, one func(T, []byte) ([]byte, error)) ([]byte, error) {
	if p == nil {
		return append(b, "null"...), nil
	}
	return one(*p, b)
}

// ReadList reads an array, each element with one. An empty array gives nil.
func ReadList[T any](r *Reader, one func(*T, *Reader)) (list []T) {
	if !r.Array() {
		return nil
	}
	for r.Element() {
		list = append(list, *new(T))
		one(&list[len(list)-1], r)
	}
	return list
}

// ReadPointer reads a value with one. null gives nil.
func ReadPointer[T any](r *Reader, one func(*T, *Reader)) *T {
	if r.Kind() == 'n' {
		r.Skip()
		return nil
	}
	p := new(T)
	one(p, r)
	return p
}

// ReadJSON reads *v with its method UnmarshalJSON.
func ReadJSON[T any, P interface {
	*T
	json.Unmarshaler
}](v *T, r *Reader) {
	raw := r.Raw()
	if r.err == nil {
		r.fail(P(v).UnmarshalJSON(raw))
	}
}

// CloneList returns a copy of a list whose elements are cloned with one.
func CloneList[T any](list []T, one func(T) T) []T {
	list = slices.Clone(list)
	for i := range list {
		list[i] = one(list[i])
	}
	return list
}

// ClonePointer returns a pointer to a copy of *p that is cloned with one, or nil if p is nil.
func ClonePointer[T any](p *T, one func(T) T) *T {
	if p == nil {
		return nil
	}
	copied := one(*p)
	return &copied
}
