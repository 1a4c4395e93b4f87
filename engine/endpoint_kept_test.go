package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback/engine"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

// An earlier release marked the deliveries of a paused endpoint with an error text and a due time in a
// hundred years. The engine sends such deliveries when the endpoint is resumed. If the endpoint was resumed
// before the upgrade, the engine sends them without delay.
func TestDeliveriesKeptByEarlierReleaseAreSent(t *testing.T) {
	for _, before := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			to, db := &receiver{}, memstore.New()
			p, ops := newEndpoints(t, db, to, engine.Options{})
			stop := p.run()
			p.ask(calledBack())
			synctest.Wait()
			e := endpoint(t, ops)
			if _, err := ops.PauseEndpoint(t.Context(), e.ID); err != nil {
				t.Fatal(err)
			}
			p.ask(calledBack())
			synctest.Wait()
			stop()
			for _, f := range effects(t, db, e.ID) {
				old := store.Completion{
					ID: f.ID, Retry: time.Now().AddDate(100, 0, 0),
					Error: "kept while this endpoint is paused: " + e.ID,
				}
				if _, err := db.Commit(t.Context(), store.Change{Done: []store.Completion{old}}); err != nil {
					t.Fatal(err)
				}
			}
			resume := func() {
				if _, err := ops.ResumeEndpoint(t.Context(), e.ID); err != nil {
					t.Fatal(err)
				}
			}
			if before {
				resume()
			}
			p, ops = newEndpoints(t, db, to, engine.Options{})
			defer p.run()()
			synctest.Wait()
			if !before {
				effects(t, db, e.ID)
				wantEvents(t, to.events(), "question_pending")
				resume()
				synctest.Wait()
			}
			wantEvents(t, to.events(), "question_pending", "question_pending")
		})
	}
}

// Old kept deliveries of an endpoint that cannot be read do not block the deliveries of other endpoints.
func TestDamagedEndpointDoesNotBlockOtherDeliveries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to, db := &receiver{}, memstore.New()
		kept := func(id string) store.Completion {
			return store.Completion{
				ID: id, Retry: time.Now().AddDate(100, 0, 0), Error: "kept while this endpoint is paused: end_bad",
			}
		}
		if _, err := db.Commit(t.Context(), store.Change{
			Put: []store.Record{{Kind: "endpoint", ID: "end_bad", Fixed: []byte("?"), State: []byte("?")}},
			Effects: []store.Effect{
				{ID: "a_0", Kind: "send", SubjectKind: "endpoint", Subject: "end_bad", Data: []byte("{}")},
			},
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Commit(t.Context(), store.Change{Done: []store.Completion{kept("a_0")}}); err != nil {
			t.Fatal(err)
		}
		p, ops := newEndpoints(t, db, to, engine.Options{})
		stop := p.run()
		p.ask(calledBack())
		synctest.Wait()
		e := endpoint(t, ops)
		if _, err := ops.PauseEndpoint(t.Context(), e.ID); err != nil {
			t.Fatal(err)
		}
		p.ask(calledBack())
		synctest.Wait()
		stop()
		all, err := db.Effects(t.Context(), store.Query{})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range all {
			if f.Held != e.ID {
				continue
			}
			old := kept(f.ID)
			old.Error = "kept while this endpoint is paused: " + e.ID
			if _, err := db.Commit(t.Context(), store.Change{Done: []store.Completion{old}}); err != nil {
				t.Fatal(err)
			}
		}
		p, ops = newEndpoints(t, db, to, engine.Options{})
		defer p.run()()
		synctest.Wait()
		if _, err := ops.ResumeEndpoint(t.Context(), e.ID); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		wantEvents(t, to.events(), "question_pending", "question_pending")
	})
}

// effects returns the effects in a store. It requires exactly one effect, held for a key and without an error.
func effects(t *testing.T, db store.Queue, held string) []store.Effect {
	t.Helper()
	all, err := db.Effects(t.Context(), store.Query{})
	if err != nil || len(all) != 1 || all[0].Held != held || all[0].Error != "" {
		t.Fatalf("got effects %+v, %v, want an effect that is held for %s", all, err, held)
	}
	return all
}
