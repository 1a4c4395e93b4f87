package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// published matches the files of a release that are published, below the folder dist.
var published = []string{
	"askback_*", "askback-*.rpm", "install.sh", "compose.yaml", "kubernetes.yaml", "server.json",
	"npm/*.tgz", "python/*",
}

// checksums writes the SHA-256 sums of all published files, in the format of sha256sum. It replaces the file
// of GoReleaser, which lacks what is made later.
func checksums(b build) error {
	list := "askback_" + b.version + "_checksums.txt"
	var lines []string
	for _, pattern := range published {
		paths, err := filepath.Glob(filepath.Join(b.dist, pattern))
		if err != nil {
			return err
		}
		for _, path := range paths {
			name := filepath.Base(path)
			if name == list {
				continue
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			lines = append(lines, fmt.Sprintf("%x  %s\n", sha256.Sum256(data), name))
		}
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[sha256.Size*2:], b[sha256.Size*2:]) })
	var text bytes.Buffer
	for _, line := range lines {
		text.WriteString(line)
	}
	return os.WriteFile(filepath.Join(b.dist, list), text.Bytes(), 0o644)
}
