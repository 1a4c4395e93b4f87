package claudecode_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback/internal/agents/claudecode"
	"github.com/askback/askback/internal/agents/config"
	"github.com/askback/askback/test/kit/golden"
)

const pluginFolder = "../../../plugin/claude-code"

// The plugin for Claude Code matches the current code (F9).
func TestPluginMatchesTheCode(t *testing.T) {
	for name, content := range claudecode.Plugin() {
		golden.Check(t, filepath.Join(pluginFolder, filepath.FromSlash(name)), string(content))
	}
}

type hookSettings struct {
	Hooks       map[string][]any    `json:"hooks"`
	Servers     map[string]any      `json:"mcpServers"`
	Permissions map[string][]string `json:"permissions"`
}

// The plugin has the same hooks and the same MCP server as the files of askback init. In
// addition, it allows the tools that askback init allows.
func TestPluginHasTheEntriesThatInitWrites(t *testing.T) {
	files, err := claudecode.Config.FilesFor(config.Project, config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var written, plugin hookSettings
	for _, f := range files {
		content, err := f.Edit(nil)
		if err != nil {
			t.Fatal(err)
		}
		if content != nil {
			readJSON(t, content, &written)
		}
	}
	for _, name := range []string{"hooks/hooks.json", ".mcp.json"} {
		raw, err := os.ReadFile(filepath.Join(pluginFolder, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		readJSON(t, raw, &plugin)
	}
	allowed, _ := plugin.Hooks["PreToolUse"][0].(map[string]any)
	if allowed["matcher"] != "mcp__plugin_askback_askback__.*" {
		t.Errorf("got %v, want the hook for the plugin's own tools", allowed)
	}
	plugin.Hooks["PreToolUse"] = plugin.Hooks["PreToolUse"][1:]
	if diff := cmp.Diff(written.Hooks, plugin.Hooks); diff != "" {
		t.Errorf("hooks (-init +plugin):\n%s", diff)
	}
	if diff := cmp.Diff(written.Servers, plugin.Servers); diff != "" {
		t.Errorf("servers (-init +plugin):\n%s", diff)
	}
	if len(written.Permissions["allow"]) == 0 || slices.ContainsFunc(written.Permissions["allow"],
		func(rule string) bool { return !strings.HasPrefix(rule, "mcp__askback__") }) {
		t.Errorf("got the rules %v", written.Permissions)
	}
}

func readJSON(t *testing.T, raw []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
}

// The marketplace lists the plugin with its name, its folder and its description.
func TestMarketplaceListsThePlugin(t *testing.T) {
	var market struct {
		Name    string
		Plugins []struct{ Name, Source, Description string }
	}
	var manifest struct{ Name, Description string }
	for path, into := range map[string]any{
		"../../../.claude-plugin/marketplace.json": &market, pluginFolder + "/.claude-plugin/plugin.json": &manifest,
	} {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		readJSON(t, raw, into)
	}
	if len(market.Plugins) != 1 || market.Name != "askback" {
		t.Fatalf("got %+v", market)
	}
	if p := market.Plugins[0]; p.Name != manifest.Name || p.Description != manifest.Description ||
		filepath.Join("../../..", p.Source) != filepath.Clean(pluginFolder) {
		t.Errorf("got %+v, want %+v in %s", p, manifest, pluginFolder)
	}
}

// HasHook reports whether settings contain a hook of Askback for an event. It finds command hooks and HTTP
// hooks.
func TestHookInSettingsIsFound(t *testing.T) {
	for settings, want := range map[string]bool{
		`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/opt/askback hook claude-code --strict"}]}]}} // mine`:                          true,
		`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"command -v askback >/dev/null || exit 0; exec askback hook claude-code"}]}]}}`:  true,
		`{"hooks":{"Stop":[{"hooks":[{"type":"http","url":"http://x/hooks/claude-code","headers":{"Authorization":"Bearer $ASKBACK_TOKEN"}}]}]}}`: true,
		`{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"askback hook claude-code"}]}]}}`:                                          false,
		`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"say done"}]}]}}`:                                                                false,
		`{"hooks":{"Stop":[{"type":"command","command":"askback hook claude-code"}]}}`:                                                            false,
		`{"hooks":{"Stop":"askback hook claude-code"}}`:                                                                                           false,
		`{"hooks":`: false,
		``:          false,
	} {
		if got := claudecode.HasHook([]byte(settings), "Stop"); got != want {
			t.Errorf("%s: got %v", settings, got)
		}
	}
}
