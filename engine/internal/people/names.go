package people

import (
	"context"
	"fmt"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/directory"
	"github.com/askback/askback/internal/text/lookalike"
)

// CheckNewName checks the name of a new token or person. It returns an [askback.Invalid] if a person cannot
// have the name, or if the name looks like the name of another person or token. Otherwise one person could
// count as two, and a reader could confuse them (T9).
func (e *Service) CheckNewName(ctx context.Context, pointer, name string, kind askback.Kind) error {
	if problem := directory.NameProblem(name); problem != "" {
		return askback.Invalid{{Pointer: pointer, Detail: fmt.Sprintf("%q %s", name, problem), Fix: `"name": "ana"`}}
	}
	all, err := e.known(ctx)
	if err != nil {
		return err
	}
	err = e.EachToken(ctx, true, func(t askback.Token) { all = append(all, t.Name) })
	if err != nil {
		return err
	}
	for _, other := range all {
		if other != name && alike(other, name, kind) {
			return askback.Invalid{{
				Pointer: pointer, Detail: fmt.Sprintf("%q looks like %q, which is the name of another person or token",
					name, other), Fix: "choose another name",
			}}
		}
	}
	return nil
}

// alike reports whether two names look alike. Unless kind is Agent, names also look alike if they differ only
// in case.
func alike(a, b string, kind askback.Kind) bool {
	if kind == askback.Agent {
		return lookalike.Skeleton(a) == lookalike.Skeleton(b)
	}
	return lookalike.Fold(a) == lookalike.Fold(b)
}
