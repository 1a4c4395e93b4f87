package sqlite_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/askback/askback/store/sqlite"
)

// A process may be killed while it creates the database. Later processes can open the file that it leaves
// (F2). The journal of the file records an empty file, so SQLite rolls back the application id.
func TestKillDuringCreationLeavesUsableFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "askback.db")
	open := func() {
		t.Helper()
		s, err := sqlite.Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	open()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// The first page with the application id: rollback journal mode, no tables yet.
	page := whole[:4096]
	page[18], page[19] = 1, 1
	binary.BigEndian.PutUint32(page[28:], 1)
	journal := make([]byte, 512) // sqlite.org/fileformat.html §3
	copy(journal, "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7")
	binary.BigEndian.PutUint32(journal[16:], 0) // number of pages before the transaction
	binary.BigEndian.PutUint32(journal[20:], 512)
	binary.BigEndian.PutUint32(journal[24:], 4096)
	for name, content := range map[string][]byte{path: page, path + "-journal": journal} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	open()
	open()
}
