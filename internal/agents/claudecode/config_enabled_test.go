package claudecode_test

import (
	"testing"

	"github.com/askback/askback/internal/agents/claudecode"
)

// The plugin for Claude Code is recognized in the list of plugins and in settings, as version 2.1.329 writes
// them.
func TestPluginOfClaudeCodeIsRecognized(t *testing.T) {
	for list, want := range map[string]bool{
		`{"version": 2, "plugins": {"askback@askback": [{"scope": "user", "installPath": "/p", "version": "6693661d0324"}]}}`: true,
		`{"version": 2, "plugins": {"askback@askback": []}}`:                                                                  false,
		`{"version": 2, "plugins": {"other@askback": [{"scope": "user"}]}}`:                                                   false,
		`{"version": 2`: false,
		``:              false,
	} {
		if got := claudecode.InstalledPlugin([]byte(list)); got != want {
			t.Errorf("%s: got %v", list, got)
		}
	}
	for settings, want := range map[string][2]bool{
		`{"enabledPlugins": {"askback@askback": true}}`:  {true, true},
		`{"enabledPlugins": {"askback@askback": false}}`: {false, true},
		`{"enabledPlugins": {"other@askback": true}}`:    {false, false},
		`{"enabledPlugins": {}}`:                         {false, false},
		``:                                               {false, false},
	} {
		if enabled, known := claudecode.EnablesPlugin([]byte(settings)); [2]bool{enabled, known} != want {
			t.Errorf("%s: got %v, %v", settings, enabled, known)
		}
	}
}
