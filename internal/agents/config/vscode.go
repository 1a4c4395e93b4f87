package config

import (
	"fmt"
	"strings"
)

// vscode returns the file of Visual Studio Code. The editor asks for the token of a server and
// stores it.
func vscode(scope Scope, o Options) ([]File, error) {
	if scope == User {
		return nil, fmt.Errorf("%w: the file with a user's servers depends on the profile of Visual Studio Code; use the project scope, or the editor's command MCP: Open User Configuration", ErrUnsupported)
	}
	edits := []edit{member(server{Type: transport(o)}.withAddress(o, "${input:askback_token}"), "servers", "askback")}
	if o.URL != "" || o.Remove {
		edits = append(edits, edit{
			path: []string{"inputs"}, list: true,
			value: `{"type":"promptString","id":"askback_token","description":"Token of Askback","password":true}`,
			isOwn: func(v string) bool { return strings.Contains(v, `"id":"askback_token"`) },
		})
	}
	return []File{jsonFile(".vscode/mcp.json", edits...)}, nil
}
