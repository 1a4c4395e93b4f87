package agents_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// pinned maps the names of clients in the documents to their packages.
var pinned = map[string]string{
	"Claude Code": "@anthropic-ai/claude-code", "Codex": "@openai/codex", "Copilot CLI": "@github/copilot",
	"Gemini CLI": "@google/gemini-cli", "OpenCode": "opencode-linux-x64",
	"claude-agent-acp": "@agentclientprotocol/claude-agent-acp", "Qwen Code": "@qwen-code/qwen-code",
}

// addVersions adds the versions of the package.json in a folder. A package has the same version in each folder.
func addVersions(t *testing.T, versions map[string]string, folder string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(folder, "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Dependencies map[string]string `json:"dependencies"`
		Optional     map[string]string `json:"optionalDependencies"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	for _, packages := range []map[string]string{file.Dependencies, file.Optional} {
		for name, version := range packages {
			if before := versions[name]; before != "" && before != version {
				t.Errorf("%s is pinned to %s and, in %s, to %s", name, before, folder, version)
			}
			versions[name] = version
		}
	}
}

// The documents and the tests name the versions that package.json pins.
func TestDocumentsNamePinnedVersions(t *testing.T) {
	t.Parallel()
	versions := map[string]string{}
	for _, folder := range []string{".", "editors", "../claudecode"} {
		addVersions(t, versions, folder)
	}
	if got := versions["opencode-linux-x64"]; got != opencodeVersion {
		t.Errorf("opencodeVersion is %s, want %s", opencodeVersion, got)
	}
	docs, err := filepath.Glob("../../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]int{}
	for _, path := range append(docs, "../README.md") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for client, name := range pinned {
			version := regexp.MustCompile(`\b` + client + `\s+(\d+\.\d+\.\d+)`)
			for _, m := range version.FindAllSubmatch(text, -1) {
				named[client]++
				if got := string(m[1]); got != versions[name] {
					t.Errorf("%s names %s %s, want %s", path, client, got, versions[name])
				}
			}
		}
	}
	for client := range pinned {
		if named[client] == 0 {
			t.Errorf("no document names the version of %s", client)
		}
	}
}
