package engine_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"testing"
	"testing/synctest"

	"github.com/askback/askback"
	"github.com/askback/askback/conversation"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

// A waiting run goes on after an older release stored its run, session and ask, with JSON that repeats the
// columns.
func TestRunStoredByOlderReleaseContinues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memstore.New()
		h := &host{t: t, runner: &scriptRunner{scripts: map[string][]conversation.ModelReplied{"poem": {
			says("First.", call("ask", `{"question":"Which?"}`)), says("All done."),
		}}}}
		h.start(s)
		one := h.run("Write.")
		a := h.asked()
		h.stop()

		asked, started := a.CreatedAt.UnixMilli(), one.CreatedAt.UnixMilli()
		rewrite(t, s, "run", one.ID, func(r *store.Record) { r.Agent, r.Owner, r.Status = "", "", "awaiting" },
			map[string]any{"format": 1, "id": one.ID, "agent": "poem", "started_by": "ana"}, nil)
		rewrite(t, s, "session", one.ID, func(r *store.Record) { r.Stream = r.ID },
			map[string]any{"v": 3, "id": one.ID, "owner": one.Owner, "agent": "poem", "created": started},
			map[string]any{"v": 3, "status": "waiting_for_input"})
		rewrite(t, s, "ask", a.ID, func(r *store.Record) { r.Key = "11:hosted:poem:run:" + one.ID + ":1" },
			map[string]any{
				"v": 5, "id": a.ID, "session": one.ID, "owner": a.Owner, "agent": "poem", "kind": "questions",
				"quorum": 1, "on_timeout": "wait", "created": asked,
			}, map[string]any{"v": 2, "status": "pending"})

		h.start(s)
		defer h.stop()
		if again := h.asked(); fmt.Sprintf("%+v", again) != fmt.Sprintf("%+v", a) {
			t.Errorf("got the ask %+v, want %+v", again, a)
		}
		if _, err := h.ana.Answer(t.Context(), a.ID, askback.Choose("B")); err != nil {
			t.Fatal(err)
		}
		got := h.settled(one.ID)
		h.check("session", fmt.Sprint(got.Status, string(got.Result), got.StartedBy, got.Owner, got.AsksTotal),
			`completed"All done."anahosted:poem1`)
		h.check("the model read", len(h.heard(one.ID)), 3)
	})
}

// rewrite replaces members of the JSON of a record, and changes its columns.
func rewrite(
	t *testing.T, s *memstore.Store, kind, id string, columns func(*store.Record), fixed, state map[string]any,
) {
	t.Helper()
	r, err := s.Read(t.Context(), kind, id)
	if err != nil {
		t.Fatal(err)
	}
	columns(&r)
	for part, members := range map[*[]byte]map[string]any{&r.Fixed: fixed, &r.State: state} {
		all := map[string]any{}
		if err := json.Unmarshal(*part, &all); err != nil {
			t.Fatal(err)
		}
		for name := range members {
			if _, ok := all[name]; ok && name != "v" && name != "format" {
				t.Errorf("%s: %s repeats %s", kind, *part, name)
			}
		}
		maps.Copy(all, members)
		if *part, err = json.Marshal(all); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Commit(t.Context(), store.Change{Put: []store.Record{r}}); err != nil {
		t.Fatal(err)
	}
}
