package agents_test

import (
	"encoding/json"
	"fmt"
	"os"
)

var codex = client{
	program: "@openai/codex-" + platform() + "/vendor/" + codexTarget + "/bin/codex",
	init:    []string{"codex", "--user"},
	args:    []string{"exec", "--skip-git-repo-check"},
	prepare: func(f *fixture) {
		f.write(".codex/config.toml", fmt.Appendf(nil, `model = "gpt-5-codex"
model_provider = "scripted"
check_for_update_on_startup = false

[analytics]
enabled = false

[features]
apps = false
plugins = false
remote_plugin = false

[model_providers.scripted]
name = "Scripted"
base_url = %q
wire_api = "responses"
env_key = "SCRIPTED_KEY"
`, f.model.url))
	},
	unless:  []string{"raw.githubusercontent.com"}, // the terminal requests it for announcements
	environ: func(*fixture) []string { return []string{"SCRIPTED_KEY=x"} },
}

// codexTarget is the name of Linux on x86-64 in the package. On other platforms, the tests
// with Codex are skipped.
const codexTarget = "x86_64-unknown-linux-musl"

// trustHooks is the option with which Codex runs hooks without review. At the terminal, a
// person must trust them once.
const trustHooks = "--dangerously-bypass-hook-trust"

// codexWithHooks returns Codex in a trusted project, with the hooks that askback init writes with the given
// arguments. It adds an MCP server with a tool that needs a permission.
func codexWithHooks(init ...string) client {
	c := codex
	c.init = init
	c.args = append([]string{trustHooks}, codex.args...)
	c.prepare = func(f *fixture) {
		codex.prepare(f)
		program, err := os.Executable()
		if err != nil {
			f.t.Fatal(err)
		}
		probe, err := json.Marshal(program)
		if err != nil {
			f.t.Fatal(err)
		}
		f.append(".codex/config.toml", fmt.Sprintf(
			"\n[mcp_servers.probe]\ncommand = %s\nargs = [%q]\n\n[projects.%q]\ntrust_level = \"trusted\"\n", probe,
			probeWord, f.project,
		))
	}
	return c
}
