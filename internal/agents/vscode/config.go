// Package vscode adds Askback to the configuration of Visual Studio Code.
package vscode

import (
	"fmt"
	"strings"

	"github.com/askback/askback/internal/agents/config"
)

// Name is the name of Visual Studio Code in commands, and in the labels of its asks.
const Name = "vscode"

// Config is the configuration of Visual Studio Code.
var Config = config.Client{
	Files: files, NextSteps: nextSteps, AsksForToken: true,
	Traces: config.Traces{Programs: []string{"code"}, Home: []string{".vscode", ".config/Code"}},
}

// files returns the file of Visual Studio Code for a project. The editor asks for the token of a server and
// stores it. For the user scope, the error wraps [config.ErrUnsupported].
func files(scope config.Scope, o config.Options) ([]config.File, error) {
	if scope == config.User {
		return nil, fmt.Errorf("%w: the file with a user's servers depends on the profile of Visual Studio Code; "+
			"use the project scope, or the editor's command MCP: Open User Configuration", config.ErrUnsupported)
	}
	edits := []config.Edit{config.Member(
		config.Server{Type: config.Transport(o)}.WithAddress(o, "${input:askback_token}"), "servers", "askback",
	)}
	if o.URL != "" || o.Remove {
		edits = append(edits, config.Edit{
			Path: []string{"inputs"}, List: true,
			Value: `{"type":"promptString","id":"askback_token","description":"Token of Askback","password":true}`,
			IsOwn: func(v string) bool { return strings.Contains(v, `"id":"askback_token"`) },
		})
	}
	return []config.File{config.JSONFile(".vscode/mcp.json", edits...)}, nil
}

func nextSteps(_ config.Scope, _ config.Options) []string {
	return []string{"start the server askback in .vscode/mcp.json (Start, above its name), and allow its tools when " +
		"the editor first asks"}
}
