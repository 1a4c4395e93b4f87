package engine

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/store"
)

// A kind is a kind of records or of effects, and what the engine does with them.
type kind struct {
	// name is the kind of the records, or of the effects. One that ends in a dot is the beginning of
	// several kinds of effects.
	name string
	// due acts on a record that is due. Nil: records of this kind are never due.
	due func(ctx context.Context, row store.Record) error
	// perform performs an effect and commits the result. An error means that it could not commit it.
	// Nil: effects of this kind share the slots of others.
	perform func(ctx context.Context, f store.Effect) error
	slots   int // how many effects are performed at a time; 0: another process performs them
}

// register adds kinds. It is called before the engine is used.
func (e *Engine) register(kinds ...kind) { e.kinds = append(e.kinds, kinds...) }

// handle sets how a tx performs the effects of one type. It is called before the engine is used.
func handle[F lifecycle.Effect](e *Engine, perform func(t *tx, f F) error) {
	e.handlers[reflect.TypeFor[F]()] = func(t *tx, effect lifecycle.Effect) error { return perform(t, effect.(F)) }
}

// stepRecord acts on a record that is due. The error is not nil for a kind that this release does
// not know.
func (e *Engine) stepRecord(ctx context.Context, row store.Record) error {
	for i := range e.kinds {
		if k := &e.kinds[i]; k.name == row.Kind && k.due != nil {
			return k.due(ctx, row)
		}
	}
	return fmt.Errorf("%s %s is due, and this release does not know what that is", row.Kind, row.ID)
}

// includes reports whether the effects of a kind are of this one.
func (k *kind) includes(name string) bool {
	return k.name == name || strings.HasSuffix(k.name, ".") && strings.HasPrefix(name, k.name)
}
