package agentconfig_test

import (
	"bytes"
	"testing"

	"github.com/askback/askback/internal/agentconfig"
)

// If a person has added flags to a hook, askback init replaces it, and can remove it (F9).
func TestHookWithFlagsIsReplaced(t *testing.T) {
	for name, c := range map[string]struct {
		options       agentconfig.Options
		before, after string
	}{
		"a command": {agentconfig.Options{Command: "/opt/askback"}, `askback hook claude-code"`, `askback hook claude-code --defer 5m"`},
		"a URL":     {agentconfig.Options{URL: "https://x.example", HookURL: "https://x.example/hooks/claude-code"}, `/claude-code"`, `/claude-code?defer=5m"`},
	} {
		t.Run(name, func(t *testing.T) {
			edit := func(o agentconfig.Options, before []byte) []byte {
				files, err := agentconfig.Files("claude-code", agentconfig.Project, o)
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
			if got := edit(c.options, flagged); !bytes.Equal(got, written) {
				t.Errorf("second edit: got\n%s\nwant\n%s", got, written)
			}
			c.options.Remove = true
			if got, want := edit(c.options, flagged), edit(c.options, written); !bytes.Equal(got, want) || bytes.Contains(got, []byte("askback")) {
				t.Errorf("removed: got\n%s\nwant\n%s", got, want)
			}
		})
	}
}
