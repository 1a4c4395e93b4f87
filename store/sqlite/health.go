package sqlite

import "os"

// A Health is the condition of a store.
type Health struct {
	// Failed is nil or matches store.ErrFailed. If it is not nil, the store neither
	// reads nor commits until it is opened again.
	Failed error
	// DiskFull is nil or matches store.ErrDiskFull. If it is not nil, the disk had no room when it was last
	// checked. Commits then fail, except perhaps small commits.
	DiskFull error
	// Damaged contains the names of the first damaged rows that were read since the
	// database was opened, as in [Verification].
	Damaged []string
	// Unreadable is set if SQLite failed to read a page of the file since the database was opened. Lists omit
	// the records on the page. Damaged names only the records whose names are known.
	Unreadable bool
	// Bytes is the size of the database file and its write-ahead log.
	Bytes int64
}

// Health returns the condition of the store. If the disk was full, Health checks for room, at most once a
// second.
func (s *Store) Health() Health {
	s.writer.checkRoom()
	h := Health{Failed: s.writer.failure(), Damaged: s.damaged.names(), Unreadable: s.damaged.page.Load()}
	for _, name := range []string{s.writer.path, s.writer.path + "-wal"} {
		if file, err := os.Stat(name); err == nil {
			h.Bytes += file.Size()
		}
	}
	if full := s.writer.full.Load(); full != nil {
		h.DiskFull = *full
	}
	return h
}

// Failed returns a channel that is closed once the store has failed. [Store.Health]
// returns the reason.
func (s *Store) Failed() <-chan struct{} { return s.writer.ended }
