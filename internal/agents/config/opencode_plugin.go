package config

import (
	"encoding/json"

	"github.com/askback/askback/internal/agents/opencode"
)

// OpenCodePlugin returns the path of Askback's plugin and the program that it runs, as the
// configuration of OpenCode has them. ok is false if content does not load the plugin. path is
// relative to the folder of the scope, with slashes.
func OpenCodePlugin(scope Scope, content []byte) (path, program string, ok bool) {
	root, err := parse(string(content))
	if err != nil {
		return "", "", false
	}
	_, path, reference := opencodePaths(scope)
	list, _ := find(root, []string{"plugin"})
	for _, e := range list.entries {
		text := compactText(string(content), e.value)
		if list.kind != '[' || pluginOf(text) != reference {
			continue
		}
		var options []json.RawMessage
		o := struct{ Command string }{"askback"}
		if json.Unmarshal([]byte(text), &options) == nil && len(options) > 1 {
			_ = json.Unmarshal(options[1], &o) // the plugin ignores a command that is not a string, too
		}
		return path, o.Command, true
	}
	return path, "", false
}

// IsCurrentPlugin reports whether content is the plugin for OpenCode of this version.
func IsCurrentPlugin(content []byte) bool { return string(content) == opencode.Plugin }
