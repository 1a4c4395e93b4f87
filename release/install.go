package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// installScript writes install.sh with the version that it installs. The script is downloaded with the latest
// release, so it needs no request for the number of this release.
func installScript(b build) error {
	text, err := os.ReadFile(filepath.Join(b.repository, "packaging", "install.sh"))
	if err != nil {
		return err
	}
	line := []byte("\nreleased=''\n")
	if n := bytes.Count(text, line); n != 1 {
		return fmt.Errorf("packaging/install.sh has %d lines released='', not 1", n)
	}
	text = bytes.Replace(text, line, fmt.Appendf(nil, "\nreleased='%s'\n", b.version), 1)
	return os.WriteFile(filepath.Join(b.dist, "install.sh"), text, 0o755)
}
