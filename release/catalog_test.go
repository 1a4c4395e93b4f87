package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// server.json is valid under the schema of the registry, which is a copy of the file that the registry 1.8.1 uses.
// The registry was not asked.
func TestServerJSONIsValid(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("testdata/server.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	b := build{dist: t.TempDir(), version: "0.1.0"}
	if err := serverJSON(b); err != nil {
		t.Fatal(err)
	}
	text, err := os.Open(filepath.Join(b.dist, "server.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = text.Close() }()
	server, err := jsonschema.UnmarshalJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(server); err != nil {
		t.Error(err)
	}
	// The test fails if the schema accepts everything.
	server.(map[string]any)["name"] = "askback"
	if schema.Validate(server) == nil {
		t.Error("the schema accepts a name without a namespace")
	}
}

// The registry requires its name in the packages that server.json lists.
func TestPackagesHaveTheNameOfTheRegistry(t *testing.T) {
	text, err := os.ReadFile("../packaging/npm/package.json")
	if err != nil {
		t.Fatal(err)
	}
	var manifest npmManifest
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	if manifest.MCPName != mcpName {
		t.Errorf("package.json: got mcpName %q, want %q", manifest.MCPName, mcpName)
	}
	if got := imageLabels(build{})["io.modelcontextprotocol.server.name"]; got != mcpName {
		t.Errorf("image: got the label %q, want %q", got, mcpName)
	}
}
