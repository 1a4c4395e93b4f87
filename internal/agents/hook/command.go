package hook

import (
	"context"
	"errors"
	"time"
)

// A Command is the command askback hook of one agent. It is a pointer to a struct with the flags of the
// command, whose tags describe them.
type Command interface {
	// Traits returns how the hook runs.
	Traits() Traits
	// Read returns the job for an event. The error is [ErrForeign] if the event is not from the agent. The
	// error is [ErrNotAsked] or [ErrCannotAsk] if no person can be asked. The guard of the job applies after
	// an error, too.
	Read(raw []byte, env Env) (Job, error)
}

// ErrNotAsked is the error for an event about which no person is asked.
var ErrNotAsked = errors.New("no person is asked about this event")

// Traits describes how the hook of an agent runs.
type Traits struct {
	Guard   Guard         // the guard that applies until the event was read
	Limited bool          // the hook ends after Limit at the latest, even if Limit is 0
	Limit   time.Duration // has no effect unless Limited is set
	// NeedsServer is set if the hook asks only while a server runs, because the agent shows no dialog while
	// the hook waits. Without a server, only a command could show the question, and people would not notice
	// it.
	NeedsServer bool
	// EndsWithParent is set if the hook must end with its parent process.
	EndsWithParent bool
	// Line is set if the event is one line of the input, and the hook waits until the input ends.
	Line bool
}

// A Guard determines when a hook blocks a call. If the hook does not block the call, the agent follows its
// own rules.
type Guard int

// BlockNothing blocks no call. BlockErrors blocks a call after an error. BlockUndecided blocks a call after
// an error or without a decision.
const (
	BlockNothing Guard = iota
	BlockErrors
	BlockUndecided
)

// GuardOf returns [BlockUndecided] if gate is set, and [BlockNothing] otherwise.
func GuardOf(gate bool) Guard {
	if gate {
		return BlockUndecided
	}
	return BlockNothing
}

// Env gives the hook of an agent access to this machine.
type Env struct {
	Home     string // the user's home folder, or ""
	Getenv   func(name string) string
	ReadFile func(path string) ([]byte, error) // reads a file of the agent; returns nil if the file does not exist
	Server   func() Server                     // the address of Askback's MCP server
	Followed func(session string) bool         // reports whether askback attach asks about the requests of the session
}

// A Job is the reaction of a hook to an event: it asks, prints an output, or withdraws asks. At most one of
// Call, Output and Withdraw is set.
type Job struct {
	Call     *Call
	Output   []byte
	Withdraw func(context.Context, Client) error // withdraws asks that the event makes obsolete

	Wait  time.Duration // how long to wait for an answer; 0 means no limit
	Guard Guard
}

// Do asks about the call of a job, withdraws asks, or returns the output of the job. See [Runner.Run].
func (r *Runner) Do(ctx context.Context, owner string, client Client, job Job) (Reply, error) {
	switch {
	case job.Call != nil:
		return r.Run(ctx, owner, client, *job.Call)
	case job.Withdraw != nil:
		return Reply{}, job.Withdraw(ctx, client)
	}
	return Reply{Output: job.Output}, nil
}
