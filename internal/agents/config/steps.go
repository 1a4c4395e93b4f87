package config

// NextSteps returns the steps that a person has to take after the files were written.
func NextSteps(client string, scope Scope, o Options) (todo []string) {
	switch client {
	case "antigravity":
		todo = []string{"restart Antigravity, or reload its servers with /mcp in agy, and allow the tools of askback; this configuration follows its documentation, and was not tested with it"}
	case "claude-code":
		todo = []string{"start Claude Code here; when it asks about the MCP server askback, choose to use it (continuing without it is preselected)"}
		if o.HookURL != "" {
			todo = append(todo, "set "+TokenVariable+" to the token of an agent where Claude Code starts; "+
				"Claude Code sends hooks only to loopback and to public addresses: for a server on a private network, use --no-http")
		}
	case "codex":
		if scope == Project {
			todo = append(todo, "Codex silently ignores .codex/config.toml until this project is trusted: start codex here and trust it, run codex exec --trust, or use --user")
		}
		todo = append(todo,
			`start codex once, and trust the hooks of Askback when it says "Hooks need review"; until then codex exec silently skips them, and a guard (--gate) guards nothing`,
			"restart Codex if it is running; its daemon, which runs the hooks too, keeps the old environment until you run codex app-server daemon restart")
	case "copilot":
		if scope == Project {
			todo = append(todo, "Copilot reads .github/mcp.json and .github/hooks only in trusted folders, and at the terminal only in a Git repository: start copilot here and trust the folder; for copilot -p, add --trust-folder")
		}
		todo = append(todo, "Copilot asks at the terminal before it uses the tools of askback: allow them there, or start it with --allow-tool askback, which copilot -p needs")
	case "cursor":
		todo = []string{"in Cursor's settings, turn on the server askback and allow its tools without confirmation; otherwise Cursor itself asks you before each question"}
		if o.Gate != nil && *o.Gate {
			todo = append(todo, "try whether the guard blocks a command in your version of Cursor: it follows Cursor's documentation, and was not tested with it")
		}
	case "gemini":
		todo = []string{"Gemini CLI starts MCP servers and runs hooks of a project only in trusted folders: start gemini here once and trust the folder; for gemini -p, set GEMINI_CLI_TRUST_WORKSPACE=true instead"}
		if o.Gate != nil && *o.Gate {
			todo = append(todo, "the guard allows nothing: after an approval, Gemini CLI asks at the terminal as well, and gemini -p refuses, unless a policy of yours allows the tool, such as [[rule]] with toolName = [\"run_shell_command\", \"write_file\", \"replace\"], decision = \"allow\" and priority = 100 in ~/.gemini/policies/guard.toml, which allows it also where the guard does not run")
		}
	case "opencode":
		todo = []string{
			`restart OpenCode; if another configuration file has "permission" rules that ask for every tool, allow "askback_*" there`,
			"with a plugin, OpenCode waits at its start until it has installed @opencode-ai/plugin from npm into ~/.config/opencode: seconds, once; without npm over a minute, each time",
			"opencode run has no dialog: to approve its calls in Askback, have this in the configuration: " + gateEntry(scope, o),
		}
	case "vscode":
		todo = []string{"start the server askback in .vscode/mcp.json (Start, above its name), and allow its tools when the editor first asks"}
	}
	return todo
}
