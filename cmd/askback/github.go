package main

import (
	"context"
	"crypto/rand"
	"errors"
	"os"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/command/githubaction"
	"github.com/askback/askback/internal/local/connection"
	"github.com/askback/askback/internal/text/view"
)

// githubCommand is the step of action.yml. All its inputs are in the environment, because a workflow must not
// put inputs into a shell script.
type githubCommand struct{}

// Run asks and waits, and writes the outputs of the step. Only an answer, a default or a consumed approval is
// a success.
func (c *githubCommand) Run(ctx context.Context, io streams, all *commands) error {
	log := githubaction.NewLog(io.out, rand.Text())
	err := c.ask(ctx, streams{out: log, err: log}, all)
	var shown string
	if err != nil {
		shown = "The step has failed: its log has the reason."
		var coded exitError
		if errors.As(err, &coded) {
			shown = coded.text
		}
	}
	code := printError(log, err)
	log.Close(shown)
	if code == exitDone {
		return nil
	}
	return exitError{code: code} // the error is in the log already
}

func (c *githubCommand) ask(ctx context.Context, io streams, all *commands) (err error) {
	step, err := githubaction.Read(os.Getenv)
	if err != nil {
		return usage(err.Error())
	}
	if os.Getenv("ASKBACK_URL") == "" {
		return usage("input url is missing: set it to the address of your server, such as ${{ vars.ASKBACK_URL }}, " +
			"and token to ${{ secrets.ASKBACK_TOKEN }}")
	}
	conn, err := all.connector(ctx, io.err, "")
	if err != nil {
		return err
	}
	defer func() { err = thenClose(io, conn, err) }()
	ask, err := askForAttempt(ctx, conn, io, step)
	if err != nil {
		return err
	}
	page := conn.PageURL(ask)
	outputs := githubaction.Located(ask, page)
	if err := writeOutputs(step.Output, outputs); err != nil {
		return err
	}
	if !ask.Settled() {
		note(io.err, view.Of(ask).Status().String()+"; answer at\n"+page)
		settled, err := conn.Agent.Wait(ctx, ask.ID)
		switch {
		case errors.Is(err, context.Canceled):
			return exitError{exitInterrupted, ask.ID + " is still open; a re-run of this job continues with it"}
		case err != nil:
			return err
		}
		ask = settled
	}
	return c.finish(ctx, conn, io, step, ask)
}

// askForAttempt creates the ask for the step. If an ask from an earlier attempt of the run can still be used, it
// returns that ask.
func askForAttempt(
	ctx context.Context, conn *connection.Connector, io streams, step githubaction.Step,
) (ask askback.Ask, err error) {
	keys := step.Keys()
	for i, key := range keys {
		r := step.Request
		r.Key = key
		if r, err = r.Normalize(); err != nil {
			return ask, err
		}
		if ask, err = conn.Agent.Ask(ctx, r); err != nil {
			return ask, err
		}
		for _, n := range ask.Warnings {
			note(io.err, problemLine(n))
		}
		if i == len(keys)-1 || !githubaction.Spent(ask) {
			break
		}
		note(io.err, ask.ID+" of an earlier attempt was used, or has no answer: "+view.Of(ask).Status().String())
	}
	return ask, nil
}

// finish consumes an approval, writes the outputs and reports how the ask ended. It writes the outputs after
// it has consumed the approval, so that a step that fails has no output of an approval.
func (c *githubCommand) finish(
	ctx context.Context, conn *connection.Connector, io streams, step githubaction.Step, ask askback.Ask,
) error {
	if !step.Edits {
		if err := checkInput(io, ask, false); err != nil {
			return err
		}
	}
	if err := consume(ctx, conn, ask); err != nil {
		return err
	}
	outputs, err := githubaction.Outputs(ask, conn.PageURL(ask))
	if err != nil {
		return err
	}
	if err := writeOutputs(step.Output, outputs); err != nil {
		return err
	}
	acknowledge(ctx, conn, ask)
	err = report(streams{out: io.err, err: io.err}, ask, false)
	// for a default and for a policy, report has already printed the status
	if err == nil && !ask.Outcome.Defaulted && ask.Outcome.Actor.Kind != askback.ActorPolicy {
		note(io.err, view.Of(ask).Status().String())
	}
	return err
}

// writeOutputs appends outputs to the file of the runner. If a name occurs twice, the later value counts.
func writeOutputs(path string, outputs []githubaction.Output) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(githubaction.WriteOutputs(f, outputs, "askback_"+rand.Text()), f.Close())
}
