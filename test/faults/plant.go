package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/decode"
	"github.com/askback/askback/store"
)

// plants are the faults that can be planted, each with the number of tries of
// the proof that has to find it.
var plants = map[string]func(*options) *int{
	ackBeforeCommit: func(o *options) *int { return &o.load },
	unforwarded:     func(o *options) *int { return &o.server },
	looseDigest:     func(o *options) *int { return &o.pairs },
	joinedNames:     func(o *options) *int { return &o.pairs },
	staleGrant:      func(o *options) *int { return &o.races },
	staleStep:       func(o *options) *int { return &o.races },
	laggingCursor:   func(o *options) *int { return &o.streams },
	skippingCursor:  func(o *options) *int { return &o.streams },
	earlyEvent:      func(o *options) *int { return &o.streams },
	staleWords:      func(o *options) *int { return &o.streams },
}

func plantNames() string { return strings.Join(slices.Sorted(maps.Keys(plants)), ", ") }

// ackBeforeCommit is the planted fault: changes to asks that are there are
// acknowledged when they are queued, and written after that.
const ackBeforeCommit = "ack-before-commit"

// planted returns the store a child works with, and what finishes its work.
func planted(plant string, s engine.Store) (engine.Store, func()) {
	if plant != ackBeforeCommit {
		return s, func() {}
	}
	e := &eager{Store: s, queue: make(chan store.Change, 1024)}
	e.writing.Go(func() {
		for c := range e.queue {
			_, _ = e.Store.Commit(context.Background(), c)
		}
	})
	return e, func() {
		close(e.queue)
		e.writing.Wait()
	}
}

// eager acknowledges before it commits. The engine steps an ask by what it
// remembers of it, so that while the process lives all is in order; only a kill
// shows that something was promised and not kept.
type eager struct {
	engine.Store
	queue   chan store.Change
	writing sync.WaitGroup
}

func (e *eager) Commit(ctx context.Context, c store.Change) (int64, error) {
	if c.Put[0].Version == 0 {
		return e.Store.Commit(ctx, c)
	}
	e.queue <- c
	return 0, nil
}

// unforwarded is the planted fault on the wire: something stands before the
// server that acknowledges some answers and passes them on to nobody.
const unforwarded = "unforwarded-answer"

// between returns what stands between everybody and the server, if anything.
func between(plant string, nameOf func(token string) string) func(http.RoundTripper) http.RoundTripper {
	if plant != unforwarded {
		return nil
	}
	return func(on http.RoundTripper) http.RoundTripper { return &liar{on: on, nameOf: nameOf} }
}

// lieEach is how many answers there are to one that goes nowhere.
const lieEach = 20

type liar struct {
	on      http.RoundTripper
	nameOf  func(token string) string
	answers atomic.Int64
}

// RoundTrip implements [http.RoundTripper].
func (l *liar) RoundTrip(r *http.Request) (*http.Response, error) {
	path, answers := strings.CutSuffix(r.URL.Path, "/answer")
	if !answers || l.answers.Add(1)%lieEach != 0 {
		return l.on.RoundTrip(r)
	}
	said, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	look := r.Clone(r.Context())
	look.Method, look.URL.Path, look.Body, look.ContentLength, look.GetBody = "GET", path, nil, 0, nil
	res, err := l.on.RoundTrip(look)
	if err != nil || res.StatusCode != http.StatusOK {
		return res, err
	}
	return res, l.lie(res, said, l.nameOf(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")))
}

// lie puts an answer into a reply that shows how an ask stands.
func (l *liar) lie(res *http.Response, said []byte, by string) error {
	var a askback.Ask
	if err := json.NewDecoder(res.Body).Decode(&a); err != nil {
		return fmt.Errorf("read the ask: %w", err)
	}
	answer, err := decode.Answer(said)
	if err != nil {
		return err
	}
	a.Status = askback.Answered
	a.Outcome = &askback.Outcome{
		Status: a.Status, Actor: askback.Actor{Kind: askback.ActorPerson, Name: by}, Channel: askback.ChannelAPI, At: time.Now(),
		Decision: answer.Decision, Reason: answer.Reason, Comment: answer.Comment, Answers: answer.Answers,
	}
	raw, err := json.Marshal(a)
	if err != nil {
		return err
	}
	res.Body.Close()
	res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	return nil
}
