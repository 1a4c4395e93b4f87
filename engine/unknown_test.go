package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

// What is done beside asks, as one who does it sees it.
type errand struct {
	name string
	do   func(t *testing.T, p *place) error
}

// errands are prepared, and returned to be done.
func errands(t *testing.T, p *place) []errand {
	t.Helper()
	eve := p.engine.As(admin)
	secret, err := eve.LoginSecret(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	token, _, err := eve.CreateToken(t.Context(), askback.TokenRequest{Kind: askback.Agent, Name: "old"})
	if err != nil {
		t.Fatal(err)
	}
	a := p.ask(question())
	return []errand{
		{"log in", func(t *testing.T, p *place) error { _, err := p.engine.Login(t.Context(), secret); return err }},
		{"revoke a token", func(t *testing.T, _ *place) error { _, err := eve.RevokeToken(t.Context(), token.ID); return err }},
		{"save a draft", func(t *testing.T, p *place) error {
			return p.ana.SaveDraft(t.Context(), a.ID, json.RawMessage(`{"answers":[]}`))
		}},
		{"adopt a secret", func(t *testing.T, p *place) error { return p.engine.Adopt(t.Context(), admin, "askback_mine") }},
		{"start a session", func(t *testing.T, p *place) error {
			_, err := p.agent.Start(t.Context(), askback.SessionRequest{Key: "run"})
			return err
		}},
	}
}

// What is not an ask is looked up as well when the store does not know.
func TestWhatElseWasKeptIsNoError(t *testing.T) {
	p := start(t, memstore.New(), nil)
	for _, e := range errands(t, p) {
		p.store.onCommit(unknown(true))
		if err := e.do(t, p); err != nil {
			t.Errorf("%s: got error %v, want none", e.name, err)
		}
	}
	p = start(t, memstore.New(), nil)
	for _, e := range errands(t, p) {
		p.store.onCommit(unknown(false))
		if err := e.do(t, p); !errors.Is(err, askback.ErrUnknown) {
			t.Errorf("%s: got error %v, want %v", e.name, err, askback.ErrUnknown)
		}
	}
}

// One who meets another's change tries again, and finds what is there then.
func TestConflictsOfErrandsAreTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t, memstore.New(), nil)
		for _, e := range errands(t, p)[1:] { // a log-in that meets another is spent
			p.store.onCommit(conflicts(3))
			if err := e.do(t, p); err != nil {
				t.Errorf("%s after conflicts: got error %v, want none", e.name, err)
			}
		}
		p = start(t, memstore.New(), nil)
		for _, e := range errands(t, p)[1:] {
			p.store.onCommit(conflicts(1 << 30))
			if err := e.do(t, p); !errors.Is(err, askback.ErrBusy) {
				t.Errorf("%s with conflicts only: got error %v, want %v", e.name, err, askback.ErrBusy)
			}
		}
	})
}

// What is due, and what is outdated, is looked up too: it is done, and not an error.
func TestDeletionsOfUnknownOutcomeAreLookedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		p := start(t, memstore.New(), &engine.Options{
			Log: slog.New(slog.NewTextHandler(&log, nil)), Settings: engine.Settings{Retention: time.Hour},
		})
		old := p.ask(question())
		if _, err := p.ana.Answer(t.Context(), old.ID, askback.Choose("SQLite")); err != nil {
			t.Fatal(err)
		}
		eve := p.engine.As(admin)
		if _, _, err := eve.CreateToken(t.Context(), askback.TokenRequest{Kind: askback.Agent, Name: "x", ExpiresIn: time.Hour}); err != nil {
			t.Fatal(err)
		}
		<-time.After(2 * time.Hour)
		var commits atomic.Int64
		p.store.onCommit(func(ctx context.Context, c store.Change, next committer) (int64, error) {
			commits.Add(1)
			return unknown(true)(ctx, c, next)
		})
		stop := p.run()
		<-time.After(10 * time.Minute)
		synctest.Wait()
		stop()
		if n := commits.Load(); n != 2 || log.Len() > 0 {
			t.Errorf("got %d commits and the log %q, want one for the token, one for the ask, and no log", n, log.String())
		}
	})
}
