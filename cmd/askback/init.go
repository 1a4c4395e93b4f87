package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/askback/askback/internal/agentconfig"
	"github.com/askback/askback/internal/claudehook"
	"github.com/askback/askback/internal/instance"
)

type initCommand struct {
	Client  string `arg:"" complete:"client" help:"Program to set up: ${clients}."`
	Project bool   `xor:"scope" help:"Change the files of the project in this folder. This is the default."`
	User    bool   `xor:"scope" help:"Change the files in your home folder, for all projects."`
	DryRun  bool   `name:"dry-run" help:"Show the changes, but do not make them."`
	Remove  bool   `help:"Remove Askback from the files."`
	Shared  *bool  `negatable:"" help:"Write Claude Code's hooks into .claude/settings.json, for all people in this project, instead of .claude/settings.local.json. This is the default if they are there."`
	Gate    *bool  `negatable:"" help:"Guard the tools of Codex or Gemini CLI: block each call unless a person approves it. This is the default if the guard is there."`
	HTTP    *bool  `name:"http" negatable:"" help:"Let Claude Code's hooks call the server instead of this program. This is the default if ASKBACK_URL is set."`
}

// Run adds Askback to the configuration of another program or, with --remove, removes it.
// It keeps other settings, and a second run changes nothing.
func (c *initCommand) Run(io streams) error {
	if all := agentconfig.Clients(); !slices.Contains(all, c.Client) {
		return usage(fmt.Sprintf("unknown client %s; use one of %s", c.Client, strings.Join(all, ", ")))
	}
	scope, folder := agentconfig.Project, "."
	if c.User {
		home, err := os.UserHomeDir()
		if err != nil {
			return err
		}
		scope, folder = agentconfig.User, home
	}
	options, err := c.options(scope, folder)
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
	// All changes are computed before the first write, so that no file is changed after an error.
	var changes []change
	for _, f := range files {
		one, err := changeOf(folder, scope, f)
		if err != nil {
			return err
		}
		if one.before != nil || !f.Removes() || c.Remove {
			changes = append(changes, one)
		}
	}
	for _, one := range changes {
		if err := c.apply(io, one); err != nil {
			return err
		}
	}
	c.conclude(io, scope, options)
	return nil
}

// conclude writes the next steps. After a dry run it writes only that nothing was changed,
// and after --remove nothing.
func (c *initCommand) conclude(io streams, scope agentconfig.Scope, options agentconfig.Options) {
	switch {
	case c.DryRun:
		note(io.err, "nothing was changed (--dry-run)")
		return
	case c.Remove:
		return
	case options.URL != "" && c.Client != "vscode" && os.Getenv(agentconfig.TokenVariable) == "":
		note(io.err, agentconfig.TokenVariable+" must be set to an agent's token when the client starts: askback token create --kind agent --name NAME")
	}
	for _, todo := range agentconfig.NextSteps(c.Client, scope, options) {
		note(io.err, todo)
	}
	if c.Client == hooksClient && scope == agentconfig.Project && !options.Shared && isUnignored(".claude/settings.local.json") {
		note(io.err, "Git ignores .claude/settings.local.json as soon as Claude Code has started here once; do not commit it before")
	}
}

// isUnignored reports whether Git would add a file of the project in this folder. Without Git
// or a repository it would not.
func isUnignored(path string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), gitTime)
	defer cancel()
	err := exec.CommandContext(ctx, "git", "check-ignore", "--quiet", "--", path).Run()
	exit, ok := errors.AsType[*exec.ExitError](err)
	return ok && exit.ExitCode() == 1 // 128 without a repository
}

// gitTime is how long Git may take to look up one path.
const gitTime = 5 * time.Second

// hooksClient is the only client that --http and --no-http are valid for.
const hooksClient = "claude-code"

// gateClients are the clients that --gate and --no-gate are valid for.
var gateClients = []string{"codex", "gemini"}

