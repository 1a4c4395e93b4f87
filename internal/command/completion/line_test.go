package completion

import (
	"testing"

	"github.com/alecthomas/kong"

	"github.com/askback/askback"
)

// A value with hidden characters and an invalid id are not candidates, because the server may be any program.
func TestUnsafeValuesAreNotCandidates(t *testing.T) {
	program := kong.Must(&struct {
		List struct{ Agent string } `cmd:""`
	}{}).Model.Node
	for _, shell := range []string{"bash", "zsh", "fish"} {
		c := Read(program, Source{}, shell, []string{"list", "--agent", ""})
		for _, value := range []string{
			"", "a\nb", "a\tb", "\x1b[2J", "a\u202eb", "a\u200bb", askCandidate(askback.Ask{ID: "$(touch one)"}).Value,
		} {
			if c.allows(Candidate{Value: value}) {
				t.Errorf("%s: %q is a candidate", shell, value)
			}
		}
		if !c.allows(Candidate{Value: "Claude Code's $HOME"}) {
			t.Errorf("%s: a name with spaces is no candidate", shell)
		}
	}
}
