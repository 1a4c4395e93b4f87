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
	"github.com/askback/askback/internal/local/connection"
	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/internal/text/outcometext"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
	"github.com/askback/askback/internal/wire/decode"
	"github.com/askback/askback/terminal"
)

// requestFlags are the flags of both ask and confirm.
type requestFlags struct {
	To      []string `complete:"person" sep:"none" placeholder:"NAME" help:"Ask this person, or a group as @NAME. Repeat for several. By default a route decides, or every person may answer."`
	Agent   string   `complete:"agent" placeholder:"NAME" help:"Show people this name for the agent."`
	Tag     []string `complete:"tag" sep:"none" placeholder:"TAG" help:"Add a tag, for routes and filters. Repeat for several."`
	Session string   `placeholder:"KEY" help:"Group this ask with other asks that have the same key, such as asks of one run."`
	Key     string   `placeholder:"KEY" help:"Make the command safe to repeat: the same key continues the same ask instead of asking again."`
	Timeout string   `placeholder:"TIME" help:"Wait at most this long, such as 90s, 10m, 2h or 7d. The default is no limit."`
	JSON    bool     `name:"json" help:"Print the whole outcome as JSON, with who answered and when."`
	Plain   bool     `env:"ASKBACK_PLAIN" help:"Ask line by line at a terminal, as for a screen reader."`
}

func (p requestFlags) apply(r *askback.Request) (err error) {
	r.To, r.Tags, r.Agent, r.SessionKey, r.Key = p.To, p.Tag, p.Agent, p.Session, p.Key
	r.Timeout, err = duration("--timeout", p.Timeout, "90s, 10m, 2h or 7d")
	return err
}

// duration parses the value of a flag. It returns 0 for "", and an error with examples for
// an invalid value or zero.
func duration(flag, value, examples string) (time.Duration, error) {
	if value == "" {
		return 0, nil
	}
	d, err := askback.ParseDuration(value)
	if err != nil || d == 0 {
		return 0, usage(fmt.Sprintf("%s %s is not valid: write a time such as %s", flag, value, examples))
	}
	return d, nil
}

type askCommand struct {
	Question    string   `arg:"" optional:"" help:"Ask this question."`
	Options     []string `arg:"" optional:"" sep:"none" name:"option" help:"Offer these options, at least two. Without options, the answer is free text."`
	Header      string   `help:"Show this short label, at most 12 characters, with the question."`
	Description []string `sep:"none" placeholder:"TEXT" help:"Describe an option. Repeat for each option, in order."`
	Multi       bool     `help:"Let the person choose several options."`
	NoOther     bool     `help:"Accept only the options, no other text."`
	Default     []string `sep:"none" placeholder:"ANSWER" help:"Suggest this answer. It is used if the person only presses Enter, or after the timeout with --on-timeout default."`
	OnTimeout   string   `enum:"fail,default,decline,wait," default:"" placeholder:"WHAT" help:"After --timeout, fail (expire, the default), use the default answer, decline, or wait (stay open)."`
	Context     string   `placeholder:"TEXT" help:"Show this text with the question."`
	File        string   `complete:"file" placeholder:"FILE" help:"Read the ask from this JSON file, or - for standard input. The format is the body of POST /asks in the HTTP API."`
	requestFlags
}

// Run sends the ask, from the arguments or from --file, and waits for its outcome.
func (c *askCommand) Run(ctx context.Context, io streams, all *commands) error {
	r, err := c.request(io.in)
	if err != nil {
		return err
	}
	if c.File == "-" {
		io.in = nil // the ask was read from standard input
	}
	return inFile(askAndWait(ctx, all, io, r, c.requestFlags, false), c.File != "")
}

