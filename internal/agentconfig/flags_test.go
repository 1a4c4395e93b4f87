package agentconfig_test

import (
	"bytes"
	"testing"

	"github.com/askback/askback/internal/agentconfig"
)

// A hook that somebody gave flags is still ours: it is not written a second time,
// and it is taken out (F9).
func TestHooksWithFlagsAreOurs(t *testing.T) {
	for name, c := range map[string]struct {
		wish          agentconfig.Wish
		before, after string
	}{
		"a command":  {agentconfig.Wish{Command: "/opt/askback"}, `askback hook claude-code"`, `askback hook claude-code --defer 5m"`},
		"an address": {agentconfig.Wish{URL: "https://x.example", HookURL: "https://x.example/hooks/claude-code"}, `/claude-code"`, `/claude-code?defer=5m"`},
	} {
		t.Run(name, func(t *testing.T) {
			edit := func(w agentconfig.Wish, before []byte) []byte {
				files, err := agentconfig.Files("claude-code", agentconfig.Project, w)
				if err != nil {
					t.Fatal(err)
				}
				out, err := files[1].Edit(before)
				if err != nil {
					t.Fatal(err)
				}
				return out
			}
			written := edit(c.wish, nil)
			flagged := bytes.ReplaceAll(written, []byte(c.before), []byte(c.after))
			if bytes.Equal(flagged, written) {
				t.Fatalf("there is no %s in %s", c.before, written)
			}
			if got := edit(c.wish, flagged); !bytes.Equal(got, written) {
				t.Errorf("written again:\n%s\nwant\n%s", got, written)
			}
			c.wish.Remove = true
			if got, want := edit(c.wish, flagged), edit(c.wish, written); !bytes.Equal(got, want) || bytes.Contains(got, []byte("askback")) {
				t.Errorf("taken out: got\n%s\nwant\n%s", got, want)
			}
		})
	}
}
