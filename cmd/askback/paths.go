package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/askback/askback/internal/local/service"
	"github.com/askback/askback/internal/server/config"
)

// database returns the path of the local database (wire.md §9). It is set by the flag or the environment
// variable, or else by the settings file. Otherwise it is the default.
func (all *commands) database(file config.Config) (string, error) {
	scheme, path, ok := strings.Cut(all.DB, ":")
	switch {
	case all.DB == "" && file.Database != "":
		return config.InFolderOf(all.Config, strings.TrimPrefix(file.Database, "sqlite:"))
	case all.DB == "":
		dir, err := stateDir()
		return filepath.Join(dir, "askback.db"), err
	case ok && scheme == "sqlite":
		return filepath.Abs(path)
	case ok && strings.HasPrefix(path, "//"):
		return "", usage("this release supports only SQLite: use --db sqlite:FILE")
	}
	return filepath.Abs(all.DB)
}

// useService sets the settings file to the file of the system's server for commands of the user as whom that
// server runs, unless they name another one or another state directory.
func (all *commands) useService() {
	if all.Config == "" && os.Getenv("XDG_STATE_HOME") == "" {
		all.Config = service.Settings()
	}
}

// stateDir returns the state directory. It contains the tokens and, by default, the local
// database.
func stateDir() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "askback"), nil
	}
	if dir := service.StateDir(); dir != "" {
		return dir, nil
	}
	if runtime.GOOS == "windows" {
		local, err := os.UserCacheDir() // %LocalAppData%, which other users cannot read
		return filepath.Join(local, "askback"), err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		err = fmt.Errorf("%w: set XDG_STATE_HOME to a folder that this user can write", err)
	}
	return filepath.Join(home, ".local", "state", "askback"), err
}
