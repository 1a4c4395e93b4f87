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
	"github.com/askback/askback/internal/wire/decode"
	"github.com/askback/askback/store"
)

// mutants maps the name of each mutant to an option. The option sets how often the test that must detect the
// mutant is repeated.
var mutants = map[string]func(*options) *int{
	ackBeforeCommit: func(o *options) *int { return &o.load },
	unforwarded:     func(o *options) *int { return &o.server },
	droppedOutcome:  func(o *options) *int { return &o.channels },
	hiddenMessage:   func(o *options) *int { return &o.reach },
	looseDigest:     func(o *options) *int { return &o.pairs },
	joinedNames:     func(o *options) *int { return &o.pairs },
	staleGrant:      func(o *options) *int { return &o.races },
	staleStep:       func(o *options) *int { return &o.races },
	laggingCursor:   func(o *options) *int { return &o.streams },
	skippingCursor:  func(o *options) *int { return &o.streams },
	earlyEvent:      func(o *options) *int { return &o.streams },
	staleEvent:      func(o *options) *int { return &o.streams },
}

func mutantNames() string { return strings.Join(slices.Sorted(maps.Keys(mutants)), ", ") }

// ackBeforeCommit is the mutant that acknowledges changes of existing asks
// before they are committed.
const ackBeforeCommit = "ack-before-commit"

// mutantStore returns the store for a child: s, or a store that acknowledges changes early for the mutant
// ackBeforeCommit. The returned function waits for pending commits.
func mutantStore(mutant string, s engine.Store) (engine.Store, func()) {
	if mutant != ackBeforeCommit {
		return s, func() {}
	}
	e := &earlyAckStore{Store: s, queue: make(chan store.Change, 1024)}
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

// An earlyAckStore acknowledges a change of an existing record before it commits the change. The engine
// continues with its cached state, so only a kill reveals the defect.
type earlyAckStore struct {
	engine.Store
	queue   chan store.Change
	writing sync.WaitGroup
}

func (e *earlyAckStore) Commit(ctx context.Context, c store.Change) (int64, error) {
	if c.Put[0].Version == 0 {
		return e.Store.Commit(ctx, c)
	}
	e.queue <- copyOf(c)
	return 0, nil
}

// copyOf returns a copy of a change. The engine reuses the memory of the original once the change is
// acknowledged.
func copyOf(c store.Change) store.Change {
	c.Put, c.Events, c.Effects = slices.Clone(c.Put), slices.Clone(c.Events), slices.Clone(c.Effects)
	for i := range c.Put {
		c.Put[i].Fixed, c.Put[i].State = bytes.Clone(c.Put[i].Fixed), bytes.Clone(c.Put[i].State)
	}
	for i := range c.Events {
		c.Events[i].Data = bytes.Clone(c.Events[i].Data)
	}
	c.Release = slices.Clone(c.Release)
	c.Delete, c.Done, c.Prune, c.Unindex = slices.Clone(c.Delete), slices.Clone(c.Done), slices.Clone(c.Prune),
		slices.Clone(c.Unindex)
	return c
}

// unforwarded is the mutant that acknowledges some answers without forwarding
// them to the server.
const unforwarded = "unforwarded-answer"

// mutantTransport returns a function that wraps the transport between clients and server, or nil if the
// mutant needs no such function.
func mutantTransport(mutant string, nameOf func(token string) string) func(http.RoundTripper) http.RoundTripper {
	if mutant != unforwarded {
		return nil
	}
	return func(on http.RoundTripper) http.RoundTripper { return &droppingTransport{on: on, nameOf: nameOf} }
}

// The mutant does not forward one of dropInterval answers.
const dropInterval = 20

type droppingTransport struct {
	on      http.RoundTripper
	nameOf  func(token string) string
	answers atomic.Int64
}

// RoundTrip implements [http.RoundTripper].
func (l *droppingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	path, isAnswer := strings.CutSuffix(r.URL.Path, "/answer")
	if !isAnswer || l.answers.Add(1)%dropInterval != 0 {
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
	return res, l.fakeAnswer(res, said, l.nameOf(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")))
}

// fakeAnswer settles the ask in a response with the answer, as the server would. said is the request body
// with the answer, and by is the name of the person.
func (l *droppingTransport) fakeAnswer(res *http.Response, said []byte, by string) error {
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
		Status: a.Status, Actor: askback.Actor{Kind: askback.ActorPerson, Name: by}, Channel: askback.ChannelAPI,
		At: time.Now(), Decision: answer.Decision, Reason: answer.Reason, Comment: answer.Comment,
		Answers: answer.Answers,
	}
	raw, err := json.Marshal(a)
	if err != nil {
		return err
	}
	res.Body.Close()
	res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	return nil
}
