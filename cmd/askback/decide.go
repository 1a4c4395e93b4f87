package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/local/connection"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
	"github.com/askback/askback/terminal"
)

// isSeveral reports whether the command decides several calls, each with a separate answer.
func (c *answerCommand) isSeveral() bool {
	return c.Session != "" || (c.Approve || c.Deny) && len(c.Answers) > 0
}

// decideSeveral prints the exact calls, asks for a confirmation, and decides each call with a separate
// answer. Dangerous calls are never decided together with other calls. A call that cannot be decided does not
// affect the other calls.
func (c *answerCommand) decideSeveral(ctx context.Context, io streams, conn *connection.Connector) error {
	if !c.Approve && !c.Deny || c.All || c.Input != "" || c.Notes != "" || len(c.Other) > 0 ||
		c.Scope != "" || c.Expires != "" {
		return usage("to decide several calls, give --approve or --deny; only --reason, --comment and --yes can be " +
			"combined with it")
	}
	asks, err := c.selected(ctx, io, conn)
	if err != nil {
		return err
	}
	if err := decidable(asks); err != nil {
		return err
	}
	for _, a := range asks {
		if err := printCall(io, a); err != nil {
			return err
		}
	}
	if err := c.confirm(ctx, io, len(asks)); err != nil {
		return err
	}
	answer := askback.Answer{Decision: askback.Deny, Reason: c.Reason, Comment: c.Comment}
	if c.Approve {
		answer.Decision = askback.Approve
	}
	failed := 0
	for _, a := range asks {
		after, err := conn.User.Answer(ctx, a.ID, answer)
		switch {
		case err == nil:
			note(io.err, a.ID+": "+ending(after))
			continue
		case errors.Is(err, askback.ErrSettled):
			note(io.err, a.ID+": too late: "+ending(after))
		case ctx.Err() != nil:
			return err
		default:
			note(io.err, a.ID+": "+withoutRoute(err))
		}
		failed++
	}
	if failed > 0 {
		return exitError{exitRefused, fmt.Sprintf("%d of %d calls were not decided by this command", failed, len(asks))}
	}
	return nil
}

// selected returns the asks that the command line names, each once. With --session, it returns the open calls
// of the session.
func (c *answerCommand) selected(ctx context.Context, io streams, conn *connection.Connector) ([]askback.Ask, error) {
	if c.Session != "" {
		if c.ID != "" {
			return nil, usage("give ids or --session, not both")
		}
		return c.openCalls(ctx, io, conn)
	}
	find := lookup{client: conn.User, verb: "answer", decides: true}
	var asks []askback.Ask
	for _, typed := range append([]string{c.ID}, c.Answers...) {
		if isLatest(typed) {
			return nil, usage("to decide several calls, give the id instead of latest")
		}
		a, err := find.get(ctx, typed)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(asks, func(b askback.Ask) bool { return b.ID == a.ID }) {
			asks = append(asks, a)
		}
	}
	return asks, nil
}

// openCalls returns all open calls of the session, or an error if there are no open calls. It prints a note
// with the number of open questions, which it omits.
func (c *answerCommand) openCalls(
	ctx context.Context, io streams, conn *connection.Connector,
) (calls []askback.Ask, err error) {
	questions := 0
	q := askback.Query{SessionID: c.Session, Limit: askback.MaxLimit}
	for more := true; more; more = q.Cursor != "" {
		page, err := conn.User.List(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, a := range page.Items {
			if a.Kind == askback.Confirm {
				calls = append(calls, a)
			} else {
				questions++
			}
		}
		q.Cursor = page.NextCursor
	}
	if questions > 0 {
		each := "their own"
		if questions == 1 {
			each = "its own"
		}
		note(io.err, view.Count(questions, "question")+" of this session must be answered on "+each)
	}
	if len(calls) == 0 {
		return nil, exitError{
			exitRefused, "the session " + c.Session + " has no open calls; askback list shows the open asks",
		}
	}
	return calls, nil
}

// decidable returns an error that lists the asks that cannot be decided together with other asks. It returns
// nil if there are no such asks.
func decidable(asks []askback.Ask) error {
	var b strings.Builder
	for _, a := range asks {
		v := view.Of(a)
		switch {
		case v.Confirmation == nil:
			fmt.Fprintf(&b, "\n  %s  is a question: %s", v.ID, safetext.Fit(v.Line(), 60))
		case v.Confirmation.Dangerous:
			fmt.Fprintf(&b, "\n  %s  is dangerous: %s", v.ID, safetext.Fit(v.Line(), 60))
		case !v.Together():
			fmt.Fprintf(&b, "\n  %s  has text that is hard to see: %s", v.ID, safetext.Fit(v.Line(), 60))
		}
	}
	if b.Len() == 0 {
		return nil
	}
	return usage("nothing was decided; answer these on their own:" + b.String())
}

// printCall prints the exact call that runs after an approval. Text of the agent stays in its frame, even if
// it is wider than the terminal (T10).
func printCall(io streams, a askback.Ask) error {
	printLine(io.err, a.ID+"  "+elapsed(time.Since(a.CreatedAt)))
	return terminal.ShowCall(io.err, view.Of(a), terminal.StreamOptions(io.err))
}

// confirm asks the person at the terminal. It discards input from before the calls were shown. Without a
// terminal, it requires --yes.
func (c *answerCommand) confirm(ctx context.Context, io streams, n int) error {
	verb := "deny"
	if c.Approve {
		verb = "approve"
	}
	if c.Yes {
		return nil
	}
	if !terminal.IsTerminal(io.in) {
		return usage(fmt.Sprintf("nothing was decided; to %s these without a terminal, add --yes", verb))
	}
	if tty, err := terminal.Open(); err == nil {
		if err := errors.Join(tty.Discard(), tty.Close()); err != nil {
			return err
		}
	}
	_, _ = fmt.Fprintf(io.err, "askback: %s %s? Type yes: ", verb, view.Count(n, "call"))
	typed := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(io.in).ReadString('\n')
		typed <- strings.TrimSpace(line)
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case line := <-typed:
		if strings.EqualFold(line, "yes") {
			return nil
		}
	}
	return exitError{exitNo, "nothing was decided"}
}
