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

// An operation is a call that changes a record other than an ask.
type operation struct {
	name string
	do   func(t *testing.T, p *fixture) error
}

// operations returns operations that change such records.
func operations(t *testing.T, p *fixture) []operation {
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
	return []operation{
		{"log in", func(t *testing.T, p *fixture) error {
			_, err := p.engine.Login(t.Context(), secret, askback.Browser{})
			return err
		}},
		{
			"revoke a token",
			func(t *testing.T, _ *fixture) error { _, err := eve.RevokeToken(t.Context(), token.ID); return err },
		},
		{"save a draft", func(t *testing.T, p *fixture) error {
			return p.ana.SaveDraft(t.Context(), a.ID, json.RawMessage(`{"answers":[]}`))
		}},
		{"snooze an ask", func(t *testing.T, p *fixture) error {
			_, err := p.ana.Snooze(t.Context(), a.ID, time.Now().Add(time.Hour))
			return err
		}},
		{"adopt a secret", func(t *testing.T, p *fixture) error {
			return p.engine.Adopt(t.Context(), admin, "askback_mine")
		}},
		{"start a session", func(t *testing.T, p *fixture) error {
			_, err := p.agent.Start(t.Context(), askback.SessionRequest{Key: "run"})
			return err
		}},
	}
}

// After ErrUnknown, an operation on a record other than an ask returns an error only if
// the record was not stored.
func TestUnknownCommitOfRecordOtherThanAskIsReadBack(t *testing.T) {
	p := newFixture(t, memstore.New(), nil)
	for _, e := range operations(t, p) {
		p.store.onCommit(failWithUnknown(true))
		if err := e.do(t, p); err != nil {
			t.Errorf("%s: got error %v, want none", e.name, err)
		}
	}
	p = newFixture(t, memstore.New(), nil)
	for _, e := range operations(t, p) {
		p.store.onCommit(failWithUnknown(false))
		if err := e.do(t, p); !errors.Is(err, askback.ErrUnknown) {
			t.Errorf("%s: got error %v, want %v", e.name, err, askback.ErrUnknown)
		}
	}
}

// After a conflict, an operation on a record other than an ask is retried.
func TestConflictOfRecordOtherThanAskIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFixture(t, memstore.New(), nil)
		for _, e := range operations(t, p)[1:] { // a log-in link works once, so it cannot be retried
			p.store.onCommit(failWithConflict(3))
			if err := e.do(t, p); err != nil {
				t.Errorf("%s after conflicts: got error %v, want none", e.name, err)
			}
		}
		p = newFixture(t, memstore.New(), nil)
		for _, e := range operations(t, p)[1:] {
			p.store.onCommit(failWithConflict(1 << 30))
			if err := e.do(t, p); !errors.Is(err, askback.ErrBusy) {
				t.Errorf("%s with conflicts only: got error %v, want %v", e.name, err, askback.ErrBusy)
			}
		}
	})
}

// After ErrUnknown, the deletion of a record is not an error if the record was deleted.
func TestUnknownDeletionIsReadBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		p := newFixture(t, memstore.New(), &engine.Options{
			Log: slog.New(slog.NewTextHandler(&log, nil)), Settings: engine.Settings{Retention: time.Hour},
		})
		old := p.ask(question())
		if _, err := p.ana.Answer(t.Context(), old.ID, askback.Choose("SQLite")); err != nil {
			t.Fatal(err)
		}
		eve := p.engine.As(admin)
		if _, _, err := eve.CreateToken(t.Context(),
			askback.TokenRequest{Kind: askback.Agent, Name: "x", ExpiresIn: time.Hour}); err != nil {
			t.Fatal(err)
		}
		<-time.After(2 * time.Hour)
		var commits atomic.Int64
		p.store.onCommit(func(ctx context.Context, c store.Change, next committer) (int64, error) {
			commits.Add(1)
			return failWithUnknown(true)(ctx, c, next)
		})
		stop := p.run()
		<-time.After(10 * time.Minute)
		synctest.Wait()
		stop()
		if n := commits.Load(); n != 2 || log.Len() > 0 {
			t.Errorf("got %d commits and the log %q, want one for the token, one for the ask, and no log", n,
				log.String())
		}
	})
}
