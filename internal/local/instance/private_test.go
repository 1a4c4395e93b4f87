//go:build unix

package instance_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/askback/askback/internal/local/instance"
)

// A server.json that other users can read or write, that is a link, or that belongs to
// another user is not trusted (T28).
func TestServerFileMustBePrivate(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"as it should be":  func(string) error { return nil },
		"others may read":  func(path string) error { return os.Chmod(path, 0o644) },
		"others may write": func(path string) error { return os.Chmod(path, 0o622) },
		"it is a link": func(path string) error {
			return os.Rename(path, path+".real")
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			p := instance.Place{Database: filepath.Join(dir, "askback.db")}
			if err := p.Announce(instance.Server{URL: "http://127.0.0.1:1", Secret: "s"}); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "server.json")
			if err := spoil(path); err != nil {
				t.Fatal(err)
			}
			if name == "it is a link" {
				if err := os.Symlink(path+".real", path); err != nil {
					t.Fatal(err)
				}
			}
			if _, ok := p.Last(); ok != (name == "as it should be") {
				t.Errorf("the file is trusted: %v", ok)
			}
		})
	}
	if os.Geteuid() != 0 {
		return
	}
	dir := t.TempDir()
	p := instance.Place{Database: filepath.Join(dir, "askback.db")}
	if err := p.Announce(instance.Server{URL: "http://127.0.0.1:1", Secret: "s"}); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(filepath.Join(dir, "server.json"), 65534, 65534); err != nil {
		t.Skip(err)
	}
	if _, ok := p.Last(); ok {
		t.Error("a server.json of another user is trusted")
	}
}

// A database with several names is rejected, because processes that open it by different names do not see
// each other's changes.
func TestDatabaseWithHardLinksIsRejected(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "askback.db"), filepath.Join(dir, "other.db")
	if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Link(path, other)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, other} {
		lock, err := instance.HoldDatabase(name)
		if err == nil || !strings.Contains(err.Error(), "has 2 names (hard links)") {
			t.Errorf("%s: got %v, %v, want an error about hard links", name, lock, err)
		}
		if err := (instance.Place{Database: name}).CheckNames(); err == nil {
			t.Errorf("%s: CheckNames finds one name", name)
		}
	}
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	lock, err := instance.HoldDatabase(path)
	if err != nil {
		t.Fatalf("with one name: %v", err)
	}
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
}

// A process that holds a database makes its lock file again if the file was moved or deleted. It reports that
// the database was moved, replaced or deleted.
func TestCheckReportsLostDatabase(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(path string) error
		isWrong bool
	}{
		"nothing":            {func(string) error { return nil }, false},
		"a deleted lock":     {func(path string) error { return os.Remove(path + ".lock") }, false},
		"a moved lock":       {func(path string) error { return os.Rename(path+".lock", path+".moved") }, false},
		"a replaced lock":    {func(path string) error { return instance.WriteFile(path+".lock", nil) }, false},
		"a deleted database": {os.Remove, true},
		"a moved database":   {func(path string) error { return os.Rename(path, path+".moved") }, true},
		"a restored backup":  {func(path string) error { return instance.WriteFile(path, []byte("backup")) }, true},
		"another folder": {
			func(path string) error { return os.Rename(filepath.Dir(path), filepath.Dir(path)+".moved") }, true,
		},
	} {
		path := filepath.Join(t.TempDir(), "state", "askback.db")
		if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		lock, err := instance.HoldDatabase(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.change(path); err != nil {
			t.Fatal(err)
		}
		if err := lock.Check(); (err != nil) != c.isWrong {
			t.Errorf("%s: got %v, want an error: %v", name, err, c.isWrong)
		}
		if !c.isWrong {
			if other, err := instance.Hold(path); !errors.Is(err, instance.ErrHeld) {
				t.Errorf("%s: after the check another process gets %v, %v, want %v", name, other, err, instance.ErrHeld)
			}
		}
		if err := lock.Release(); err != nil {
			t.Error(err)
		}
	}
}

