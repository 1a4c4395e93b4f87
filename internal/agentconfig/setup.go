// Package agentconfig writes Askback into the configuration of other programs, and
// takes it out again.
//
// It computes and touches no file: the present content goes in, the new content
// comes out. Everything that is not ours stays where it is, to the byte,
// comments too. A file that it cannot read for certain it does not change: it
// says what to paste instead. Secrets are never written: configurations name
// the environment variable that has the token.
package agentconfig

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// TokenVariable is the environment variable that configurations name.
const TokenVariable = "ASKBACK_TOKEN"

// A Scope says whose configuration is meant.
type Scope string

// The scopes: a project's own files, or those in the home folder.
const (
	Project Scope = "project"
	User    Scope = "user"
)

// A Wish says how a program reaches Askback.
type Wish struct {
	Command string // the executable; "" is askback
	URL     string // the base of a remote server; "" is the local one, by the command
	HookURL string // where Claude Code's hooks go; "" runs the command
	Remove  bool   // take everything out instead
}

// A File is one file to change.
type File struct {
	Path string // with slashes, from the project's folder or the home folder

	edits  []edit
	paste  string // what to paste where it cannot be changed
	remove bool
	write  func(f File, present []byte) ([]byte, error)
}

// ErrUnknown is for a client, or a scope of one, that no file can set up.
var ErrUnknown = errors.New("this cannot be set up by a file")

// clients have one function each, which says what goes where.
var clients = map[string]func(Scope, Wish) ([]File, error){
	"claude-code": claudeCode,
	"codex":       codex,
	"cursor":      cursor,
	"gemini":      gemini,
	"opencode":    opencode,
	"vscode":      vscode,
}

// Clients returns the names of the clients, sorted.
func Clients() []string { return slices.Sorted(maps.Keys(clients)) }

// Files returns the files that set up a client. Errors are ErrUnknown.
func Files(client string, scope Scope, w Wish) ([]File, error) {
	of, ok := clients[client]
	if !ok {
		return nil, fmt.Errorf("%w: the client is unknown; the clients are %s", ErrUnknown, strings.Join(Clients(), ", "))
	}
	if w.Command == "" {
		w.Command = "askback"
	}
	w.URL = strings.TrimSuffix(w.URL, "/")
	files, err := of(scope, w)
	for i := range files {
		files[i].remove = w.Remove
	}
	return files, err
}

// Edit returns the new content of a file, given the present one; nil stands for
// no file, both ways. What has everything already comes back as it is. The
// error is a *[Refused].
func (f File) Edit(present []byte) ([]byte, error) {
	if present == nil && f.remove {
		return nil, nil
	}
	after, err := f.write(f, present)
	if err != nil {
		return nil, &Refused{Path: f.Path, Why: err.Error(), Paste: f.paste}
	}
	return after, nil
}

// Refused is the error for a file that cannot be changed for certain.
type Refused struct {
	Path, Why string
	Paste     string // what to put there by hand
}

// Error says why, and not what to paste.
func (r *Refused) Error() string { return r.Path + ": " + r.Why }
