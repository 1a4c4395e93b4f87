package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/sqlite"
)

// A dataset describes the asks of a generated database. Two databases with the same description have the same
// records and events.
//
// Half of the pending asks are older than every settled ask, as in a database whose old settled asks were
// deleted. The others are spread evenly among the settled asks. Every ask has one of datasetAgents owners.
// Some pending asks are addressed to one person, and some have a deadline.
type dataset struct{ pending, settled int }

const (
	datasetAgents = 1000
	datasetPeople = 50
	// changeLength is how many asks one change of the generator contains.
	changeLength = 500
	// A session has sessionLength asks in a row. One session begins every sessionInterval asks; the other
	// asks have implicit sessions.
	sessionLength, sessionInterval = 5, 50
	// A settled ask has no ack if its number is a multiple of unackedInterval.
	unackedInterval = 20
)

// The times of a dataset: its first ask, its first settled ask, its end, and the earliest
// deadline of pending asks.
var (
	datasetStart    = time.Date(2025, time.July, 1, 0, 0, 0, 0, time.UTC)
	datasetMiddle   = datasetStart.AddDate(0, 3, 0)
	datasetEnd      = datasetStart.AddDate(0, 6, 0)
	datasetDeadline = datasetStart.AddDate(100, 0, 0)
)

// write adds the records and events of the dataset to the database at path.
func (d dataset) write(ctx context.Context, path string, progress io.Writer) (err error) {
	db, err := sqlite.Open(path, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	changes, generated := make(chan store.Change, 4), make(chan error, 1)
	go func() {
		defer close(changes)
		generated <- d.generate(ctx, changes)
	}()
	written, began := 0, time.Now()
	for c := range changes {
		if _, err := db.Commit(ctx, c); err != nil {
			return err
		}
		if written += changeLength; written%500_000 == 0 {
			fmt.Fprintf(progress, "bench: %d asks written in %s\n", written, time.Since(began).Round(time.Second))
		}
	}
	return <-generated
}

// agentName returns the name of agent n, modulo datasetAgents.
func agentName(n int) string { return fmt.Sprintf("agent-%04d", n%datasetAgents) }

// generate sends the dataset as changes, in order of time.
func (d dataset) generate(ctx context.Context, changes chan<- store.Change) error {
	g := generator{dataset: d, random: rand.NewChaCha8([32]byte{'s', 'c', 'a', 'l', 'e'})}
	var err error
	if g.request, err = request().Normalize(); err != nil {
		return err
	}
	for n := range d.pending + d.settled {
		if err := g.add(n); err != nil {
			return fmt.Errorf("ask %d: %w", n, err)
		}
		if (n+1)%changeLength != 0 && n+1 < d.pending+d.settled {
			continue
		}
		select {
		case changes <- g.change:
			g.change = store.Change{}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// A generator builds the next change of a dataset.
type generator struct {
	dataset
	random  io.Reader
	request askback.Request
	session lifecycle.SessionState // without an ID, the next ask has an implicit session
	started store.Record           // the record of session
	change  store.Change
}

// old returns the number of pending asks that are older than every settled ask.
func (d dataset) old() int { return d.pending / 2 }

// time returns when ask n was made.
func (d dataset) time(n int) time.Time {
	from, to, count := datasetStart, datasetMiddle, d.old()
	if n >= count {
		from, to, n, count = datasetMiddle, datasetEnd, n-count, d.pending+d.settled-count
	}
	share := float64(n) / float64(count)
	return from.Add(time.Duration(share * float64(to.Sub(from)))).Truncate(time.Millisecond)
}

// nthPending reports whether ask n is pending, and returns how many pending asks are older.
func (d dataset) nthPending(n int) (older int, ok bool) {
	old := d.old()
	if n < old {
		return n, true
	}
	pending, total := d.pending-old, d.pending+d.settled-old
	older = (n - old) * pending / total
	return old + older, (n-old+1)*pending/total > older
}

// add adds ask n to the change. It also begins or ends a session if a session begins or ends at this ask.
func (g *generator) add(n int) (err error) {
	at := g.time(n)
	agent := n
	if older, ok := g.nthPending(n); ok {
		agent = older
	}
	owner := agentName(agent)
	if n%sessionInterval == 0 {
		if err := g.startSession(owner, at); err != nil {
			return err
		}
	}
	if g.session.Session.ID != "" {
		owner = g.session.Session.Owner
	}
	if err := g.addAsk(n, owner, at); err != nil {
		return err
	}
	if g.session.Session.ID != "" && (n%sessionInterval == sessionLength-1 || n+1 == g.pending+g.settled) {
		return g.endSession(at)
	}
	return nil
}

// addAsk adds ask n, and its answer if it is settled.
func (g *generator) addAsk(n int, owner string, at time.Time) error {
	id, err := ids.New(ids.Ask, at, g.random)
	if err != nil {
		return err
	}
	a := askback.Ask{
		ID: id, SessionID: ids.Swap(id, ids.Session), Agent: owner, Kind: askback.Questions,
		Questions: g.request.Questions, Context: g.request.Context, OnTimeout: g.request.OnTimeout,
		Quorum: g.request.Quorum,
	}
	if g.session.Session.ID != "" {
		a.SessionID = g.session.Session.ID
	}
	older, pending := g.nthPending(n)
	if pending {
		switch {
		case older%100 == 0:
			a.To = []string{answerer.Name}
		case older%10 == 1:
			a.To = []string{fmt.Sprintf("person-%02d@example.com", older/10%datasetPeople)}
		}
		if older%2 == 0 {
			a.Deadline = datasetDeadline.Add(time.Duration(older) * time.Second)
		}
	}
	r := store.Record{Kind: "ask", ID: id, Stream: a.SessionID, Owner: owner, Agent: owner, Created: at}
	if n%2 == 0 {
		r.Key = fmt.Sprintf("%d:%s:%s", len(owner), owner, id)
	}
	inputs := []timedInput{{lifecycle.Asked{Ask: a, Owner: owner, At: at}, at}}
	if !pending {
		inputs = append(inputs, settlement(n, at.Add(time.Minute))...)
	}
	var state lifecycle.AskState
	for _, in := range inputs {
		result, err := state.Step(in.input)
		if err != nil {
			return err
		}
		state, r.Updated = result.State, in.at
		if err := g.addEvents(r.Stream, id, in.at, result.History); err != nil {
			return err
		}
	}
	if err := g.stepSession(id, at, state.Ask.Settled()); err != nil {
		return err
	}
	return put(&g.change, r, state)
}

// A timedInput is an input of an ask and its time.
type timedInput struct {
	input lifecycle.Input
	at    time.Time
}

// settlement returns the inputs that settle ask n at the given time and, for most asks,
// acknowledge the outcome.
func settlement(n int, at time.Time) []timedInput {
	inputs := []timedInput{
		{lifecycle.Answered{By: answerer.Name, Via: askback.ChannelAPI, Answer: reply(), At: at}, at},
	}
	if n%40 == 7 {
		inputs[0].input = lifecycle.Declined{By: answerer.Name, Via: askback.ChannelAPI, Reason: "not today", At: at}
	}
	if n%unackedInterval != 0 {
		inputs = append(inputs, timedInput{lifecycle.Acked{At: at}, at})
	}
	return inputs
}

func (g *generator) addEvents(stream, subject string, at time.Time, history []lifecycle.Event) error {
	for _, h := range history {
		data, err := h.Append(nil)
		if err != nil {
			return err
		}
		g.change.Events = append(g.change.Events,
			store.Event{Stream: stream, Subject: subject, Type: string(h.Type), At: at, Data: data})
	}
	return nil
}

func (g *generator) startSession(owner string, at time.Time) error {
	id, err := ids.New(ids.Session, at, g.random)
	if err != nil {
		return err
	}
	g.started = store.Record{Kind: "session", ID: id, Stream: id, Owner: owner, Agent: owner, Created: at, Updated: at}
	return g.step(lifecycle.SessionStarted{At: at, Session: askback.Session{
		ID: id, Owner: owner, Agent: owner, Title: "Nightly deployment",
	}}, at)
}

// stepSession counts an ask in the session. It does nothing if there is no session.
func (g *generator) stepSession(ask string, at time.Time, settled bool) error {
	if g.session.Session.ID == "" {
		return nil
	}
	err := g.step(lifecycle.AskOpened{ID: ask, At: at}, at)
	if err == nil && settled {
		err = g.step(lifecycle.AskClosed{ID: ask, At: at}, at)
	}
	return err
}

// step applies an input to the session, and adds the resulting events to the change.
func (g *generator) step(in lifecycle.Input, at time.Time) error {
	result, err := g.session.Step(in)
	if err != nil {
		return err
	}
	g.session = result.State
	return g.addEvents(g.started.ID, g.started.ID, at, result.History)
}

// endSession adds the record of the session to the change. The session ends unless it has a pending ask.
func (g *generator) endSession(at time.Time) (err error) {
	if g.session.Session.AsksPending == 0 {
		err = g.step(lifecycle.SessionCommand{
			By: askback.Actor{Kind: askback.ActorAgent, Name: g.started.Owner}, Via: askback.ChannelAPI,
			Command: askback.Complete{Status: askback.SessionCompleted}, At: at,
		}, at)
	}
	g.started.Updated = at
	err = errors.Join(err, put(&g.change, g.started, g.session))
	g.session = lifecycle.SessionState{}
	return err
}

// put adds a record with its state to a change.
func put(c *store.Change, r store.Record, state interface {
	Columns() lifecycle.Columns
	AppendFixed(b []byte) ([]byte, error)
	AppendMoving(b []byte) ([]byte, error)
},
) (err error) {
	columns := state.Columns()
	r.Open, r.Unacked, r.Status, r.To, r.Due = columns.Open, columns.Unacked, columns.Status, slices.Clone(columns.To),
		columns.Due
	if r.Fixed, err = state.AppendFixed(nil); err != nil {
		return err
	}
	if r.State, err = state.AppendMoving(nil); err != nil {
		return err
	}
	c.Put = append(c.Put, r)
	return nil
}
