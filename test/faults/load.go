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

// loadAsker is the name under which the load asks.
const loadAsker = "prover"

// recent is how many asks the workers have in hand at once.
const recent = 256

// loadLife is how long a load lives that nobody kills.
const loadLife = time.Minute

// A loadPlan is what the parent tells a child.
type loadPlan struct {
	Path    string `json:"path"`
	Seed    uint64 `json:"seed"`
	Life    int    `json:"life"` // how many came before it
	Workers int    `json:"workers"`
	Plant   string `json:"plant"`
}

// loadChild is the child's whole life: it asks, answers, declines, cancels,
// claims, waits and spends until it is killed, and writes a line after each
// call that returned.
func loadChild(ctx context.Context, plan string, in io.Reader, out io.Writer) error {
	var p loadPlan
	if err := json.Unmarshal([]byte(plan), &p); err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, loadLife)
	defer stop()
	go func() { // the parent holds the other end: when it is gone, so are we
		_, _ = io.Copy(io.Discard, in)
		stop()
	}()
	db, err := sqlite.Open(p.Path, nil)
	if err != nil {
		return err
	}
	s, drain := planted(p.Plant, db)
	l := newLoad(engine.New(s, nil), p, out)
	var running sync.WaitGroup
	running.Go(func() { _ = l.engine.Run(ctx) })
	err = l.run(ctx)
	running.Wait()
	drain()
	return errors.Join(err, db.Close())
}

// A load is what the workers of one child share.
type load struct {
	engine *engine.Engine
	plan   loadPlan
	agent  askback.Client
	people []askback.Client

	mu   sync.Mutex
	out  *json.Encoder
	hand []string // asks to do something with, the latest of all
	next int
}

func newLoad(e *engine.Engine, p loadPlan, out io.Writer) *load {
	l := &load{
		engine: e, plan: p, out: json.NewEncoder(out),
		agent: e.As(askback.Principal{Kind: askback.Agent, Name: loadAsker, Channel: askback.ChannelAPI}),
	}
	for _, name := range []string{"ana", "ben", "cem", "dua"} {
		l.people = append(l.people, e.As(askback.Principal{Kind: askback.Responder, Name: name, Channel: askback.ChannelWeb}))
	}
	return l
}

func (l *load) run(ctx context.Context) error {
	page, err := l.people[0].List(ctx, askback.Query{Limit: 100}) // what earlier lives left
	if err != nil {
		return err
	}
	for _, a := range page.Items {
		l.take(a.ID)
	}
	l.tell(ack{Op: opReady})
	var workers sync.WaitGroup
	for i := range l.plan.Workers {
		workers.Go(func() {
			stream := uint64(l.plan.Life)<<16 | uint64(i)
			w := &worker{load: l, name: i, rand: rand.New(rand.NewPCG(l.plan.Seed, stream))}
			for ctx.Err() == nil {
				w.act(ctx)
			}
		})
	}
	workers.Wait()
	return nil
}

// tell writes one line, whole, to the parent.
func (l *load) tell(a ack) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.out.Encode(a) != nil {
		os.Exit(1) // nobody listens any more
	}
}

// take keeps an ask in hand, in place of the oldest one.
func (l *load) take(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.hand) < recent {
		l.hand = append(l.hand, id)
		return
	}
	l.hand[l.next%recent] = id
	l.next++
}

// A worker does one thing after another, by its own dice.
type worker struct {
	*load
	name  int
	asked int
	rand  *rand.Rand
}

func (w *worker) act(ctx context.Context) {
	id := w.any()
	dice := w.rand.IntN(100)
	switch {
	case id == "" || dice < 35:
		w.ask(ctx)
	case dice < 75:
		w.answer(ctx, id)
	case dice < 80:
		w.settled(w.someone().Decline(ctx, id, w.words()))
	case dice < 85:
		w.settled(w.agent.Cancel(ctx, id, w.words()))
	case dice < 90:
		w.settled(w.someone().Claim(ctx, id))
	case dice < 95:
		w.wait(ctx, id)
	default:
		w.consume(ctx, id)
	}
}

