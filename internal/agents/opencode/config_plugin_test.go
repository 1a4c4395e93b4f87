package opencode_test

import (
	"testing"

	"github.com/askback/askback/internal/agents/config"
	"github.com/askback/askback/internal/agents/opencode"
)

// The plugin that askback init writes for OpenCode is found in each scope, with the program that it
// runs.
func TestPluginOfOpenCodeIsFound(t *testing.T) {
	for scope, want := range map[config.Scope]string{
		config.Project: ".askback/opencode.js", config.User: ".config/opencode/askback.js",
	} {
		for _, program := range []string{"askback", "/opt/askback"} {
			files, err := opencode.Config.FilesFor(scope, config.Options{Command: program})
			if err != nil {
				t.Fatal(err)
			}
			content, err := files[0].Edit(nil)
			if err != nil {
				t.Fatal(err)
			}
			plugin, err := files[1].Edit(nil)
			if err != nil {
				t.Fatal(err)
			}
			path, got, ok := opencode.LoadedPlugin(scope, content)
			if path != want || path != files[1].Path || got != program || !ok {
				t.Errorf("%s: got %s, %s, %v", scope, path, got, ok)
			}
			if !opencode.IsCurrentPlugin(plugin) || opencode.IsCurrentPlugin(append(plugin, '\n')) {
				t.Error("the plugin of this version is not recognized")
			}
		}
	}
	for _, content := range []string{
		"", "{", `{"plugin": {}}`, `{"plugin": "./.askback/opencode.js"}`, `{"plugin": ["./other.js", 5, []]}`,
	} {
		if _, _, ok := opencode.LoadedPlugin(config.Project, []byte(content)); ok {
			t.Errorf("%s: found", content)
		}
	}
}
