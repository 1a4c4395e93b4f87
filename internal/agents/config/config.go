// Package config adds Askback to the configuration of other programs, and removes it.
//
// It does not access files: it computes the new content of a file from its present content.
// Everything else in the file stays the same to the byte, including comments. If a file cannot
// be changed reliably, the error contains the text to paste. Configurations never contain the
// token, only a reference to it, such as the name of an environment variable.
package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// TokenVariable is the environment variable with the token of the agent.
const TokenVariable = "ASKBACK_TOKEN"

// A Scope determines where a configuration applies: in one project, or in all projects of a
// user.
type Scope string

// The files of Project are in the project's folder, those of User in the user's home folder.
const (
	Project Scope = "project"
	User    Scope = "user"
)

// Options describes how a program reaches Askback, and whether Askback is added or removed.
type Options struct {
	Command string // the executable; "" means askback
	URL     string // the base URL of a server; "" means to run Command
	HookURL string // the URL of Claude Code's hooks; "" means to run Command
	Remove  bool   // remove Askback instead
	Gate    *bool  // guard the tools of Codex, Copilot, Cursor or Gemini CLI: block each call that no person approves; nil means as before
	Shared  bool   // write the hooks of a project into the file that a team shares, not into the user's own
}

// A File is a configuration file to change.
type File struct {
	Path string // relative to the folder of the project or of the user, with slashes

	edits  []edit
	paste  string // the text to paste if the file cannot be changed; of a JSON file, see pasted
	remove bool
	moved  bool // another file has the entries now, so they are removed from this one
	plugin bool // the file is a program of Askback
	write  func(f File, present []byte) ([]byte, error)
}

// ErrUnsupported is the error for an unknown client, or for a scope that the client does not
// support.
var ErrUnsupported = errors.New("this cannot be set up with a file")

// clients maps the name of each client to a function that returns its files.
var clients = map[string]func(Scope, Options) ([]File, error){
	"antigravity": antigravity,
	"claude-code": claudeCode,
	"codex":       codex,
	"copilot":     copilot,
	"cursor":      cursor,
	"gemini":      gemini,
	"opencode":    openCode,
	"vscode":      vscode,
}

// Clients returns the names of the clients, sorted.
func Clients() []string { return slices.Sorted(maps.Keys(clients)) }

// Files returns the files to change so that a client uses Askback, or no longer uses it. The
// error wraps [ErrUnsupported].
func Files(client string, scope Scope, o Options) ([]File, error) {
	filesOf, ok := clients[client]
	if !ok {
		return nil, fmt.Errorf("%w: unknown client; the clients are %s", ErrUnsupported, strings.Join(Clients(), ", "))
	}
	if o.Command == "" {
		o.Command = "askback"
	}
	o.URL = strings.TrimSuffix(o.URL, "/")
	files, err := filesOf(scope, o)
	for i := range files {
		files[i].remove = o.Remove || files[i].moved
	}
	return files, err
}

// Removes reports whether an edit removes Askback from the file. This can be so without
// [Options.Remove], if earlier versions wrote the file.
func (f File) Removes() bool { return f.remove }

// IsProgram reports whether the whole file is a program of Askback, in which a person has nothing
// to review line by line.
func (f File) IsProgram() bool { return f.plugin }

// Edit returns the new content of a file with the content present. A nil slice, as argument or
// result, means that the file does not exist. If nothing has to change, the result equals
// present. The error is an *[EditError].
func (f File) Edit(present []byte) ([]byte, error) {
	if present == nil && f.remove {
		return nil, nil
	}
	after, err := f.write(f, present)
	if err != nil {
		refused := &EditError{Path: f.Path, Reason: err.Error(), Fix: "correct the file", Paste: f.pasted()}
		if o, ok := errors.AsType[obstacle](err); ok {
			refused.Fix = o.fix
		}
		return nil, refused
	}
	return after, nil
}

// pasted returns the text to paste if the file cannot be changed, or "". That of a JSON file is an
// object with everything that a new file has.
func (f File) pasted() string {
	if f.edits == nil || f.remove {
		return f.paste
	}
	whole, err := f.write(f, nil)
	if err != nil {
		return ""
	}
	return string(whole)
}

// EditError is the error for a file that cannot be changed reliably.
type EditError struct {
	Path, Reason string
	Fix          string // what to do before the edit is tried again, as a command
	Paste        string // the text to paste instead, or ""
}

// An obstacle is the reason why a valid file cannot be changed, with what to do about it.
type obstacle struct{ reason, fix string }

func (o obstacle) Error() string { return o.reason }

// Error returns the path and the reason.
func (e *EditError) Error() string { return e.Path + ": " + e.Reason }
