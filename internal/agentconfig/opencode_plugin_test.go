package agentconfig_test

import (
	"testing"

	"github.com/askback/askback/internal/agentconfig"
)

// The plugin that askback init writes for OpenCode is found in each scope, with the program that it
// runs.
func TestPluginOfOpenCodeIsFound(t *testing.T) {
	for scope, want := range map[agentconfig.Scope]string{agentconfig.Project: ".askback/opencode.js", agentconfig.User: ".config/opencode/askback.js"} {
		for _, program := range []string{"askback", "/opt/askback"} {
			files, err := agentconfig.Files("opencode", scope, agentconfig.Options{Command: program})
			if err != nil {
				t.Fatal(err)
			}
			config, err := files[0].Edit(nil)
			if err != nil {
				t.Fatal(err)
			}
			plugin, err := files[1].Edit(nil)
			if err != nil {
				t.Fatal(err)
			}
			path, got, ok := agentconfig.OpenCodePlugin(scope, config)
			if path != want || path != files[1].Path || got != program || !ok {
				t.Errorf("%s: got %s, %s, %v", scope, path, got, ok)
			}
			if !agentconfig.IsCurrentPlugin(plugin) || agentconfig.IsCurrentPlugin(append(plugin, '\n')) {
				t.Error("the plugin of this version is not recognized")
			}
		}
	}
	for _, config := range []string{"", "{", `{"plugin": {}}`, `{"plugin": "./.askback/opencode.js"}`, `{"plugin": ["./other.js", 5, []]}`} {
		if _, _, ok := agentconfig.OpenCodePlugin(agentconfig.Project, []byte(config)); ok {
			t.Errorf("%s: found", config)
		}
	}
}
