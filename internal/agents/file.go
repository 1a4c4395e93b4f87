package agents

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// maxFile is the maximum size of a file of a client. Claude Code also stores its history in such a file.
const maxFile = 64 << 20

// A FileError is the error for a file that was not read.
type FileError struct {
	Path    string
	Problem string
}

// Error returns the path and the problem.
func (e *FileError) Error() string { return e.Path + " " + e.Problem }

// ReadFile returns the content of a file of a client, or nil if the file does not exist. The error is a
// [*FileError] if the file is not regular or is too large. A project may come from a stranger, who can make
// the file a link to a device that never ends.
func ReadFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &FileError{path, "is not a file"}
	case info.Size() > maxFile:
		return nil, &FileError{path, fmt.Sprintf("is larger than %d MB", maxFile>>20)}
	}
	return os.ReadFile(path)
}

// RealPath returns the absolute path of a file, without symbolic links in the path of its folder. If the file
// itself is a link, the link is not followed. The file need not exist. If the folder cannot be resolved,
// RealPath returns the absolute path.
func RealPath(path string) string {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(absolute))
	if err != nil {
		return absolute
	}
	return filepath.Join(folder, filepath.Base(absolute))
}

// HomePath returns path with ~ for the home folder. It returns path unchanged if path is relative or outside
// of the home folder.
func HomePath(path string) string {
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(path) {
		return path
	}
	if rest, err := filepath.Rel(RealPath(home), RealPath(path)); err == nil && filepath.IsLocal(rest) {
		return filepath.Join("~", rest)
	}
	return path
}
