package setup

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/askback/askback/internal/agents"
	"github.com/askback/askback/internal/agents/config"
)

// command returns the program that an agent runs, in the form of [config.Options]. It is this program, or its
// copy if this program is in a cache.
func (c *Setup) command() (string, error) {
	exe, err := os.Executable()
	if err != nil || inPath(exe) {
		return "", nil
	}
	if !agents.IsCached(exe) {
		return exe, nil
	}
	state, err := c.StateDir()
	return agents.CopyPath(state), err
}

// copyProgram copies this program, if it is in a cache, for the files of a plan that name the copy.
func (c *Setup) copyProgram(p plan) error {
	exe, err := os.Executable()
	if err != nil || !agents.IsCached(exe) || c.Remove || !p.names(p.options.Command) {
		return nil
	}
	program, err := os.ReadFile(exe)
	if err != nil {
		return err
	}
	path := p.options.Command
	if present, err := os.ReadFile(path); err == nil && bytes.Equal(present, program) {
		return nil
	}
	if err := writeProgram(path, program); err != nil {
		return &Error{Text: fmt.Sprintf("cannot copy this program, which is in a cache of a package manager, to "+
			"%s: %v; if an agent runs the present copy, end it", path, err)}
	}
	c.Note("copied this program to " + agents.HomePath(path) + ", which agents run, because a package manager may " +
		"remove its own; to upgrade the copy, run this command with the next version")
	return nil
}

// names reports whether a file of the plan names a program.
func (p plan) names(program string) bool {
	text := []byte(strings.Trim(config.Compact(program), `"`))
	for _, one := range p.changes {
		if program != "" && bytes.Contains(one.after, text) {
			return true
		}
	}
	return false
}

// writeProgram atomically writes a program. Processes that run the present program continue.
func writeProgram(path string, program []byte) error {
	folder := filepath.Dir(path)
	if err := os.MkdirAll(filepath.Dir(folder), 0o700); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(folder, "askback-*")
	if err != nil {
		return err
	}
	_, err = f.Write(program)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Chmod(f.Name(), 0o755)
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// removeCopy removes the copy of a program if no file has Askback any more.
func (c *Setup) removeCopy(known records) error {
	if !c.Remove || len(known) > 0 {
		return nil
	}
	state, err := c.StateDir()
	if err != nil {
		return err
	}
	path := agents.CopyPath(state)
	if err := os.Remove(path); errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	c.Note("removed " + agents.HomePath(path))
	_ = os.Remove(filepath.Dir(path)) // unless it has other files
	return nil
}

// inPath reports whether the name askback leads to exe in the PATH. The PATH that npx sets does not count.
func inPath(exe string) bool {
	own, err := os.Stat(exe)
	if err != nil || filepath.Base(exe) != "askback" {
		return false
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		path := filepath.Join(dir, "askback")
		info, err := os.Stat(path)
		if err != nil || info.IsDir() || info.Mode()&0o111 == 0 || !filepath.IsAbs(dir) || agents.IsCached(path) {
			continue
		}
		return os.SameFile(info, own)
	}
	return false
}
