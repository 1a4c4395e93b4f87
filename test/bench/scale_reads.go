package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/sqlite"
)

// readRepeats is the maximum number of measurements of each read. The figure is their median.
const readRepeats = 9

// maxReadTime is the time after which a read is not measured again.
const maxReadTime = 2 * time.Second

// readsChild opens the database as a server does, and writes the time of each read and the
// memory of the process.
func readsChild(ctx context.Context, out *json.Encoder, path string, _ []int) error {
	began := time.Now()
	db, err := sqlite.Open(path, nil)
	if err != nil {
		return err
	}
	defer db.Close()
	e := engine.New(db, serverOptions())
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- e.Run(running) }()
	defer func() { stop(); <-ended }()
	person := e.As(answerer)
	page, err := person.List(ctx, askback.Query{})
	if err != nil || len(page.Items) == 0 {
		return errors.Join(err, errors.New("no pending asks"))
	}
	if err := out.Encode(scaleFigure{"start and first page", millis(time.Since(began))}); err != nil {
		return err
	}
	for _, r := range reads(e, db, page) {
		took, err := medianTime(ctx, r.do)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		if err := out.Encode(scaleFigure{r.name, millis(took)}); err != nil {
			return err
		}
	}
	return errors.Join(out.Encode(scaleFigure{"memory of the process, MB", float64(settledMemory()) / 1e6}),
		out.Encode(scaleFigure{}))
}

// medianTime returns the median time of several calls of do: see readRepeats and
// maxReadTime.
func medianTime(ctx context.Context, do func(context.Context) error) (time.Duration, error) {
	var times []time.Duration
	for began := time.Now(); len(times) < readRepeats && (len(times) == 0 || time.Since(began) < maxReadTime); {
		start := time.Now()
		if err := do(ctx); err != nil {
			return 0, err
		}
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}

// A read is one measured operation.
type read struct {
	name string
	do   func(context.Context) error
}

// reads returns the reads to measure. page is the first page of the inbox.
func reads(e *engine.Engine, db *sqlite.Store, page askback.Page) []read {
	person := e.As(answerer)
	oldest := page.Items[0]
	return append(listReads(e, page), []read{
		{"one ask", func(ctx context.Context) error {
			_, err := person.Get(ctx, oldest.ID)
			return err
		}},
		{"snapshot of all events", func(ctx context.Context) error {
			for _, err := range person.Events(ctx, "", "") {
				return err
			}
			return nil
		}},
		{"statistics", func(ctx context.Context) error {
			_, err := person.Stats(ctx)
			return err
		}},
		{"agents", func(ctx context.Context) error {
			_, err := person.Agents(ctx)
			return err
		}},
		{"next deadline", func(ctx context.Context) error {
			_, err := db.Due(ctx, datasetDeadline.AddDate(100, 0, 0), 64)
			return err
		}},
		{"oldest settled asks", func(ctx context.Context) error {
			_, err := db.List(ctx, store.Query{Kind: "ask", Open: new(false), Limit: 64})
			return err
		}},
	}...)
}

// listReads returns the lists to measure, as people and agents request them.
func listReads(e *engine.Engine, page askback.Page) []read {
	person := e.As(answerer)
	addressed := e.As(askback.Principal{Kind: askback.Responder, Name: "person-07@example.com"})
	agent := e.As(askback.Principal{Kind: askback.Agent, Name: page.Items[7].Owner})
	newAgent := e.As(askback.Principal{Kind: askback.Agent, Name: "new-agent"})
	oldest := page.Items[0]
	list := func(who askback.Inbox, q askback.Query) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := who.List(ctx, q)
			return err
		}
	}
	sessions := func(who askback.Client, q askback.SessionQuery) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := who.Sessions(ctx, q)
			return err
		}
	}
	return []read{
		{"inbox, first page", list(person, askback.Query{})},
		{"inbox, second page", list(person, askback.Query{Cursor: page.NextCursor})},
		{"inbox, page in the middle", list(person, askback.Query{Cursor: idAt(datasetMiddle)})},
		{"inbox, page at the end", list(person, askback.Query{Cursor: idAt(datasetEnd)})},
		{"inbox of another person", list(addressed, askback.Query{})},
		{"inbox, to=", list(person, askback.Query{To: "person-07@example.com"})},
		{"inbox, agent=", list(person, askback.Query{Agent: oldest.Agent})},
		{"inbox, agent= without asks", list(person, askback.Query{Agent: "no such agent"})},
		{"inbox, q= without a match", list(person, askback.Query{Search: "no such text"})},
		{"asks of a session", list(person, askback.Query{SessionID: oldest.SessionID, Status: askback.AnyStatus})},
		{"all asks", list(person, askback.Query{Status: askback.AnyStatus})},
		{"answered asks", list(person, askback.Query{Status: askback.Answered})},
		{"expired asks, none", list(person, askback.Query{Status: askback.Expired})},
		{"unacked asks", list(person, askback.Query{Unacked: true})},
		{"unacked asks of an agent", list(agent, askback.Query{Unacked: true})},
		{"unacked asks of a new agent", list(newAgent, askback.Query{Unacked: true})},
		{"pending asks of an agent", list(agent, askback.Query{})},
		{"pending asks of a new agent", list(newAgent, askback.Query{})},
		{"all asks of an agent", list(agent, askback.Query{Status: askback.AnyStatus})},
		{"all asks of a new agent", list(newAgent, askback.Query{Status: askback.AnyStatus})},
		{"sessions", sessions(person, askback.SessionQuery{})},
		{"sessions that failed, none", sessions(person, askback.SessionQuery{Status: askback.SessionFailed})},
		{"sessions of an agent", sessions(agent, askback.SessionQuery{})},
		{"sessions of a new agent", sessions(newAgent, askback.SessionQuery{})},
	}
}

// zeros is a reader of zeros, for the random bits of an id.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// idAt returns the lowest id of an ask that is made at that time.
func idAt(at time.Time) string {
	id, err := ids.New(ids.Ask, at, zeros{})
	if err != nil {
		panic(err) // zeros never fail
	}
	return id
}

// cleanChild runs an engine whose retention time has ended for a number of settled asks, and
// writes the time until they are deleted.
func cleanChild(ctx context.Context, out *json.Encoder, path string, numbers []int) error {
	n := numbers[0]
	db, err := sqlite.Open(path, nil)
	if err != nil {
		return err
	}
	defer db.Close()
	oldest, err := db.List(ctx, store.Query{Kind: "ask", Open: new(false), Limit: n})
	if err != nil || len(oldest) < n {
		return errors.Join(err, fmt.Errorf("got %d settled asks, want %d", len(oldest), n))
	}
	last := oldest[n-1]
	o := serverOptions()
	o.Settings.Retention = time.Since(last.Updated) - time.Millisecond // the engine rounds times down
	began := time.Now()
	e := engine.New(db, o)
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- e.Run(running) }()
	defer func() { stop(); <-ended }()
	deleted := func() bool {
		_, err := db.Read(ctx, "ask", last.ID)
		return errors.Is(err, store.ErrNotFound)
	}
	if err := waitIdle(ctx, deleted); err != nil {
		return err
	}
	return errors.Join(out.Encode(scaleFigure{"clean-up", millis(time.Since(began))}), out.Encode(scaleFigure{}))
}
