package connection

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The key that encrypts secrets is created once, and only this user can read the key. A file without a key is
// an error, and is not replaced (T23).
func TestSecretKeyIsCreatedOnce(t *testing.T) {
	dir := t.TempDir()
	keys := func() (all [][]byte) {
		for range 2 {
			tokens, err := ReadTokens(dir, "")
			if err != nil {
				t.Fatal(err)
			}
			key, err := tokens.SecretKey()
			if err != nil || len(key) != 32 {
				t.Fatalf("got %d bytes, %v, want 32", len(key), err)
			}
			all = append(all, key)
		}
		return all
	}
	if k := keys(); !bytes.Equal(k[0], k[1]) {
		t.Error("another process got another key")
	}
	path := filepath.Join(dir, SecretKeyFile)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v, want a file that only this user can read", info, err)
	}
	if err := os.WriteFile(path, []byte("c2hvcnQ=\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tokens := &Tokens{dir: dir}
	if _, err := tokens.SecretKey(); err == nil || !strings.Contains(err.Error(), path) ||
		strings.Contains(err.Error(), "c2hvcnQ") {
		t.Errorf("got %v, want an error that names the file", err)
	}
}
