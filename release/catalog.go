package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
)

// mcpName is the name of Askback in the registry of MCP servers. The package for npm and the image have it, too, so
// that the registry can verify their owner.
const mcpName = "io.github.askback/askback"

// An mcpServer describes an MCP server to the registry. The schema is testdata/server.schema.json.
type mcpServer struct {
	Schema      string        `json:"$schema"`
	Name        string        `json:"name"`
	Title       string        `json:"title"`
	Description string        `json:"description"`
	Repository  mcpRepository `json:"repository"`
	Version     string        `json:"version"`
	Packages    []mcpPackage  `json:"packages"`
}

type mcpRepository struct {
	URL    string `json:"url"`
	Source string `json:"source"`
}

// An mcpPackage is a way to run the server on the machine of the agent.
type mcpPackage struct {
	RegistryType     string        `json:"registryType"`
	RegistryBaseURL  string        `json:"registryBaseUrl,omitempty"`
	Identifier       string        `json:"identifier"`
	Version          string        `json:"version,omitempty"`
	RuntimeHint      string        `json:"runtimeHint"`
	Transport        mcpTransport  `json:"transport"`
	PackageArguments []mcpArgument `json:"packageArguments"`
	Environment      []mcpVariable `json:"environmentVariables"`
}

type mcpTransport struct {
	Type string `json:"type"`
}

type mcpArgument struct {
	Type  string `json:"type"`
	Value string `json:"value"`
}

type mcpVariable struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Required    bool   `json:"isRequired,omitempty"`
	Secret      bool   `json:"isSecret,omitempty"`
}

// serverJSON writes server.json for the registry of MCP servers. The package for npm uses the server of the same
// machine, unless the variables name another. A container has no access to it, so there the variables are required.
func serverJSON(b build) error {
	variables := func(required bool) []mcpVariable {
		return []mcpVariable{
			{Name: "ASKBACK_URL", Description: "Address of the Askback server", Required: required},
			{Name: "ASKBACK_TOKEN", Description: "Token of this agent", Required: required, Secret: true},
		}
	}
	stdio, arguments := mcpTransport{"stdio"}, []mcpArgument{{"positional", "mcp"}}
	server := mcpServer{
		Schema:      "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
		Name:        mcpName,
		Title:       "Askback",
		Description: "Ask people questions and for approvals, and get the answer, however long it takes.",
		Repository:  mcpRepository{"https://github.com/askback/askback", "github"},
		Version:     b.version,
		Packages: []mcpPackage{{
			RegistryType: "npm", RegistryBaseURL: "https://registry.npmjs.org",
			Identifier: "askback", Version: b.version,
			RuntimeHint: "npx", Transport: stdio, PackageArguments: arguments, Environment: variables(false),
		}, {
			RegistryType: "oci", Identifier: imageName + ":" + b.version,
			RuntimeHint: "docker", Transport: stdio, PackageArguments: arguments, Environment: variables(true),
		}},
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(server); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(b.dist, "server.json"), text.Bytes(), 0o644)
}
