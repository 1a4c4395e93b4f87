package txn

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/store"
)

// A Kind is a kind of records or of effects, with the functions of the engine for it.
type Kind struct {
	// Name is the kind of the records or effects. A name that ends in a dot is the prefix of several kinds of
	// effects.
	Name string
	// Due processes a record that is due. If it is nil, records of this kind are never due.
	Due func(ctx context.Context, row store.Record) error
	// Delete returns the change that deletes a closed record after the retention time. The change has no
	// deletion if the record is still needed. If Delete is nil, the retention time does not apply.
	Delete func(ctx context.Context, row store.Record) (store.Change, error)
	// Perform performs an effect and commits the result. It returns an error if the commit failed. If Perform
	// is nil, effects of this kind share the slots of other kinds.
	Perform func(ctx context.Context, f store.Effect) error
	Slots   int // the number of effects that are performed concurrently; if it is 0, another process performs them
}

// Register adds kinds. It is called before the engine is used.
func (db *DB) Register(kinds ...Kind) { db.Kinds = append(db.Kinds, kinds...) }

// Handle sets how a tx performs the effects of one type. It is called before the engine is used.
func Handle[F lifecycle.Effect](e *DB, perform func(t *Tx, f F) error) {
	e.handlers[reflect.TypeFor[F]()] = func(t *Tx, effect lifecycle.Effect) error { return perform(t, effect.(F)) }
}

// stepRecord processes a record that is due. It returns an error for a kind that this release does not know.
func (db *DB) stepRecord(ctx context.Context, row store.Record) error {
	for i := range db.Kinds {
		if k := &db.Kinds[i]; k.Name == row.Kind && k.Due != nil {
			return k.Due(ctx, row)
		}
	}
	return fmt.Errorf("%s %s is due, but this release does not know its kind", row.Kind, row.ID)
}

// Includes reports whether effects of a kind belong to this Kind.
func (k *Kind) Includes(name string) bool {
	return k.Name == name || strings.HasSuffix(k.Name, ".") && strings.HasPrefix(name, k.Name)
}
