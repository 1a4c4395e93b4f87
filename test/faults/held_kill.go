package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/internal/pause"
)

const (
	// heldCount is how many asks are answered and undone at the same time.
	heldCount = 24
	// heldTime is how long the server holds an answer. It is the shortest time that the settings allow.
	heldTime = time.Second
	// heldEnd is how long an ask may take until it is settled, including all kills.
	heldEnd = 2 * time.Minute
)

// A heldTest kills the server repeatedly while two people give answers that can be undone. One person uses
// two windows. Agents withdraw their asks or let deadlines pass meanwhile. Each ask must have one outcome. An
// answer that was undone must not be sent, and an answer that was sent must not be undone.
type heldTest struct {
	serverProcess
	seed       uint64
	rand       *rand.Rand
	clientPool *clientPool
	agent      account
	ana, ben   account
	kills      int
	bad        []violation

	mu     sync.Mutex
	counts heldCounts
}

// heldCounts are counts for the report.
type heldCounts struct{ asks, held, undone, sent, withdrawn, expired, late int }

func newHeldTest(dir, program string, seed uint64) (*heldTest, error) {
	h := &heldTest{
		serverProcess: newServerProcess(dir, program, "held.db"), seed: seed, rand: rand.New(rand.NewPCG(seed, 8)),
	}
	place, err := instance.At(h.path)
	if err != nil {
		return nil, err
	}
	h.clientPool = &clientPool{conn: &connection{place: place}, seed: seed, ackLog: newAckLog()}
	file := filepath.Join(dir, "held.yaml")
	h.env = append(h.env, "ASKBACK_CONFIG="+file)
	return h, os.WriteFile(file, fmt.Appendf(nil, "undo: %d\n", int(heldTime.Seconds())), 0o600)
}

// run kills the server at least n times, or until there is a violation. Then it compares the history with the
// outcomes that the clients received.
func (h *heldTest) run(ctx context.Context, n int) error {
	for _, who := range []struct {
		to   *account
		kind askback.Kind
		name string
	}{{&h.agent, askback.Agent, "ada"}, {&h.ana, askback.Responder, "ana"}, {&h.ben, askback.Responder, "ben"}} {
		var err error
		if *who.to, err = h.token(ctx, who.kind, who.name); err != nil {
			return err
		}
	}
	working, stop := context.WithCancel(ctx)
	defer stop()
	var clients sync.WaitGroup
	for i := range heldCount {
		clients.Go(func() { h.play(ctx, working, i) })
	}
	var err error
	for err == nil && h.kills < n && ctx.Err() == nil && h.clientPool.ok() && len(h.bad) == 0 {
		err = h.serve(ctx, func() { _ = pause.For(ctx, randomDuration(h.rand, maxServeTime)) })
	}
	if err == nil {
		err = h.serve(ctx, func() {
			stop()
			clients.Wait()
		})
	}
	stop()
	clients.Wait()
	if h.bad = append(h.bad, h.clientPool.bad...); err != nil || ctx.Err() != nil || len(h.bad) > 0 {
		return errors.Join(err, ctx.Err())
	}
	bad, err := h.audit(ctx)
	h.bad = append(h.bad, bad...)
	return err
}

// serve starts a server, calls during when the server is ready, and kills the server.
func (h *heldTest) serve(ctx context.Context, during func()) error {
	c, err := h.start(ctx)
	if err != nil {
		return err
	}
	if _, err := h.clientPool.conn.place.Find(ctx, readyTime); err != nil && ctx.Err() == nil {
		h.bad = append(h.bad, violated(failed, "the server did not start: %v: %s", err, c.notes.String()))
	} else if err == nil {
		during()
	}
	code, err := c.end(func([]byte) {})
	h.kills++
	if code >= 0 && ctx.Err() == nil {
		h.bad = append(h.bad,
			violated(failed, "a server ended with code %d before it was killed: %s", code, c.notes.String()))
	}
	return err
}

// play plays one game after another until working ends. It then finishes the game in progress.
func (h *heldTest) play(ctx, working context.Context, number int) {
	r := rand.New(rand.NewPCG(h.seed, uint64(900+number)))
	for n := 0; working.Err() == nil && h.clientPool.ok(); n++ {
		g := &heldGame{heldTest: h, rand: r, key: fmt.Sprintf("held %d of %d", n, number)}
		limited, cancel := context.WithTimeoutCause(ctx, heldEnd, errors.New("the ask was not settled in time"))
		g.play(limited)
		cancel()
	}
}

// A heldGame lets two people and an agent act on one ask.
type heldGame struct {
	*heldTest
	rand *rand.Rand
	key  string
	id   string

	mu     sync.Mutex
	gives  map[string][2]int // per person, the numbers of calls of Hold that have begun and that have ended
	undone map[string]bool   // per person, whether the latest call was a successful Undo
	told   string            // the outcome that a client received
}

