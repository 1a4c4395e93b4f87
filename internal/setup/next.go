package setup

// Next returns what a person still has to do after the files are written, one
// sentence each.
func Next(client string, scope Scope, w Wish) (todo []string) {
	switch client {
	case "claude-code":
		todo = []string{"start Claude Code here, and choose to use the server askback when it asks: its cursor stands on continuing without"}
		if w.HookURL != "" {
			todo = append(todo, "the hooks go to a server that runs, with the token of an agent in "+TokenVariable+" where Claude Code starts; "+
				"Claude Code sends them to loopback and to public addresses only: --no-http is for a server on a private network")
		}
	case "codex":
		if scope == Project {
			todo = append(todo, "Codex ignores .codex/config.toml without a word until this project is trusted: start codex here and trust it, run codex exec --trust, or use --user")
		}
		todo = append(todo, "end a Codex that runs; its daemon goes on with the variables it was started with: codex app-server daemon restart")
	case "cursor":
		todo = []string{"in Cursor's settings turn the server askback on, and let its tools run without asking: else you are asked at the desk first"}
	case "gemini":
		todo = []string{"Gemini CLI starts MCP servers in trusted folders only: start gemini here once and trust it; gemini -p takes GEMINI_CLI_TRUST_WORKSPACE=true instead"}
	case "opencode":
		todo = []string{`start OpenCode again; if "permission" asks for every tool in another file, or by the one word "ask", allow "askback_*" there`}
	case "vscode":
		todo = []string{"start the server askback in .vscode/mcp.json (Start, above its name), and allow its tools when the editor first asks"}
	}
	return todo
}
