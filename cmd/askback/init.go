package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/askback/askback/internal/local"
	"github.com/askback/askback/internal/setup"
)

type initCommand struct {
	Client  string `arg:"" help:"The program: ${clients}."`
	Project bool   `xor:"scope" help:"In this project's own files, which is the default."`
	User    bool   `xor:"scope" help:"In your home folder, for all projects."`
	DryRun  bool   `name:"dry-run" help:"Show what would change, and change nothing."`
	Remove  bool   `help:"Take Askback out again."`
}

// Run writes Askback into the configuration of another program. What is there
// stays; a second run changes nothing.
func (c *initCommand) Run(io streams) error {
	scope, folder := setup.Project, "."
	if c.User {
		home, err := os.UserHomeDir()
		if err != nil {
			return err
		}
		scope, folder = setup.User, home
	}
	files, err := setup.Files(c.Client, scope, c.wish())
	if errors.Is(err, setup.ErrUnknown) {
		return usage(fmt.Sprintf("%s in %s files: %v; the clients are %s", c.Client, scope, err, strings.Join(setup.Clients(), ", ")))
	}
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := c.change(io, folder, f); err != nil {
			return err
		}
	}
	return nil
}

// wish says how the client reaches Askback: a server elsewhere, if one is named.
func (c *initCommand) wish() setup.Wish {
	w := setup.Wish{Remove: c.Remove, URL: strings.TrimRight(os.Getenv("ASKBACK_URL"), "/")}
	if exe, err := os.Executable(); err == nil && !inPath(exe) {
		w.Command = exe
	}
	return w
}

// inPath says whether "askback" is this program wherever it is called.
func inPath(exe string) bool {
	dirs := filepath.SplitList(os.Getenv("PATH"))
	return filepath.Base(exe) == "askback" && slices.Contains(dirs, filepath.Dir(exe))
}

func (c *initCommand) change(io streams, folder string, f setup.File) error {
	path := filepath.Join(folder, filepath.FromSlash(f.Path))
	before, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		before, err = nil, nil
	}
	if err != nil {
		return err
	}
	after, err := f.Edit(before)
	var refused *setup.Refused
	if errors.As(err, &refused) {
		return ended{exitRefused, refused.Error() + "\nput this there yourself:\n" + refused.Paste}
	}
	if err != nil {
		return err
	}
	diff := setup.Diff(path, before, after)
	if diff == "" {
		say(io.err, path+" says so already")
		return nil
	}
	if _, err := fmt.Fprint(io.out, plain(io.out, diff)); err != nil || c.DryRun {
		return err
	}
	return put(path, before, after)
}

// put replaces a file whole, with the rights it had.
func put(path string, before, after []byte) error {
	if after == nil {
		return os.Remove(path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	mode := os.FileMode(0o644)
	if info, err := os.Stat(path); before != nil && err == nil {
		mode = info.Mode().Perm()
	}
	if err := local.WriteFile(path, after); err != nil {
		return err
	}
	return os.Chmod(path, mode)
}
