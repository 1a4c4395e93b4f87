package main

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/askback/askback/internal/agents/hook"
)

// errNoDecision is the error for a guarded call that no person has approved or denied in time.
var errNoDecision = errors.New("there was no decision in time")

// endTime is how long a hook may take after it has waited for an answer. In that time it reads its ask once
// more and withdraws it, or it acknowledges the answer.
const endTime = 10 * time.Second

// withinLimit calls answer, and returns its error. The context of answer ends endTime before limit has
// passed, or halfway if limit is short. If the server does not reply, answer may take longer than limit. Then
// withinLimit returns the result of end, unless answer has printed a decision. After the limit, an agent may
// run the tool.
func withinLimit(
	ctx context.Context, in streams, limit time.Duration, end func() error, answer func(context.Context, streams) error,
) error {
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
	return end()
}

// A decisionWriter writes the decision of a hook. After a call of its method end, Write returns an error and
// writes nothing.
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

// end makes each later Write fail. It reports whether a decision was written before.
func (w *decisionWriter) end() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	return w.written
}

// ownServer returns the MCP server of Askback as askback init configures it on this machine.
func ownServer() hook.Server {
	s := hook.Server{URL: os.Getenv("ASKBACK_URL")}
	if exe, err := os.Executable(); err == nil {
		s.Programs = append(s.Programs, exe)
	}
	if runtime.GOOS != "windows" { // on Windows, a program without a path can be a file of the project
		s.Programs = append(s.Programs, "askback")
	}
	return s
}

// requireServer returns an error if Askback is on this machine and no server runs. While a hook waits, its
// agent shows no dialog. Without a server, only a command could show the question, and people would not
// notice it.
func requireServer(ctx context.Context, all *commands) error {
	conn, err := all.connector(ctx, io.Discard, "")
	if err != nil || !conn.IsLocal() {
		return err
	}
	if server, ok := conn.Place().Last(); !ok || server.Proves(ctx) != nil {
		return errNoServer
	}
	return nil
}

var errNoServer = errors.New("no server is running: run askback serve")

// parentInterval is how often a hook checks whether its parent process has ended.
const parentInterval = time.Second

// whileParentLives returns a context that ends when the parent process ends. Codex kills only the shell of a
// hook, not the hook. A hook must call whileParentLives before anything else, because an earlier end of the
// parent is not noticed.
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
