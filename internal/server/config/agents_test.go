package config_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/askback/askback/agent/anthropic"
	"github.com/askback/askback/internal/server/config"
	"github.com/askback/askback/test/kit/golden"
)

func withKey(name string) (string, bool) {
	if name == "ANTHROPIC_API_KEY" {
		return "hunter2", true
	}
	return env(name)
}

// Models of Anthropic need no settings if there is a key. A model of OpenAI needs its name, too. The settings
// take precedence (E12).
func TestKeysEnableDefaultModels(t *testing.T) {
	local := config.Model{Provider: "openai", BaseURL: "http://127.0.0.1:11434/v1", Model: "qwen3"}
	gpt := config.Model{Provider: "openai", BaseURL: "http://127.0.0.1:1/v1", Model: "gpt-next", APIKey: "key"}
	newest := func(name string) config.Model {
		return config.Model{Provider: "anthropic", Model: anthropic.Newest(name), APIKey: "hunter2"}
	}
	for _, c := range []struct {
		name             string
		configured, want map[string]config.Model
		env              func(string) (string, bool)
	}{
		{"a key", nil, map[string]config.Model{
			"default": newest("sonnet"), "sonnet": newest("sonnet"), "opus": newest("opus"), "haiku": newest("haiku"),
		}, withKey},
		{
			"a key and settings",
			map[string]config.Model{"sonnet": local},
			map[string]config.Model{
				"default": local, "sonnet": local, "opus": newest("opus"), "haiku": newest("haiku"),
			},
			withKey,
		},
		{
			"a default of its own",
			map[string]config.Model{"default": local},
			map[string]config.Model{
				"default": local, "sonnet": newest("sonnet"), "opus": newest("opus"), "haiku": newest("haiku"),
			},
			withKey,
		},
		{
			"a key and a model of OpenAI", nil,
			map[string]config.Model{"default": gpt, "openai": gpt},
			func(name string) (string, bool) {
				value, ok := map[string]string{
					"OPENAI_API_KEY": "key", "OPENAI_MODEL": "gpt-next", "OPENAI_BASE_URL": "http://127.0.0.1:1/v1 ",
				}[name]
				return value, ok
			},
		},
		{
			"a key of OpenAI only", nil,
			map[string]config.Model{},
			func(name string) (string, bool) {
				if name == "OPENAI_API_KEY" {
					return "key", true
				}
				return "", false
			},
		},
		{"no key", nil, map[string]config.Model{}, env},
		{"no key, and settings", map[string]config.Model{"local": local}, map[string]config.Model{"local": local}, env},
		{"an empty key", nil, map[string]config.Model{}, func(string) (string, bool) { return " ", true }},
	} {
		got := config.Config{Models: c.configured}.AllModels(c.env)
		if demo := got["demo"]; demo != (config.Model{Provider: "demo"}) {
			t.Errorf("%s: got the demonstration %+v", c.name, demo)
		}
		delete(got, "demo")
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s:\n%s", c.name, diff)
		}
		if len(c.configured) != 0 && len(c.configured) != 1 {
			t.Errorf("%s: the settings have %d models now", c.name, len(c.configured))
		}
	}
	if newest("sonnet").Model == "" || newest("opus").Model == newest("haiku").Model {
		t.Errorf("got %q, %q, %q", anthropic.Newest("sonnet"), anthropic.Newest("opus"), anthropic.Newest("haiku"))
	}
}

// writeAgents writes the files of an archive to a new directory, in which the test then runs.
func writeAgents(t *testing.T, text string) []string {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.Mkdir("agents", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, f := range txtar.Parse([]byte(text)).Files {
		if err := os.WriteFile(filepath.Join("agents", f.Name), f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files, err := config.AgentFiles("agents")
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// settingsOfAgents are settings with a model and two servers.
var settingsOfAgents = config.Config{
	Models:     map[string]config.Model{"local": {Provider: "openai"}},
	MCPServers: map[string]config.MCPServer{"files": {}, "tickets": {}},
}

// Each file is read, and all problems are reported with their places. Files without problems are loaded
// nevertheless (E12).
func TestProblemsOfADirectoryOfAgentsAreReportedTogether(t *testing.T) {
	path, err := filepath.Abs("testdata/agents/directory.want")
	if err != nil {
		t.Fatal(err)
	}
	files := writeAgents(t, read(t, "testdata/agents/directory.txtar"))
	if err := os.Mkdir("agents/folder.md", 0o700); err != nil {
		t.Fatal(err)
	}
	files = append(files, "agents/folder.md", "agents/gone.md")
	all, err := settingsOfAgents.LoadAgents(files, env)
	if err == nil {
		t.Fatal("got no error")
	}
	golden.Check(t, path, err.Error()+"\n")
	var names []string
	for _, a := range all {
		names = append(names, a.Name)
	}
	if want := []string{"b-valid"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
}

// The models and servers of a definition must be in the settings only if the settings are given.
func TestValidDirectoryIsLoaded(t *testing.T) {
	files := writeAgents(t, "-- b.md --\n---\nmodel: haiku\ntools: [files, tickets.a/b, todo_write]\nconfirm: "+
		"[tickets, 'f*', 'tickets.a/?', '*']\n---\nWrite.\n-- a.md --\nWrite.\n-- .hidden.md --\n---\n-- "+
		"notes.txt --\n---\n")
	all, err := settingsOfAgents.LoadAgents(files, withKey)
	if err != nil || len(all) != 2 || all[0].Name != "a" || all[1].File != "agents/b.md" {
		t.Errorf("got %+v, %v", all, err)
	}
	if _, err := loadAgent("a.md", "---\nmodel: x\ntools: [y]\n---\nWrite."); err != nil {
		t.Error(err)
	}
	if _, err := config.AgentFiles("none"); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("a directory that does not exist: got %v", err)
	}
}
