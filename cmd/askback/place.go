package main

import (
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"github.com/askback/askback/internal/config"
)

// database returns the file of the local database (wire.md §9). A flag or the
// environment names it, else the settings file, else it is in the state directory.
func (all *commands) database(file config.Config) (string, error) {
	scheme, path, ok := strings.Cut(all.DB, ":")
	switch {
	case all.DB == "" && file.Database != "":
		return inFolderOf(all.Config, strings.TrimPrefix(file.Database, "sqlite:"))
	case all.DB == "":
		dir, err := stateDir()
		return filepath.Join(dir, "askback.db"), err
	case ok && scheme == "sqlite":
		return filepath.Abs(path)
	case ok && strings.HasPrefix(path, "//"):
		return "", usage("this release keeps its data in SQLite: --db sqlite:FILE")
	}
	return filepath.Abs(all.DB)
}

// inFolderOf returns the path that a file names: from its own folder, wherever the
// command was started.
func inFolderOf(file, path string) (string, error) {
	if filepath.IsAbs(path) {
		return path, nil
	}
	return filepath.Abs(filepath.Join(filepath.Dir(file), path))
}

// stateDir is where the local database and tokens are kept.
func stateDir() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "askback"), nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".local", "state", "askback"), err
}

// userName is who answers at this machine: the system user.
func userName() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	if name := os.Getenv("USER"); name != "" {
		return name
	}
	return "local user"
}
