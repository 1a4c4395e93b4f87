package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/hosted/demo"
	"github.com/askback/askback/internal/local/connection"
	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/internal/server/hosting"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
	"github.com/askback/askback/terminal"
)

type runCommand struct {
	Agent   string   `arg:"" optional:"" complete:"hosted" help:"Run this agent. With --resume, this is the first word of your message."`
	Prompt  []string `arg:"" optional:"" sep:"none" help:"Give the agent this task, or - to read it from standard input."`
	Resume  string   `complete:"session" placeholder:"SESSION" help:"Follow an earlier run with this id, and send it a message."`
	Payload string   `complete:"file" placeholder:"FILE" help:"Give the agent this JSON file, or - for standard input."`
	Agents  string   `complete:"file" placeholder:"DIR" help:"Without a server, read the definitions of agents, NAME.md, from this directory. The default is the directory of the settings."`
	JSON    bool     `name:"json" help:"Print the session as JSON at the end of the turn, instead of the last message."`
	Plain   bool     `env:"ASKBACK_PLAIN" help:"Write and ask line by line at a terminal, as for a screen reader."`
}

// Run starts or finds a run of a hosted agent, and follows it until its turn has ended. At a terminal it
// follows the run until the user leaves.
func (c *runCommand) Run(ctx context.Context, io streams, all *commands) (err error) {
	r, err := c.request(&io)
	if err != nil {
		return err
	}
	conn, hosted, err := c.connect(ctx, io, all)
	if err != nil {
		return err
	}
	defer hosted.Close()
	defer func() { err = thenClose(io, conn, err) }()
	if err := requirePerson(ctx, conn); err != nil {
		return err
	}
	f := &follower{conn: conn, io: io, plain: c.Plain, json: c.JSON, serve: c.serveCommand(all)}
	if c.Resume != "" {
		err, f.message = f.resume(ctx, c.Resume), r.Prompt
	} else {
		err = f.start(ctx, r)
	}
	if err != nil {
		return err
	}
	return f.run(ctx)
}

// requirePerson returns an error if ASKBACK_TOKEN has the token of an agent, because an agent cannot answer
// the asks of the run.
func requirePerson(ctx context.Context, conn *connection.Connector) error {
	if os.Getenv("ASKBACK_TOKEN") == "" {
		return nil
	}
	if _, err := conn.User.People(ctx); errors.Is(err, askback.ErrForbidden) {
		return usage("ASKBACK_TOKEN is the token of an agent, but a person must answer this run: unset ASKBACK_TOKEN")
	}
	return nil // any other error occurs again in a later call
}

// serveCommand returns the command that starts a server to continue the run.
func (c *runCommand) serveCommand(all *commands) string {
	command := "askback serve"
	if all.Config != "" {
		command += " --config " + all.Config
	}
	if c.Agents != "" {
		command += " --agents " + c.Agents
	}
	return command
}

// connect returns a connector. If no server runs, this process will serve the database, with the hosted
// agents of the settings or of --agents.
func (c *runCommand) connect(
	ctx context.Context, io streams, all *commands,
) (*connection.Connector, *hosting.Host, error) {
	file, o, err := all.clientOptions(ctx, io.err, instance.KindAsk)
	if err != nil {
		return nil, nil, err
	}
	var hosted *hosting.Host
	if o.Remote == "" && !isServed(ctx, o.Place) {
		log := slog.New(slog.NewTextHandler(io.err, &slog.HandlerOptions{Level: slog.LevelWarn}))
		dir, err := hosting.Dir(c.Agents, all.Config, file)
		if err != nil {
			return nil, nil, err
		}
		if hosted, err = hosting.New(dir, all.Config, file, log); err != nil {
			return nil, nil, err
		}
		if _, err = hosted.Join(o.Engine); err != nil {
			return nil, nil, err
		}
	} else if c.Agents != "" {
		return nil, nil, usage("a server with its own agents is running: leave out --agents, or stop the server")
	}
	conn, err := connector(o)
	return conn, hosted, err
}

// isServed reports whether a process serves the database.
func isServed(ctx context.Context, place instance.Place) bool {
	s, ok := place.Last()
	return ok && s.Proves(ctx) == nil
}

