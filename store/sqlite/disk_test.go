//go:build unix

package sqlite_test

import (
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/askback/askback/store"
	"github.com/askback/askback/store/sqlite"
)

// If the disk fails during a commit, the commit returns ErrUnknown. All later changes and reads fail until
// the store is opened again. After a failed write or fsync, reads may return other data than the next start
// finds (F2).
func TestStoreFailsAfterDiskError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "askback.db")
	s, err := sqlite.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	put := func(n int) error {
		_, err := s.Commit(t.Context(), store.Change{Put: []store.Record{record(n)}})
		return err
	}
	if err := put(1); err != nil {
		t.Fatal(err)
	}
	wal, err := os.Stat(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	restore := limitFiles(t, wal.Size()+5000) // there is room for one page of the change, but not for all its pages
	err = put(2)
	restore()
	if !errors.Is(err, store.ErrUnknown) || !strings.Contains(err.Error(), "disk I/O error") {
		t.Errorf("Commit on a failing disk: got %v, want ErrUnknown and the reason", err)
	}
	if err := put(3); err == nil || errors.Is(err, store.ErrUnknown) ||
		!strings.Contains(err.Error(), "restart Askback") {
		t.Errorf("Commit after that: got %v, want an error that asks for a restart", err)
	}
	if _, err := s.Read(t.Context(), "ask", record(1).ID); err == nil ||
		!strings.Contains(err.Error(), "restart Askback") {
		t.Errorf("Read after that: got %v, want an error that asks for a restart", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close: got %v, want no error", err)
	}
	again := openAt(t, path)
	if _, err := again.Read(t.Context(), "ask", record(1).ID); err != nil {
		t.Errorf("Read of the acknowledged record after a restart: got %v, want no error", err)
	}
	if _, err := again.Commit(t.Context(), store.Change{Put: []store.Record{record(4)}}); err != nil {
		t.Errorf("Commit after a restart: got %v, want no error", err)
	}
}

// limitFiles limits the size of the files of this process, so that a write fails as on a
// broken disk.
func limitFiles(t *testing.T, size int64) (restore func()) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	limit := old
	limit.Cur = uint64(size)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
			t.Fatal(err)
		}
		signal.Reset(syscall.SIGXFSZ)
	}
}
