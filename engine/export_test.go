package engine

import (
	"context"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/store"
)

// CommitEffect commits an effect of the kind "test" for an ask. The machines produce no effects of this kind.
func (e *Engine) CommitEffect(ctx context.Context, ask, id string, due time.Time) error {
	defer e.db.Cache.Drop(ask)
	return e.db.Update(ctx, func(t *txn.Tx) error {
		if err := t.Lock(ask); err != nil {
			return err
		}
		row, err := e.db.Store.Read(ctx, txn.KindAsk, ask)
		if err != nil {
			return err
		}
		row.Fixed = nil
		t.Put(row)
		t.Change.Effects = append(t.Change.Effects, store.Effect{
			ID: id, Kind: "test", SubjectKind: txn.KindAsk, Subject: ask, Stream: row.Stream, Due: due,
			Created: t.Now(), Data: []byte(`{}`),
		})
		return nil
	})
}

// Fingerprint returns the digest by which the engine recognizes a repeated request. It also returns the ask
// that the request would open.
func Fingerprint(e *Engine, who askback.Principal, r askback.Request) (string, askback.Ask, error) {
	n := &txn.NewAsk{}
	err := e.As(who).(*client).prepare(context.Background(), n, r)
	return n.Asked.Request, n.Asked.Ask, err
}

// Clean deletes old records once.
func (e *Engine) Clean(ctx context.Context) error { return e.clean(ctx) }