// options returns how the client reaches Askback: over HTTP if ASKBACK_URL is set,
// otherwise by running this program. For the hooks of Claude Code, --http and --no-http
// override this.
func (c *initCommand) options(scope agentconfig.Scope, folder string) (agentconfig.Options, error) {
	o := agentconfig.Options{Remove: c.Remove, URL: strings.TrimRight(os.Getenv("ASKBACK_URL"), "/")}
	if exe, err := os.Executable(); err == nil && !inPath(exe) {
		o.Command = exe
	}
	if c.Client == hooksClient && scope == agentconfig.Project {
		o.Shared = c.sharesHooks(folder)
	} else if c.Shared != nil {
		return o, usage("--shared is for the hooks of " + hooksClient + " in a project only")
	}
	o.Gate = c.Gate
	switch {
	case !slices.Contains(gateClients, c.Client) && c.Gate != nil:
		return o, usage("--gate is for " + strings.Join(gateClients, " and ") + " only, not for " + c.Client)
	case c.Client != hooksClient && c.HTTP != nil:
		return o, usage("--http is for the hooks of " + hooksClient + " only, not for " + c.Client)
	case c.Client == hooksClient && (c.HTTP == nil && o.URL != "" || c.HTTP != nil && *c.HTTP):
		o.HookURL = cmp.Or(o.URL, "http://"+defaultListen) + claudehook.Path
	}
	return o, nil
}

// sharesHooks reports whether the hooks of Claude Code are for all people in the project. If
// the files of the project cannot be read, a later step reports it.
func (c *initCommand) sharesHooks(folder string) bool {
	if c.Shared != nil {
		return *c.Shared
	}
	settings, _ := os.ReadFile(filepath.Join(folder, ".claude", "settings.json"))
	return agentconfig.SharesHooks(settings)
}

// inPath reports whether exe is named askback and is in a directory of PATH.
func inPath(exe string) bool {
	dirs := filepath.SplitList(os.Getenv("PATH"))
	return filepath.Base(exe) == "askback" && slices.Contains(dirs, filepath.Dir(exe))
}

// A change is the content of a file before and after; nil means that there is no file.
type change struct {
	path          string
	before, after []byte
	removes       bool // Askback is removed from the file
}

// changeOf reads a file and computes its new content. If the file cannot be edited, the
// error contains the text that the user can add.
func changeOf(folder string, scope agentconfig.Scope, f agentconfig.File) (change, error) {
	path, err := resolve(folder, scope, filepath.FromSlash(f.Path))
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
		todo := "add this yourself:\n" + refused.Paste
		if f.Removes() {
			todo = "remove what askback init added yourself"
		}
		return change{}, exitError{exitRefused, refused.Error() + "; nothing was changed\n" + todo}
	}
	return change{path, before, after, f.Removes()}, err
}

// resolve returns the path of a file after all symbolic links, so that their target is
// changed and the links are kept. A broken link is an error. In a project, which may come
// from a stranger, so is a link out of its folder.
func resolve(folder string, scope agentconfig.Scope, path string) (string, error) {
	root, err := filepath.Abs(folder)
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return "", err
	}
	there, rest := filepath.Join(root, path), "" // the existing part of the path, and the missing part
	found, err := filepath.EvalSymlinks(there)
	for errors.Is(err, os.ErrNotExist) {
		if _, err := os.Lstat(there); err == nil {
			return "", exitError{exitRefused, path + " is a broken link; nothing was changed"}
		}
		there, rest = filepath.Dir(there), filepath.Join(filepath.Base(there), rest)
		found, err = filepath.EvalSymlinks(there)
	}
	if err != nil || scope != agentconfig.Project {
		return filepath.Join(found, rest), err
	}
	within, err := filepath.Rel(root, found)
	if err != nil || within != "." && !filepath.IsLocal(within) {
		return "", exitError{exitRefused, path + " is a link out of this folder, to " + found + "; nothing was changed"}
	}
	return filepath.Join(folder, within, rest), nil
}

// apply prints the diff of a change and, unless this is a dry run, makes it. If nothing
// differs, it only writes a note.
func (c *initCommand) apply(io streams, one change) error {
	diff := agentconfig.Diff(one.path, one.before, one.after)
	if diff == "" {
		if one.removes {
			note(io.err, one.path+" does not contain Askback")
		} else {
			note(io.err, one.path+" is up to date")
		}
		return nil
	}
	if _, err := fmt.Fprint(io.out, plain(io.out, diff)); err != nil || c.DryRun {
		return err
	}
	return replace(one.path, one.before, one.after)
}

// replace atomically replaces a file and keeps its permissions. A new file can be read by
// all users. If after is nil, it removes the file.
func replace(path string, before, after []byte) error {
	if after == nil {
		err := os.Remove(path)
		if folder := filepath.Dir(path); filepath.Base(folder) == ".askback" {
			_ = os.Remove(folder) // only if it is empty
		}
		return err
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
