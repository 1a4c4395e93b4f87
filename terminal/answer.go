package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
)

// maxInvalid is the maximum number of invalid answers that are read for an ask.
const maxInvalid = 3

// Answer asks the person at the terminal of this process, and answers or declines the ask through inbox. If
// standard input is a pipe, Answer reads the answer from the pipe, and nothing else may read from the pipe. A
// pipe can decline a confirmation, but not approve it. If the ask was settled elsewhere, Answer shows the
// outcome and returns nil. Otherwise the ask stays open. The error is then [ErrNoInput], the error of ctx, or
// an error of inbox or of the terminal. Answer must not be called concurrently.
func Answer(ctx context.Context, inbox askback.Inbox, a askback.Ask) error {
	if !IsTerminal(os.Stdin) {
		return pipe().Answer(ctx, inbox, a)
	}
	tty, err := Open()
	if err != nil {
		return err
	}
	defer func() { _ = tty.Close() }()
	o := tty.Options()
	// the claim is repeated, so errors are ignored
	o.Claim = func(ctx context.Context) { _, _ = inbox.Claim(ctx, a.ID) }
	o.Drafts, _ = inbox.(askback.Drafts)
	if tty.ShowsPanels() {
		return answer(ctx, NewPanel(tty, o), tty, inbox, a)
	}
	return New(tty, tty, o).Answer(ctx, inbox, a)
}

// pipe reads the answers from standard input, line by line.
var pipe = sync.OnceValue(func() *Prompt { return New(os.Stdin, os.Stderr, nil) })

// Answer is like the function Answer, but asks at this prompt.
func (p *Prompt) Answer(ctx context.Context, inbox askback.Inbox, a askback.Ask) error {
	return answer(ctx, p, p.out, inbox, a)
}

// An asker is a [Prompt] or a [Panel].
type asker interface {
	Ask(ctx context.Context, a view.Ask) (Result, error)
	Settled(a view.Ask) error
}

// answer asks with ui until there is a valid answer, or until maxInvalid answers were invalid. It writes the
// problems of invalid answers to out.
func answer(ctx context.Context, ui asker, out io.Writer, inbox askback.Inbox, a askback.Ask) error {
	for n := 1; ; n++ {
		drawn := view.Of(a)
		drawn.Earlier = view.FindEarlier(ctx, inbox, a, "")
		result, err := ui.Ask(ctx, drawn)
		if err != nil {
			return afterSettling(ctx, ui, inbox, a, err)
		}
		var now askback.Ask
		switch r := result.(type) {
		case Answered:
			now, err = inbox.Answer(ctx, a.ID, r.Answer)
		case Declined:
			now, err = inbox.Decline(ctx, a.ID, r.Reason)
		}
		_, invalid := errors.AsType[askback.Invalid](err)
		switch {
		case errors.Is(err, askback.ErrSettled):
			return ui.Settled(view.Of(now)) // shows the answer that was accepted
		case !invalid || n == maxInvalid:
			return err
		}
		if _, err := fmt.Fprintln(out, safetext.Block(err.Error())); err != nil {
			return err
		}
	}
}

// afterSettling shows the outcome of an ask that was settled while it was shown, and returns nil.
// Otherwise it returns err.
func afterSettling(ctx context.Context, ui asker, inbox askback.Inbox, a askback.Ask, err error) error {
	if ctx.Err() == nil && !errors.Is(err, askback.ErrSettled) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer cancel()
	now, failed := inbox.Get(ctx, a.ID)
	if failed != nil || !now.Settled() {
		_ = ui.Settled(view.Of(a)) // erases the prompt
		return err
	}
	return ui.Settled(view.Of(now))
}
