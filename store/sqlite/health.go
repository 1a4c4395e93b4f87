package sqlite

// A Health is how a store is, as far as it knows.
type Health struct {
	// Failed is why nothing is read or kept any more, until the database is opened
	// again. It is a store.ErrFailed, or nil.
	Failed error
	// DiskFull is why nothing can be kept now. It is a store.ErrDiskFull, or nil.
	DiskFull error
	// Damaged names the rows that were read and left out since the database was
	// opened, the first of them.
	Damaged []string
}

// Health returns how the store is. After the disk was full it looks for room, at most
// once a second.
func (s *Store) Health() Health {
	s.writer.lookForRoom()
	h := Health{Failed: s.writer.failure(), Damaged: s.damaged.names()}
	if full := s.writer.full.Load(); full != nil {
		h.DiskFull = *full
	}
	return h
}

// Failed is closed when the store takes nothing more until it is opened again;
// [Store.Health] has the reason.
func (s *Store) Failed() <-chan struct{} { return s.writer.ended }
