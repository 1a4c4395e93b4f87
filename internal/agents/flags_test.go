package agents_test

import (
	"bytes"
	"testing"

	"github.com/askback/askback/internal/agents/config"
)

// Flags that a person has added to a hook are kept, such as --gate, which makes it a guard. The rest of the
// hook is updated, and askback init can remove it (F9, T48).
func TestAddedFlagsOfAHookAreKept(t *testing.T) {
	for name, c := range map[string]struct {
		options       config.Options
		before, after string
	}{
		"a command": {
			config.Options{Command: "/opt/askback"},
			`askback hook claude-code"`,
			`askback hook claude-code --defer 5m"`,
		},
		"a URL": {
			config.Options{URL: "https://x.example", HookURL: "https://x.example/hooks/claude-code"},
			`/claude-code"`,
			`/claude-code?defer=5m"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			edit := func(o config.Options, before []byte) []byte {
				files, err := filesOf("claude-code", config.Project, o)
				if err != nil {
					t.Fatal(err)
				}
				out, err := files[1].Edit(before)
				if err != nil {
					t.Fatal(err)
				}
				return out
			}
			written := edit(c.options, nil)
			flagged := bytes.ReplaceAll(written, []byte(c.before), []byte(c.after))
			if bytes.Equal(flagged, written) {
				t.Fatalf("%s is not in %s", c.before, written)
			}
			if got := edit(c.options, flagged); !bytes.Equal(got, flagged) {
				t.Errorf("second edit: got\n%s\nwant\n%s", got, flagged)
			}
			older := bytes.ReplaceAll(flagged, []byte(`"matcher": "AskUserQuestion"`), []byte(`"matcher": "Ask"`))
			got := edit(c.options, older)
			if bytes.Count(got, []byte(c.after)) != bytes.Count(flagged, []byte(c.after)) ||
				bytes.Contains(got, []byte(`"Ask"`)) {
				t.Errorf("edit of an older version: got\n%s", got)
			}
			c.options.Remove = true
			if got, want := edit(c.options, flagged), edit(c.options, written); !bytes.Equal(got, want) ||
				bytes.Contains(got, []byte("askback")) {
				t.Errorf("removed: got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// A second askback init keeps the guards of each client, with their flags in any order.
func TestSecondInitKeepsGuards(t *testing.T) {
	gate := true
	for _, c := range []struct{ client, plain, guard string }{
		{"codex", "--gate --limit 23h ", "--limit 1h --gate "},
		{"gemini", "--gate --limit 23h59m ", "--limit 1h --gate "},
		{"cursor", `--gate --limit 23h59m"`, `--limit 1h --gate"`},
		{"copilot", `--gate --wait 23h"`, `--wait 1h --gate"`},
		{"claude-code", `hook claude-code"`, `hook claude-code --strict"`},
	} {
		edit := func(o config.Options, before []byte) []byte {
			files, err := filesOf(c.client, config.Project, o)
			if err != nil {
				t.Fatal(err)
			}
			out, err := files[min(1, len(files)-1)].Edit(before)
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		first := config.Options{}
		if c.client != "claude-code" {
			first.Gate = &gate
		}
		guarded := bytes.ReplaceAll(edit(first, nil), []byte(c.plain), []byte(c.guard))
		if !bytes.Contains(guarded, []byte(c.guard)) {
			t.Fatalf("%s: %q is not in\n%s", c.client, c.plain, guarded)
		}
		for _, o := range []config.Options{{}, first} {
			if c.client == "cursor" && o.Gate == nil {
				continue // the hooks of Cursor are in another file, which is not changed
			}
			if got := edit(o, guarded); !bytes.Equal(got, guarded) {
				t.Errorf("%s, %+v: got\n%s\nwant\n%s", c.client, o, got, guarded)
			}
		}
	}
}
