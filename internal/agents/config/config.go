// Package config adds Askback to the configuration of other programs, and removes it. It does not write
// files: it computes the new content of a file from its present content. Everything else in the file stays
// the same to the byte, including comments. If a file cannot be changed reliably, the error contains the text
// to paste. Configurations never contain the token, only a reference to it, such as the name of an
// environment variable.
package config

import (
	"errors"
	"strings"
)

// TokenVariable is the environment variable with the token of the agent.
const TokenVariable = "ASKBACK_TOKEN"

// A Scope determines where a configuration applies: in one project, or in all projects of a
// user.
type Scope string

// The files of Project are in the project's folder. The files of User are in the user's home folder.
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
	// Gate, if not nil, adds or removes a guard of the tools of Codex, Copilot, Cursor or Gemini CLI. A guard
	// blocks each call that no person approves. Nil keeps the setting.
	Gate *bool
	// Folder is the absolute path of the folder of the project or of the user, or "" if it is not known.
	Folder string
	Shared bool // write the hooks of a project into the file that a team shares, not into the user's own file
}

// A File is a configuration file to change.
type File struct {
	Path string // relative to the folder of the project or of the user, with slashes

	Paste   string // the text to paste if the file cannot be changed; for a JSON file, see pasted
	Moved   bool   // the entries are removed from this file, for example because another file has them now
	Program bool   // the file is a program of Askback, so people do not need to review its lines
	// Write returns the new content of the file, as Edit does.
	Write func(f File, present []byte) ([]byte, error)

	edits  []Edit
	remove bool
}

// ErrUnsupported is the error for an unknown client, or for a scope that the client does not
// support.
var ErrUnsupported = errors.New("this cannot be set up with a file")

// A Client describes the configuration of a program. A function that the program does not need is nil.
type Client struct {
	// Files returns the files to change. Its error wraps [ErrUnsupported]. Call [Client.FilesFor] instead,
	// which completes the options.
	Files     func(Scope, Options) ([]File, error)
	Traces    Traces
	NextSteps func(Scope, Options) []string // the next steps for a person after the files were written

	// IsOwnHook recognizes an entry of Askback in the hooks of a JSON file.
	IsOwnHook func(entry string) bool
	HookLists bool   // the hooks are in inner lists, and the client runs no other entries
	HookPath  string // the path of the hooks of a server, for a client whose hooks can be URLs
	HoldsAsks bool   // a hook that is a command can ask while no server runs
	Guards    bool   // the client has a hook that guards tools: see [Options.Gate]
	// AsksForToken is set for a client that asks its user for the token of a server.
	AsksForToken bool
	// Variables lists the environment variables that the client sets for the programs that it starts.
	Variables []string

	// HidesSecrets is set for a client that does not pass on environment variables that look like secrets.
	HidesSecrets bool

	// Lane and Hooks read a configuration that is not JSON.
	Lane  func(content []byte) (Lane, bool)
	Hooks func(content []byte) []Hook
}

// Traces lists the signs of an installed client: programs in the PATH, and folders or files in the user's
// home folder.
type Traces struct {
	Programs, Home []string
	List           []string // the arguments with which the first program lists its MCP servers, or nil
	// ListRuns is set if listing also runs programs that the files of a project name, without asking the
	// user.
	ListRuns bool
}

// FilesFor returns the files to change so that a client uses Askback, or no longer uses it. The
// error wraps [ErrUnsupported].
func (c *Client) FilesFor(scope Scope, o Options) ([]File, error) {
	if o.Command == "" {
		o.Command = "askback"
	}
	o.URL = strings.TrimSuffix(o.URL, "/")
	files, err := c.Files(scope, o)
	for i := range files {
		files[i].remove = o.Remove || files[i].Moved
	}
	return files, err
}

// Removes reports whether Edit removes Askback from the file, because [Options.Remove] or Moved is set.
func (f File) Removes() bool { return f.remove }

// Edit returns the new content of a file. present is the current content. A nil slice, as argument or result,
// means that the file does not exist. If nothing has to change, the result equals present. The error is an
// [*EditError].
func (f File) Edit(present []byte) ([]byte, error) {
	if present == nil && f.remove {
		return nil, nil
	}
	after, err := f.Write(f, present)
	if err != nil {
		refused := &EditError{Path: f.Path, Reason: err.Error(), Fix: "correct the file", Paste: f.pasted()}
		if o, ok := errors.AsType[Obstacle](err); ok {
			refused.Fix = o.Fix
		}
		return nil, refused
	}
	return after, nil
}

// pasted returns the text to paste if the file cannot be changed, or "". For a JSON file, it is an object
// with everything that a new file has.
func (f File) pasted() string {
	if f.edits == nil || f.remove {
		return f.Paste
	}
	whole, err := f.Write(f, nil)
	if err != nil {
		return ""
	}
	return string(whole)
}

// An EditError is the error for a file that cannot be changed reliably.
type EditError struct {
	Path, Reason string
	Fix          string // the step to take before the next try, in the imperative
	Paste        string // the text to paste instead, or ""
}

// An Obstacle is the reason why a valid file cannot be changed, with the step that removes the obstacle.
type Obstacle struct{ Reason, Fix string }

// Error returns the reason.
func (o Obstacle) Error() string { return o.Reason }

// Error returns the path and the reason.
func (e *EditError) Error() string { return e.Path + ": " + e.Reason }
