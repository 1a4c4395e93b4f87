package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/connection"
	"github.com/askback/askback/internal/instance"
	"github.com/askback/askback/internal/view"
	"github.com/askback/askback/terminal"
)

// A prompt lets whoever sits here, or feeds the pipe, answer one ask. That it
// ends is no answer: the ask waits for the other doors.
type prompt struct {
	conn   *connection.Connector
	io     streams
	id     string
	how    string           // the command that answers
	words  *terminal.Prompt // nil: nobody can answer here
	tty    *terminal.TTY    // nil: a pipe
	lock   *instance.Lock   // of the terminal, while it is our turn
	reason string           // why nobody can
	left   bool             // it stood open when the ask ended
}

// openPrompt opens the prompt: on the terminal when standard input is one, so
// that standard output stays free for the answer; otherwise on standard input.
// A server elsewhere takes no answers from here.
func openPrompt(conn *connection.Connector, io streams, ask askback.Ask) *prompt {
	p := &prompt{conn: conn, io: io, id: ask.ID, how: answering(ask)}
	switch {
	case !conn.CanPrompt():
	case io.in == nil:
		p.reason = "standard input held the ask"
	case !terminal.IsTerminal(io.in):
		p.words = terminal.New(io.in, io.err, nil)
	default:
		tty, err := terminal.Open()
		if err != nil {
			p.reason = err.Error()
			break
		}
		if !tty.Foreground() {
			p.reason = "this command runs in the background and does not ask here"
			_ = tty.Close()
			break
		}
		p.tty = tty
		options := tty.Options()
		options.Claim = p.claim
		p.words = terminal.New(tty, tty, options)
	}
	return p
}

// invitation says where the ask can be answered. The address has a line of its own: it is
// too long to share one, and a broken address cannot be clicked.
func (p *prompt) invitation(page string) string {
	switch {
	case p.words != nil && page != "":
		return "answer here, or at\n" + page
	case p.words != nil:
		return ""
	case page == "":
		return sentence(p.reason, p.elsewhere())
	}
	return sentence(p.reason, "answer at\n"+page)
}

func sentence(why, what string) string {
	if why == "" {
		return what
	}
	return why + "; " + what
}

func (p *prompt) elsewhere() string {
	return fmt.Sprintf("%s still waits. To answer it:\n  %s", p.id, p.how)
}

// answering is the command that answers an ask.
func answering(ask askback.Ask) string {
	command := "askback answer " + ask.ID
	switch n := len(ask.Questions); {
	case ask.Kind == askback.Confirm:
		return command + " --approve or --deny"
	case n > 1:
		var all strings.Builder
		for i := range n {
			fmt.Fprintf(&all, " q%d=ANSWER", i+1)
		}
		return command + all.String()
	}
	return command + " ANSWER"
}

// maxInvalid is how many answers from a pipe may be refused before no more are read.
const maxInvalid = 3

// serve asks until the ask is settled here, the input ends or ctx does.
func (p *prompt) serve(ctx context.Context, ask askback.Ask, suggestYes bool) {
	if p.words == nil {
		return
	}
	shown := view.Of(ask)
	if shown.Confirmation != nil {
		shown.Confirmation.SuggestYes = suggestYes
	}
	if err := p.turn(ctx); err != nil {
		if ctx.Err() == nil {
			say(p.io.err, err.Error()+"; "+p.elsewhere())
		}
		return
	}
	p.ask(ctx, shown)
	if !p.left {
		p.leave()
	}
}

// ask asks until there is an answer, or none to be had here.
func (p *prompt) ask(ctx context.Context, shown view.Ask) {
	for n, again := 1, true; again; n++ {
		result, err := p.words.Ask(ctx, shown)
		switch {
		case errors.Is(err, terminal.ErrNoInput):
			say(p.io.err, "the input ended, and that is no answer; "+p.elsewhere())
			return
		case ctx.Err() != nil:
			p.left = true
			return
		case err != nil:
			say(p.io.err, err.Error()+"; "+p.elsewhere())
			return
		}
		again = p.give(ctx, result)
		if again && p.tty == nil && n == maxInvalid {
			say(p.io.err, "the input gave no answer that can be taken, so no more of it is read; "+p.elsewhere())
			return
		}
	}
}

// give hands in what a person did, and says whether to ask again. It does so
// even if the ask was settled at the same moment: then the history keeps it.
func (p *prompt) give(ctx context.Context, result terminal.Result) (again bool) {
	ctx, cancel := linger(ctx)
	defer cancel()
	var ask askback.Ask
	var err error
	switch r := result.(type) {
	case terminal.Answered:
		ask, err = p.conn.Person.Answer(ctx, p.id, r.Answer)
	case terminal.Declined:
		ask, err = p.conn.Person.Decline(ctx, p.id, r.Reason)
	}
	var invalid askback.Invalid
	switch {
	case err == nil:
	case errors.Is(err, askback.ErrSettled):
		_ = p.words.Settled(view.Of(ask)) // somebody was quicker: this is who, and with what
	case errors.As(err, &invalid):
		say(p.io.err, invalid.Error())
		return true
	default:
		say(p.io.err, err.Error()+"; "+p.elsewhere())
	}
	return false
}

// claim tells the others that somebody types an answer here (F8). The prompt says so
// again while it goes on; that it got lost once changes nothing else.
func (p *prompt) claim(ctx context.Context) {
	_, _ = p.conn.Person.Claim(ctx, p.id)
}

// lingerTime is how long what a person typed is tried to be handed in after the
// command was told to stop, or the ask was settled.
const lingerTime = 3 * time.Second

// linger returns a context that ends a little after ctx.
func linger(ctx context.Context) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		late := time.AfterFunc(lingerTime, cancel)
		context.AfterFunc(out, func() { late.Stop() })
	})
	return out, func() { stop(); cancel() }
}

// close takes an open prompt away, and tells whoever sits there how the ask
// ended, if it did.
func (p *prompt) close(ask askback.Ask) {
	if p.left {
		_ = p.words.Settled(view.Of(ask))
	}
	p.leave()
}

// leave gives the terminal back, and the turn to ask in it. The ask may still wait for an
// answer from elsewhere.
func (p *prompt) leave() {
	if p.tty != nil {
		_ = p.tty.Close()
	}
	if p.lock != nil {
		_ = p.lock.Release()
	}
	p.tty, p.lock = nil, nil
}
