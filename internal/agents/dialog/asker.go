// Package dialog asks people about the requests that another program shows in a dialog of its own at the same
// time. The first answer counts, so without an answer of a person nothing is sent.
package dialog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/pause"
)

const (
	// checkEvery is the time between two checks whether Askback can be reached.
	checkEvery = 30 * time.Second
	// checkTime is how long a check may take.
	checkTime = 10 * time.Second
	// noAsk is an id that no ask has.
	noAsk = "ask_none"
)

// An Asker asks people for one program, and notifies the user whether Askback can be reached.
type Asker struct {
	Client hook.Client
	// Otherwise describes the effect if Askback cannot be reached, such as "only the editor asks".
	Otherwise string
	// Notify is called with messages for the user. Calls do not overlap.
	Notify func(text string)

	mu   sync.Mutex
	away bool // Askback cannot be reached, and the user was notified
}

// Note calls Notify.
func (a *Asker) Note(text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.Notify(text)
}

// Ask makes an ask, and calls deliver with its outcome. If deliver returns true, the program has received the
// outcome, and Ask acknowledges the outcome. If ctx ends first, the ask is withdrawn as by [hook.Race]. If
// the ask fails, Ask notifies the user.
func (a *Asker) Ask(ctx context.Context, r askback.Request, deliver func(askback.Ask) bool) {
	ask, err := hook.Race(ctx, a.Client, r, a.lost)
	switch {
	case err == nil:
		if deliver(ask) {
			hook.Delivered(ctx, a.Client, ask)
		}
	case ctx.Err() == nil:
		a.NoteUnasked(err)
	}
}

// NoteUnasked notifies the user that a request is left to the program because of err.
func (a *Asker) NoteUnasked(err error) {
	a.Note("Askback cannot ask about one request, so " + a.Otherwise + ": " + err.Error())
}

// NoteUndelivered notifies the user that the program cannot be given the outcome of an ask.
func (a *Asker) NoteUndelivered(ask askback.Ask) {
	a.Note("The agent cannot be given an outcome of Askback (" + string(ask.Outcome.Status) + "), so " +
		a.Otherwise + ".")
}

// NoteAttached notifies the user that this process is attached to a program. It adds claim, a sentence about
// the inbox, only if Askback can be reached.
func (a *Asker) NoteAttached(program, claim string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	text := "Attached to " + program + "."
	if !a.away {
		text += " " + claim
	}
	a.Notify(text)
}

// lost notifies the user that Askback cannot be reached, unless the user was already notified.
func (a *Asker) lost(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.away {
		a.away = true
		a.Notify("Askback cannot be reached, so " + a.Otherwise + ": " + err.Error())
	}
}

// found notifies the user that Askback can be reached again, if the user was notified of the loss.
func (a *Asker) found() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.away {
		a.away = false
		a.Notify("Askback can be reached again.")
	}
}

// Run checks whether Askback can be reached, then calls follow, and continues to check until follow returns.
// If Askback rejects the token, Run ends the context of follow and returns that error.
func (a *Asker) Run(ctx context.Context, follow func(context.Context) error) error {
	rejected := a.check(ctx)
	if rejected != nil {
		return rejected
	}
	ctx, cancel := context.WithCancel(ctx)
	var checking sync.WaitGroup
	checking.Go(func() {
		defer cancel()
		for rejected == nil && pause.For(ctx, checkEvery) == nil {
			rejected = a.check(ctx)
		}
	})
	err := follow(ctx)
	cancel()
	checking.Wait()
	return cmp.Or(rejected, err)
}

// Watch checks repeatedly whether Askback can be reached, until ctx ends. It notifies the user of each
// change.
func (a *Asker) Watch(ctx context.Context) {
	for {
		if err := a.check(ctx); err != nil {
			a.lost(err)
		}
		if pause.For(ctx, checkEvery) != nil {
			return
		}
	}
}

var errSilent = errors.New("it does not reply")

// check notifies the user if Askback can no longer be reached, or can be reached again. It returns an error
// if Askback rejects the token.
func (a *Asker) check(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	// This call changes nothing, and requires the same rights as asking.
	switch _, err := a.Client.Ack(limited, noAsk); {
	case errors.Is(err, askback.ErrUnauthorized), errors.Is(err, askback.ErrForbidden):
		return fmt.Errorf("connect to Askback: %w; set ASKBACK_TOKEN to the token of an agent", err)
	case err == nil, errors.Is(err, askback.ErrNotFound):
		a.found()
	case ctx.Err() != nil: // this process has ended
	case limited.Err() != nil:
		a.lost(errSilent)
	default:
		a.lost(err)
	}
	return nil
}
