package config

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/askback/askback/internal/agents/opencode"
)

// opencodeServer is the configuration of an MCP server in the format of OpenCode.
type opencodeServer struct {
	Type    string            `json:"type"`
	Command []string          `json:"command,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Enabled bool              `json:"enabled"`
}

func openCode(scope Scope, o Options) ([]File, error) {
	s := opencodeServer{Type: "local", Command: append([]string{o.Command}, waitingServer...), Enabled: true}
	if o.URL != "" {
		remote := server{}.withAddress(o, "{env:"+TokenVariable+"}")
		s = opencodeServer{Type: "remote", URL: remote.URL, Headers: remote.Headers, Enabled: true}
	}
	path, plugin, reference := opencodePaths(scope)
	// A rule for all tools would require approval at the terminal for each call. Without
	// rules, tools are allowed. The last matching rule applies.
	allow := member("allow", "permission", "askback_*")
	allow.onlyIfParent = true
	load := edit{path: []string{"plugin"}, value: compact(reference), list: true, keep: true, isOwn: func(entry string) bool {
		return pluginOf(entry) == reference
	}}
	if o.Command != "askback" {
		load.value = compact([]any{reference, map[string]string{"command": o.Command}})
	}
	return []File{
		jsonFile(path, member(s, "mcp", "askback"), allow, load),
		{Path: plugin, plugin: true, write: editPlugin},
	}, nil
}

// opencodePaths returns the paths of the configuration and of the plugin, and the reference to the
// plugin in the configuration. The plugin is not in a folder .opencode, because OpenCode would
// install packages there.
func opencodePaths(scope Scope) (path, plugin, reference string) {
	if scope == User {
		return ".config/opencode/opencode.json", ".config/opencode/askback.js", "./askback.js"
	}
	return "opencode.json", ".askback/opencode.js", "./.askback/opencode.js"
}

// gateEntry returns the members of the configuration that let people approve the calls of opencode
// run.
func gateEntry(scope Scope, o Options) string {
	_, _, reference := opencodePaths(scope)
	options := `"gate": true`
	if o.Command != "" && o.Command != "askback" {
		options = `"command": ` + compact(o.Command) + ", " + options
	}
	return `"permission": {"*": "ask", "askback_*": "allow", "read": "allow", "glob": "allow", "grep": "allow"}, "plugin": [[` + compact(reference) + `, {` + options + `}]]`
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

// editPlugin writes the plugin, or removes it. A file that is not the plugin of any version is
// not changed.
func editPlugin(f File, present []byte) ([]byte, error) {
	mark, _, _ := strings.Cut(opencode.Plugin, "\n")
	switch {
	case len(bytes.TrimSpace(present)) > 0 && !bytes.HasPrefix(present, []byte(mark)):
		return nil, obstacle{"this is not the plugin of Askback", "move the file away"}
	case f.remove:
		return nil, nil
	}
	return []byte(opencode.Plugin), nil
}
