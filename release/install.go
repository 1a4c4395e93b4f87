package main

import (
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
	text, err = replaceOnce(text, "\nreleased=''\n", "\nreleased='"+b.version+"'\n")
	if err != nil {
		return fmt.Errorf("packaging/install.sh: %w", err)
	}
	return os.WriteFile(filepath.Join(b.dist, "install.sh"), text, 0o755)
}
