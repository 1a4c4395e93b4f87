package hook_test

import (
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/hook"
)

// The label of an ask contains the program and the folder (F9).
func TestLabelIsProgramAndFolder(t *testing.T) {
	for _, test := range []struct{ program, folder, want string }{
		{"codex", "/srv/shop", "codex · shop"},
		{"codex", "/srv/shop/", "codex · shop"},
		{"codex", `C:\work\shop`, "codex · shop"},
		{"codex", "", "codex"},
		{"codex", "/", "codex"},
		{"codex", ".", "codex"},
		{"", "/srv/shop", ""},
		{"codex", "/srv/a\x1b[31m\u202eb", "codex · a [31m b"},
	} {
		got := hook.Label(test.program, test.folder)
		if got != test.want {
			t.Errorf("%s in %q: got %q, want %q", test.program, test.folder, got, test.want)
		}
		if ask := (askback.Ask{Agent: got}); hook.IsBy(ask, "codex") != (test.program == "codex") {
			t.Errorf("%q is by codex: %t", got, !hook.IsBy(ask, "codex"))
		}
	}
	if hook.IsBy(askback.Ask{Agent: "codex2 · shop"}, "codex") {
		t.Error("codex2 is taken for codex")
	}
}

// A client that Askback does not know is shown by the name of its program. A name that has no other part stays
// as it is.
func TestReadableNameOmitsKindOfClient(t *testing.T) {
	for name, want := range map[string]string{
		"qwen-cli-mcp-client-askback": "qwen",
		"qwen-cli-mcp-client-my shop": "qwen",
		"roo-mcp-client":              "roo",
		"Roo MCP Client":              "Roo",
		"continue-cli-client":         "continue",
		"acme_mcp_cli":                "acme",
		"@cline/core":                 "cline",
		"@acme/mcp-client":            "acme",
		"@acme/robot":                 "robot",
		"@acme/robot-mcp-client":      "robot",
		"my-agent":                    "my-agent",
		"my-mcp-client":               "my-mcp-client",
		"kimi-cli":                    "kimi-cli",
		"weather-client":              "weather-client",
		"mcp-client":                  "mcp-client",
		"cli-mcp-client":              "cli",
		"acme-score":                  "acme-score",
		"@/core":                      "core",
		"@acme":                       "@acme",
		"@acme/":                      "@acme/",
		"a/b":                         "a/b",
		"":                            "",
	} {
		if got := hook.ReadableName(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}
