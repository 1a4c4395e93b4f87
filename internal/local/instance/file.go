package instance

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// maxFile is the maximum number of bytes that are read from a file. A valid server.json is
// much smaller.
const maxFile = 1 << 16

// readPrivate reads a file that only this user can read and write. A server.json of another user could
// direct the token to the server of that user.
func readPrivate(path string) ([]byte, error) {
	f, _, err := openPrivate(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f)
}

func readAll(f *os.File) ([]byte, error) { return io.ReadAll(io.LimitReader(f, maxFile)) }

// WriteFile atomically writes a file that only its owner can read and write. It replaces an
// existing file.
func WriteFile(path string, raw []byte) error { return writeAtomically(path, raw, os.Rename) }

// CreateFile is like WriteFile, but returns [os.ErrExist] if the file exists.
func CreateFile(path string, raw []byte) error { return writeAtomically(path, raw, os.Link) }

// The name of a temporary file is tempPrefix, digits and tempSuffix. Older versions had no suffix.
const (
	tempPrefix = ".askback-"
	tempSuffix = ".tmp"
)

// writeAtomically writes a temporary file in the folder of path. It then calls move, which gives the file the
// name path.
func writeAtomically(path string, raw []byte, move func(from, to string) error) error {
	f, locked, err := createTemp(filepath.Dir(path))
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	err = errors.Join(err, f.Sync())
	if locked {
		defer f.Close() // close after the move, so that RemoveLeftovers keeps the file
	} else {
		err = errors.Join(err, f.Close()) // some systems cannot move an open file
	}
	if err == nil {
		err = move(f.Name(), path)
	}
	_ = os.Remove(f.Name()) // fails if move renamed the file
	return err
}

// createTemp creates a temporary file in a folder. If the system can rename an open file, it is locked.
func createTemp(folder string) (f *os.File, locked bool, err error) {
	for {
		f, err := os.CreateTemp(folder, tempPrefix+"*"+tempSuffix) // 0600
		if err != nil {
			return nil, false, err
		}
		switch err := lockTemp(f); {
		case errors.Is(err, ErrHeld): // another process is about to remove the file
			_ = os.Remove(f.Name())
		case err != nil:
			return f, false, nil
		case !isMoved(f, f.Name()):
			return f, true, nil
		}
		_ = f.Close()
	}
}

// RemoveLeftovers removes the temporary files of killed processes from a folder, because they may contain
// secrets. It removes only files of this user that have a name and the content of [WriteFile], and that no
// process is writing. It ignores errors, since the next call tries again.
func RemoveLeftovers(folder string) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return
	}
	for _, e := range entries {
		if number, ok := strings.CutPrefix(e.Name(), tempPrefix); ok &&
			isNumber(strings.TrimSuffix(number, tempSuffix)) {
			removeLeftover(filepath.Join(folder, e.Name()))
		}
	}
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// removeLeftover removes a file with the name of a temporary file, unless it is in use or another
// program may have made it.
func removeLeftover(path string) {
	f, info, err := openPrivate(path)
	if err != nil {
		return
	}
	defer f.Close()
	if flock(f) != nil || isMoved(f, path) {
		return
	}
	if strings.HasSuffix(path, tempSuffix) || isOldLeftover(f, info) {
		_ = removeHeld(f, path)
	}
}

// oldTime is the minimum age of a temporary file of an older version that no process writes. Older versions
// do not lock their files.
const oldTime = time.Minute

// isOldLeftover reports whether f is a temporary file of an older version, whose process has ended.
func isOldLeftover(f *os.File, info os.FileInfo) bool {
	raw, err := readAll(f)
	if err != nil || !isOurs(raw) {
		return false
	}
	var s Server
	if json.Unmarshal(raw, &s) == nil && s.PID > 0 && !isRunning(s.PID) {
		return true
	}
	return time.Since(info.ModTime()) > oldTime
}

// isOurs reports whether raw is the content of server.json, of a token file or of a file with a key, or the
// beginning of such content.
func isOurs(raw []byte) bool {
	text := strings.TrimSuffix(string(raw), "\n")
	const server, token = "{\n  \"instance\": ", "askback_"
	n := len(text)
	if text == server[:min(n, len(server))] || text == token[:min(n, len(token))] {
		return true
	}
	_, err := base64.StdEncoding.DecodeString(text)
	return strings.HasPrefix(text, server) || strings.HasPrefix(text, token) || n == 44 && err == nil
}
