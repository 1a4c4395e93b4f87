package config

import "encoding/json"

// claudePlugin is the name of the plugin with its marketplace.
const claudePlugin = "askback@askback"

// EnablesPlugin reports whether settings of Claude Code turn its plugin of Askback on or off. known is
// false if they do neither.
func EnablesPlugin(settings []byte) (enabled, known bool) {
	root, err := parse(string(settings))
	if err != nil {
		return false, false
	}
	v, rest := find(root, []string{"enabledPlugins", claudePlugin})
	text := compactText(string(settings), v)
	return text == "true", len(rest) == 0 && (text == "true" || text == "false")
}

// InstalledPlugin reports whether Claude Code's list of installed plugins has that of Askback.
func InstalledPlugin(list []byte) bool {
	var installed struct{ Plugins map[string]json.RawMessage }
	return json.Unmarshal(list, &installed) == nil && len(installed.Plugins[claudePlugin]) > 2 // not [] or {}
}
