package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/asktool"
	"github.com/askback/askback/internal/connection"
	"github.com/askback/askback/internal/decode"
	"github.com/askback/askback/internal/instance"
	"github.com/askback/askback/internal/safetext"
	"github.com/askback/askback/internal/view"
)

// placing are the flags of everything that asks.
type placing struct {
	To      []string `sep:"none" placeholder:"NAME" help:"Name a person who may answer; everybody if not given."`
	Agent   string   `placeholder:"NAME" help:"Name the agent that asks, for people to read."`
	Session string   `placeholder:"KEY" help:"Name the run that this belongs to, as you like."`
	Key     string   `placeholder:"KEY" help:"Make it safe to run the command again: the same key is the same ask."`
	Timeout string   `placeholder:"TIME" help:"Wait this long: 90s, 10m, 2h, 7d; for ever if not given."`
	JSON    bool     `name:"json" help:"Print the whole outcome as JSON."`
}

func (p placing) on(r *askback.Request) error {
	r.To, r.Agent, r.SessionKey, r.Key = p.To, p.Agent, p.Session, p.Key
	if p.Timeout == "" {
		return nil
	}
	d, err := askback.ParseDuration(p.Timeout)
	if err != nil || d == 0 {
		return usage(fmt.Sprintf("--timeout %s: write 90s, 10m, 2h or 7d", p.Timeout))
	}
	r.Timeout = d
	return nil
}

type askCommand struct {
	Question    string   `arg:"" optional:"" help:"Question to ask."`
	Options     []string `arg:"" optional:"" sep:"none" name:"option" help:"Options to choose from, at least two; none for a free text answer."`
	Header      string   `help:"Show this short label, of at most 12 characters."`
	Description []string `sep:"none" placeholder:"TEXT" help:"Describe an option; once for each, in order."`
	Multi       bool     `help:"Let several options be chosen."`
	NoOther     bool     `help:"Accept only the options, no other text."`
	Default     []string `sep:"none" placeholder:"ANSWER" help:"Take this answer for Enter alone and, with --on-timeout default, for silence."`
	OnTimeout   string   `placeholder:"WHAT" help:"Choose what happens after --timeout: fail, default, decline or wait."`
	Context     string   `placeholder:"TEXT" help:"Show this beside the question."`
	File        string   `placeholder:"FILE" help:"Read the ask as JSON from a file, as in POST /asks; - is standard input."`
	placing
}

// Run asks and waits.
func (c *askCommand) Run(ctx context.Context, io streams, all *commands) error {
	r, err := c.request(io.in)
	if err != nil {
		return err
	}
	return all.with(io, instance.KindAsk, func(conn *connection.Connector) error {
		if c.File == "-" {
			io.in = nil // it was read to its end
		}
		return written(askAndWait(ctx, conn, io, r, c.JSON, false), c.File != "")
	})
}

func (c *askCommand) request(in io.Reader) (askback.Request, error) {
	if c.File != "" {
		if !c.alone() {
			return askback.Request{}, usage(`--file holds the whole ask: write it there, as in {"key": "…", "timeout": "10m", "questions": […]}; beside it only --json means something`)
		}
		return readRequest(c.File, in)
	}
	switch n := len(c.Description); {
	case c.Question == "":
		return askback.Request{}, usage(`ask what? askback ask "Which database?" PostgreSQL SQLite`)
	case n > 0 && n != len(c.Options):
		return askback.Request{}, usage(fmt.Sprintf("%d descriptions for %d options: describe each, in order", n, len(c.Options)))
	}
	if err := checkOptions(c.Options); err != nil {
		return askback.Request{}, err
	}
	q := askback.Question{
		Text: c.Question, Header: c.Header, MultiSelect: c.Multi, Options: askback.Options(c.Options...),
		NoOther: c.NoOther, Default: c.Default,
	}
	for i, d := range c.Description {
		q.Options[i].Description = d
	}
	r := askback.Request{Questions: []askback.Question{q}, OnTimeout: askback.OnTimeout(c.OnTimeout)}
	if c.Context != "" {
		r.Context, _ = json.Marshal(c.Context)
	}
	return r, c.on(&r)
}

// alone says whether nothing but --file, and how to print, was given.
func (c *askCommand) alone() bool {
	return reflect.DeepEqual(*c, askCommand{File: c.File, placing: placing{JSON: c.JSON}})
}

// readRequest reads an ask from a file. What is wrong with it is said as a model
// reads it best: at most 400 characters, and an example at the end that is accepted.
func readRequest(path string, in io.Reader) (askback.Request, error) {
	raw, err := readFile(path, in)
	if err != nil {
		return askback.Request{}, usage(err.Error())
	}
	r, err := decode.Request(raw)
	if err == nil {
		r, err = r.Normalize()
	}
	if err != nil {
		return askback.Request{}, usage(decode.Correction(raw, err, decode.Body))
	}
	return r, nil
}

func readFile(path string, in io.Reader) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(in)
	}
	return os.ReadFile(path)
}

type confirmCommand struct {
	Action  string `arg:"" help:"Action that is about to be done."`
	Details string `help:"Say more about the action."`
	Default string `enum:"yes,no" default:"no" help:"Suggest an answer (${enum}); it is never given for the person."`
	placing
}