func (c *askCommand) request(in io.Reader) (askback.Request, error) {
	if c.File != "" {
		if !c.onlyFile() {
			return askback.Request{}, usage(`--file contains the whole ask: put other settings there, as in {"key": "…", "timeout": "10m", "questions": […]}; only --json can be combined with it`)
		}
		return readRequest(c.File, in)
	}
	switch n := len(c.Description); {
	case c.Question == "":
		return askback.Request{},
			usage(`missing question; for example: askback ask "Which database?" PostgreSQL SQLite`)
	case n > 0 && n != len(c.Options):
		return askback.Request{}, usage(fmt.Sprintf("%s for %s: give one --description for each option, in order",
			view.Count(n, "description"), view.Count(len(c.Options), "option")))
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
	return r, c.apply(&r)
}

// onlyFile reports whether no arguments or flags were given except --file, --json and --plain.
func (c *askCommand) onlyFile() bool {
	return reflect.DeepEqual(*c, askCommand{File: c.File, requestFlags: requestFlags{JSON: c.JSON, Plain: c.Plain}})
}

// readRequest reads an ask from a file, or from in if path is "-". Errors about its content
// are for models: at most 400 characters, with a valid example at the end.
func readRequest(path string, in io.Reader) (askback.Request, error) {
	raw, err := readFile(path, in)
	if err != nil {
		return askback.Request{}, unusableFile(err)
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
	Action  string `arg:"" help:"Ask for approval of this action."`
	Details string `help:"Describe the action in more detail."`
	Default string `enum:"yes,no" default:"no" help:"Suggest yes or no. A suggestion never decides."`
	Quorum  int    `placeholder:"N" help:"Require the approval of this many people. The default is one."`
	requestFlags
}

// Run asks for approval of the action and waits for the outcome. Without approval, it
// returns an error.
func (c *confirmCommand) Run(ctx context.Context, io streams, all *commands) error {
	r := asktool.Action(c.Action, c.Details)
	r.Quorum = c.Quorum
	if err := c.apply(&r); err != nil {
		return err
	}
	return askAndWait(ctx, all, io, r, c.requestFlags, c.Default == "yes")
}

// askAndWait creates the ask, waits until the ask is settled, and prints the outcome. It uses up an approval.
func askAndWait(
	ctx context.Context, all *commands, io streams, r askback.Request, flags requestFlags, suggestYes bool,
) (err error) {
	conn, err := all.connector(ctx, io.err, instance.KindAsk)
	if err != nil {
		return err
	}
	defer func() { err = thenClose(io, conn, err) }()
	r, err = r.Normalize()
	if err != nil {
		return err
	}
	for _, n := range r.Warnings {
		note(io.err, problemLine(n))
	}
	ask, err := conn.Agent.Ask(ctx, r)
	if err != nil {
		return err
	}
	all.noteOtherSettings(io)
	for _, n := range ask.Warnings[min(len(r.Warnings), len(ask.Warnings)):] {
		note(io.err, serverWarning(n))
	}
	if !ask.Settled() {
		p := openPrompt(ctx, conn, io, ask, flags.Plain)
		ask, err = wait(ctx, conn, p, ask, suggestYes)
		switch {
		case errors.Is(err, context.Canceled):
			return interrupted(ask, r.Key != "")
		case err != nil:
			return err
		}
	}
	if err := checkInput(io, ask, flags.JSON); err != nil {
		return err
	}
	if err := consume(ctx, conn, ask); err != nil {
		return err
	}
	err = report(io, ask, flags.JSON)
	acknowledge(ctx, conn, ask)
	return err
}

// acknowledge records that the agent has received the outcome. For an approval it does nothing, because
// consuming the approval has acknowledged it. Errors are ignored: the agent would only receive the outcome
// again.
func acknowledge(ctx context.Context, conn *connection.Connector, ask askback.Ask) {
	if !ask.Settled() || !ask.AckedAt.IsZero() || ask.Kind == askback.Confirm && ask.Outcome.Approved() {
		return // consuming an approval acknowledges it
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, _ = conn.Agent.Ack(ctx, ask.ID)
}

// checkInput returns an error if a person approved other arguments, because the caller might run the
// arguments of the ask. If asJSON is true, it prints the outcome before it returns the error. If the ask
// names a tool and asJSON is true, there is no error: the caller reads the approved arguments.
func checkInput(io streams, ask askback.Ask, asJSON bool) error {
	if !ask.Outcome.Approved() || len(ask.Outcome.Input) == 0 {
		return nil
	}
	if asJSON {
		if ask.Confirmation.ToolName != asktool.ConfirmAction {
			return nil // the caller named a tool and reads its approved arguments
		}
		if err := printJSON(io.out, ask.Outcome); err != nil {
			return err
		}
	}
	return exitError{exitNo, fmt.Sprintf("%s approved other arguments only. You sent %s; approved is %s",
		ask.Outcome.Actor, safetext.Line(string(ask.Confirmation.Input)), safetext.Line(string(ask.Outcome.Input)))}
}

// consume uses up an approval before it is reported, so that a repeated command with the
// same key is not approved again (F7). For any other outcome it does nothing.
func consume(ctx context.Context, conn *connection.Connector, ask askback.Ask) error {
	if ask.Kind != askback.Confirm || !ask.Outcome.Approved() {
		return nil
	}
	_, err := conn.Agent.Consume(ctx, ask.ID, ask.Outcome.Digest)
	if errors.Is(err, askback.ErrConsumed) {
		return exitError{exitRefused, "this approval was already used; use another --key to ask again"}
	}
	return err
}

// wait waits until the ask is settled, and returns the ask. If ctx is cancelled first, it returns ask
// unchanged and an error.
func wait(
	ctx context.Context, conn *connection.Connector, p *prompt, ask askback.Ask, suggestYes bool,
) (askback.Ask, error) {
	note(p.io.err, p.invitation(conn.PageURL(ask)))
	prompting, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.serve(prompting, ask, suggestYes)
	}()
	settled, err := p.waiter.Wait(ctx, ask.ID)
	stop()
	<-done
	p.close(settled)
	if errors.Is(err, context.Canceled) {
		return ask, err
	}
	return settled, err
}

// interrupted returns the error for a wait that the user ended. It contains the commands
// that withdraw and answer the ask and, if keyed is true, how to continue waiting.
func interrupted(ask askback.Ask, keyed bool) error {
	text := fmt.Sprintf("%s is still open. To withdraw it:\n  askback cancel %s\nTo answer it:\n  %s", ask.ID, ask.ID,
		answerCommandFor(ask))
	if keyed {
		text += "\nTo continue waiting, run the same command with the same --key."
	}
	return exitError{exitInterrupted, text}
}

// report prints the outcome if asJSON is true, otherwise the answers to questions. It
// writes notes about the outcome to io.err. It returns an error if there is no answer or no
// approval.
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
		return exitError{exitNo, withReason(standing, o.Reason) + boundary(io, ask)}
	case o.Status == askback.Cancelled:
		return exitError{exitCancelled, withReason(standing, o.Reason) + boundary(io, ask)}
	case o.Status == askback.Expired && !o.Defaulted:
		return exitError{exitExpired, standing + boundary(io, ask)}
	case ask.Kind == askback.Confirm && !o.Approved():
		return exitError{exitNo, withReason(standing, o.Reason) + boundary(io, ask)}
	case o.Defaulted, o.Actor.Kind == askback.ActorPolicy:
		note(io.err, standing)
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

// boundary returns a line for a model that runs the command. It forbids an action without an approval. It is ""
// for questions, and at a terminal.
func boundary(io streams, ask askback.Ask) string {
	if ask.Kind != askback.Confirm || terminal.IsTerminal(io.err) {
		return ""
	}
	return "\nThis is not consent: " + outcometext.Boundary + "."
}

// remarks writes the notes, the comment and the reason of an outcome to w.
func remarks(w io.Writer, o askback.Outcome) {
	for _, a := range o.Answers {
		if a.Notes != "" {
			note(w, "note: "+a.Notes)
		}
	}
	for _, text := range []string{o.Comment, o.Reason} {
		if text != "" {
			note(w, "remark: "+text)
		}
	}
}

// withReason appends a colon and the reason to text. It returns text if there is no reason.
func withReason(text, reason string) string {
	if reason == "" {
		return text
	}
	return text + ": " + reason
}

// elapsed formats a duration in seconds, minutes, hours or days, such as 5m or 2d.
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
