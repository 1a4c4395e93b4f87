package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/sqlite"
)

// loadAsker is the name of the agent in a child.
const loadAsker = "faults"

// maxRecent is the maximum number of recent asks, from which clients choose.
const maxRecent = 256

// loadTimeout is how long a child runs if it is not killed.
const loadTimeout = time.Minute

// A loadPlan is the configuration of a child, which is passed as JSON.
type loadPlan struct {
	Path    string `json:"path"`
	Seed    uint64 `json:"seed"`
	Round   int    `json:"round"` // number of earlier children
	Workers int    `json:"workers"`
	Mutant  string `json:"mutant"`
}

// loadChild is the main function of a child. It asks, answers, declines, cancels, claims,
// waits and consumes until it is killed, and prints all acknowledgements.
func loadChild(ctx context.Context, plan string, in io.Reader, out io.Writer) error {
	var p loadPlan
	if err := json.Unmarshal([]byte(plan), &p); err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, loadTimeout)
	defer stop()
	go func() { // stop when the parent ends
		_, _ = io.Copy(io.Discard, in)
		stop()
	}()
	db, err := sqlite.Open(p.Path, nil)
	if err != nil {
		return err
	}
	s, drain := mutantStore(p.Mutant, db)
	l := newLoad(engine.New(s, nil), p, out)
	var running sync.WaitGroup
	running.Go(func() { _ = l.engine.Run(ctx) })
	err = l.run(ctx)
	running.Wait()
	drain()
	return errors.Join(err, db.Close())
}

// A load is the shared state of the workers of one child.
type load struct {
	engine *engine.Engine
	plan   loadPlan
	agent  askback.Client
	people []askback.Client

	mu         sync.Mutex
	out        *json.Encoder
	recentAsks []string // ids of the latest asks
	next       int
}

func newLoad(e *engine.Engine, p loadPlan, out io.Writer) *load {
	l := &load{
		engine: e, plan: p, out: json.NewEncoder(out),
		agent: e.As(askback.Principal{Kind: askback.Agent, Name: loadAsker, Channel: askback.ChannelAPI}),
	}
	for _, name := range []string{"ana", "ben", "cem", "dua"} {
		l.people = append(l.people,
			e.As(askback.Principal{Kind: askback.Responder, Name: name, Channel: askback.ChannelWeb}))
	}
	return l
}

func (l *load) run(ctx context.Context) error {
	page, err := l.people[0].List(ctx, askback.Query{Limit: 100}) // asks of earlier children
	if err != nil {
		return err
	}
	for _, a := range page.Items {
		l.remember(a.ID)
	}
	l.record(ack{Op: opReady})
	var workers sync.WaitGroup
	for i := range l.plan.Workers {
		workers.Go(func() {
			stream := uint64(l.plan.Round)<<16 | uint64(i)
			w := &worker{load: l, name: i, rand: rand.New(rand.NewPCG(l.plan.Seed, stream))}
			for ctx.Err() == nil {
				w.act(ctx)
			}
		})
	}
	workers.Wait()
	return nil
}

// record prints an ack as one line of JSON. It ends the process if the parent has ended.
func (l *load) record(a ack) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.out.Encode(a) != nil {
		os.Exit(1) // the parent has ended
	}
}

// remember adds an ask to the recent asks. If there are maxRecent asks, it replaces the oldest ask.
func (l *load) remember(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.recentAsks) < maxRecent {
		l.recentAsks = append(l.recentAsks, id)
		return
	}
	l.recentAsks[l.next%maxRecent] = id
	l.next++
}

// A worker makes random calls, one after another.
type worker struct {
	*load
	name  int
	asked int
	rand  *rand.Rand
}

func (w *worker) act(ctx context.Context) {
	id := w.randomAsk()
	dice := w.rand.IntN(100)
	switch {
	case id == "" || dice < 35:
		w.ask(ctx)
	case dice < 75:
		w.answer(ctx, id)
	case dice < 80:
		w.recordOutcome(w.randomPerson().Decline(ctx, id, w.uniqueText()))
	case dice < 85:
		w.recordOutcome(w.agent.Cancel(ctx, id, w.uniqueText()))
	case dice < 90:
		w.recordOutcome(w.randomPerson().Claim(ctx, id))
	case dice < 95:
		w.wait(ctx, id)
	default:
		w.consume(ctx, id)
	}
}

// randomAsk returns the id of a recent ask, or "" before the first ask.
func (w *worker) randomAsk() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.recentAsks) == 0 {
		return ""
	}
	return w.recentAsks[w.rand.IntN(len(w.recentAsks))]
}