// Run asks for approval and waits.
func (c *confirmCommand) Run(ctx context.Context, io streams, all *commands) error {
	r := asktool.Action(c.Action, c.Details)
	if err := c.on(&r); err != nil {
		return err
	}
	return all.with(io, instance.KindAsk, func(conn *connection.Connector) error {
		return askAndWait(ctx, conn, io, r, c.JSON, c.Default == "yes")
	})
}

// askAndWait asks, lets whoever sits here answer, and waits for whoever is
// first.
func askAndWait(ctx context.Context, conn *connection.Connector, io streams, r askback.Request, asJSON, suggestYes bool) error {
	r, err := r.Normalize()
	if err != nil {
		return err
	}
	for _, n := range r.Warnings {
		say(io.err, mistake(n))
	}
	ask, err := conn.Agent.Ask(ctx, r)
	if err != nil {
		return err
	}
	if !ask.Settled() {
		ask, err = wait(ctx, conn, io, ask, suggestYes)
		switch {
		case errors.Is(err, context.Canceled):
			return interrupted(ask, r.Key != "")
		case err != nil:
			return err
		}
	}
	if err := changed(io, ask, asJSON); err != nil {
		return err
	}
	if err := spend(ctx, conn, ask); err != nil {
		return err
	}
	err = report(io, ask, asJSON)
	received(ctx, conn, ask)
	return err
}

// received makes the receipt for what was printed. Without one the answer is
// offered once more, so nothing depends on it.
func received(ctx context.Context, conn *connection.Connector, ask askback.Ask) {
	if !ask.Settled() || !ask.AckedAt.IsZero() || ask.Kind == askback.Confirm && ask.Outcome.Approved() {
		return // whoever spends an approval has it
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, _ = conn.Agent.Ack(ctx, ask.ID)
}

// changed says that a person approved other arguments than those that were asked
// about. Whoever gets no JSON would not see them, and run what nobody approved.
func changed(io streams, ask askback.Ask, asJSON bool) error {
	if !ask.Outcome.Approved() || len(ask.Outcome.Input) == 0 {
		return nil
	}
	if asJSON {
		if ask.Confirmation.ToolName != asktool.ConfirmAction {
			return nil // whoever asked for a tool of its own reads what may run
		}
		if err := printJSON(io.out, ask.Outcome); err != nil {
			return err
		}
	}
	return ended{exitNo, "approved only with other arguments, so not as it was asked: " + safetext.Line(string(ask.Outcome.Input)).String()}
}

// spend uses up an approval before anybody is told of it: a command that is run
// again with its key must not be approved again (F7).
func spend(ctx context.Context, conn *connection.Connector, ask askback.Ask) error {
	if ask.Kind != askback.Confirm || !ask.Outcome.Approved() {
		return nil
	}
	_, err := conn.Agent.Consume(ctx, ask.ID, ask.Outcome.Digest)
	if errors.Is(err, askback.ErrConsumed) {
		return ended{exitRefused, "this approval was used before; to ask again, use another --key"}
	}
	return err
}

// wait returns the ask once it is settled, by the prompt or elsewhere.
func wait(ctx context.Context, conn *connection.Connector, io streams, ask askback.Ask, suggestYes bool) (askback.Ask, error) {
	p := openPrompt(conn, io, ask)
	say(io.err, p.invitation(conn.PageURL(ask)))
	prompting, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.serve(prompting, ask, suggestYes)
	}()
	settled, err := conn.Agent.Wait(ctx, ask.ID)
	stop()
	<-done
	p.close(settled)
	if errors.Is(err, context.Canceled) {
		return ask, err
	}
	return settled, err
}

// interrupted says what can be done about an ask that this command waits for no longer.
func interrupted(ask askback.Ask, keyed bool) error {
	why := fmt.Sprintf("%s still waits. To withdraw it:\n  askback cancel %s\nTo answer it:\n  %s", ask.ID, ask.ID, answering(ask))
	if keyed {
		why += "\nThe same command, with the same --key, goes on waiting."
	}
	return ended{exitInterrupted, why}
}

// report prints the answer, or says why there is none.
func report(io streams, ask askback.Ask, asJSON bool) error {
	o := ask.Outcome
	if asJSON {
		if err := printJSON(io.out, o); err != nil {
			return err
		}
	}
	standing := view.Of(ask).Status().String()
	switch {
	case o.Status == askback.Declined:
		return ended{exitNo, because(standing, o.Reason)}
	case o.Status == askback.Cancelled:
		return ended{exitCancelled, because(standing, o.Reason)}
	case o.Status == askback.Expired && !o.Defaulted:
		return ended{exitExpired, standing}
	case ask.Kind == askback.Confirm && !o.Approved():
		return ended{exitNo, because(standing, o.Reason)}
	case o.Defaulted, o.Actor.Kind == askback.ActorPolicy:
		say(io.err, standing)
	}
	if asJSON {
		return nil
	}
	remarks(io.err, *o)
	if ask.Kind == askback.Confirm {
		return nil
	}
	return printAnswers(io.out, o.Answers, ask.Questions)
}

// remarks says what a person wrote beside the answer: standard output has no
// place for it, and nothing is lost.
func remarks(w io.Writer, o askback.Outcome) {
	for _, a := range o.Answers {
		if a.Notes != "" {
			say(w, "note: "+a.Notes)
		}
	}
	for _, text := range []string{o.Comment, o.Reason} {
		if text != "" {
			say(w, "remark: "+text)
		}
	}
}

func because(what, why string) string {
	if why == "" {
		return what
	}
	return what + ": " + why
}

// elapsed is how long ago something was, for lists.
func elapsed(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
