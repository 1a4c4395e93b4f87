package agentconfig

// Next returns what a person still has to do after the files are written, one
// sentence each.
func Next(client string, scope Scope, w Wish) (todo []string) {
	switch client {
	case "claude-code":
		todo = []string{"start Claude Code here; when it asks about the MCP server askback, choose to use it (continuing without it is preselected)"}
		if w.HookURL != "" {
			todo = append(todo, "the hooks go to a server that runs, with the token of an agent in "+TokenVariable+" where Claude Code starts; "+
				"Claude Code sends them to loopback and to public addresses only: --no-http is for a server on a private network")
		}
	case "codex":
		if scope == Project {
			todo = append(todo, "Codex silently ignores .codex/config.toml until this project is trusted: start codex here and trust it, run codex exec --trust, or use --user")
		}
		todo = append(todo, "restart Codex if it is running; its daemon keeps its old environment until: codex app-server daemon restart")
	case "cursor":
		todo = []string{"in Cursor's settings, turn on the server askback and allow its tools without confirmation; otherwise Cursor itself asks you before each question"}
	case "gemini":
		todo = []string{"Gemini CLI starts MCP servers in trusted folders only: start gemini here once and trust it; gemini -p takes GEMINI_CLI_TRUST_WORKSPACE=true instead"}
	case "opencode":
		todo = []string{`restart OpenCode; if another configuration file has "permission" rules that ask for every tool, allow "askback_*" there`}
	case "vscode":
		todo = []string{"start the server askback in .vscode/mcp.json (Start, above its name), and allow its tools when the editor first asks"}
	}
	return todo
}
