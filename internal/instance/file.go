package instance

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// maxFile is the maximum number of bytes that are read from a file. A valid server.json is
// much smaller.
const maxFile = 1 << 16

func readAll(f *os.File) ([]byte, error) { return io.ReadAll(io.LimitReader(f, maxFile)) }

// WriteFile atomically writes a file that only its owner can read and write. It replaces an
// existing file.
func WriteFile(path string, raw []byte) error { return writeAtomically(path, raw, os.Rename) }

// CreateFile is like WriteFile, but returns [os.ErrExist] if the file exists.
func CreateFile(path string, raw []byte) error { return writeAtomically(path, raw, os.Link) }

// writeAtomically writes a temporary file in the folder of path, and calls move to give it
// that path.
func writeAtomically(path string, raw []byte, move func(from, to string) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".askback-*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = move(f.Name(), path)
	}
	_ = os.Remove(f.Name()) // fails after a rename
	return err
}
