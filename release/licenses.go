package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// systems are the values of GOOS for which a release has programs.
var systems = []string{"linux", "darwin", "windows"}

// licenseName matches the names of files with the licence of a module, or with what it requires to pass on.
var licenseName = regexp.MustCompile(`(?i)^(li[cs]en[cs]e|copying|notice|patents)([.\-_].*)?$`)

// writeLicenses writes the licences of all modules that the programs of a release contain, and of Go itself,
// to one file.
func writeLicenses(path, repository string) error {
	folders := map[string]string{} // from the name of a module to its folder
	for _, system := range systems {
		list := exec.Command("go", "list", "-deps", "-f",
			"{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}", "./cmd/askback")
		list.Dir = repository
		list.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		list.Stderr = os.Stderr
		out, err := list.Output()
		if err != nil {
			return fmt.Errorf("go list: %w", err)
		}
		for line := range strings.Lines(string(out)) {
			if name, folder, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
				folders[name] = folder
			}
		}
	}
	var b bytes.Buffer
	fmt.Fprint(&b, "The program askback contains these modules.\n")
	names := make([]string, 0, len(folders))
	for name := range folders {
		names = append(names, name)
	}
	slices.Sort(names)
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	folders["Go "+runtime.Version()] = strings.TrimSpace(string(root))
	for _, name := range append([]string{"Go " + runtime.Version()}, names...) {
		if err := appendLicenses(&b, name, folders[name]); err != nil {
			return err
		}
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// appendLicenses appends the licences in the folder of a module. A module without a licence is an error.
func appendLicenses(b *bytes.Buffer, name, folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("module %s: %w", name, err)
	}
	found := false
	for _, e := range entries {
		if e.IsDir() || !licenseName.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return fmt.Errorf("module %s: %w", name, err)
		}
		found = true
		fmt.Fprintf(b, "\n%s\n%s: %s\n\n%s\n", strings.Repeat("=", 80), name, e.Name(), bytes.TrimSpace(text))
	}
	if !found {
		return fmt.Errorf("module %s has no file with its licence in %s", name, folder)
	}
	return nil
}
