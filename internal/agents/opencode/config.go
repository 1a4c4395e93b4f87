package opencode

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/askback/askback/internal/agents/config"
)

// Name is the name of OpenCode in commands, and in the labels of its asks.
const Name = "opencode"

// Config is the configuration of OpenCode.
var Config = config.Client{
	Files: files, NextSteps: nextSteps,
	Traces: config.Traces{
		Programs: []string{"opencode"}, Home: []string{".config/opencode"}, List: []string{"mcp", "list"},
		ListRuns: true,
	},
}

// An mcpServer is the configuration of an MCP server in the format of OpenCode.
type mcpServer struct {
	Type    string            `json:"type"`
	Command []string          `json:"command,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Enabled bool              `json:"enabled"`
}

func files(scope config.Scope, o config.Options) ([]config.File, error) {
	s := mcpServer{Type: "local", Command: append([]string{o.Command}, config.WaitingServer...), Enabled: true}
	if o.URL != "" {
		remote := config.Server{}.WithAddress(o, "{env:"+config.TokenVariable+"}")
		s = mcpServer{Type: "remote", URL: remote.URL, Headers: remote.Headers, Enabled: true}
	}
	path, plugin, reference := configPaths(scope)
	// A rule for all tools would require approval at the terminal for each call. Without
	// rules, tools are allowed. The last matching rule applies.
	allow := config.Member("allow", "permission", "askback_*")
	allow.OnlyIfParent = true
	load := config.Edit{
		Path:  []string{"plugin"},
		Value: config.Compact(reference), List: true, Keep: true, IsOwn: func(entry string) bool {
			return pluginOf(entry) == reference
		},
	}
	if o.Command != "askback" {
		load.Value = config.Compact([]any{reference, map[string]string{"command": o.Command}})
	}
	return []config.File{
		config.JSONFile(path, config.Member(s, "mcp", "askback"), allow, load),
		{Path: plugin, Program: true, Write: editPlugin},
	}, nil
}

// configPaths returns the paths of the configuration and of the plugin, and the reference to the
// plugin in the configuration. The plugin is not in a folder .opencode, because OpenCode would
// install packages there.
func configPaths(scope config.Scope) (path, plugin, reference string) {
	if scope == config.User {
		return ".config/opencode/opencode.json", ".config/opencode/askback.js", "./askback.js"
	}
	return "opencode.json", ".askback/opencode.js", "./.askback/opencode.js"
}

// gateEntry returns the members of the configuration that let people approve the calls of opencode
// run.
func gateEntry(scope config.Scope, o config.Options) string {
	_, _, reference := configPaths(scope)
	options := `"gate": true`
	if o.Command != "" && o.Command != "askback" {
		options = `"command": ` + config.Compact(o.Command) + ", " + options
	}
	return `"permission": {"*": "ask", "askback_*": "allow", "read": "allow", "glob": "allow", "grep": "allow"}, "plugin": [[` + config.Compact(reference) + `, {` + options + `}]]`
}

// pluginOf returns the plugin of an entry, which may have options.
func pluginOf(entry string) string {
	var name string
	var withOptions []json.RawMessage
	if json.Unmarshal([]byte(entry), &withOptions) == nil && len(withOptions) > 0 {
		entry = string(withOptions[0])
	}
	_ = json.Unmarshal([]byte(entry), &name)
	return name
}

// editPlugin returns the plugin, or nil to remove it. It returns an error if the present file is not the
// plugin of any version.
func editPlugin(f config.File, present []byte) ([]byte, error) {
	mark, _, _ := strings.Cut(Plugin, "\n")
	switch {
	case len(bytes.TrimSpace(present)) > 0 && !bytes.HasPrefix(present, []byte(mark)):
		return nil, config.Obstacle{Reason: "this is not the plugin of Askback", Fix: "move the file away"}
	case f.Removes():
		return nil, nil
	}
	return []byte(Plugin), nil
}

// LoadedPlugin returns the path of Askback's plugin and the program that it runs, from the configuration of
// OpenCode. ok is false if content does not load the plugin. path is relative to the folder of the scope,
// with slashes.
func LoadedPlugin(scope config.Scope, content []byte) (path, program string, ok bool) {
	_, path, reference := configPaths(scope)
	var list []json.RawMessage
	if text, found := config.Find(content, "plugin"); !found || json.Unmarshal([]byte(text), &list) != nil {
		return path, "", false
	}
	for _, e := range list {
		if pluginOf(string(e)) != reference {
			continue
		}
		var options []json.RawMessage
		o := struct{ Command string }{"askback"}
		if json.Unmarshal(e, &options) == nil && len(options) > 1 {
			_ = json.Unmarshal(options[1], &o) // the plugin also ignores a command that is not a string
		}
		return path, o.Command, true
	}
	return path, "", false
}

// IsCurrentPlugin reports whether content is the plugin of this version for OpenCode.
func IsCurrentPlugin(content []byte) bool { return string(content) == Plugin }

func nextSteps(scope config.Scope, o config.Options) (todo []string) {
	todo = []string{
		`restart OpenCode; if another configuration file has "permission" rules that ask for every tool, allow "askback_*" there`,
		"with a plugin, OpenCode installs @opencode-ai/plugin from npm into ~/.config/opencode when it starts: this " +
			"takes a few seconds the first time; without npm, each start takes over a minute",
		"opencode run has no dialog: to approve its calls in Askback, add this to the configuration: " +
			gateEntry(scope, o),
	}
	return todo
}
