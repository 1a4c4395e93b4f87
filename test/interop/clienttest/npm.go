// Package clienttest installs agents and clients from the npm registry, and
// runs the built program for their tests.
package clienttest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/askback/askback/test/kit/leftout"
)

// Folder is the name of the environment variable with the folder for npm packages.
// If the variable is not set, tests with npm packages are skipped.
const Folder = "ASKBACK_NPM"

// Packages installs the npm packages that package-lock.json in the test's folder lists. It returns the folder
// that contains node_modules. If [Folder] is not set, Packages skips the test.
func Packages(t testing.TB) string { return PackagesIn(t, ".") }

// PackagesIn is like Packages, for the package-lock.json in a folder. In another folder than ".", optional
// packages are left out, because not every registry has all of them.
func PackagesIn(t testing.TB, folder string) string {
	t.Helper()
	cache := os.Getenv(Folder)
	if cache == "" {
		leftout.Skip(t, "clients from npm (make interop tests them)")
	}
	dir, err := install(t.Context(), cache, folder)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// install installs the packages of the lock file in from in a folder inside cache, unless they are installed
// already. It returns the folder inside cache.
func install(ctx context.Context, cache, from string) (string, error) {
	sum := sha256.New()
	files := map[string][]byte{}
	for _, name := range []string{"package.json", "package-lock.json"} {
		raw, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return "", err
		}
		files[name] = raw
		sum.Write(raw)
	}
	done := filepath.Join(cache, hex.EncodeToString(sum.Sum(nil))[:16])
	if _, err := os.Stat(done); err == nil {
		return done, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	making, err := os.MkdirTemp(cache, "making-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(making)
	for name, raw := range files {
		if err := os.WriteFile(filepath.Join(making, name), raw, 0o644); err != nil {
			return "", err
		}
	}
	args := []string{"ci"} // rejects a lock file without all optional packages
	if from != "." {
		args = []string{"install", "--no-save", "--omit=optional"}
	}
	npm := exec.CommandContext(ctx, "npm",
		append(args, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")...)
	npm.Dir = making
	if out, err := npm.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm ci: %w\n%s", err, out)
	}
	if err := os.Rename(making, done); err != nil {
		if _, there := os.Stat(done); there != nil {
			return "", err
		}
	}
	return done, nil
}
