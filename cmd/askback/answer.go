package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/local/connection"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
	"github.com/askback/askback/internal/wire/jcs"
)

type answerCommand struct {
	ID      string   `arg:"" optional:"" name:"ask" complete:"pending" help:"Name the ask by its id, the beginning or end of its id, or latest for the newest open ask."`
	Answers []string `arg:"" optional:"" sep:"none" name:"answer" complete:"answer" help:"Choose an option by label or number, or write the text. For several questions, write q1=…. After --approve or --deny, name more calls."`
	Other   []string `sep:"none" placeholder:"TEXT" help:"Answer with this text instead of an option. For several questions, write q1=TEXT."`
	Notes   string   `help:"Add notes to your answer."`
	Comment string   `help:"Add a comment on the whole ask."`
	Approve bool     `xor:"decision" help:"Approve this call, once."`
	Deny    bool     `xor:"decision" help:"Deny this call."`
	All     bool     `name:"approve-all" xor:"decision" help:"Approve this call, and later calls like it without asking (see askback grant list)."`
	Scope   string   `enum:",tool,tool_and_input,session" default:"" placeholder:"SCOPE" help:"Limit --approve-all to the same arguments (tool_and_input, the default), to this session (session) or only to this tool (tool)."`
	Expires string   `placeholder:"TIME" help:"End --approve-all after this time, such as 12h or 7d. The default is one day."`
	Input   string   `complete:"file" placeholder:"FILE" help:"With --approve, replace the arguments of the call by this JSON file, or - for standard input."`
	Reason  string   `help:"Tell the agent why."`
	Session string   `complete:"session" placeholder:"ID" help:"With --approve or --deny, decide every open call of this session."`
	Yes     bool     `help:"Decide several calls without asking for confirmation."`
}

// Run finds the ask, sends the answer and prints how the ask was settled. An approval requires an id instead
// of latest. With several ids or --session, Run decides several calls.
func (c *answerCommand) Run(ctx context.Context, io streams, conn *connection.Connector) error {
	switch {
	case c.isSeveral():
		return c.decideSeveral(ctx, io, conn)
	case c.ID == "":
		return usage("missing <ask>; see askback answer --help")
	}
	find := lookup{client: conn.User, verb: "answer", decides: true}
	ask, err := find.get(ctx, c.ID)
	if err != nil {
		return err
	}
	if isLatest(c.ID) {
		if c.Approve || c.All {
			flag := "--approve"
			if c.All {
				flag = "--approve-all"
			}
			return usage(fmt.Sprintf("to approve, give the id instead of latest: askback answer %s %s", ask.ID, flag))
		}
		note(io.err, fmt.Sprintf("%s, %s: %s", ask.ID, view.Of(ask).From(), view.Of(ask).Headline()))
	}
	answer, err := c.answer(ask, io.in)
	if err != nil {
		return err
	}
	ask, err = conn.User.Answer(ctx, ask.ID, answer)
	if c.All && err == nil {
		note(io.err, c.granted(ask))
	}
	return reportSettled(io, ask, find.explain(err, c.ID))
}

// granted describes the grant that --approve-all created: what it allows, and the commands
// that show and end it.
func (c *answerCommand) granted(ask askback.Ask) string {
	scope := cmp.Or(askback.Scope(c.Scope), askback.ScopeInput)
	s := fmt.Sprintf("%q may run %q from now on: %s", ask.Agent, ask.Confirmation.ToolName, view.ScopeText(scope))
	if scope != askback.ScopeInput && view.FreeText(ask.Confirmation.ToolName) {
		s += ". " + view.FreeTextWarning
	}
	if n := ask.Outcome.Waiting; n > 0 {
		s += "; " + view.Count(n, "call") + " that waited may run, too"
	}
	id := ask.Outcome.GrantID
	return safetext.Line(s + "; askback grant list shows it, askback grant remove " + id + " ends it").String()
}

