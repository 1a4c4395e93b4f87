package askback

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/askback/askback/internal/limits"
)

// The errors of an engine and of the client of a server. Compare with errors.Is.
var (
	ErrNotFound     = errors.New("not found, or not visible to you")
	ErrForbidden    = errors.New("this kind of token is not allowed to do that")
	ErrSettled      = errors.New("the ask is settled")
	ErrPending      = errors.New("this ask is still open")
	ErrSent         = errors.New("your answer is already sent and cannot be undone")
	ErrKeyReused    = errors.New("this key was already used for a different request")
	ErrConsumed     = errors.New("this approval was already used")
	ErrDigest       = errors.New("the arguments differ from the approved arguments")
	ErrEnded        = errors.New("this session has ended")
	ErrAsksOpen     = errors.New("this session has an open ask")
	ErrExists       = errors.New("this receiver has an endpoint already; rotate its secret to get a new one")
	ErrNotActive    = errors.New("this endpoint is paused or disabled; resume it first")
	ErrChanged      = errors.New("the routes were changed meanwhile; read them again")
	ErrSelfApproval = errors.New("you started this session, so another person must decide")
	ErrNotApprover  = errors.New("others decide this")
	ErrStartBy      = errors.New(
		"you may not start this agent or write to its runs; start_by in its definition lists who may",
	)
	ErrNotApproved  = errors.New("this was not approved")
	ErrBusy         = errors.New("too many concurrent changes; try again")
	ErrFull         = errors.New("too many changes are waiting to be written; try again later")
	ErrStopping     = errors.New("this server is stopping; try again")
	ErrUnauthorized = errors.New("the token is unknown, expired or revoked")
	ErrTooMany      = errors.New("this agent has too many open asks or waiting calls; end some first")
	ErrTooFast      = errors.New("this agent asks too often; slow down")
	ErrDiskFull     = errors.New("the disk is full and nothing was changed; free some space and try again")
	ErrUnknown      = errors.New("it is not known whether this was saved; check, and try again")
	ErrDamaged      = errors.New("the database is damaged")
	ErrUnreachable  = errors.New("the server cannot be reached")
)

// A DamagedError is the error for a record that does not match its checksum. It matches [ErrDamaged].
type DamagedError struct{ ID string }

// Error returns a text with the record, and with the command that lists all damaged records.
func (e DamagedError) Error() string {
	return e.ID + " is damaged in the database and cannot be used; run askback doctor to list what is damaged, and " +
		"restore a backup"
}

// Is reports whether target is [ErrDamaged].
func (e DamagedError) Is(target error) bool { return target == ErrDamaged }

// A NotApproverError is the error for a person who may not decide a confirmation. Who lists the people who
// may decide it. The error matches [ErrNotApprover].
type NotApproverError struct{ Who []string }

// Error returns a text with the first ten people in Who and the number of the other people. If Who is empty,
// it returns that none of the people who may read the confirmation may decide it.
func (e NotApproverError) Error() string {
	const most = 10
	switch n := len(e.Who); {
	case n == 0:
		return "none of the people who may read this may decide it now"
	case n > most:
		return "only " + strings.Join(e.Who[:most], ", ") + " and " + strconv.Itoa(n-most) + " others may decide this"
	}
	return "only " + strings.Join(e.Who, ", ") + " may decide this"
}

// Is reports whether target is [ErrNotApprover].
func (e NotApproverError) Is(target error) bool { return target == ErrNotApprover }

// A RetryError is the error of a request that can be repeated after a while. It wraps another error of this
// package. Over HTTP, After is the header Retry-After.
type RetryError struct {
	Err   error
	Why   string        // replaces the text of Err if it is not ""
	After time.Duration // how long to wait before the same request is repeated
}

// Error returns Why, or the text of Err if Why is "".
func (e *RetryError) Error() string {
	if e.Why != "" {
		return e.Why
	}
	return e.Err.Error()
}

// Unwrap returns e.Err.
func (e *RetryError) Unwrap() error { return e.Err }

// A Problem is one mistake in a request: an error in an [Invalid], or a warning.
type Problem struct {
	Pointer string `api:"pointer" store:"pointer,keep" request:"pointer"` // where: a JSON pointer (RFC 6901)
	Detail  string `api:"detail" store:"detail,keep" request:"detail"`    // the mistake, and the expected value
	Fix     string `api:"fix" store:"fix,keep" request:"fix"`             // the correction
}

// Invalid is the error for input that breaks the rules. It has at least one
// problem.
type Invalid []Problem

// Error returns all problems in one line, each with its pointer and its fix.
func (v Invalid) Error() string {
	texts := make([]string, len(v))
	for i, p := range v {
		texts[i] = p.Detail
		if p.Pointer != "" {
			texts[i] = p.Pointer + ": " + texts[i]
		}
		if p.Fix != "" {
			texts[i] += " (" + p.Fix + ")"
		}
	}
	return strings.Join(texts, "; ")
}

// A problems value collects the problems of one input. It builds the pointer to an entry of a list only when
// there is a problem.
type problems struct {
	list    Invalid
	dropped []Problem // the parts that were dropped from the input without an error
	within  [2]entry  // the entries of lists that are being checked, the outer entry first
	depth   int       // the number of entries in within that are in use
}

// An entry is an element of a list that is being checked.
type entry struct {
	list  string // "/options"
	index int
}

// enter begins the check of an entry of a list, which leave ends. In between, the pointers passed to add and
// drop are relative to the entry.
func (p *problems) enter(list string, index int) {
	p.within[p.depth] = entry{list, index}
	p.depth++
}

func (p *problems) leave() { p.depth-- }

func (p *problems) add(pointer, detail, fix string) { p.list = p.append(p.list, pointer, detail, fix) }

func (p *problems) drop(pointer, detail, fix string) {
	p.dropped = p.append(p.dropped, pointer, detail, fix)
}

func (p *problems) append(list []Problem, pointer, detail, fix string) []Problem {
	if len(list) >= limits.MaxProblems {
		return list
	}
	for i := p.depth - 1; i >= 0; i-- {
		e := p.within[i]
		pointer = e.list + "/" + strconv.Itoa(e.index) + pointer
	}
	return append(list, Problem{pointer, detail, fix})
}

func (p *problems) err() error {
	if len(p.list) == 0 {
		return nil
	}
	return p.list
}
