package agents_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback/internal/agents/config"
)

// hooksOf returns the hooks in the new files of a client, with their events and matchers.
func hooksOf(t *testing.T, client string, o config.Options) (hooks []config.Hook, names string) {
	t.Helper()
	files, err := filesOf(client, config.Project, o)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, f := range files {
		content, err := f.Edit(nil)
		if err != nil {
			t.Fatal(err)
		}
		hooks = append(hooks, clientOf(client).HooksIn(content)...)
	}
	for _, h := range hooks {
		all = append(all, strings.TrimSpace(h.Event+" "+h.Matcher))
	}
	return hooks, strings.Join(all, ", ")
}

// The hooks that askback init writes for each client are found again, with their commands.
func TestHooksOfEachClientAreFound(t *testing.T) {
	gate := true
	for client, want := range map[string]string{
		"claude-code": "PermissionRequest *, PreToolUse AskUserQuestion, Elicitation *, ElicitationResult *, " +
			"PostToolUse *, PostToolUseFailure *, UserPromptSubmit, Stop, SessionEnd",
		"codex":    "PermissionRequest .*, PreToolUse .*, UserPromptSubmit, Stop, Interrupt, SessionEnd",
		"copilot":  "permissionRequest, PreToolUse AskUserQuestion",
		"cursor":   "beforeShellExecution, beforeMCPExecution",
		"gemini":   "BeforeTool ask_user, BeforeTool ^(?!(?:ask_user|",
		"opencode": "",
		"vscode":   "",
	} {
		hooks, got := hooksOf(t, client, config.Options{Gate: &gate, Command: "/opt/my tools/askback"})
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: got %s, want %s", client, got, want)
		}
		for _, h := range hooks {
			if !strings.Contains(h.Command, "'/opt/my tools/askback' hook "+client) ||
				clientOf(client).NeedsServer(h) != (client != "claude-code") {
				t.Errorf("%s: got %+v", client, h)
			}
		}
	}
	hooks, _ := hooksOf(t, "claude-code", config.Options{HookURL: "https://x.example/hooks/claude-code"})
	if len(hooks) != 9 || hooks[0].URL != "https://x.example/hooks/claude-code" ||
		hooks[0].Headers["Authorization"] != "Bearer $ASKBACK_TOKEN" || !clientOf("claude-code").NeedsServer(hooks[0]) {
		t.Errorf("got %+v", hooks)
	}
}

// Hooks that another program has rewritten are found, and hooks of other programs are not.
func TestOnlyHooksOfAskbackAreFound(t *testing.T) {
	for _, c := range []struct{ client, path, content, want string }{
		{"codex", ".codex/config.toml", `
[[hooks.PreToolUse]]
matcher = '^request_user_input$'
[[hooks.PreToolUse.hooks]]
type = "command"
command = 'askback hook codex || exit 0'
[[hooks.PreToolUse.hooks]]
command = "say \"askback\""
[[hooks.Stop]]
hooks = [{ command = "say done" }, { "command" = "\"/opt/askback\" hook codex" }]
`, `[{PreToolUse ^request_user_input$ askback hook codex || exit 0  map[]} {Stop  "/opt/askback" hook codex  map[]}]`},
		{"codex", ".codex/config.toml", `[[hooks.Stop]`, `[]`},
		{"claude-code", "settings.json", `{"hooks":{"Stop":[{"matcher":5,"hooks":[{"command":"say done"},{"command":"askback hook claude-code"}]}],"x":3}}`, `[{Stop  askback hook claude-code  map[]}]`},
		{"claude-code", "settings.json", `{"hooks":["askback hook claude-code"]}`, `[]`},
		{"gemini", "settings.json", `{"hooks"`, `[]`},
		{"vscode", "mcp.json", `{"hooks":{"Stop":[{"hooks":[{"command":"askback hook claude-code"}]}]}}`, `[]`},
	} {
		if got := fmt.Sprint(slices.Clip(clientOf(c.client).HooksIn([]byte(c.content)))); got != c.want {
			t.Errorf("%s: %s", c.client, cmp.Diff(c.want, got))
		}
	}
}