func (w *worker) randomPerson() askback.Client { return w.people[w.rand.IntN(len(w.people))] }

// uniqueText returns a different text each time, so that all outcomes differ.
func (w *worker) uniqueText() string {
	return fmt.Sprintf("%d.%d.%x", w.plan.Round, w.name, w.rand.Uint64())
}

// ask makes a new ask or repeats an ask of this worker, of another worker or of an earlier
// child.
func (w *worker) ask(ctx context.Context) {
	lifetime, name, n := w.plan.Round, w.name, w.asked
	switch dice := w.rand.IntN(10); {
	case dice == 0 && lifetime > 0:
		lifetime, name, n = w.rand.IntN(lifetime), w.rand.IntN(16), w.rand.IntN(10)
	case dice == 1:
		name, n = w.rand.IntN(w.plan.Workers), w.rand.IntN(n+1)
	default:
		w.asked++
	}
	key := fmt.Sprintf("life %d worker %d ask %d", lifetime, name, n)
	a, err := w.agent.Ask(ctx, request(key))
	if !w.noError(ctx, err) {
		return
	}
	w.record(ack{Op: opAsked, Key: ownedKey(loadAsker, key), ID: a.ID})
	w.recordOutcome(a, nil)
	w.remember(a.ID)
}

// request returns a request that depends only on its key: questions, some with a deadline,
// some in a shared session, and confirmations.
func request(key string) askback.Request {
	sum := fnv.New32a()
	_, _ = io.WriteString(sum, key)
	dice := sum.Sum32() % 100
	r := askback.Request{Key: key, Title: key}
	if dice%3 == 0 {
		r.SessionKey = fmt.Sprintf("session %d", dice)
	}
	switch {
	case dice < 15:
		r.Confirmation = &askback.Confirmation{ToolName: "deploy", Input: json.RawMessage(`{"build":4711}`)}
		return r
	case dice < 25:
		r.Timeout, r.OnTimeout = 20*time.Millisecond, askback.OnTimeoutDefault
	}
	r.Questions = []askback.Question{
		{Text: "Which one?", Options: askback.Options("red", "green"), Default: []string{"red"}},
	}
	return r
}

// answer answers a question or decides a confirmation, as a random person.
func (w *worker) answer(ctx context.Context, id string) {
	who := w.randomPerson()
	a, err := who.Get(ctx, id)
	if !w.noError(ctx, err) {
		return
	}
	answer := askback.Choose("green")
	if a.Kind == askback.Confirm {
		decision := []askback.Decision{askback.Approve, askback.Deny}[w.rand.IntN(2)]
		answer = askback.Decide(decision, "")
	}
	answer.Comment = w.uniqueText()
	w.recordOutcome(who.Answer(ctx, id, answer))
}

func (w *worker) wait(ctx context.Context, id string) {
	ctx, stop := context.WithTimeout(ctx, 5*time.Millisecond)
	defer stop()
	w.recordOutcome(w.agent.Wait(ctx, id))
}

func (w *worker) consume(ctx context.Context, id string) {
	a, err := w.agent.Get(ctx, id)
	if !w.noError(ctx, err) || a.Confirmation == nil || !a.Outcome.Approved() {
		return
	}
	_, err = w.agent.Consume(ctx, id, a.Confirmation.Digest)
	if err == nil {
		w.record(ack{Op: opConsumed, ID: id})
	} else if !errors.Is(err, askback.ErrConsumed) {
		w.noError(ctx, err)
	}
}

// recordOutcome records the outcome, if any, that a call returned. With ErrSettled, it is the outcome of an
// earlier call.
func (w *worker) recordOutcome(a askback.Ask, err error) {
	if err != nil && !errors.Is(err, askback.ErrSettled) {
		w.noError(context.Background(), err)
		return
	}
	if a.Outcome != nil {
		w.record(ack{Op: opSettled, ID: a.ID, Text: outcomeText(a.Outcome)})
	}
}

// noError reports whether err is nil. It records an error, unless the engine is busy or closed, or a context
// is done.
func (w *worker) noError(ctx context.Context, err error) bool {
	excused := ctx.Err() != nil || errors.Is(err, askback.ErrFull) || errors.Is(err, askback.ErrBusy) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || errors.Is(err, store.ErrClosed)
	if err != nil && !excused {
		w.record(ack{Op: opFailed, Text: err.Error()})
	}
	return err == nil
}
