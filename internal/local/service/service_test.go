//go:build unix

package service

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestOwnerOfDirectoryIsFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if uid, ok := owner(dir); ok != (os.Geteuid() != 0) || ok && uid != os.Geteuid() {
		t.Errorf("got %d, %t for a directory of the user %d", uid, ok, os.Geteuid())
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, filepath.Join(dir, "none")} {
		if _, ok := owner(path); ok {
			t.Errorf("%s is no directory, but has an owner", path)
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can give a directory to another user")
	}
	if err := os.Chown(dir, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if uid, ok := owner(dir); !ok || uid != 12345 {
		t.Errorf("got %d, %t for a directory of the user 12345", uid, ok)
	}
}

func TestReadyIsSentToSystemd(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	t.Setenv("NOTIFY_SOCKET", socket)
	if err := Ready(); err != nil {
		t.Fatal(err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 100)
	n, err := conn.Read(got)
	if err != nil || string(got[:n]) != "READY=1" {
		t.Errorf("got %q, %v, want READY=1", got[:n], err)
	}
	t.Setenv("NOTIFY_SOCKET", filepath.Join(t.TempDir(), "none"))
	if err := Ready(); err == nil {
		t.Error("got no error for a socket that does not exist")
	}
	t.Setenv("NOTIFY_SOCKET", "")
	if err := Ready(); err != nil {
		t.Errorf("got %v without systemd", err)
	}
}