// request returns the request for the run that the arguments describe. If it has read the prompt or the
// payload from standard input, it sets io.in to nil.
func (c *runCommand) request(io *streams) (r askback.SessionRequest, err error) {
	words := c.Prompt
	if c.Resume != "" && c.Agent != "" {
		words = append([]string{c.Agent}, words...)
	}
	r = askback.SessionRequest{Agent: c.Agent, Prompt: strings.Join(words, " ")}
	fromInput := r.Prompt == "-"
	switch {
	case c.Resume != "" && c.Payload != "":
		return r, usage("--payload starts a run, and --resume follows a run: use only one of the flags")
	case c.Resume == "" && c.Agent == "":
		return r, usage(`missing agent; for example: askback run poem "Write about the sea"`)
	case fromInput && c.Payload == "-":
		return r, usage("standard input cannot be both the prompt and the payload: give one of them in another way")
	case c.Resume == "" && c.Agent == demo.Name && len(c.Prompt) == 0 && c.Payload == "":
		r.Prompt = demo.Prompt
	case c.Resume == "" && len(c.Prompt) == 0 && c.Payload == "":
		return r,
			usage(`missing prompt; write the task of the agent, - to read it from standard input, or --payload FILE`)
	}
	if fromInput {
		raw, err := readFile("-", io.in)
		if err != nil {
			return r, unusableFile(err)
		}
		r.Prompt = strings.TrimSpace(string(raw))
	}
	if c.Payload != "" {
		if r.Payload, err = readFile(c.Payload, io.in); err != nil {
			return r, unusableFile(err)
		}
	}
	if fromInput || c.Payload == "-" {
		io.in = nil
	}
	if r.Prompt == "" && len(r.Payload) == 0 && c.Resume == "" {
		return r, usage("the prompt is empty: write the task of the agent")
	}
	r.Title = view.RunTitle(r.Prompt)
	return r, r.Check()
}

// start starts a run, to be followed from its first event.
func (f *follower) start(ctx context.Context, r askback.SessionRequest) (err error) {
	if err := f.watchChildren(ctx); err != nil {
		return err
	}
	if f.session, err = f.conn.User.Start(ctx, r); err != nil {
		return aboutAgent(err)
	}
	f.after = askback.Beginning
	return nil
}

// aboutAgent removes the pointer from problems of the agent. With the pointer, --agent would be printed, but
// askback run has an argument instead of that flag.
func aboutAgent(err error) error {
	var invalid askback.Invalid
	if !errors.As(err, &invalid) {
		return err
	}
	invalid = slices.Clone(invalid)
	for i := range invalid {
		if invalid[i].Pointer == "/agent" {
			invalid[i].Pointer = ""
		}
	}
	return invalid
}

// resume finds a run of a hosted agent, to be followed from its present state.
func (f *follower) resume(ctx context.Context, id string) (err error) {
	if err := f.watchChildren(ctx); err != nil {
		return err
	}
	if f.session, err = f.conn.User.Session(ctx, id); err != nil {
		return err
	}
	if !f.session.Hosted {
		return exitError{exitUsage, fmt.Sprintf("%s is not a run of a hosted agent: its agent runs elsewhere", id)}
	}
	return f.findChildren(ctx)
}

// maxAncestors is how many ancestors of an ask's session [follower.findChildren] checks.
const maxAncestors = 8

// findChildren finds the open asks of the sessions that the run started before it was followed.
func (f *follower) findChildren(ctx context.Context) error {
	page, err := f.conn.User.List(ctx, askback.Query{Limit: askback.MaxLimit})
	if err != nil {
		return err
	}
	f.family = map[string]string{}
	for _, a := range page.Items {
		id := a.SessionID
		for range maxAncestors {
			if len(a.Path) == 0 || id == "" || id == f.session.ID {
				break
			}
			s, err := f.conn.User.Session(ctx, id)
			if err != nil {
				break // deleted, or not visible to this person, like its asks
			}
			id = s.ParentID
		}
		if len(a.Path) > 0 && id == f.session.ID {
			f.family[a.SessionID] = safetext.Line(a.Agent).String()
			f.asks = append(f.asks, a)
		}
	}
	return nil
}

// result prints the result of the run: the session with --json, otherwise its last message. It does not print
// a message that the user has just read at the same terminal.
func (f *follower) result() error {
	if f.json {
		return printJSON(f.io.out, f.session)
	}
	text := resultText(f.session.Result)
	onTerminal := terminal.IsTerminal(f.io.out)
	if text == "" || onTerminal && f.tty != nil {
		return nil
	}
	if onTerminal {
		text = safetext.Block(text).String()
	}
	_, err := fmt.Fprintln(f.io.out, strings.TrimRight(text, "\n"))
	return err
}

// outcome returns the error with the exit code of the command after the last turn, or nil for success.
func (f *follower) outcome() error {
	s := f.session
	switch {
	case s.Status == askback.SessionFailed:
		return exitError{exitNo, withReason("the run failed", s.Error)}
	case s.Status == askback.SessionCancelled:
		return exitError{exitCancelled, "the run was cancelled"}
	case f.cancelled:
		return exitError{exitCancelled, "the turn was cancelled; to go on:\n  askback run --resume " + s.ID}
	}
	return nil
}

// left returns the error for a run that the user left.
func (f *follower) left() error {
	if f.session.Ended() {
		return exitError{exitInterrupted, ""}
	}
	text := "left " + f.session.ID + "; to follow it again:\n  askback run --resume " + f.session.ID
	if f.conn.IsInstance() {
		text += "\nNo server is running; to continue the run, start one:\n  " + f.serve
	}
	return exitError{exitInterrupted, text}
}

// resultText returns the text of a result, which is a JSON string, or else its JSON.
func resultText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}
