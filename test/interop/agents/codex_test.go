package agents_test

import "fmt"

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
	unless:  []string{"raw.githubusercontent.com"}, // at the terminal, for announcements
	environ: func(*fixture) []string { return []string{"SCRIPTED_KEY=x"} },
}

// codexTarget is the name of Linux on x86-64 in the package. On other platforms, the tests
// with Codex are skipped.
const codexTarget = "x86_64-unknown-linux-musl"
