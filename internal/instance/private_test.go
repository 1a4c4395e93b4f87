//go:build unix

package instance_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/askback/askback/internal/instance"
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
