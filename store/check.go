package store

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxChange is the size limit of a change in bytes. A larger change would delay all changes in the queue
// behind it.
const maxChange = 16 << 20

// A name identifies a record by its kind and its id.
type name struct{ kind, id string }

// Check returns the size of the data in a change, in bytes. It returns an error if the change is invalid.
// Every store rejects a change that contains one of these:
//
// - a record without a kind or id, with a negative Version, or with Version 0 and no Fixed
// - the same record or effect twice
// - an effect without an id or kind, or whose record is not in Put
// - a new effect with Attempts, Node or Error, or that is dead or held
// - a completion without an id, or with Dead and also Retry or Held
// - an empty key to release
// - an event without a type, or with a stream but without a subject
// - a filter without a stream
// - text that is not UTF-8 or contains NUL
// - more than 16 MiB of data
func (c Change) Check() (size int, err error) {
	records := make(map[name]bool, len(c.Put)+len(c.Delete))
	effects := map[string]bool{}
	err = cmp.Or( // this order is needed, because an effect needs its record in Put
		each("Put", c.Put, func(r *Record) error {
			size += len(r.Fixed) + len(r.State) + len(r.Key)
			return checkRecord(r, records)
		}),
		each("Effects", c.Effects, func(e *Effect) error {
			size += len(e.Data)
			return checkEffect(e, records, effects)
		}),
		each("Done", c.Done, func(d *Completion) error {
			size += len(d.Error)
			return checkCompletion(d, effects)
		}),
		each("Delete", c.Delete, func(d *Ref) error { return checkRef(d.Kind, d.ID, d.Version, records) }),
		each("Release", c.Release, func(key *string) error {
			if *key == "" {
				return errors.New("the key is empty")
			}
			return checkText(*key)
		}),
		each("Unindex", c.Unindex, func(id *string) error { return checkText(*id) }),
		each("Prune", c.Prune, checkFilter),
		each("Events", c.Events, func(e *Event) error {
			size += len(e.Data)
			return checkEvent(e)
		}),
	)
	if err == nil && size > maxChange {
		err = fmt.Errorf("invalid change: %d bytes; the limit is %d", size, maxChange)
	}
	if err != nil {
		return 0, err
	}
	return size, nil
}

// each checks the elements of a field of a change. It returns the first error, with the name of the field and
// the index of the element.
func each[T any](field string, list []T, check func(*T) error) error {
	for i := range list {
		if err := check(&list[i]); err != nil {
			return fmt.Errorf("invalid change: %s[%d]: %v", field, i, err)
		}
	}
	return nil
}

func checkFilter(f *EventFilter) error {
	if f.Stream == "" {
		return errors.New("no stream")
	}
	return checkText(f.Stream, f.Subject)
}

func checkEvent(e *Event) error {
	switch {
	case e.Type == "":
		return errors.New("no type")
	case e.Subject == "" && e.Stream != "":
		return errors.New("no subject")
	}
	return checkText(e.Stream, e.Subject, e.Type)
}

func checkEffect(e *Effect, put map[name]bool, seen map[string]bool) error {
	switch {
	case e.ID == "" || e.Kind == "":
		return errors.New("an effect needs an id and a kind")
	case !put[name{e.SubjectKind, e.Subject}]:
		return errors.New("its record must be in Put")
	case e.Attempts != 0 || e.Node != "" || e.Error != "" || e.Dead || e.Held != "":
		return errors.New("a new effect must have no Attempts, Node or Error, and not be dead or held")
	case seen[e.ID]:
		return errEffectTwice
	}
	seen[e.ID] = true
	return checkText(e.ID, e.Kind, e.Stream)
}

func checkCompletion(d *Completion, seen map[string]bool) error {
	switch {
	case d.ID == "":
		return errors.New("a completion needs the id of its effect")
	case d.Dead && (!d.Retry.IsZero() || d.Held != ""):
		return errors.New("it has Dead, and Retry or Held")
	case seen[d.ID]:
		return errEffectTwice
	}
	seen[d.ID] = true
	return checkText(d.ID, d.Node, d.Error, d.Held)
}

// CheckNode returns an error unless node is a valid name of a node: not empty, and UTF-8
// without NUL.
func CheckNode(node string) error {
	if node == "" {
		return errors.New("invalid node: it needs a name")
	}
	if err := checkText(node); err != nil {
		return fmt.Errorf("invalid node: %v", err)
	}
	return nil
}

func checkRecord(r *Record, seen map[name]bool) error {
	if err := checkRef(r.Kind, r.ID, r.Version, seen); err != nil {
		return err
	}
	if r.Version == 0 && r.Fixed == nil {
		return errors.New("a new record needs Fixed")
	}
	return cmp.Or(checkText(r.Stream, r.Key, r.Owner, r.Agent, r.Status), checkText(r.To...))
}

func checkRef(kind, id string, version int64, seen map[name]bool) error {
	switch {
	case kind == "" || id == "":
		return errors.New("a record needs a kind and an id")
	case version < 0:
		return errors.New("the version is negative")
	case seen[name{kind, id}]:
		return errors.New("the record is in the change twice")
	}
	seen[name{kind, id}] = true
	return checkText(kind, id)
}

var errEffectTwice = errors.New("the effect is in the change twice")

// checkText returns an error unless every string is valid UTF-8 without NUL, which
// PostgreSQL requires.
func checkText(all ...string) error {
	for _, s := range all {
		if !utf8.ValidString(s) || strings.IndexByte(s, 0) >= 0 {
			return errors.New("text must be UTF-8 without NUL characters")
		}
	}
	return nil
}
