package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/askback/askback/internal/agentconfig"
	"github.com/askback/askback/internal/claudehook"
	"github.com/askback/askback/internal/instance"
)

type initCommand struct {
	Client  string `arg:"" help:"Program to set up: ${clients}."`
	Project bool   `xor:"scope" help:"Write the project's own files, which is the default."`
	User    bool   `xor:"scope" help:"Write the files of your home folder, for all projects."`
	DryRun  bool   `name:"dry-run" help:"Show what would change, and change nothing."`
	Remove  bool   `help:"Take Askback out again."`
	HTTP    *bool  `name:"http" negatable:"" help:"Send Claude Code's hooks to the server's address instead of running this program; the default where ASKBACK_URL names one."`
}

// Run writes Askback into the configuration of another program. What is there
// stays; a second run changes nothing.
func (c *initCommand) Run(io streams) error {
	scope, folder := agentconfig.Project, "."
	if c.User {
		home, err := os.UserHomeDir()
		if err != nil {
			return err
		}
		scope, folder = agentconfig.User, home
	}
	options, err := c.options()
	if err != nil {
		return err
	}
	files, err := agentconfig.Files(c.Client, scope, options)
	if errors.Is(err, agentconfig.ErrUnsupported) {
		return usage(fmt.Sprintf("init %s, %s files: %v", c.Client, scope, err))
	}
	if err != nil {
		return err
	}
	// All is computed before anything is written: a file that cannot be changed
	// leaves the others as they are.
	var changes []change
	for _, f := range files {
		one, err := changeOf(folder, scope, f)
		if err != nil {
			return err
		}
		changes = append(changes, one)
	}
	for _, one := range changes {
		if err := c.do(io, one); err != nil {
			return err
		}
	}
	c.conclude(io, scope, options)
	return nil
}

// conclude says what is to be done now.
func (c *initCommand) conclude(io streams, scope agentconfig.Scope, options agentconfig.Options) {
	switch {
	case c.DryRun:
		say(io.err, "nothing was changed (--dry-run)")
		return
	case c.Remove:
		return
	case options.URL != "" && c.Client != "vscode" && os.Getenv(agentconfig.TokenVariable) == "":
		say(io.err, agentconfig.TokenVariable+" must have an agent's token where the client starts: askback token create --kind agent --name NAME")
	}
	for _, todo := range agentconfig.NextSteps(c.Client, scope, options) {
		say(io.err, todo)
	}
}

// hookedClient is the one that has hooks.
const hookedClient = "claude-code"

// options returns how the client reaches Askback: a server elsewhere, if one is named.
func (c *initCommand) options() (agentconfig.Options, error) {
	o := agentconfig.Options{Remove: c.Remove, URL: strings.TrimRight(os.Getenv("ASKBACK_URL"), "/")}
	if exe, err := os.Executable(); err == nil && !inPath(exe) {
		o.Command = exe
	}
	switch {
	case c.Client != hookedClient && c.HTTP != nil:
		return o, usage("--http is about the hooks of " + hookedClient + "; " + c.Client + " has none here")
	case c.Client == hookedClient && (c.HTTP == nil && o.URL != "" || c.HTTP != nil && *c.HTTP):
		o.HookURL = cmp.Or(o.URL, "http://"+defaultListen) + claudehook.Path
	}
	return o, nil
}

// inPath says whether "askback" is this program wherever it is called.
func inPath(exe string) bool {
	dirs := filepath.SplitList(os.Getenv("PATH"))
	return filepath.Base(exe) == "askback" && slices.Contains(dirs, filepath.Dir(exe))
}

// A change is one file as it is and as it shall be; nil is no file.
type change struct {
	path          string
	before, after []byte
}

// changeOf reads a file and computes what it shall be.
func changeOf(folder string, scope agentconfig.Scope, f agentconfig.File) (change, error) {
	path, err := real(folder, scope, filepath.FromSlash(f.Path))
	if err != nil {
		return change{}, err
	}
	before, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		before, err = nil, nil
	}
	if err != nil {
		return change{}, err
	}
	after, err := f.Edit(before)
	if refused, ok := errors.AsType[*agentconfig.EditError](err); ok {
		return change{}, ended{exitRefused, refused.Error() + "; nothing was changed\nput this there yourself:\n" + refused.Paste}
	}
	return change{path, before, after}, err
}

// real follows links, so that a link stays one and what it leads to is changed. A
// project is not always one's own: nothing outside of its folder is read or
// written for it, wherever its links lead.
func real(folder string, scope agentconfig.Scope, path string) (string, error) {
	root, err := filepath.Abs(folder)
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return "", err
	}
	there, rest := filepath.Join(root, path), "" // what exists of it, and what does not
	found, err := filepath.EvalSymlinks(there)
	for errors.Is(err, os.ErrNotExist) {
		if _, err := os.Lstat(there); err == nil {
			return "", ended{exitRefused, path + " is a link that leads nowhere; nothing was changed"}
		}
		there, rest = filepath.Dir(there), filepath.Join(filepath.Base(there), rest)
		found, err = filepath.EvalSymlinks(there)
	}
	if err != nil || scope != agentconfig.Project {
		return filepath.Join(found, rest), err
	}
	within, err := filepath.Rel(root, found)
	if err != nil || within != "." && !filepath.IsLocal(within) {
		return "", ended{exitRefused, path + " is a link that leaves this folder, to " + found + "; nothing was changed"}
	}
	return filepath.Join(folder, within, rest), nil
}

// do shows a change, and makes it.
func (c *initCommand) do(io streams, one change) error {
	diff := agentconfig.Diff(one.path, one.before, one.after)
	if diff == "" {
		if c.Remove {
			say(io.err, one.path+" does not mention Askback")
		} else {
			say(io.err, one.path+" is up to date")
		}
		return nil
	}
	if _, err := fmt.Fprint(io.out, plain(io.out, diff)); err != nil || c.DryRun {
		return err
	}
	return put(one.path, one.before, one.after)
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
	if err := instance.WriteFile(path, after); err != nil {
		return err
	}
	return os.Chmod(path, mode)
}
