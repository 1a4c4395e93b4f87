package instance

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// attending returns the folder of the records that Attend makes. The folder has a file for each ask.
func (p Place) attending() string { return p.file("attending") }

// Waiting returns the folder of the records of which client of MCP waits for which question.
func (p Place) Waiting() string { return p.file("waiting") }

// held is the content of a record that was locked. A record without content is new: its process has not
// locked the record yet.
var held = []byte("held\n")

// Attend records that this process waits for an ask, until done is called or the process
// ends in any way. The record is a shared lock on a file, so several processes can wait for
// one ask.
func (p Place) Attend(id string) (done func(), err error) {
	if filepath.Base(id) != id {
		return nil, fmt.Errorf("%q is not an id", id)
	}
	if err := os.MkdirAll(p.attending(), 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(p.attending(), id)
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, err
		}
		if err := share(f); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if !isAt(f, path) {
			_ = f.Close() // another process removed the file before it was locked
			continue
		}
		if _, err := f.WriteAt(held, 0); err != nil {
			p.release(f, path)
			return nil, err
		}
		return func() { p.release(f, path) }, nil
	}
}

// release closes the file of a record. It removes the file, unless another process waits
// for the same ask.
func (p Place) release(f *os.File, path string) {
	if flock(f) == nil {
		_ = removeHeld(f, path)
	}
	_ = f.Close()
}

// Attended reports whether an ask has a record. The process of a record waits for the ask, or ended without
// calling done.
func (p Place) Attended(id string) bool {
	_, err := os.Stat(filepath.Join(p.attending(), id))
	return err == nil
}

// Abandoned calls do for each ask whose waiting processes have all ended without removing
// their record. If do returns nil, the record is removed. Abandoned returns all errors,
// joined.
func (p Place) Abandoned(do func(id string) error) error {
	entries, err := os.ReadDir(p.attending())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	failed := []error{err}
	for _, e := range entries {
		failed = append(failed, p.abandoned(e.Name(), do))
	}
	return errors.Join(failed...)
}

func (p Place) abandoned(id string, do func(id string) error) error {
	path := filepath.Join(p.attending(), id)
	f, err := os.OpenFile(path, os.O_RDWR, 0o600)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	switch err := flock(f); {
	case errors.Is(err, ErrHeld):
		return nil // a process still waits
	case err != nil:
		return err
	case !isAt(f, path):
		return nil
	}
	info, err := f.Stat()
	if err == nil && info.Size() > 0 {
		err = do(id)
	}
	if err != nil {
		return err
	}
	return removeHeld(f, path) // the process of a new record makes the record again
}

// isAt reports whether path is still the path of the open file f.
func isAt(f *os.File, path string) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(info, there)
}
