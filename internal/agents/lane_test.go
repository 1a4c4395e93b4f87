package agents_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/askback/askback/internal/agents/config"
)

// LaneIn finds the MCP server that askback init writes for each client: the command, or the URL with the
// token.
func TestLaneOfEachClientIsFound(t *testing.T) {
	for _, client := range allNames() {
		for _, url := range []string{"", "https://ask.example.com"} {
			files, err := filesOf(client, config.Project, config.Options{URL: url})
			if err != nil {
				t.Fatal(err)
			}
			var found bool
			for _, f := range files {
				content, err := f.Edit(nil)
				if err != nil {
					t.Fatal(err)
				}
				l, ok := clientOf(client).LaneIn(content)
				if !ok {
					continue
				}
				found = true
				headers, expanded := l.Expand(func(name string) string { return strings.ToLower(name) })
				switch {
				case url == "" &&
					(len(l.Command) < 2 || l.Command[0] != "askback" || !slices.Contains(l.Command, "mcp")):
					t.Errorf("%s: got the command %q", client, l.Command)
				case url != "" && l.URL != url+"/mcp":
					t.Errorf("%s: got the URL %s", client, l.URL)
				case url != "" && client != "vscode" &&
					(!expanded || headers["Authorization"] != "Bearer askback_token"):
					t.Errorf("%s: got the headers %v, %v", client, headers, expanded)
				}
			}
			if !found {
				t.Errorf("%s, URL %q: no lane", client, url)
			}
		}
	}
}

// The command of the MCP server gets only the environment variables that its client passes on.
func TestCommandGetsTheVariablesThatItsClientPassesOn(t *testing.T) {
	environ := []string{"ASKBACK_TOKEN=t", "ASKBACK_DB=d", "OTHER=o"}
	for client, want := range map[string]string{
		"codex": "ASKBACK_DB ASKBACK_TOKEN", "gemini": "ASKBACK_DB OTHER", "cursor": "ASKBACK_DB ASKBACK_TOKEN OTHER",
	} {
		files, err := filesOf(client, config.Project, config.Options{})
		if err != nil {
			t.Fatal(err)
		}
		content, err := files[0].Edit(nil)
		if err != nil {
			t.Fatal(err)
		}
		l, _ := clientOf(client).LaneIn(content)
		var got []string
		for name := range l.Environment(environ) {
			got = append(got, name)
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %v, want %s", client, got, want)
		}
	}
}
