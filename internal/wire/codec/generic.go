package codec

import (
	"encoding/json"
	"slices"
)

// AppendList appends list as an array. It appends each element by calling one.
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

// AppendPointer calls one to append *p. If p is nil, it appends null.
func AppendPointer[T any](b []byte, p *T, one func(T, []byte) ([]byte, error)) ([]byte, error) {
	if p == nil {
		return append(b, "null"...), nil
	}
	return one(*p, b)
}

// ReadList reads an array. It calls one to read each element. For null and an empty array, it returns nil.
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

// ReadPointer calls one to read a value. For null, it returns nil.
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

// CloneList returns a copy of list. It calls one to copy each element.
func CloneList[T any](list []T, one func(T) T) []T {
	list = slices.Clone(list)
	for i := range list {
		list[i] = one(list[i])
	}
	return list
}

// ClonePointer returns a pointer to a copy of *p. It calls one to copy *p. If p is nil, it returns nil.
func ClonePointer[T any](p *T, one func(T) T) *T {
	if p == nil {
		return nil
	}
	copied := one(*p)
	return &copied
}
