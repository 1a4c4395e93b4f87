package main

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
)

// argumentsOfRenamed are arguments with which a renamed command has the same result each time.
var argumentsOfRenamed = map[string][]string{
	"agent new":      {"My Poem"},
	"contact list":   {"--json"},
	"contact remove": {"ctc_00000000000000000000000000"},
	"contact":        {"lists"},
	"grant revoke":   {"grt_00000000000000000000000000"},
	"group set":      {"@payments"},
	"link telegram":  {"--qr"},
	"link":           {"telegrams"},
	"notify test":    {"phone"},
	"notify":         {"tests"},
	"token create":   {"--kind", "king", "--name", "robot"},
	"token revoke":   {"tok_00000000000000000000000000"},
}

// A result is the output and the exit code of a command.
type result struct {
	stdout, stderr string
	code           int
}

// A command in an old spelling prints a note to standard error. Its result is otherwise the same as in the
// new spelling.
func TestOldSpellingsRunWithANote(t *testing.T) {
	t.Parallel()
	env, _ := sandbox(t)
	execute := func(command string, more ...string) (r result) {
		t.Helper()
		var out, notes bytes.Buffer
		cmd := exec.Command("askback", append(strings.Fields(command), more...)...)
		cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = env, t.TempDir(), &out, &notes
		var failed *exec.ExitError
		if err := cmd.Run(); err != nil && !errors.As(err, &failed) {
			t.Fatal(err)
		}
		return result{out.String(), notes.String(), cmd.ProcessState.ExitCode()}
	}
	for _, s := range oldSpellings {
		some := argumentsOfRenamed[s[0]]
		if some == nil {
			t.Errorf("no arguments for a test of %q", s[0])
		}
		for _, args := range [][]string{nil, some, {"--help"}} {
			want := execute(s[1], args...)
			want.stderr = fmt.Sprintf("askback: %q is now %q\n", s[0], s[1]) + want.stderr
			if diff := cmp.Diff(want, execute(s[0], args...), cmp.AllowUnexported(result{})); diff != "" {
				t.Errorf("askback %s %q (-new spelling +old spelling)\n%s", s[0], args, diff)
			}
		}
	}
}

// An old spelling is replaced even after flags of the program and after help. An argument that equals an old
// spelling is not replaced.
func TestOldSpellingIsFoundBetweenFlags(t *testing.T) {
	flags := (&commands{}).parser().Model.Flags
	for _, c := range []struct{ args, want, note string }{
		{
			"--db x token --config=y create --name a", "--db x token add --config=y --name a",
			`"token create" is now "token add"`,
		},
		{"link -v telegram --qr", "channel link telegram -v --qr", `"link telegram" is now "channel link telegram"`},
		{"help group set", "group add --help", `"group set" is now "group add"`},
		{"token", "token", ""},
		{"ask contact list", "ask contact list", ""},
		{"--db contact list", "--db contact list", ""},
		{"-- contact list", "-- contact list", ""},
	} {
		got, note := respell(flags, withHelpFlag(strings.Fields(c.args)))
		if strings.Join(got, " ") != c.want || note != c.note {
			t.Errorf("%s: got %q, %q; want %q, %q", c.args, got, note, c.want, c.note)
		}
	}
}

// Help, the manual and the completion show the commands of the parser. No command of the parser has an old
// spelling.
func TestOldSpellingsAreNotListedAsCommands(t *testing.T) {
	program := (&commands{}).parser().Model.Node
	for _, s := range oldSpellings {
		for i, spelling := range s {
			node, found := program, true
			for word := range strings.FieldsSeq(spelling) {
				var next *kong.Node
				for _, c := range node.Children {
					if c.Name == word {
						next = c
					}
				}
				if found = next != nil; !found {
					break
				}
				node = next
			}
			if found != (i == 1) {
				t.Errorf("%q is a command: %t", spelling, found)
			}
		}
	}
}
