package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// typescriptPackage compiles the client for TypeScript, and writes its package for npm. The compiler comes
// from npm, in the version and with the sum in package-lock.json.
func typescriptPackage(b build) error {
	sources := filepath.Join(b.repository, "sdk", "typescript")
	folder, err := os.MkdirTemp("", "askback-typescript-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	for _, name := range []string{"package.json", "package-lock.json", "tsconfig.json"} {
		if err := copyFile(filepath.Join(folder, name), filepath.Join(sources, name)); err != nil {
			return err
		}
	}
	if err := os.CopyFS(filepath.Join(folder, "src"), os.DirFS(filepath.Join(sources, "src"))); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"},
		{"npm", "run", "build", "--silent"},
	} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = folder
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w\n%s", args, err, out)
		}
	}
	return packTypescript(b, folder)
}

// packTypescript writes the package of a compiled client.
func packTypescript(b build, folder string) error {
	manifest, err := os.ReadFile(filepath.Join(folder, "package.json"))
	if err != nil {
		return err
	}
	if manifest, err = withVersion(manifest, `"version": "`, b.version); err != nil {
		return fmt.Errorf("sdk/typescript/package.json: %w", err)
	}
	readme, err := os.ReadFile(filepath.Join(b.repository, "sdk", "typescript", "README.md"))
	if err != nil {
		return err
	}
	files := []file{{"README.md", 0o644, readme}}
	for _, name := range []string{"dist", "src"} {
		compiled, err := readFolder(filepath.Join(folder, name), ".js", ".ts")
		if err != nil {
			return err
		}
		for _, f := range compiled {
			files = append(files, file{name + "/" + f.name, fs.FileMode(0o644), f.data})
		}
	}
	return packNpm(b, npmScope+"sdk", manifest, files)
}

func copyFile(to, from string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}