// settle finds the ask that typed identifies, settles it by calling call, and reports the result.
func settle(
	ctx context.Context, io streams, find lookup, typed, reason string,
	call func(ctx context.Context, id, reason string) (askback.Ask, error),
) error {
	id, err := find.find(ctx, typed)
	if err != nil {
		return err
	}
	ask, err := call(ctx, id, reason)
	return reportSettled(io, ask, find.explain(err, typed))
}

// reportSettled prints how this command settled an ask. If the ask had already been
// settled, it returns an error that describes how. It returns any other error unchanged.
func reportSettled(io streams, ask askback.Ask, err error) error {
	if errors.Is(err, askback.ErrSettled) {
		return exitError{exitRefused, "too late: " + ending(ask)}
	}
	if err == nil {
		note(io.err, ending(ask))
	}
	return err
}

// ending describes the status of an ask: how and by whom it was settled, with its answers
// and its reason (E10).
func ending(ask askback.Ask) string {
	text := view.Of(ask).Status().String()
	if ask.Outcome == nil {
		return text
	}
	var answers []string
	for _, a := range ask.Outcome.Answers {
		if a.String() != "" {
			answers = append(answers, a.String())
		}
	}
	return withReason(withReason(text, strings.Join(answers, "; ")), ask.Outcome.Reason)
}

// decision returns the answer to a confirmation with an id. It returns an error if the flags do not fit a
// confirmation.
func (c *answerCommand) decision(id string, in io.Reader) (askback.Answer, error) {
	out := askback.Answer{Comment: c.Comment, Reason: c.Reason}
	if len(c.Answers)+len(c.Other) > 0 || c.Notes != "" || !c.Approve && !c.Deny && !c.All {
		return out, usage("this ask is a confirmation: use --approve, --deny or --approve-all, as in askback answer " +
			id + " --approve")
	}
	switch {
	case c.Approve:
		out.Decision = askback.Approve
	case c.All:
		expires, err := duration("--expires", c.Expires, "12h or 7d")
		if err != nil {
			return out, err
		}
		out.Decision, out.Grant = askback.ApproveAll, &askback.GrantRequest{
			Scope: askback.Scope(c.Scope), ExpiresIn: expires,
		}
	default:
		out.Decision = askback.Deny
	}
	if !c.All && (c.Scope != "" || c.Expires != "") {
		return out, usage("--scope and --expires need --approve-all")
	}
	return out, c.edit(&out, in)
}

// edit reads the file of --input, if one is given, into a.Input. The person approves these arguments instead
// of the arguments in the ask. It returns an error if the file is not JSON, or without --approve.
func (c *answerCommand) edit(a *askback.Answer, in io.Reader) error {
	if c.Input == "" {
		return nil
	}
	if !c.Approve {
		return usage("--input needs --approve")
	}
	raw, err := readFile(c.Input, in)
	if err != nil {
		return unusableFile(err)
	}
	a.Input = raw
	if !json.Valid(raw) {
		_, err = jcs.Parse(raw) // this error includes the position
		return fmt.Errorf("%s: %w", c.Input, err)
	}
	return nil
}

func (c *answerCommand) answer(ask askback.Ask, in io.Reader) (askback.Answer, error) {
	if ask.Kind == askback.Confirm {
		return c.decision(ask.ID, in)
	}
	out := askback.Answer{Comment: c.Comment, Reason: c.Reason}
	if c.Approve || c.Deny || c.All || c.Input != "" || c.Scope != "" || c.Expires != "" {
		return out, usage("this ask has questions, not a confirmation: give the answer itself")
	}
	given := make([]askback.QuestionAnswer, len(ask.Questions))
	for i, q := range ask.Questions {
		given[i].ID = q.ID
	}
	questions := view.Of(ask).Questions
	for _, text := range c.Answers {
		i, value, err := splitAnswer(ask, text)
		if err != nil {
			return out, err
		}
		picked, err := choices(questions[i], value)
		if err != nil {
			return out, err
		}
		given[i].Selected = append(given[i].Selected, picked...)
	}
	for _, text := range c.Other {
		i, value, err := splitAnswer(ask, text)
		switch {
		case err != nil:
			return out, err
		case given[i].Other != "":
			return out, usage("--other can be given once for each question")
		}
		given[i].Other = value
	}
	if c.Notes != "" && len(given) > 1 {
		return out, usage("--notes is for one question; use --comment")
	}
	given[0].Notes = c.Notes
	for _, g := range given {
		if len(g.Selected) > 0 || g.Other != "" || g.Notes != "" {
			out.Answers = append(out.Answers, g)
		}
	}
	return out, nil
}

