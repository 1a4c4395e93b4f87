package instance

import (
	"errors"
	"os"
	"slices"
	"syscall"
)

// remote lists the file systems, by the type of statfs(2), on which flock(2) may be a lock of fcntl(2).
// SQLite uses locks of fcntl(2), and would wait for this process itself.
var remote = []uint32{
	0x6969,     // NFS
	0xff534d42, // CIFS
	0xfe534d42, // SMB 2
	0x517b,     // SMB
	0x01021997, // 9P
	0x65735546, // FUSE
}

// lockInode locks a database file itself. It reports whether it locked the file. It returns [ErrHeld] if
// another open file has the lock. Linux keeps these locks apart from the locks of SQLite.
func lockInode(f *os.File) (locked bool, err error) {
	var s syscall.Statfs_t
	if err := syscall.Fstatfs(int(f.Fd()), &s); err != nil || slices.Contains(remote, uint32(s.Type)) {
		return false, nil
	}
	switch err := flock(f); {
	case err == nil:
		return true, nil
	case errors.Is(err, ErrHeld):
		return false, ErrHeld
	}
	return false, nil // the file has no lock, but the lock file has one
}
