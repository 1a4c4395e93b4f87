package compat

import (
	"errors"
	"strconv"
	"strings"

	"github.com/askback/askback"
)

// normalize returns the normal form of an answer to this ask. The root package checks the
// rules; locate returns the pointer of a problem in the body of the client, and a prefix
// for its text. i is the index of the question, or -1 for the whole answer.
func (r *reader) normalize(a askback.Answer, ask askback.Ask, locate func(i int, field string) (pointer, prefix string)) (askback.Answer, error) {
	out, err := a.Normalize(ask)
	var bad askback.Invalid
	if !errors.As(err, &bad) {
		return out, err
	}
	for _, p := range bad {
		pointer, prefix := locate(splitPointer(p.Pointer))
		r.problem(pointer, prefix+p.Detail, p.Fix)
	}
	return askback.Answer{}, r.err()
}

// splitPointer returns the index and the field of a pointer such as /answers/1/notes.
func splitPointer(pointer string) (i int, field string) {
	parts := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	if parts[0] != "answers" || len(parts) < 2 {
		return -1, parts[0]
	}
	i, err := strconv.Atoi(parts[1])
	if err != nil {
		return -1, parts[0]
	}
	return i, strings.Join(parts[2:], "/")
}
