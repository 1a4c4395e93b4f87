package setup

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/askback/askback/internal/agents"
	"github.com/askback/askback/internal/agents/config"
	"github.com/askback/askback/internal/local/instance"
)

// A change is the content of a file before and after an edit. Nil means that there is no file.
type change struct {
	path          string
	before, after []byte
	removes       bool // Askback is removed from the file
	program       bool // the file is a program of Askback
}

// differs reports whether the file has to be written.
func (c change) differs() bool {
	return (c.before == nil) != (c.after == nil) || string(c.before) != string(c.after)
}

// changeOf reads a file and computes its new content. If the file cannot be edited, the
// error contains the text that the user can add.
func changeOf(folder string, scope config.Scope, f config.File, known records) (change, error) {
	path, err := resolve(folder, scope, filepath.FromSlash(f.Path))
	if err != nil {
		return change{}, err
	}
	before, err := readFile(path)
	if err != nil {
		return change{}, err
	}
	after, err := f.Edit(before)
	if refused, ok := errors.AsType[*config.EditError](err); ok {
		return change{}, usageError(refusal(shownPath(scope, f.Path), refused, f.Removes()))
	}
	if err == nil && f.Removes() {
		after = known.restore(path, before, after)
	}
	return change{path, before, after, f.Removes(), f.Program}, err
}

// readFile returns the content of a file of a client, or nil if the file does not exist.
func readFile(path string) ([]byte, error) {
	content, err := agents.ReadFile(path)
	if refused, ok := errors.AsType[*agents.FileError](err); ok {
		err = usageError(refused.Error() + "; nothing was changed")
	}
	return content, err
}

// refusal returns the text of an error: the reason why a file cannot be changed, and the step that helps.
func refusal(path string, why *config.EditError, removes bool) string {
	text := path + ": " + why.Reason + "; nothing was changed. To continue, " + why.Fix + " and run this command again"
	switch {
	case removes:
		return text + ", or remove the entries that askback init added yourself"
	case why.Paste != "":
		return text + ", or add this to it yourself:\n" + strings.TrimRight(why.Paste, "\n")
	}
	return text
}

// shownPath returns the path of a file of a scope for messages.
func shownPath(scope config.Scope, path string) string {
	if scope == config.User {
		return "~/" + path
	}
	return path
}

// resolve returns the path of a file after all symbolic links, so that a change keeps the links and changes
// their target. A broken link is an error. In a project, which may come from a stranger, a link out of its
// folder is also an error.
func resolve(folder string, scope config.Scope, path string) (string, error) {
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
			return "", usageError(shownPath(scope, path) + " is a broken link; nothing was changed. Remove it, or " +
				"create the file that it leads to, and run this command again")
		}
		there, rest = filepath.Dir(there), filepath.Join(filepath.Base(there), rest)
		found, err = filepath.EvalSymlinks(there)
	}
	if errors.Is(err, syscall.ENOTDIR) {
		return "", usageError(shownPath(scope, notFolder(root, path)) +
			" is not a folder; nothing was changed. Move it away and run this command again")
	}
	if err != nil || scope != config.Project {
		return filepath.Join(found, rest), err
	}
	within, err := filepath.Rel(root, found)
	if err != nil || within != "." && !filepath.IsLocal(within) {
		return "", usageError(path + " is a link out of this folder, to " + found +
			"; nothing was changed, because a project must not change other files. " +
			"Replace the link with a file or a folder and run this command again, or change your own files with --user")
	}
	return filepath.Join(folder, within, rest), nil
}

// notFolder returns the first part of a path below root that is a file instead of a folder.
func notFolder(root, path string) string {
	var at string
	for part := range strings.SplitSeq(path, string(filepath.Separator)) {
		at = filepath.Join(at, part)
		if info, err := os.Stat(filepath.Join(root, at)); err == nil && !info.IsDir() {
			break
		}
	}
	return at
}

// write makes a change and records how to undo it. It returns an error if the file has changed since it was
// read.
func (c change) write(known records) error {
	path, err := filepath.Abs(c.path)
	if err != nil {
		return err
	}
	if now, err := readFile(c.path); err != nil || !bytes.Equal(now, c.before) || (now == nil) != (c.before == nil) {
		return cmp.Or(err,
			error(&Error{Text: c.path + " has changed meanwhile, so it was not written; run askback init again"}))
	}
	r := known[path]
	if c.after == nil {
		if err := os.Remove(c.path); err != nil {
			return err
		}
		delete(known, path)
		for _, folder := range slices.Backward(r.Folders) {
			if os.Remove(folder) != nil { // the folder is not empty
				known.own(folder)
			}
		}
		if folder := filepath.Dir(path); filepath.Base(folder) == ".askback" {
			_ = os.Remove(folder) // the folder has only files of Askback
		}
		return nil
	}
	created, err := makeFolders(filepath.Dir(path))
	if err == nil {
		err = replace(c.path, c.before, c.after)
	}
	if err != nil {
		return err
	}
	known.update(path, c, created)
	return nil
}

// makeFolders creates the missing folders of a path, and returns them, the outermost first.
func makeFolders(path string) (created []string, err error) {
	for at := path; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(at); err == nil || filepath.Dir(at) == at {
			break
		}
		created = append(created, at)
	}
	slices.Reverse(created)
	return created, os.MkdirAll(path, 0o755)
}

// replace atomically replaces a file and keeps its permissions. A new file can be read by
// all users.
func replace(path string, before, after []byte) error {
	mode := os.FileMode(0o644)
	if info, err := os.Stat(path); before != nil && err == nil {
		mode = info.Mode().Perm()
	}
	if err := instance.WriteFile(path, after); err != nil {
		return err
	}
	return os.Chmod(path, mode)
}
