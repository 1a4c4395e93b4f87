package store

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxChange is how many bytes one change may hold. More is a mistake somewhere
// and would stall everybody else's changes behind it.
const maxChange = 16 << 20

// name is a kind with an id.
type name struct{ kind, id string }

// Check says whether a change is one that a store can keep at all, and how many
// bytes it holds. Every store refuses the same: a record without kind or id, a
// new one without Fixed, one that stands twice, an event without a type, text
// that is no UTF-8 or holds NUL, more than 16 MB.
func (c Change) Check() (size int, err error) {
	seen := make(map[name]bool, len(c.Put)+len(c.Delete))
	for i, r := range c.Put {
		if err := checkRecord(r, seen); err != nil {
			return 0, fmt.Errorf("refused: put %d: %v", i, err)
		}
		size += len(r.Fixed) + len(r.State) + len(r.Key)
	}
	for i, d := range c.Delete {
		if err := checkRef(d.Kind, d.ID, d.Version, seen); err != nil {
			return 0, fmt.Errorf("refused: delete %d: %v", i, err)
		}
	}
	for i, e := range c.Events {
		if e.Type == "" {
			return 0, fmt.Errorf("refused: event %d: it has no type", i)
		}
		if !text(e.Stream, e.Subject, e.Type) {
			return 0, fmt.Errorf("refused: event %d: %v", i, errText)
		}
		size += len(e.Data)
	}
	for i, f := range c.Forget {
		if f.Stream == "" || !text(f.Stream, f.Subject) {
			return 0, fmt.Errorf("refused: forget %d: lines have a stream, and %v", i, errText)
		}
	}
	if size > maxChange {
		return 0, fmt.Errorf("refused: a change of %d bytes, at most %d are kept at once", size, maxChange)
	}
	return size, nil
}

func checkRecord(r Record, seen map[name]bool) error {
	if err := checkRef(r.Kind, r.ID, r.Version, seen); err != nil {
		return err
	}
	if r.Version == 0 && r.Fixed == nil {
		return errors.New("a new record needs its fixed part")
	}
	if !text(r.Stream, r.Key, r.Owner, r.Agent, r.Status) || !text(r.To...) {
		return errText
	}
	return nil
}

func checkRef(kind, id string, version int64, seen map[name]bool) error {
	switch {
	case kind == "" || id == "":
		return errors.New("a record has a kind and an id")
	case version < 0:
		return errors.New("a version is not negative")
	case seen[name{kind, id}]:
		return errors.New("the same record twice in one change")
	case !text(kind, id):
		return errText
	}
	seen[name{kind, id}] = true
	return nil
}

var errText = errors.New("text is UTF-8 without the character NUL")

// text says whether every database can keep the strings as text.
func text(all ...string) bool {
	for _, s := range all {
		if !utf8.ValidString(s) || strings.IndexByte(s, 0) >= 0 {
			return false
		}
	}
	return true
}
