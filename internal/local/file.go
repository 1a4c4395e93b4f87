package local

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// maxOwn is more than any of our small files holds.
const maxOwn = 1 << 16

func readAll(f *os.File) ([]byte, error) { return io.ReadAll(io.LimitReader(f, maxOwn)) }

// WriteFile writes a file that only its owner can read, whole or not at all, in
// place of what is there.
func WriteFile(path string, raw []byte) error { return put(path, raw, os.Rename) }

// CreateFile does the same where nothing is yet; else it is [os.ErrExist].
func CreateFile(path string, raw []byte) error { return put(path, raw, os.Link) }

// put writes a file beside its place and then moves it there.
func put(path string, raw []byte, move func(from, to string) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".askback-*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = move(f.Name(), path)
	}
	_ = os.Remove(f.Name()) // moved away, it is not there any more
	return err
}
