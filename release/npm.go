package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// npmScope is the scope of the packages of platforms and of the client.
const npmScope = "@askback/"

// Names of operating systems and processors in Go, and in Node.
var (
	nodeSystems    = map[string]string{"linux": "linux", "darwin": "darwin", "windows": "win32"}
	nodeProcessors = map[string]string{"amd64": "x64", "arm64": "arm64", "arm": "arm"}
)

// An npmManifest is a package.json.
type npmManifest struct {
	Name            string            `json:"name"`
	MCPName         string            `json:"mcpName,omitempty"` // the registry of MCP servers compares it
	Version         string            `json:"version"`
	Description     string            `json:"description"`
	Keywords        []string          `json:"keywords,omitempty"`
	Homepage        string            `json:"homepage,omitempty"`
	Bugs            string            `json:"bugs,omitempty"`
	License         string            `json:"license"`
	Repository      npmRepository     `json:"repository"`
	Bin             map[string]string `json:"bin,omitempty"`
	Scripts         map[string]string `json:"scripts,omitempty"`
	Engines         map[string]string `json:"engines,omitempty"`
	OS              []string          `json:"os,omitempty"`
	CPU             []string          `json:"cpu,omitempty"`
	PreferUnplugged bool              `json:"preferUnplugged,omitempty"` // Yarn cannot run a program in an archive
	Optional        map[string]string `json:"optionalDependencies,omitempty"`
	PublishConfig   map[string]string `json:"publishConfig"`
}

type npmRepository struct {
	Type      string `json:"type"`
	URL       string `json:"url"`
	Directory string `json:"directory,omitempty"`
}

// npmPackages writes the packages of the program for npm: one for each platform, and the package askback,
// which depends on them.
func npmPackages(b build) error {
	sources := filepath.Join(b.repository, "packaging", "npm")
	var command npmManifest
	text, err := os.ReadFile(filepath.Join(sources, "package.json"))
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&command); err != nil {
		return fmt.Errorf("packaging/npm/package.json: %w", err)
	}
	command.Version, command.Optional = b.version, map[string]string{}
	for _, p := range b.programs {
		name, err := npmPlatform(b, command, p)
		if err != nil {
			return err
		}
		if command.Optional[name] != "" {
			return fmt.Errorf("%s: two programs for one platform", name)
		}
		command.Optional[name] = b.version
	}
	var files []file
	for _, name := range []string{"README.md", "bin/askback", "install.js", "platform.js"} {
		data, err := os.ReadFile(filepath.Join(sources, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(name, "bin/") {
			mode = 0o755
		}
		files = append(files, file{name: name, mode: mode, data: data})
	}
	return writeNpm(b, command, files)
}

// npmPlatform writes the package of a program, and returns its name.
func npmPlatform(b build, command npmManifest, p program) (name string, err error) {
	system, processor := nodeSystems[p.OS], nodeProcessors[p.Arch]
	if system == "" || processor == "" {
		return "", fmt.Errorf("%s: npm has no names for %s and %s", p.Path, p.OS, p.Arch)
	}
	data, err := os.ReadFile(p.Path)
	if err != nil {
		return "", err
	}
	platform := system + "-" + processor
	m := npmManifest{
		Name: npmScope + platform, Version: b.version, Description: "The program of askback for " + platform,
		Homepage: command.Homepage, Bugs: command.Bugs, License: command.License, Repository: command.Repository,
		OS: []string{system}, CPU: []string{processor}, PreferUnplugged: true, PublishConfig: command.PublishConfig,
	}
	readme := "# " + m.Name + "\n\n" + m.Description + ". To use it, install the package\n" +
		"[askback](https://www.npmjs.com/package/askback), which depends on it.\n"
	// release.sh writes it for all archives and packages.
	licenses, err := os.ReadFile(filepath.Join(b.repository, "bin", "share", "THIRD_PARTY_LICENSES"))
	if err != nil {
		return "", err
	}
	bin := "bin/askback"
	if p.OS == "windows" {
		bin += ".exe"
	}
	return m.Name, writeNpm(b, m, []file{
		{"README.md", 0o644, []byte(readme)}, {"THIRD_PARTY_LICENSES", 0o644, licenses}, {bin, 0o755, data},
	})
}

// writeNpm writes a package with its manifest, the licence and files, in the form of npm pack.
func writeNpm(b build, m npmManifest, files []file) error {
	var manifest bytes.Buffer
	encoder := json.NewEncoder(&manifest)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(m); err != nil {
		return err
	}
	return packNpm(b, m.Name, manifest.Bytes(), files)
}

// packNpm writes a package with the given text of its manifest.
func packNpm(b build, name string, manifest []byte, files []file) error {
	license, err := os.ReadFile(filepath.Join(b.repository, "LICENSE"))
	if err != nil {
		return err
	}
	all := append([]file{{"package.json", 0o644, manifest}, {"LICENSE", 0o644, license}}, files...)
	for i := range all {
		all[i].name = "package/" + all[i].name
	}
	folder := filepath.Join(b.dist, "npm")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return writeTarGz(filepath.Join(folder, npmFile(name, b.version)), all, b.time)
}

// npmFile returns the name that npm pack gives to the archive of a package.
func npmFile(name, version string) string {
	return strings.ReplaceAll(strings.TrimPrefix(name, "@"), "/", "-") + "-" + version + ".tgz"
}
