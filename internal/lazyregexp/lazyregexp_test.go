package lazyregexp_test

import (
	"os"
	"testing"

	"github.com/askback/askback/internal/lazyregexp"
)

// An invalid expression panics: in a test at once, otherwise when it is used.
func TestInvalidExpressionPanics(t *testing.T) {
	panics := func(f func()) (did bool) {
		defer func() { did = recover() != nil }()
		f()
		return false
	}
	if !panics(func() { lazyregexp.New("(") }) {
		t.Error("the invalid expression was not found")
	}
	args := os.Args
	defer func() { os.Args = args }()
	os.Args = []string{"askback"}
	invalid := lazyregexp.New("(")
	if !panics(func() { invalid() }) {
		t.Error("the invalid expression was used")
	}
	if !lazyregexp.New("^a+$")().MatchString("aa") {
		t.Error("a valid expression does not match")
	}
}
