package agents_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/test/interop/clienttest"
)

// strangersClients lists the clients that run here, in order, with the names of their asks.
var strangersClients = []struct {
	agent  string
	client client
}{
	{"claude-code", claude}, {"codex", codex}, {"copilot", copilot}, {"gemini", gemini}, {"opencode", opencode},
}

// odd contains the files of a stranger's project: with comments, unusual white space, other servers and other
// hooks. OpenCode adds $schema itself if it is missing.
var odd = map[string]string{
	".mcp.json": "{ \"mcpServers\" : {   } }",
	".claude/settings.json": "{\n   \"enabledMcpjsonServers\": [ \"askback\" ],\n \"hooks\": {\"Stop\": [ " +
		"{\"hooks\": [ {\"type\": \"command\", \"command\": \"true\"} ]} ] } }\n\n",
	".gemini/settings.json": "{\n\t// of the stranger\n\t\"context\": {\"fileName\": [ \"NOTES.md\" ]},\n\n" +
		"\t\"mcpServers\": {}\n}\n",
	"opencode.json": "{\r\n\t\"$schema\": \"https://opencode.ai/config.json\",\r\n    \"permission\": { \"*\": " +
		"\"ask\" }, /* careful */\r\n}",
	".cursor/mcp.json":   "{}",
	".vscode/mcp.json":   "{\n}\n",
	".github/mcp.json":   "{\"mcpServers\": {\n}}",
	".codex/config.toml": "# mine\n\nhide_agent_reasoning  =  true",
	"README.md":          "A project.\n",
}

// tree returns the files and folders of a project, with their modes and contents, except for Git's own files.
func (f *fixture) tree() map[string]string {
	f.t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(f.project, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".git" {
			return fs.SkipDir
		}
		name, err := filepath.Rel(f.project, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		files[name] = info.Mode().String()
		if !d.IsDir() {
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			files[name] += " " + string(raw)
		}
		return nil
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return files
}

// One askback init configures all clients of a stranger's project. Each client asks under its
// own name, and after one askback init --remove the project is as it was, to the byte (F9).
func TestStrangersProjectIsConfiguredAndRestored(t *testing.T) {
	t.Parallel()
	var before map[string]string
	all := claude
	all.init = []string{"--yes"}
	all.prepare = func(f *fixture) {
		for _, c := range strangersClients {
			c.client.prepare(f)
		}
		f.append(".codex/config.toml", fmt.Sprintf("\n[projects.%q]\ntrust_level = \"trusted\"\n", f.project))
		f.writeJSON(".cursor/state.json", map[string]any{})
		f.writeJSON(".vscode/state.json", map[string]any{})
		for name, content := range odd {
			f.write("project/"+name, []byte(content))
		}
		if err := os.Chmod(filepath.Join(f.project, "opencode.json"), 0o640); err != nil {
			t.Fatal(err)
		}
		before = f.tree()
	}
	all.environ = func(f *fixture) (environ []string) {
		for _, c := range strangersClients {
			environ = append(environ, c.client.environ(f)...)
		}
		return environ
	}
	all.unless = append(codex.unless, opencode.unless...)
	f := newFixture(t, all, call{"call_1", "ask_user_question", colour})
	for _, name := range []string{
		".mcp.json", ".claude/settings.local.json", ".codex/config.toml", ".cursor/mcp.json", ".gemini/settings.json",
		".github/mcp.json", "opencode.json", ".vscode/mcp.json",
	} {
		if !strings.Contains(f.tree()[name], "askback") {
			t.Errorf("%s was not configured", name)
		}
	}
	f.mustRun(f.Program, "init", "--remove", "--yes")
	if diff := cmp.Diff(before, f.tree()); diff != "" {
		t.Errorf("after init and --remove (-before +after):\n%s", diff)
	}

	f.mustRun(f.Program, "init", "--yes")
	for _, c := range strangersClients {
		f.asksAs(c.agent, c.client)
	}
	f.mustRun(f.Program, "init", "--remove", "--yes")
	if diff := cmp.Diff(before, f.tree()); diff != "" {
		t.Errorf("after all clients and --remove (-before +after):\n%s", diff)
	}
}

// asksAs runs a client in the project. It requires that the client asks a question under its name.
func (f *fixture) asksAs(agent string, c client) {
	f.t.Helper()
	one := *f
	one.client = c
	one.program = filepath.Join(clienttest.Packages(f.t.(*testing.T)), "node_modules", filepath.FromSlash(c.program))
	f.model.mu.Lock()
	delete(f.model.results, "call_1")
	f.model.mu.Unlock()
	r := one.start("Ask me.")
	ask := f.Open(1)[0]
	if want := agent + " · project"; ask.Agent != want {
		f.t.Errorf("got a question of %q, want it of %s", ask.Agent, want)
	}
	f.Answer(ask.ID, askback.Choose("red"))
	if result := f.model.result("call_1"); !strings.Contains(result, "red") {
		f.t.Errorf("%s: the model got %q", agent, result)
	}
	r.end()
}
