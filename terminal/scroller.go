package terminal

import "fmt"

// A scroller shows a part of rows that are too many for the screen, and records which rows were shown. The
// zero value begins with the first row.
type scroller struct {
	first int // the first row that is shown
	shown int // the number of rows that are shown
	seen  int // the number of rows from the beginning that were shown
	total int
}

// window returns at most limit rows. If some rows do not fit, the last row is a note about these rows.
func (s *scroller) window(f *frame, rows []string, limit int) []string {
	if len(rows) != s.total { // the text or the width has changed
		*s = scroller{first: s.first, total: len(rows)}
	}
	s.shown = len(rows)
	if len(rows) > limit {
		s.shown = max(1, limit-1)
	}
	s.first = max(0, min(s.first, len(rows)-s.shown))
	if s.first <= s.seen {
		s.seen = max(s.seen, s.first+s.shown)
	}
	part := rows[s.first : s.first+s.shown : s.first+s.shown]
	if len(rows) <= limit || limit < 2 {
		return part
	}
	key := "PgDn"
	if s.first+s.shown == len(rows) {
		key = "PgUp"
	}
	return append(part, f.note(fmt.Sprintf("(rows %d-%d of %d: %s)", s.first+1, s.first+s.shown, len(rows), key)))
}

// press scrolls. It reports whether key scrolls, and whether there are rows that are not shown.
func (s *scroller) press(key string) bool {
	if s.shown >= s.total {
		return false
	}
	switch key {
	case "pgdown":
		s.first += s.shown
	case "pgup":
		s.first -= s.shown
	default:
		return false
	}
	s.first = max(0, min(s.first, s.total-s.shown))
	return true
}

// unseen returns the number of rows that were not shown yet.
func (s *scroller) unseen() int { return max(0, s.total-s.seen) }
