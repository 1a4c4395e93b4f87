package sdk_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// buildPackage copies the sources of the package for npm, builds and packs them, and returns
// the folder of the unpacked archive.
func buildPackage(packages string) (string, error) {
	dir, err := os.MkdirTemp("", "askback-sdk-")
	if err != nil {
		return "", err
	}
	source := filepath.Join(dir, "source")
	if err := os.CopyFS(source, os.DirFS("../../../sdk/typescript")); err != nil {
		return "", err
	}
	if err := os.Symlink(filepath.Join(packages, "node_modules"), filepath.Join(source, "node_modules")); err != nil {
		return "", err
	}
	pack := exec.Command("npm", "pack", "--offline", "--loglevel=error", "--pack-destination", dir)
	pack.Dir = source
	pack.Env = append(os.Environ(),
		"PATH="+filepath.Join(packages, "node_modules", ".bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	if out, err := pack.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm pack: %w\n%s", err, out)
	}
	archives, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(archives) != 1 {
		return "", fmt.Errorf("npm pack made %v, %v", archives, err)
	}
	if out, err := exec.Command("tar", "-xzf", archives[0], "-C", dir).CombinedOutput(); err != nil {
		return "", fmt.Errorf("tar: %w\n%s", err, out)
	}
	return filepath.Join(dir, "package"), nil
}
