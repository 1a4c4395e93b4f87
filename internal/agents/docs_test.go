package agents_test

import (
	"fmt"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/askback/askback/internal/agents/config"
	"github.com/askback/askback/test/kit/golden"
)

// docs/agents.md shows the files that askback init writes.
func TestAgentsPageShowsTheWrittenFiles(t *testing.T) {
	const doc = "../../docs/agents.md"
	raw, err := os.ReadFile(doc)
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	mark := regexp.MustCompile(`(?s)(<!-- paste (\S+) (\S+) (\S+) (\S+) -->\n).*?(<!-- end -->\n)`)
	want := mark.ReplaceAllStringFunc(string(raw), func(block string) string {
		m := mark.FindStringSubmatch(block)
		client, scope, where, file := m[2], config.Scope(m[3]), m[4], m[5]
		shown[client+" "+where] = true
		return m[1] + newFile(t, client, scope, where, file) + m[6]
	})
	for _, client := range allNames() {
		for _, where := range []string{"local", "server"} {
			if !shown[client+" "+where] {
				t.Errorf("docs/agents.md does not show %s, %s", client, where)
			}
		}
	}
	golden.Check(t, doc, want)
}

// newFile returns a new file that askback init writes, as a block of Markdown.
func newFile(t *testing.T, client string, scope config.Scope, where, file string) string {
	t.Helper()
	w := config.Options{}
	if where == "server" {
		w.URL = "https://ask.example.com"
	}
	files, err := filesOf(client, scope, w)
	if err != nil {
		t.Fatalf("%s %s: %v", client, scope, err)
	}
	for _, f := range files {
		if f.Path == file {
			content, err := f.Edit(nil)
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprintf("\n```%s\n%s\n```\n\n", strings.TrimPrefix(path.Ext(file), "."),
				strings.TrimSpace(string(content)))
		}
	}
	t.Fatalf("%s, %s: no file %s", client, scope, file)
	return ""
}