// If another process took the lock after the lock file was moved, Check returns an error.
func TestCheckReportsLostLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "askback.db")
	lock, err := instance.HoldDatabase(path)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	if err := os.Rename(path+".lock", path+".moved"); err != nil {
		t.Fatal(err)
	}
	other, err := instance.Hold(path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Release()
	if err := lock.Check(); !errors.Is(err, instance.ErrHeld) {
		t.Errorf("got %v, want %v", err, instance.ErrHeld)
	}
}

// Temporary files of killed processes are removed. Files that are in use, or that another program may have
// made, are not removed.
func TestLeftoversAreRemoved(t *testing.T) {
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	server := func(pid int) string {
		return fmt.Sprintf("{\n  \"instance\": \"1\",\n  \"pid\": %d,\n  \"secret\": \"askback_x\"\n}", pid)
	}
	const old = time.Hour
	for name, c := range map[string]struct {
		file, content string
		age           time.Duration
		mode          os.FileMode
		removed       bool
	}{
		"of this version":     {".askback-17044.tmp", server(os.Getpid()), 0, 0o600, true},
		"without content":     {".askback-17045.tmp", "", 0, 0o600, true},
		"of an older version": {".askback-1704485796", server(ended.Process.Pid), 0, 0o600, true},
		"a part of one":       {".askback-1704485797", "{\n  \"inst", old, 0o600, true},
		"a token":             {".askback-1704485798", "askback_abc\n", old, 0o600, true},
		"a key": {
			".askback-1704485799", "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=\n", old, 0o600, true,
		},
		"an older version writes it":      {".askback-1704485800", server(os.Getpid()), 0, 0o600, false},
		"an older version has written it": {".askback-1704485801", server(os.Getpid()), old, 0o600, true},
		"an older version begins it":      {".askback-1704485802", "", 0, 0o600, false},
		"another content":                 {".askback-1704485803", "my notes", old, 0o600, false},
		"another JSON":                    {".askback-1704485804", `{"pid": 1}`, old, 0o600, false},
		"others may read it":              {".askback-17046.tmp", "", old, 0o644, false},
		"another name":                    {".askback-notes.tmp", "", old, 0o600, false},
		"no number":                       {".askback-.tmp", "", old, 0o600, false},
		"another file":                    {"askback-17046.tmp", "", old, 0o600, false},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, c.file)
		at := time.Now().Add(-c.age)
		if err := errors.Join(os.WriteFile(path, []byte(c.content), c.mode), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
		instance.RemoveLeftovers(dir)
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) != c.removed {
			t.Errorf("%s: got %v, want removed: %v", name, err, c.removed)
		}
	}
}

// A temporary file that a process is writing is kept, and so are links and folders.
func TestFilesInUseAreNotRemoved(t *testing.T) {
	dir := t.TempDir()
	name := func(n int) string { return filepath.Join(dir, fmt.Sprintf(".askback-%d.tmp", n)) }
	target := filepath.Join(dir, "target")
	err := errors.Join(os.WriteFile(target, nil, 0o600), os.Symlink(target, name(1)), os.Mkdir(name(2), 0o700),
		syscall.Mkfifo(name(3), 0o600))
	f, errFile := os.OpenFile(name(4), os.O_CREATE|os.O_RDWR, 0o600)
	if err = errors.Join(err, errFile); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	instance.RemoveLeftovers(dir)
	for n := 1; n <= 4; n++ {
		if _, err := os.Lstat(name(n)); err != nil {
			t.Errorf("%d: %v", n, err)
		}
	}
	if _, err := os.Stat(target); err != nil {
		t.Error(err)
	}
}

// Files can be written while leftovers are removed.
func TestRemovingLeftoversDoesNotDisturbWriters(t *testing.T) {
	dir := t.TempDir()
	var group sync.WaitGroup
	stop := make(chan struct{})
	group.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				instance.RemoveLeftovers(dir)
			}
		}
	})
	for i := range 200 {
		if err := instance.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	group.Wait()
}
