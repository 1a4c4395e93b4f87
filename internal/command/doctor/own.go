package doctor

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/askback/askback/internal/agents"
	"github.com/askback/askback/internal/agents/config"
)

// ownEntries contains the entries that may be run or reached. These are the entries that askback init writes
// on this machine.
type ownEntries struct {
	written config.Written
	// hooks also has the default address. [laneCheck.post] sends nothing to this address unless the server is
	// there.
	hooks   config.Written
	paths   map[string]string // the absolute paths of the programs
	foreign string            // why askback in the PATH is not one of the programs, or ""
}

// Advice about an entry that is neither run nor reached.
const (
	notWritten    = "askback init does not write this entry; run it yourself"
	notWrittenURL = notWritten + ", or set ASKBACK_URL if this is the address of your server"
)

// ownEntries returns the entries that may be run or reached. The programs are askback in the PATH, this
// executable, and the copy that askback init makes of a program in a cache. The servers are the server in
// ASKBACK_URL and the server of this database, which proved its identity.
func (d *doctor) ownEntries() ownEntries {
	own := ownEntries{paths: map[string]string{}}
	executable, err := os.Executable()
	if err == nil {
		own.paths[executable] = executable
	}
	if state, err := d.program.StateDir(); err == nil {
		path := agents.CopyPath(state)
		if _, err := os.Stat(path); err == nil {
			own.paths[path] = path
		}
	}
	switch path, err := exec.LookPath("askback"); {
	case errors.Is(err, exec.ErrDot):
		own.foreign = "the PATH leads to " + path + " in this folder"
	case err != nil: // the shell and the clients do not find askback either
	case !filepath.IsAbs(path) || isInProject(path) && !isSameFile(path, executable):
		own.foreign = "the PATH leads to " + path + ", which belongs to the project"
	case agents.IsCached(path):
		own.foreign = "the PATH leads to " + path + " only while npx runs it"
	default:
		own.paths["askback"], own.paths[path] = path, path
	}
	for name := range own.paths {
		own.written.Programs = append(own.written.Programs, name)
	}
	if url := strings.TrimRight(os.Getenv("ASKBACK_URL"), "/"); url != "" {
		own.written.URLs = append(own.written.URLs, url)
	}
	if d.proved {
		own.written.URLs = append(own.written.URLs, d.server.URL)
	}
	own.hooks = own.written
	own.hooks.URLs = append(slices.Clone(own.written.URLs), "http://"+d.program.Listen)
	return own
}

// refuse adds a warning about an entry that is neither run nor reached.
func (d *doctor) refuse(own ownEntries, name, command, url string) {
	const check = "lane"
	switch first, _, _ := strings.Cut(command, " "); {
	case url != "":
		d.Warn(check, notWrittenURL, "%s would send a token to %s", name, url)
	case first == "askback" && own.foreign != "":
		d.Warn(check, "correct the PATH, or run it yourself", "%s would run %q, but %s", name, command, own.foreign)
	case first == "askback" && own.paths[first] == "":
		d.Fail(check, "add the folder of askback to it", "%s runs %q, but askback is not in the PATH", name, command)
	default:
		d.Warn(check, notWritten, "%s would run %q", name, command)
	}
}

// isInProject reports whether a file is in the working directory. It returns false if the working directory
// contains the home folder of the user, and so is not a project.
func isInProject(path string) bool {
	folder, err := filepath.Abs(".")
	if err != nil {
		return true
	}
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	if home, err := os.UserHomeDir(); err == nil &&
		isBelow(filepath.Dir(agents.RealPath(filepath.Join(home, "askback"))), folder) {
		return false
	}
	return isBelow(agents.RealPath(path), folder)
}

// isBelow reports whether a path is folder or in folder.
func isBelow(path, folder string) bool {
	rest, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rest)
}

// isSameFile reports whether two paths lead to the same file.
func isSameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}
