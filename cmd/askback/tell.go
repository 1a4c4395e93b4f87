package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/local/connection"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
)

type tellCommand struct {
	ID         string `arg:"" name:"ask" complete:"ask" help:"Name an ask of the agent as in askback show, or a session by its whole id."`
	Text       string `arg:"" optional:"" name:"text" help:"Write this to the agent. It does not answer an ask."`
	CancelTurn bool   `help:"End the turn of the agent, and withdraw its open asks."`
}

// Run writes a message to the agent of an ask or a session, or ends the turn of the agent.
func (c *tellCommand) Run(ctx context.Context, io streams, conn *connection.Connector) error {
	if (strings.TrimSpace(c.Text) == "") != c.CancelTurn {
		return usage("give the text for the agent, or --cancel-turn")
	}
	s, err := c.session(ctx, conn.User)
	if err != nil {
		return err
	}
	agent := safetext.Name(s.Agent).String()
	cmd, done := askback.Command(askback.SendMessage{Text: c.Text}), "sent to "+agent
	switch {
	case c.CancelTurn:
		cmd, done = askback.EndTurn{}, "the turn of "+agent+" is cancelled"
	case !view.SessionOf(s).Reads:
		return exitError{exitRefused, fmt.Sprintf(
			"%s has not read any messages in its session %s, so nothing can be written to it: "+
				"write to it in its own window", agent, s.ID,
		)}
	}
	_, err = conn.User.Send(ctx, s.ID, cmd)
	if errors.Is(err, askback.ErrEnded) {
		return exitError{exitRefused, "the session of " + agent + " has ended for good: nothing was sent"}
	}
	if err == nil {
		note(io.err, done)
	}
	return err
}

// session returns the session of the ask or with the id in c.ID.
func (c *tellCommand) session(ctx context.Context, client askback.Client) (askback.Session, error) {
	typed := strings.ToLower(strings.TrimSpace(c.ID))
	if strings.HasPrefix(typed, "ses_") {
		s, err := client.Session(ctx, typed)
		if errors.Is(err, askback.ErrNotFound) {
			err = exitError{exitRefused, "there is no session " + safetext.Line(typed).String() + " that you may see"}
		}
		return s, err
	}
	ask, err := lookup{client: client, verb: "see"}.get(ctx, c.ID)
	if err != nil {
		return askback.Session{}, err
	}
	if view.Brief(ask).OwnSession {
		return askback.Session{}, exitError{
			exitRefused, ask.ID + " has no session that is going on: write to its agent in its own window",
		}
	}
	return client.Session(ctx, ask.SessionID)
}

// withSession adds the session of a settled ask to its view, so that the person reads how to write to the agent.
// Without a session, or if it cannot be read, the view stays as it is: the ask matters more.
func withSession(ctx context.Context, client askback.Client, a askback.Ask, v view.Ask) view.Ask {
	if v.Outcome == nil || v.OwnSession || a.SessionID == "" {
		return v
	}
	if s, err := client.Session(ctx, a.SessionID); err == nil {
		v.Run = new(view.SessionOf(s))
	}
	return v
}
