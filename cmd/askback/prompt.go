package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/view"
	"github.com/askback/askback/terminal"
)

// prompt lets whoever sits here, or feeds the pipe, answer an ask. It returns
// when the ask is settled, the input ends or ctx does; none of these is an
// answer.
func prompt(ctx context.Context, d *desk, io streams, ask askback.Ask, suggestYes bool) {
	p, close, err := door(io)
	if err != nil {
		say(io.err, fmt.Sprintf("%v; %s waits to be answered elsewhere", err, ask.ID))
		return
	}
	defer close()
	shown := view.Of(ask)
	if shown.Confirmation != nil {
		shown.Confirmation.SuggestYes = suggestYes
	}
	for {
		result, err := p.Ask(ctx, shown)
		switch {
		case errors.Is(err, terminal.ErrNoInput):
			say(io.err, fmt.Sprintf("the input ended, and that is no answer; %s waits to be answered elsewhere", ask.ID))
			return
		case ctx.Err() != nil:
			settled(p, d, ask.ID)
			return
		case err != nil:
			say(io.err, err.Error())
			return
		}
		err = d.give(ctx, ask.ID, result)
		var invalid askback.Invalid
		if !errors.As(err, &invalid) {
			if err != nil && !errors.Is(err, askback.ErrSettled) {
				say(io.err, err.Error())
			}
			return
		}
		say(io.err, invalid.Error())
	}
}

// give puts what a person did to the engine, even if the ask was settled at
// the same moment: then the history keeps it.
func (d *desk) give(ctx context.Context, id string, result terminal.Result) (err error) {
	ctx = context.WithoutCancel(ctx)
	switch r := result.(type) {
	case terminal.Given:
		_, err = d.user.Answer(ctx, id, r.Answer)
	case terminal.Declined:
		_, err = d.user.Decline(ctx, id, r.Reason)
	}
	return err
}

// settled tells whoever sits at the prompt how the ask ended elsewhere.
func settled(p *terminal.Prompt, d *desk, id string) {
	ask, err := d.user.Get(context.Background(), id)
	if err == nil && ask.Settled() {
		_ = p.Settled(view.Of(ask))
	}
}

// door opens the prompt: on the terminal when standard input is one, so that
// standard output stays free for the answer; otherwise on standard input.
func door(io streams) (p *terminal.Prompt, close func(), err error) {
	if io.in == nil {
		return nil, nil, errors.New("standard input held the ask")
	}
	if !terminal.Is(io.in) {
		return terminal.New(io.in, io.err, nil), func() {}, nil
	}
	tty, err := terminal.Open()
	if err != nil {
		return nil, nil, err
	}
	return terminal.New(tty, tty, tty.Options()), func() { _ = tty.Close() }, nil
}
