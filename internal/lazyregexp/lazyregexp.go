// Package lazyregexp compiles regular expressions when they are first used. Each command starts
// the whole program, and a hook of an agent starts it for each call of a tool, so what is compiled
// at the start costs every command.
package lazyregexp

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

// New returns a function that returns the compiled expression, and panics if expr is not valid.
// In a test, expr is compiled at once, so that an invalid one is found.
func New(expr string) func() *regexp.Regexp {
	compiled := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
	if len(os.Args) > 0 && strings.HasSuffix(strings.TrimSuffix(os.Args[0], ".exe"), ".test") {
		compiled()
	}
	return compiled
}
