package sqlite_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/askback/askback/store"
	"github.com/askback/askback/store/sqlite"
	"github.com/askback/askback/test/kit/leftout"
)

// smallDisk is the environment variable of a process that may mount a file system.
const smallDisk = "ASKBACK_TEST_SMALL_DISK"

// noDisk is the reason why a test on a small disk is skipped. The child process prints the reason, too.
const noDisk = "a full disk, because no file system can be mounted here"

// onSmallDisk runs the test again in a child process that may mount a small file system. In the child process
// it returns the folder and true. In the calling process it waits and returns false. If no file system can be
// mounted, it skips the test.
func onSmallDisk(t *testing.T) (dir string, ok bool) {
	t.Helper()
	if os.Getenv(smallDisk) == "" {
		again := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		again.Env = append(os.Environ(), smallDisk+"=yes")
		again.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		}
		out, err := again.CombinedOutput()
		var ended *exec.ExitError
		switch {
		case err != nil && !errors.As(err, &ended):
			leftout.Skip(t, noDisk+": %v", err)
		case err != nil:
			t.Errorf("on a small disk: %v\n%s", err, out)
		case bytes.Contains(out, []byte(noDisk)):
			leftout.Skip(t, noDisk)
		}
		return "", false
	}
	dir = t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("%s: %v", noDisk, err)
	}
	// if this fails, the kernel unmounts the disk when the process ends
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	return dir, true
}

// fillDisk fills the disk. The function free deletes the data again.
func fillDisk(t *testing.T, dir string) (free func()) {
	t.Helper()
	f, err := os.CreateTemp(dir, "filler")
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("fill the disk: %v", err)
	}
	_ = f.Close() // the disk is full
	return func() {
		if err := os.Remove(f.Name()); err != nil {
			t.Fatal(err)
		}
	}
}

// waitForRoom waits until a store reports that there is room on its disk again.
func waitForRoom(t *testing.T, s *sqlite.Store) {
	t.Helper()
	for end := time.Now().Add(time.Minute); s.Health().DiskFull != nil; <-time.After(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("Health with room again: got %v, want nil", s.Health().DiskFull)
		}
	}
}

// On a full disk, a change is rejected with ErrDiskFull and not kept. Reads continue, and
// changes are accepted again once there is room.
func TestFullDiskRejectsChangesUntilThereIsRoom(t *testing.T) {
	dir, ok := onSmallDisk(t)
	if !ok {
		return
	}
	path := filepath.Join(dir, "askback.db")
	s, err := sqlite.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	put := func(n int) error {
		r := record(n)
		c := store.Change{Put: []store.Record{r}}
		if n == 1 {
			c.Effects = []store.Effect{{ID: "eff_1", Kind: "send", SubjectKind: r.Kind, Subject: r.ID}}
		}
		_, err := s.Commit(t.Context(), c)
		return err
	}
	checkRead := func(n int, want error) {
		t.Helper()
		if _, err := s.Read(t.Context(), "ask", record(n).ID); !errors.Is(err, want) {
			t.Errorf("Read of record %d: got %v, want %v", n, err, want)
		}
	}
	checkFull := func(n int) {
		t.Helper()
		if err := put(n); !errors.Is(err, store.ErrDiskFull) || errors.Is(err, store.ErrUnknown) {
			t.Errorf("Commit on a full disk: got %v, want %v and not ErrUnknown", err, store.ErrDiskFull)
		}
		checkRead(n, store.ErrNotFound)
		checkRead(1, nil)
		if h := s.Health(); !errors.Is(h.DiskFull, store.ErrDiskFull) || h.Failed != nil {
			t.Errorf("Health on a full disk: got %+v, want ErrDiskFull", h)
		}
	}
	checkClaim := func(n int, want error) {
		t.Helper()
		effects, err := s.Claim(t.Context(), "node", record(1).Created, 0)
		if !errors.Is(err, want) || len(effects) != n {
			t.Errorf("Claim: got %d effects and %v, want %d and %v", len(effects), err, n, want)
		}
	}
	if err := put(1); err != nil {
		t.Fatal(err)
	}
	checkClaim(1, nil)
	free := fillDisk(t, dir)
	checkFull(2)
	checkFull(3)
	free()
	waitForRoom(t, s)
	if err := put(2); err != nil {
		t.Errorf("Commit with room again: got %v, want no error", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	// The database can be opened on a full disk. Claims are freed when there is room.
	free = fillDisk(t, dir)
	if s, err = sqlite.Open(path, nil); err != nil {
		t.Fatalf("Open on a full disk: %v", err)
	}
	checkRead(2, nil)
	if h := s.Health(); !errors.Is(h.DiskFull, store.ErrDiskFull) {
		t.Errorf("Health after it was opened on a full disk: got %+v, want ErrDiskFull", h)
	}
	again := fillDisk(t, dir)
	checkFull(4)
	checkClaim(0, store.ErrDiskFull)
	again()
	free()
	if err := put(4); err != nil {
		t.Errorf("Commit with room again: got %v, want no error", err)
	}
	checkRead(4, nil)
	checkClaim(1, nil)
	waitForRoom(t, s)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// If the disk has only enough room to open a database, Health returns ErrDiskFull before the
// first change is rejected.
func TestHealthReportsAFullDiskAfterOpen(t *testing.T) {
	dir, ok := onSmallDisk(t)
	if !ok {
		return
	}
	path := filepath.Join(dir, "askback.db")
	s, err := sqlite.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	gap := filepath.Join(dir, "gap")
	if err := os.WriteFile(gap, make([]byte, 96<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	free := fillDisk(t, dir)
	if err := os.Remove(gap); err != nil {
		t.Fatal(err)
	}
	if s, err = sqlite.Open(path, nil); err != nil {
		t.Fatal(err)
	}
	if h := s.Health(); !errors.Is(h.DiskFull, store.ErrDiskFull) || h.Failed != nil {
		t.Errorf("Health with 96 kB of room: got %+v, want ErrDiskFull", h)
	}
	free()
	waitForRoom(t, s)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// On a full disk, a change that conflicts after its first statement returns ErrConflict or ErrDiskFull. The
// same holds if the change is in a batch with other changes.
func TestConflictOnFullDiskReturnsErrConflictOrErrDiskFull(t *testing.T) {
	dir, ok := onSmallDisk(t)
	if !ok {
		return
	}
	path := filepath.Join(dir, "askback.db")
	s := openAt(t, path)
	if _, err := s.Commit(t.Context(), store.Change{Put: []store.Record{record(1)}}); err != nil {
		t.Fatal(err)
	}
	free := fillDisk(t, dir)
	defer free()
	release := lockDatabase(t, path)
	results := commitWaiting(t, s, 3, func(n int) store.Change {
		return store.Change{Put: []store.Record{record(2 + n), record(1)}} // record 1 already exists
	})
	release()
	for range 3 {
		if err := <-results; !errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrDiskFull) {
			t.Errorf("Commit: got %v, want %v or %v", err, store.ErrConflict, store.ErrDiskFull)
		}
	}
}