var numbered = regexp.MustCompile(`(?s)^q([1-4])=(.*)$`)

// splitAnswer returns the index of the question that an argument answers, and the answer.
// If there are several questions, the argument must begin with q1= to q4=.
func splitAnswer(ask askback.Ask, text string) (int, string, error) {
	if len(ask.Questions) == 1 {
		return 0, text, nil
	}
	m := numbered.FindStringSubmatch(text)
	if m == nil {
		return 0, "",
			usage(fmt.Sprintf("this ask has %d questions: name the question, as in q1=%s", len(ask.Questions), text))
	}
	i, _ := strconv.Atoi(m[1])
	if i > len(ask.Questions) {
		return 0, "", usage(fmt.Sprintf("this ask has %d questions: q%d does not exist", len(ask.Questions), i))
	}
	return i - 1, m[2], nil
}

// choices returns the labels of the options that typed selects, by label or key as at the prompt. It returns
// an error if the selection is not clear. If the question has no options, it returns typed.
func choices(q view.Question, typed string) ([]string, error) {
	if len(q.Choices) == 0 {
		return []string{typed}, nil
	}
	switch found := q.Match(typed); {
	case len(found) > 1:
		return nil, usage(fmt.Sprintf("%q matches several options: use a key, %s", typed, q.Keys()))
	case len(found) == 1 && found[0] < len(q.Choices):
		return q.Pick(found, "").Selected, nil
	case len(found) == 1:
		return nil, usage("give your own words with --other TEXT")
	}
	if found := q.MatchList(typed); found != nil {
		return q.Pick(found, "").Selected, nil
	}
	return nil, usage(notAnOption(q, typed))
}

// notAnOption returns the message for text that is not an option. It contains the valid
// keys. It also contains the nearest option, if there is one and typed does not look like a
// key.
func notAnOption(q view.Question, typed string) string {
	text := fmt.Sprintf("%q is not an option", typed)
	if q.LooksLikeKey(typed) {
		text = "no option has the key " + typed
	} else if key := q.Nearest(typed); key != "" {
		text += fmt.Sprintf("; the nearest is %s, %q", key, label(q, key))
	}
	if !q.AllowsOther() {
		return text + ": use " + q.Keys() + ", or a label"
	}
	return text + ": use " + q.Keys() + ", a label, or --other TEXT for your own words"
}

// label returns the label of the option with this key, or key if there is no such option.
func label(q view.Question, key string) string {
	for _, c := range q.Choices {
		if c.Key == key {
			return c.Label.String()
		}
	}
	return key
}

type declineCommand struct {
	ID     string `arg:"" name:"ask" complete:"pending" help:"Name the ask by its id, the beginning or end of its id, or latest for the newest open ask."`
	Reason string `help:"Tell the agent why."`
}

// Run declines an ask and prints how it was settled.
func (c *declineCommand) Run(ctx context.Context, io streams, conn *connection.Connector) error {
	find := lookup{client: conn.User, verb: "decline", decides: true}
	return settle(ctx, io, find, c.ID, c.Reason, conn.User.Decline)
}

type cancelCommand struct {
	ID     string `arg:"" name:"ask" complete:"pending" help:"Name the ask by its id, the beginning or end of its id, or latest for the newest open ask."`
	Reason string `help:"Tell people why."`
}

// Run withdraws an ask and prints how it was settled.
func (c *cancelCommand) Run(ctx context.Context, io streams, conn *connection.Connector) error {
	find := lookup{client: conn.Agent, verb: "withdraw"}
	return settle(ctx, io, find, c.ID, c.Reason, conn.Agent.Cancel)
}
