// Package host runs hosted agents inside a Go program, with models and tools of the program. [Open] opens a
// database. [Host.Run] starts an agent, has its asks answered, and returns the result. The function
// terminal.Answer answers asks at the terminal of the program.
//
// A program that needs more uses the packages engine and agent, on which this package is built.
package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/askback/askback"
	"github.com/askback/askback/agent"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
	"github.com/askback/askback/store/sqlite"
)

// Person is the name of the person who starts the runs of a [Host] and answers their asks. If a definition
// addresses its asks to other people, the clients of these people must answer: see [Host.Client].
const Person = "you"

// A Host runs agents until it is closed. It is safe for concurrent use.
type Host struct {
	engine *engine.Engine
	store  interface{ Close() error } // nil if nothing is stored
	stop   context.CancelFunc
	ended  chan struct{}
}

// An Answerer answers or declines an ask through the inbox of a person. If it does neither and returns nil,
// the ask stays open. ctx ends when the ask is settled in another way.
type Answerer func(ctx context.Context, inbox askback.Inbox, a askback.Ask) error

// Open starts running agents with these definitions, and continues the runs in the database. database is the
// name of a file, which Open creates if necessary. If it is "", the database is in the memory of this
// process. Only one process with these agents should have the database open.
func Open(database string, definitions ...agent.Definition) (*Host, error) {
	runner, err := agent.NewRunner(definitions...)
	if err != nil {
		return nil, err
	}
	h := &Host{ended: make(chan struct{})}
	var s engine.Store = memstore.New()
	if database != "" {
		file, err := sqlite.Open(database, nil)
		if err != nil {
			return nil, err
		}
		s, h.store = file, file
	}
	h.engine = engine.New(s, &engine.Options{Runner: runner})
	ctx, stop := context.WithCancel(context.Background())
	h.stop = stop
	go func() {
		defer close(h.ended)
		_ = h.engine.Run(ctx) // returns nil
	}()
	return h, nil
}

// Close stops the runs and closes the database. When the database is opened again, the interrupted steps of
// the runs are repeated, or reported as interrupted. Close must be called once.
func (h *Host) Close() error {
	h.stop()
	<-h.ended
	if h.store == nil {
		return nil
	}
	return h.store.Close()
}

// Client returns the client of a principal. Another person can answer with a client, and a program can follow
// the events of a run.
func (h *Host) Client(p askback.Principal) askback.Client { return h.engine.As(p) }

// you returns the client of the person with the name [Person].
func (h *Host) you() askback.PersonClient {
	return h.engine.As(askback.Principal{Kind: askback.Responder, Name: Person})
}

// ErrNotCompleted is the error of a run that failed or was cancelled.
var ErrNotCompleted = errors.New("the run was not completed")

// Run starts a run of an agent and returns its result. It calls answer for each ask of the run and of its
// sub-agents, one at a time. If answer returns an error, or ctx ends, Run returns the error, and the run
// continues: see [Host.Wait]. If answer is nil, Run answers no asks.
func (h *Host) Run(ctx context.Context, agent, prompt string, answer Answerer) (string, error) {
	id, err := h.Start(ctx, agent, prompt)
	if err != nil {
		return "", err
	}
	return h.Wait(ctx, id, answer)
}

// Start starts a run of an agent and returns the id of its session.
func (h *Host) Start(ctx context.Context, agent, prompt string) (string, error) {
	s, err := h.you().Start(ctx, askback.SessionRequest{Agent: agent, Prompt: prompt})
	return s.ID, err
}

// Wait is like [Host.Run], for a run that was started before, perhaps by an earlier process. For a run that
// has ended, it returns the result immediately.
func (h *Host) Wait(ctx context.Context, session string, answer Answerer) (string, error) {
	w := newWait(h.you(), session, answer)
	s, err := w.run(ctx)
	switch {
	case err != nil:
		return "", fmt.Errorf("wait for %s: %w", session, err)
	case s.Status != askback.SessionCompleted && s.Error != "":
		return "", fmt.Errorf("%s: %w: %s", session, ErrNotCompleted, s.Error)
	case s.Status != askback.SessionCompleted:
		return "", fmt.Errorf("%s: %w: it is %s", session, ErrNotCompleted, s.Status)
	}
	var text string
	if json.Unmarshal(s.Result, &text) != nil {
		text = string(s.Result)
	}
	return text, nil
}
