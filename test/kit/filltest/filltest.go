// Package filltest fills values for tests, so that a test covers fields that are added to a struct later.
package filltest

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
)

// New returns a value in which no exported field is zero, at any depth. Slices have two elements. Strings
// contain the path of their field. Other values depend on that path, so a new field changes no other value.
// New panics if a field has a type that it cannot fill.
func New[T any]() T {
	var v T
	fill(Leaf{"", reflect.ValueOf(&v).Elem()})
	return v
}

func fill(l Leaf) {
	if isLeaf(l.Value) {
		l.set()
		return
	}
	switch v := l.Value; v.Kind() {
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	}
	for _, part := range l.parts() {
		fill(part)
	}
}

func isLeaf(v reflect.Value) bool {
	switch v.Interface().(type) {
	case time.Time, json.RawMessage:
		return true
	}
	switch v.Kind() {
	case reflect.Struct, reflect.Slice, reflect.Pointer:
		return false
	}
	return true
}

func (l Leaf) set() {
	v, n := l.Value, 1+int(crc32.ChecksumIEEE([]byte(l.Path))%1000)
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Date(2026, 1, 2, 3, 4, n, 0, time.UTC)))
		return
	case time.Duration:
		v.SetInt(int64(n) * int64(time.Second))
		return
	case json.RawMessage:
		v.SetBytes(fmt.Appendf(nil, `{"n":%d}`, n))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(l.Path)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(n))
	case reflect.Float64:
		v.SetFloat(float64(n) + 0.5)
	default:
		panic(fmt.Sprintf("filltest: cannot fill a %s", v.Type()))
	}
}

// A Leaf is a part of a value that has no parts itself.
type Leaf struct {
	Path  string // a path such as Questions[0].Text
	Value reflect.Value
}

var index = regexp.MustCompile(`\[[0-9]\]`)

// Field returns the path without indexes, such as Questions.Text.
func (l Leaf) Field() string { return index.ReplaceAllString(l.Path, "") }

// Leaves returns the leaves of *v, in order. A time and a json.RawMessage are leaves.
func Leaves[T any](v *T) []Leaf {
	return Leaf{"", reflect.ValueOf(v).Elem()}.leaves()
}

func (l Leaf) leaves() (out []Leaf) {
	if isLeaf(l.Value) {
		return []Leaf{l}
	}
	for _, part := range l.parts() {
		out = append(out, part.leaves()...)
	}
	return out
}

// parts returns the fields of a struct, the elements of a slice, or the value behind a pointer.
func (l Leaf) parts() (out []Leaf) {
	switch v := l.Value; v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			out = append(out, Leaf{fmt.Sprintf("%s[%d]", l.Path, i), v.Index(i)})
		}
	case reflect.Pointer:
		if !v.IsNil() {
			out = append(out, Leaf{l.Path, v.Elem()})
		}
	case reflect.Struct:
		for t, field := range v.Fields() {
			if t.IsExported() {
				out = append(out, Leaf{strings.TrimPrefix(l.Path+"."+t.Name, "."), field})
			}
		}
	}
	return out
}

// Change changes the value in place. A json.RawMessage keeps its memory.
func (l Leaf) Change() {
	v := l.Value
	switch x := v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(x.Add(time.Hour)))
		return
	case time.Duration:
		v.SetInt(int64(x + time.Hour))
		return
	case json.RawMessage:
		x[len(x)-2] ^= 1 // another digit
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + " changed")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Float64:
		v.SetFloat(v.Float() + 1)
	}
}

// Ignored returns the fields of the type N that do not affect the result of f. The fields are in order, and
// have no indexes.
func Ignored[N, R any](f func(N) R, equal func(a, b R) bool) (fields []string) {
	whole := New[N]()
	want := f(New[N]())
	for i, leaf := range Leaves(&whole) {
		changed := New[N]()
		Leaves(&changed)[i].Change()
		if !slices.Contains(fields, leaf.Field()) && equal(want, f(changed)) {
			fields = append(fields, leaf.Field())
		}
	}
	return fields
}
