package compat

import (
	"errors"
	"strconv"
	"strings"

	"github.com/askback/askback"
)

// check returns the answer in its one form for this ask. The rules are those of
// the root package; place says where in the client's body the answer to question
// i stood, and what to put before the problem. i is -1 for the whole answer.
func (b *body) check(a askback.Answer, ask askback.Ask, place func(i int, field string) (at, before string)) (askback.Answer, error) {
	out, err := a.Normalize(ask)
	var bad askback.Invalid
	if !errors.As(err, &bad) {
		return out, err
	}
	for _, p := range bad {
		at, before := place(where(p.Pointer))
		b.wrong(at, before+p.Detail, p.Fix)
	}
	return askback.Answer{}, b.err()
}

// where takes a pointer such as /answers/1/notes apart.
func where(pointer string) (i int, field string) {
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
