package main

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/askback/askback/internal/agents/hook"
)

// errNotAsked is the error for an event of the right agent about which no person is asked.
var errNotAsked = errors.New("no person is asked about this event")

// errNoDecision is the error for a guarded call that no person has approved or denied.
var errNoDecision = errors.New("there was no decision in time")

// answerHook answers one hook within limit. It asks about the call that read returns, prints the
// decision, and then acknowledges it. Without a decision it prints nothing, so that the agent follows
// its own rules.
//
// If gate is set, a guarded call without a decision is blocked. read returns whether the call of an
// event is guarded.
func answerHook(ctx context.Context, in streams, all *commands, limit time.Duration, gate bool, read func(raw []byte) (call hook.Call, guarded bool, err error)) error {
	var guarded atomic.Bool
	guarded.Store(gate)
	end := func(unwritten, err error) error {
		if !guarded.Load() && (errors.Is(err, hook.ErrForeign) || errors.Is(err, errNotAsked)) {
			return nil
		}
		return endHook(in, guarded.Load(), unwritten, err)
	}
	return withinLimit(ctx, in, limit, end, func(ctx context.Context, in streams) error {
		printed, unwritten, err := askForHook(ctx, in, all, func(raw []byte) (hook.Call, error) {
			call, isGuarded, err := read(raw)
			guarded.Store(gate && isGuarded)
			return call, err
		})
		if guarded.Load() && err == nil && unwritten == nil && !printed {
			err = errNoDecision
		}
		return end(unwritten, err)
	})
}

// askForHook reads the event of a hook, waits for the decision about its call, prints it and then
// acknowledges it. printed reports whether there was a decision. If it could not be printed, unwritten
// is the error.
func askForHook(ctx context.Context, in streams, all *commands, read func(raw []byte) (hook.Call, error)) (printed bool, unwritten, err error) {
	ctx, cancel := whileParentLives(ctx)
	defer cancel()
	raw, err := readEvent(in)
	if err != nil {
		return false, nil, err
	}
	call, err := read(raw)
	if err != nil {
		return false, nil, err
	}
	if err := requireServer(ctx, all); err != nil {
		return false, nil, err
	}
	unwritten, err = runHook(ctx, in, all, true, func(ctx context.Context, client hook.Client) (hook.Reply, error) {
		reply, err := new(hook.Runner).Run(ctx, "", client, call)
		printed = err == nil && reply.Output != nil
		return reply, err
	})
	return printed, unwritten, err
}

// endTime is how long a hook may take after it has waited for an answer. It looks at its ask once
// more, and withdraws it; or it acknowledges the answer.
const endTime = 10 * time.Second

// withinLimit calls answer, and returns its error. The context of answer ends endTime before limit
// has passed, or halfway if limit is short. If answer then takes longer, because the server does not
// reply, withinLimit does not wait for it. It returns the result of end, unless answer has printed a
// decision: after the limit, an agent may run the tool.
func withinLimit(ctx context.Context, in streams, limit time.Duration, end func(unwritten, err error) error, answer func(context.Context, streams) error) error {
	late := time.After(limit)
	ctx, cancel := context.WithTimeout(ctx, max(limit-endTime, limit/2))
	defer cancel()
	out := &decisionWriter{to: in.out}
	in.out = out
	answered := make(chan error, 1)
	go func() { answered <- answer(ctx, in) }()
	select {
	case err := <-answered:
		return err
	case <-late:
	}
	if out.end() {
		return nil
	}
	return end(nil, errNoDecision)
}

// A decisionWriter writes the decision of a hook, unless the hook has ended.
type decisionWriter struct {
	to io.Writer

	mu      sync.Mutex
	written bool
	ended   bool
}

func (w *decisionWriter) Write(decision []byte) (n int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return 0, errNoDecision
	}
	n, err = w.to.Write(decision)
	w.written = err == nil
	return n, err
}

// end makes every later Write an error. It reports whether a decision was written.
func (w *decisionWriter) end() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	return w.written
}

// ownServer returns the address of Askback's MCP server that askback init writes on this machine.
func ownServer() hook.Server {
	s := hook.Server{URL: os.Getenv("ASKBACK_URL")}
	if exe, err := os.Executable(); err == nil {
		s.Programs = append(s.Programs, exe)
	}
	if runtime.GOOS != "windows" { // there, a program without a path can be one of the project
		s.Programs = append(s.Programs, "askback")
	}
	return s
}

// requireServer returns an error if Askback is on this machine and no server runs. While a hook
// waits, its agent shows no dialog. A question that only a command can show would seem to be lost.
func requireServer(ctx context.Context, all *commands) error {
	conn, err := all.connector("")
	if err != nil || !conn.IsLocal() {
		return err
	}
	if server, ok := conn.Place().Last(); !ok || server.Proves(ctx) != nil {
		return errNoServer
	}
	return nil
}

var errNoServer = errors.New("no server is running: run askback serve")

// parentInterval is how often a hook looks whether its parent process has ended.
const parentInterval = time.Second

// whileParentLives returns a context that ends when the parent process ends. Codex kills only
// the shell of a hook, not the hook. A hook must call this first of all: it does not notice that a
// parent ended before.
func whileParentLives(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	parent := os.Getppid()
	go func() {
		tick := time.NewTicker(parentInterval)
		defer tick.Stop()
		for os.Getppid() == parent {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
		cancel()
	}()
	return ctx, cancel
}
