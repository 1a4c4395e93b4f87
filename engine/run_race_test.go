package engine_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/askback/askback"
	"github.com/askback/askback/conversation"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

// An overtaken is a store that calls before, once, when a change with a new ask is committed.
type overtaken struct {
	engine.Store
	before func(stream string)
	once   sync.Once
}

func (s *overtaken) Commit(ctx context.Context, c store.Change) (int64, error) {
	if i := slices.IndexFunc(c.Put, func(r store.Record) bool { return r.Kind == "ask" && r.Version == 0 }); i >= 0 {
		s.once.Do(func() { s.before(c.Put[i].Stream) })
	}
	return s.Store.Commit(ctx, c)
}

// A turn that another process cancels while its ask is opened leaves no ask behind (F1).
func TestAskOfATurnThatAnotherProcessCancelsIsNotOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memstore.New()
		r := &scriptRunner{scripts: map[string][]conversation.ModelReplied{"poem": {says("", call("ask", `{"question":"Which?"}`))}}}
		there := engine.New(s, &engine.Options{Runner: r}).As(askback.Principal{Kind: askback.Responder, Name: "ben"})
		h := &host{t: t, runner: r}
		h.start(&overtaken{Store: s, before: func(stream string) {
			if _, err := there.Send(t.Context(), stream, askback.EndTurn{}); err != nil {
				t.Error(err)
			}
		}})
		defer h.stop()
		one := h.run("Go.")
		page, err := h.ana.List(t.Context(), askback.Query{})
		h.check("open asks", fmt.Sprint(len(page.Items), err, one.Status), "0 <nil>completed")
	})
}
