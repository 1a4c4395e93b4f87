package config_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/askback/askback/internal/server/config"
)

// docs/hosted.md has a row for every key of a definition, and its example is valid.
func TestDefinitionsAreDocumented(t *testing.T) {
	page := read(t, "../../../docs/hosted.md")
	_, example, _ := strings.Cut(page, "```markdown\n")
	example, _, _ = strings.Cut(example, "```")
	a, err := config.LoadAgent("support.md", strings.NewReader(example),
		func(string) (string, bool) { return "", false })
	if err != nil || a.Prompt == "" {
		t.Errorf("got %+v, %v", a, err)
	}
	_, table, _ := strings.Cut(page, "\n## Front matter")
	table, _, _ = strings.Cut(table, "\n## ")
	keys := regexp.MustCompile(`(?m)^([a-z_]+):`).FindAllStringSubmatch(read(t, "testdata/agents/everything.md"), -1)
	if len(keys) < 15 {
		t.Fatalf("got %d keys", len(keys))
	}
	for _, key := range keys {
		if !strings.Contains(table, "`"+key[1]+"`") {
			t.Errorf("docs/hosted.md has no key %s", key[1])
		}
	}
}
