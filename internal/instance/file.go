package instance

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// maxFile is how many bytes of a file are read. The files that this package writes are
// smaller.
const maxFile = 1 << 16

func readAll(f *os.File) ([]byte, error) { return io.ReadAll(io.LimitReader(f, maxFile)) }

// WriteFile atomically writes a file that only its owner can read, and replaces an
// existing one.
func WriteFile(path string, raw []byte) error { return writeAtomically(path, raw, os.Rename) }

// CreateFile is like WriteFile but returns [os.ErrExist] if the file exists.
func CreateFile(path string, raw []byte) error { return writeAtomically(path, raw, os.Link) }

// writeAtomically writes a temporary file in the same folder and then moves it to path.
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