// play makes the ask, lets both people and the agent act at the same time, and waits until the
// ask is settled.
func (g *heldGame) play(ctx context.Context) {
	g.gives, g.undone = map[string][2]int{}, map[string]bool{}
	request := askback.Request{Key: g.key, Title: g.key, Questions: []askback.Question{
		{Text: "Which one?", Options: askback.Options("red", "green")},
	}}
	if g.rand.IntN(3) == 0 {
		request.Timeout, request.OnTimeout = time.Second, askback.OnTimeoutDecline
	}
	if g.rand.IntN(2) == 0 {
		request.SessionKey = fmt.Sprintf("held %d", g.rand.IntN(4))
	}
	a, _, err := call(ctx, g.clientPool.conn, g.agent.token,
		func(ctx context.Context, c *httpapi.Client) (askback.Ask, error) { return c.Ask(ctx, request) })
	if !g.clientPool.noError(ctx, "ask "+g.key, err) {
		return
	}
	g.id = a.ID
	windows := []func(context.Context){g.holdAndUndo(g.ana), g.undoInAnotherWindow(g.ana), g.answerOrHold(g.ben)}
	if g.rand.IntN(4) == 0 {
		windows = append(windows, g.withdraw())
	}
	var all sync.WaitGroup
	for _, w := range windows {
		all.Go(func() { w(ctx) })
	}
	all.Wait()
	g.end(ctx)
}

// wait returns a random duration up to a little more than heldTime. It is often close to the moment when the
// answer is sent.
func (g *heldGame) wait() time.Duration {
	if g.rand.IntN(2) == 0 {
		return heldTime - 30*time.Millisecond + randomDuration(g.rand, 60*time.Millisecond)
	}
	return randomDuration(g.rand, heldTime)
}

// holdAndUndo returns a function that gives an answer. It may undo the answer, and may then give another
// answer.
func (g *heldGame) holdAndUndo(who account) func(context.Context) {
	undoes, again, after := g.rand.IntN(2) == 0, g.rand.IntN(3) == 0, g.wait()
	return func(ctx context.Context) {
		g.hold(ctx, who, "red")
		if !undoes || pause.For(ctx, after) != nil {
			return
		}
		g.undo(ctx, who)
		if again {
			g.hold(ctx, who, "green")
		}
	}
}

// undoInAnotherWindow returns a function that may undo the answer of a person, as from a second window.
func (g *heldGame) undoInAnotherWindow(who account) func(context.Context) {
	undoes, after := g.rand.IntN(3) == 0, g.wait()
	return func(ctx context.Context) {
		if undoes && pause.For(ctx, after) == nil {
			g.undo(ctx, who)
		}
	}
}

// answerOrHold returns a function that holds an answer, sends an answer, or does nothing.
func (g *heldGame) answerOrHold(who account) func(context.Context) {
	what, after := g.rand.IntN(4), g.wait()
	return func(ctx context.Context) {
		switch {
		case what == 0 || pause.For(ctx, after) != nil:
		case what == 1:
			a, _, err := call(ctx,
				g.clientPool.conn, who.token, func(ctx context.Context, c *httpapi.Client) (askback.Ask, error) {
					return c.Answer(ctx, g.id, askback.Choose("green"))
				})
			g.learn(ctx, "answer", a, err)
		default:
			g.hold(ctx, who, "green")
		}
	}
}

func (g *heldGame) withdraw() func(context.Context) {
	after := g.wait()
	return func(ctx context.Context) {
		if pause.For(ctx, after) != nil {
			return
		}
		a, _, err := call(ctx,
			g.clientPool.conn, g.agent.token, func(ctx context.Context, c *httpapi.Client) (askback.Ask, error) {
				return c.Cancel(ctx, g.id, "not needed")
			})
		g.learn(ctx, "withdraw", a, err)
	}
}

func (g *heldGame) hold(ctx context.Context, who account, label string) {
	g.give(who.name, 0)
	a, _, err := call(ctx,
		g.clientPool.conn, who.token, func(ctx context.Context, c *httpapi.Client) (askback.Ask, error) {
			return c.Hold(ctx, g.id, askback.Choose(label))
		})
	g.give(who.name, 1)
	g.learn(ctx, "hold", a, err)
}

// give counts a call of Hold by a person. It is called with what 0 before the call, and with what 1 after the
// call. From the first call of give on, the answer may be sent.
func (g *heldGame) give(name string, what int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.gives[name]
	n[what]++
	g.gives[name] = n
	g.undone[name] = false
}

// undo undoes the answer of a person. The answer must then not be sent, unless the person gave an answer at
// the same time in another window.
func (g *heldGame) undo(ctx context.Context, who account) {
	g.mu.Lock()
	before := g.gives[who.name]
	g.mu.Unlock()
	a, _, err := call(ctx,
		g.clientPool.conn, who.token, func(ctx context.Context, c *httpapi.Client) (askback.Ask, error) {
			return c.Undo(ctx, g.id)
		})
	g.learn(ctx, "undo", a, err)
	g.mu.Lock()
	defer g.mu.Unlock()
	if err == nil && before[0] > 0 && before[0] == before[1] && g.gives[who.name] == before {
		g.undone[who.name] = true
		g.count(func(c *heldCounts) { c.undone++ })
	}
}

func (h *heldTest) count(add func(*heldCounts)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	add(&h.counts)
}

// learn records the outcome that a call returned. It is a violation if another call returned another outcome.
func (g *heldGame) learn(ctx context.Context, what string, a askback.Ask, err error) {
	if !errors.Is(err, askback.ErrSettled) && !g.clientPool.noError(ctx, what+" "+g.key, err) || a.Outcome == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	text := outcomeText(a.Outcome)
	if g.told != "" && g.told != text {
		g.clientPool.violate(duplicated, "%s: one client was told %s, another one %s", g.id, g.told, text)
	}
	g.told = text
}