// any returns an ask at hand.
func (w *worker) any() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.hand) == 0 {
		return ""
	}
	return w.hand[w.rand.IntN(len(w.hand))]
}

func (w *worker) someone() askback.Client { return w.people[w.rand.IntN(len(w.people))] }

// words are new each time, so that no two outcomes are the same.
func (w *worker) words() string {
	return fmt.Sprintf("%d.%d.%x", w.plan.Life, w.name, w.rand.Uint64())
}

// ask asks something new, or what was asked before: by this worker, by another,
// or in an earlier life.
func (w *worker) ask(ctx context.Context) {
	life, name, n := w.plan.Life, w.name, w.asked
	switch dice := w.rand.IntN(10); {
	case dice == 0 && life > 0:
		life, name, n = w.rand.IntN(life), w.rand.IntN(16), w.rand.IntN(10)
	case dice == 1:
		name, n = w.rand.IntN(w.plan.Workers), w.rand.IntN(n+1)
	default:
		w.asked++
	}
	key := fmt.Sprintf("life %d worker %d ask %d", life, name, n)
	a, err := w.agent.Ask(ctx, request(key))
	if !w.well(ctx, err) {
		return
	}
	w.tell(ack{Op: opAsked, Key: ownedKey(loadAsker, key), ID: a.ID})
	w.settled(a, nil)
	w.take(a.ID)
}

// request follows from its key: questions, some with a deadline, some of a
// shared session, and confirmations.
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
	r.Questions = []askback.Question{{Text: "Which one?", Options: askback.Options("red", "green"), Default: []string{"red"}}}
	return r
}

// answer answers questions, and decides about confirmations.
func (w *worker) answer(ctx context.Context, id string) {
	who := w.someone()
	a, err := who.Get(ctx, id)
	if !w.well(ctx, err) {
		return
	}
	answer := askback.Choose("green")
	if a.Kind == askback.Confirm {
		decision := []askback.Decision{askback.Approve, askback.Deny}[w.rand.IntN(2)]
		answer = askback.Decide(decision, "")
	}
	answer.Comment = w.words()
	w.settled(who.Answer(ctx, id, answer))
}

func (w *worker) wait(ctx context.Context, id string) {
	ctx, stop := context.WithTimeout(ctx, 5*time.Millisecond)
	defer stop()
	w.settled(w.agent.Wait(ctx, id))
}

func (w *worker) consume(ctx context.Context, id string) {
	a, err := w.agent.Get(ctx, id)
	if !w.well(ctx, err) || a.Confirmation == nil || !a.Outcome.Approved() {
		return
	}
	_, err = w.agent.Consume(ctx, id, a.Confirmation.Digest)
	if err == nil {
		w.tell(ack{Op: opConsumed, ID: id})
	} else if !errors.Is(err, askback.ErrConsumed) {
		w.well(ctx, err)
	}
}

// settled tells the outcome that a call returned: the caller's own, or that of
// whoever was quicker.
func (w *worker) settled(a askback.Ask, err error) {
	if err != nil && !errors.Is(err, askback.ErrSettled) {
		w.well(context.Background(), err)
		return
	}
	if a.Outcome != nil {
		w.tell(ack{Op: opSettled, ID: a.ID, Said: said(a.Outcome)})
	}
}

// well says that there was no error. One that a busy server may give is none
// either, but there is nothing to go on with.
func (w *worker) well(ctx context.Context, err error) bool {
	excused := ctx.Err() != nil || errors.Is(err, askback.ErrFull) || errors.Is(err, askback.ErrBusy) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || errors.Is(err, store.ErrClosed)
	if err != nil && !excused {
		w.tell(ack{Op: opFailed, Said: err.Error()})
	}
	return err == nil
}
