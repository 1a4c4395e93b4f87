package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/local/connection"
	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/internal/text/view"
	"github.com/askback/askback/terminal"
)

// A prompt lets the user, or a program through a pipe, answer one ask. Without an answer here, the ask stays
// open and other clients can answer the ask.
type prompt struct {
	conn    *connection.Connector
	io      streams
	id      string
	command string         // the command that answers
	ui      asker          // nil if this prompt cannot answer the ask
	tty     *terminal.TTY  // nil for a pipe
	lock    *instance.Lock // locks the terminal while this prompt uses it
	reason  string         // why this prompt cannot answer the ask
	open    bool           // the prompt was still shown when ctx ended
	here    bool           // the ask was settled at this prompt
	waiter  askback.Asker  // waits for the outcome
}

// An asker shows asks and returns the answers. It is a [terminal.Panel] or a [terminal.Prompt].
type asker interface {
	Ask(context.Context, view.Ask) (terminal.Result, error)
	Settled(view.Ask) error
}

// openPrompt opens a prompt. If standard input is a terminal, the prompt uses the terminal, so that standard
// output has only the answer. Otherwise it reads standard input. If the ask cannot be answered here, because
// it is on a remote server for example, ui is nil.
//
// At a terminal the prompt is a panel, or a series of lines if plain is true or the terminal cannot show a
// panel.
func openPrompt(ctx context.Context, conn *connection.Connector, io streams, ask askback.Ask, plain bool) *prompt {
	p := &prompt{conn: conn, io: io, id: ask.ID, command: answerCommandFor(ask), waiter: conn.Agent}
	switch {
	case !conn.CanPrompt():
	case isForOthers(ctx, conn, ask):
		p.reason = fmt.Sprintf("only %s may answer this, not %s", view.Of(ask).Recipients(), conn.UserName())
	case conn.UserName() != "" && !ask.IsApprover(conn.UserName()):
		p.reason = askback.NotApproverError{Who: ask.Deciders()}.Error() + ", not " + conn.UserName()
	case io.in == nil:
		p.reason = "standard input contained the ask"
	case !terminal.IsTerminal(io.in):
		p.ui = terminal.New(io.in, io.err, nil)
	default:
		tty, err := terminal.Open()
		if err != nil {
			p.reason = err.Error()
			break
		}
		if !tty.Foreground() {
			p.reason = "this command runs in the background and cannot prompt"
			_ = tty.Close()
			break
		}
		p.tty = tty
		options := tty.Options()
		options.Claim, options.Drafts = p.claim, conn.Person
		p.ui = terminal.New(tty, tty, options)
		if !plain && tty.ShowsPanels() {
			p.ui = terminal.NewPanel(tty, options)
		}
	}
	return p
}

// isForOthers reports whether the ask names people, but not the local user.
func isForOthers(ctx context.Context, conn *connection.Connector, ask askback.Ask) bool {
	if len(ask.To) == 0 {
		return false
	}
	_, err := conn.Person.Get(ctx, ask.ID)
	return errors.Is(err, askback.ErrNotFound)
}

// invitation returns the note on where the ask can be answered, or "" if there is a prompt
// and no page. The URL has its own line: a URL that wraps cannot be clicked.
func (p *prompt) invitation(page string) string {
	switch {
	case p.ui != nil && page != "":
		return "answer here, or at\n" + page
	case p.ui != nil:
		return ""
	case page == "":
		return sentence(p.reason, p.elsewhere())
	}
	return sentence(p.reason, "answer at\n"+page)
}

func sentence(reason, text string) string {
	if reason == "" {
		return text
	}
	return reason + "; " + text
}

func (p *prompt) elsewhere() string {
	return fmt.Sprintf("%s is still open. To answer it:\n  %s", p.id, p.command)
}

// answerCommandFor returns the command that answers an ask.
func answerCommandFor(ask askback.Ask) string {
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

// maxInvalid is how many invalid answers are read from a pipe.
const maxInvalid = 3

// serve prompts until the ask is settled here, no valid answer can be read, or ctx ends.
func (p *prompt) serve(ctx context.Context, ask askback.Ask, suggestYes bool) {
	if p.ui == nil {
		return
	}
	shown := view.Of(ask)
	if shown.Confirmation != nil {
		shown.Confirmation.SuggestYes = suggestYes
	}
	if err := p.lockTerminal(ctx); err != nil {
		if ctx.Err() == nil {
			note(p.io.err, err.Error()+"; "+p.elsewhere())
		}
		return
	}
	p.ask(ctx, shown)
	if !p.open {
		p.release()
	}
}

// ask repeats the prompt until there is a valid answer, or until no valid answer can be given here. If ctx
// ends first, it sets open.
func (p *prompt) ask(ctx context.Context, shown view.Ask) {
	for n, again := 1, true; again; n++ {
		result, err := p.ui.Ask(ctx, shown)
		switch {
		case errors.Is(err, terminal.ErrNoInput):
			note(p.io.err, "the input ended without an answer; "+p.elsewhere())
			return
		case ctx.Err() != nil:
			p.open = true
			return
		case err != nil:
			note(p.io.err, err.Error()+"; "+p.elsewhere())
			return
		}
		again = p.submit(ctx, result)
		if again && p.tty == nil && n == maxInvalid {
			note(p.io.err, "the input has no valid answer, so no more of it is read; "+p.elsewhere())
			return
		}
	}
}

// submit submits an answer or a decline, and reports whether to prompt again because the answer is invalid.
// It submits even if the ask has been settled meanwhile, because the history records late answers.
func (p *prompt) submit(ctx context.Context, result terminal.Result) (again bool) {
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
	p.here = err == nil && ask.Settled()
	switch {
	case err == nil && !ask.Settled():
		note(p.io.err, "recorded: "+ending(ask))
	case err == nil:
	case errors.Is(err, askback.ErrSettled):
		_ = p.ui.Settled(view.Of(ask)) // shows the answer that was accepted
	case errors.As(err, &invalid):
		note(p.io.err, invalid.Error())
		return true
	default:
		note(p.io.err, err.Error()+"; "+p.elsewhere())
	}
	return false
}

// claim shows other people that the user is typing an answer (F8). The prompt repeats it,
// so an error is ignored.
func (p *prompt) claim(ctx context.Context) {
	_, _ = p.conn.Person.Claim(ctx, p.id)
}

// lingerTime is how long submitting an answer may take after the command was interrupted or
// the ask was settled.
const lingerTime = 3 * time.Second

// linger returns a context that ends lingerTime after ctx.
func linger(ctx context.Context) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		late := time.AfterFunc(lingerTime, cancel)
		context.AfterFunc(out, func() { late.Stop() })
	})
	return out, func() { stop(); cancel() }
}

// close replaces a prompt that is still shown with the outcome, if there is one. Then it
// releases the terminal.
func (p *prompt) close(ask askback.Ask) {
	if p.open {
		_ = p.ui.Settled(view.Of(ask))
	}
	p.release()
}

// release restores the terminal and unlocks it. The ask may still be open.
func (p *prompt) release() {
	if p.tty != nil {
		_ = p.tty.Close()
	}
	if p.lock != nil {
		_ = p.lock.Release()
	}
	p.tty, p.lock = nil, nil
}
