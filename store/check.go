package store

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxChange is the size limit of a change in bytes. A larger one would delay every change
// behind it.
const maxChange = 16 << 20

// A name identifies a record: its kind and id.
type name struct{ kind, id string }

// Check returns the size of a change in bytes, or an error if no store can keep it.
// Every store rejects the same: a record without a kind or id, a new one without Fixed,
// the same record or effect twice, an event without a type, an effect without its record
// in Put, text that is not UTF-8 or contains NUL, and more than 16 MB.
func (c Change) Check() (size int, err error) {
	seen := make(map[name]bool, len(c.Put)+len(c.Delete))
	for i, r := range c.Put {
		if err := checkRecord(r, seen); err != nil {
			return 0, fmt.Errorf("invalid change: Put[%d]: %v", i, err)
		}
		size += len(r.Fixed) + len(r.State) + len(r.Key)
	}
	n, err := c.checkEffects(seen) // while seen has only the records of Put
	if err != nil {
		return 0, err
	}
	for i, d := range c.Delete {
		if err := checkRef(d.Kind, d.ID, d.Version, seen); err != nil {
			return 0, fmt.Errorf("invalid change: Delete[%d]: %v", i, err)
		}
	}
	for i, f := range c.Prune {
		if f.Stream == "" {
			return 0, fmt.Errorf("invalid change: Prune[%d]: no stream", i)
		}
		if !isText(f.Stream, f.Subject) {
			return 0, fmt.Errorf("invalid change: Prune[%d]: %v", i, errText)
		}
	}
	m, err := c.checkEvents()
	if err != nil {
		return 0, err
	}
	if size += n + m; size > maxChange {
		return 0, fmt.Errorf("invalid change: %d bytes; the limit is %d", size, maxChange)
	}
	return size, nil
}

func (c Change) checkEvents() (size int, err error) {
	for i, e := range c.Events {
		if e.Type == "" {
			return 0, fmt.Errorf("invalid change: Events[%d]: no type", i)
		}
		if !isText(e.Stream, e.Subject, e.Type) {
			return 0, fmt.Errorf("invalid change: Events[%d]: %v", i, errText)
		}
		size += len(e.Data)
	}
	return size, nil
}

// checkEffects checks Effects and Done. The map has the records of Put.
func (c Change) checkEffects(put map[name]bool) (size int, err error) {
	var seen map[string]bool
	if n := len(c.Effects) + len(c.Done); n > 0 {
		seen = make(map[string]bool, n)
	}
	for i, e := range c.Effects {
		if err := checkEffect(e, put, seen); err != nil {
			return 0, fmt.Errorf("invalid change: Effects[%d]: %v", i, err)
		}
		size += len(e.Data)
	}
	for i, d := range c.Done {
		if err := checkCompletion(d, seen); err != nil {
			return 0, fmt.Errorf("invalid change: Done[%d]: %v", i, err)
		}
		size += len(d.Error)
	}
	return size, nil
}

func checkEffect(e Effect, put map[name]bool, seen map[string]bool) error {
	switch {
	case e.ID == "" || e.Kind == "":
		return errors.New("an effect needs an id and a kind")
	case !put[name{e.SubjectKind, e.Subject}]:
		return errors.New("its record must be in Put")
	case e.Attempts != 0 || e.Node != "" || e.Error != "":
		return errors.New("a new effect must have no Attempts, Node or Error")
	case seen[e.ID]:
		return errEffectTwice
	case !isText(e.ID, e.Kind, e.Stream):
		return errText
	}
	seen[e.ID] = true
	return nil
}

func checkCompletion(d Completion, seen map[string]bool) error {
	switch {
	case d.ID == "":
		return errors.New("a completion needs the id of its effect")
	case d.Dead && !d.Retry.IsZero():
		return errors.New("it has both Retry and Dead")
	case seen[d.ID]:
		return errEffectTwice
	case !isText(d.ID, d.Node, d.Error):
		return errText
	}
	seen[d.ID] = true
	return nil
}

// CheckNode returns an error if no store can record a claim of a node with this name.
func CheckNode(node string) error {
	if node == "" {
		return errors.New("invalid node: it needs a name")
	}
	if !isText(node) {
		return fmt.Errorf("invalid node: %v", errText)
	}
	return nil
}

func checkRecord(r Record, seen map[name]bool) error {
	if err := checkRef(r.Kind, r.ID, r.Version, seen); err != nil {
		return err
	}
	if r.Version == 0 && r.Fixed == nil {
		return errors.New("a new record needs Fixed")
	}
	if !isText(r.Stream, r.Key, r.Owner, r.Agent, r.Status) || !isText(r.To...) {
		return errText
	}
	return nil
}

func checkRef(kind, id string, version int64, seen map[name]bool) error {
	switch {
	case kind == "" || id == "":
		return errors.New("a record needs a kind and an id")
	case version < 0:
		return errors.New("the version is negative")
	case seen[name{kind, id}]:
		return errors.New("the record is in the change twice")
	case !isText(kind, id):
		return errText
	}
	seen[name{kind, id}] = true
	return nil
}

var (
	errText        = errors.New("text must be UTF-8 without NUL characters")
	errEffectTwice = errors.New("the effect is in the change twice")
)

// isText reports whether every string is valid UTF-8 without NUL, which PostgreSQL
// requires.
func isText(all ...string) bool {
	for _, s := range all {
		if !utf8.ValidString(s) || strings.IndexByte(s, 0) >= 0 {
			return false
		}
	}
	return true
}
