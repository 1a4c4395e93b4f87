package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/local/connection"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
	"github.com/askback/askback/terminal"
)

// A follower shows a run, answers its asks at the terminal, and sends the messages of the user. Only the
// goroutine of [follower.run] uses its fields.
type follower struct {
	conn  *connection.Connector
	io    streams
	plain bool
	json  bool
	serve string // the command that starts a server to continue the run

	session   askback.Session
	after     askback.Cursor    // where the followed events of the session begin
	children  askback.Cursor    // where the followed events of all sessions begin; "" if children are not followed
	family    map[string]string // the agents of the sessions that the run started, by id
	message   string            // the message to send once the run is followed
	cancelled bool              // the user cancelled the turn
	signals   interrupts

	view   *terminal.RunView
	tty    *terminal.TTY // the terminal of the view, or nil
	pipe   asker         // reads the answers to all asks from a pipe
	asks   []askback.Ask // the asks to answer after the present one
	asking *asking       // nil if no ask is shown
	asked  chan *asking
	ended  bool               // the turn ended while an ask was shown
	typing context.CancelFunc // nil if no message is being written
	typed  chan typedLine
}

// asking is an ask that is being shown. The outcome is added when the ask is settled.
type asking struct {
	id    string
	shown bool // the outcome is on the screen
	ask   askback.Ask
	err   error
}

// A typedLine is a message of the user.
type typedLine struct {
	text string
	err  error
}

// A runInput is an event of the run or of a child, or the error that ended the stream.
type runInput struct {
	event askback.Event
	child bool
	err   error
}

// errLeft is returned when the user leaves the run.
var errLeft = errors.New("the user left the run")

// watchChildren stores the cursor from which to follow the children of the run. It stores no cursor if the
// user may not follow all sessions.
func (f *follower) watchChildren(ctx context.Context) error {
	page, err := f.conn.User.List(ctx, askback.Query{Limit: 1})
	if err != nil && !errors.Is(err, askback.ErrForbidden) {
		return err
	}
	f.children = page.EventsCursor
	return nil
}

// run follows the run until it ends, or until the user leaves.
func (f *follower) run(ctx context.Context) error {
	f.signals = notifyInterrupts()
	defer f.signals.stop()
	if ctx.Err() != nil {
		return f.left()
	}
	ctx, cancel := f.signals.contextOf(ctx)
	defer func() {
		cancel()
		f.settlePrompts()
	}()
	f.asked, f.typed = make(chan *asking), make(chan typedLine)
	if f.family == nil {
		f.family = map[string]string{}
	}
	f.family[f.session.ID] = ""
	f.openView()
	defer f.closeView()
	if err := f.view.Say(f.place(ctx)); err != nil {
		return err
	}
	inputs := make(chan runInput)
	go f.read(ctx, inputs, f.session.ID, f.after)
	if f.children != "" {
		go f.read(ctx, inputs, "", f.children)
	}
	tick := f.spinner()
	defer tick.Stop()
	for {
		var err error
		select {
		case in := <-inputs:
			err = f.input(ctx, in)
		case a := <-f.asked:
			err = f.afterAsk(ctx, a)
		case line := <-f.typed:
			err = f.afterLine(ctx, line)
		case s := <-f.signals:
			err = f.interrupt(ctx, s)
		case <-tick.C:
			err = f.view.Spin()
		case <-ctx.Done():
			err = ctx.Err()
		}
		switch {
		case errors.Is(err, errTurnEnded):
			return f.outcome()
		case errors.Is(err, errLeft):
			return f.left()
		case err != nil:
			return err
		}
	}
}

// errTurnEnded is returned when the run has ended. It is also returned when only a turn has ended and the
// command ends, too.
var errTurnEnded = errors.New("the turn has ended")

// settlePrompts waits until the prompts have restored the terminal.
func (f *follower) settlePrompts() {
	if f.asking != nil {
		<-f.asked
	}
	if f.typing != nil {
		<-f.typed
	}
}

// place returns the address of the run's page, or the id of the run if there are no pages.
func (f *follower) place(ctx context.Context) string {
	if pages, err := f.conn.Pages(ctx); err == nil && pages != "" {
		return pages + "/sessions/" + f.session.ID
	}
	return f.session.ID
}

// openView opens the view on the terminal if standard input is a terminal, otherwise on standard error.
func (f *follower) openView() {
	o := terminal.RunOptions{Name: f.conn.UserName()}
	if f.io.in != nil && terminal.IsTerminal(f.io.in) {
		if tty, err := terminal.Open(); err == nil && tty.Foreground() {
			f.tty, o.Options, o.Live = tty, *tty.Options(), !f.plain && tty.ShowsPanels()
			f.view = terminal.NewRunView(tty, o)
			return
		} else if err == nil {
			_ = tty.Close()
		}
	}
	f.view = terminal.NewRunView(f.io.err, o)
}

func (f *follower) closeView() {
	_ = f.view.End()
	if f.tty != nil {
		_ = f.tty.Close()
	}
}

// spinner returns a ticker for the spinner. The ticker never ticks if the view has no spinner.
func (f *follower) spinner() *time.Ticker {
	if d := f.view.Spinner(); d > 0 {
		return time.NewTicker(d)
	}
	t := time.NewTicker(time.Hour)
	t.Stop()
	return t
}

// read sends the events of a session to the channel until ctx ends. If session is "", it sends the events of
// all sessions.
func (f *follower) read(ctx context.Context, to chan<- runInput, session string, after askback.Cursor) {
	for ev, err := range f.conn.User.Events(ctx, session, after) {
		select {
		case to <- runInput{ev, session == "", err}:
		case <-ctx.Done():
			return
		}
	}
}

// eventData is the part of an event's data that a follower uses.
type eventData struct {
	Type    string           `json:"type"`
	AskID   string           `json:"question_id"`
	Ask     *askback.Ask     `json:"ask"`
	Asks    []askback.Ask    `json:"asks"`
	Session *askback.Session `json:"session"`
	Role    askback.Role     `json:"role"`
}

// input handles an event of the run or of a child. It returns the error that ended a stream of events.
func (f *follower) input(ctx context.Context, in runInput) error {
	var d eventData
	switch {
	case in.err != nil && in.child && errors.Is(in.err, askback.ErrForbidden):
		return nil
	case in.err != nil:
		return in.err
	}
	if err := json.Unmarshal(in.event.Data, &d); err != nil {
		return fmt.Errorf("the server sent an invalid event %s: %w", in.event.Type, err)
	}
	if in.child {
		return f.childInput(ctx, in.event, d)
	}
	if err := f.askInput(ctx, in.event, d); err != nil {
		return err
	}
	if d.Session != nil && d.Session.ID == f.session.ID {
		f.session = *d.Session
	}
	switch {
	case in.event.Type == askback.EventSnapshot && f.message != "":
		return f.send(ctx)
	case in.event.Type == askback.EventSnapshot && f.session.Ended(), in.event.Type.EndsSession():
		return f.endTurn(ctx)
	case f.typing != nil && in.event.Type == askback.EventMessage && d.Role == askback.RoleUser:
		f.typing() // another person wrote a message, so the run continues
		f.session.Status, f.session.Phase = askback.SessionRunning, ""
	}
	_, err := f.view.Show(in.event)
	return err
}

// askInput adds the asks of an event to the asks to answer. It removes an ask that was settled, and shows the
// next ask.
func (f *follower) askInput(ctx context.Context, ev askback.Event, d eventData) error {
	switch {
	case ev.Type == askback.EventQuestionPending && d.Ask != nil && !f.knows(d.Ask.ID):
		f.asks = append(f.asks, *d.Ask)
	case ev.Type == askback.EventSnapshot:
		for _, a := range d.Asks {
			if _, ours := f.family[a.SessionID]; ours && !f.knows(a.ID) {
				f.asks = append(f.asks, a)
			}
		}
	case ev.Type.Settles():
		f.asks = slices.DeleteFunc(f.asks, func(a askback.Ask) bool { return a.ID == d.AskID })
	}
	return f.nextAsk(ctx)
}

// knows reports whether an ask is shown or waits to be shown.
func (f *follower) knows(id string) bool {
	return f.asking != nil && f.asking.id == id ||
		slices.ContainsFunc(f.asks, func(a askback.Ask) bool { return a.ID == id })
}

// childInput handles an event of any session. It ignores sessions that are not children of the run.
func (f *follower) childInput(ctx context.Context, ev askback.Event, d eventData) error {
	if s := d.Session; ev.Type == askback.EventSessionStarted && s != nil {
		if _, ours := f.family[s.ParentID]; ours && s.ParentID != "" {
			f.family[s.ID] = safetext.Line(s.Agent).String()
			parent := cmp.Or(f.family[s.ParentID], safetext.Line(f.session.Agent).String())
			return f.view.Say(parent + " started " + f.family[s.ID] + ".")
		}
	}
	name, ours := f.family[ev.SessionID]
	if !ours || ev.SessionID == f.session.ID {
		return nil
	}
	if s := d.Session; s != nil && ev.Type.EndsSession() {
		return f.view.Say(name + " has ended: " + string(s.Status) + ".")
	}
	return f.askInput(ctx, ev, d)
}

// nextAsk shows the next ask, unless an ask is shown.
func (f *follower) nextAsk(ctx context.Context) error {
	if f.asking != nil || len(f.asks) == 0 {
		return nil
	}
	a := f.asks[0]
	f.asks = f.asks[1:]
	f.asking = &asking{id: a.ID}
	f.view.Pause()
	shown := *f.asking
	go func() {
		p := f.openPrompt(ctx, a)
		shown.ask, shown.err = wait(ctx, f.conn, p, a, false)
		shown.shown = p.open && p.ui != nil || p.here
		f.asked <- &shown
	}()
	return nil
}

// openPrompt opens the prompt for an ask. All asks share the reader of a pipe.
func (f *follower) openPrompt(ctx context.Context, a askback.Ask) *prompt {
	p := openPrompt(ctx, f.conn, f.io, a, f.plain)
	p.waiter = f.conn.User
	if f.io.in == nil && p.ui == nil {
		p.reason = "" // another prompt had standard input
	}
	if p.ui != nil && p.tty == nil {
		if f.pipe == nil {
			f.pipe = p.ui
		}
		p.ui = f.pipe
	}
	return p
}

// afterAsk continues after an ask was settled, at this prompt or by another client.
func (f *follower) afterAsk(ctx context.Context, a *asking) error {
	f.asking = nil
	switch {
	case a.err != nil && !errors.Is(a.err, context.Canceled):
		return a.err
	case a.err == nil && !a.shown:
		if err := f.view.Say("Settled: " + view.Of(a.ask).Outcome.Sentence.String() + "."); err != nil {
			return err
		}
	}
	if err := f.view.Resume(); err != nil {
		return err
	}
	if f.ended {
		f.ended = false
		return f.endTurn(ctx)
	}
	return f.nextAsk(ctx)
}

// endTurn shows how a turn ended, once no ask is shown. At a terminal it asks for the next message, unless
// the run has ended for good.
func (f *follower) endTurn(ctx context.Context) error {
	if f.asking != nil {
		f.ended = true
		return nil
	}
	if err := f.view.End(); err != nil {
		return err
	}
	s := view.SessionOf(f.session)
	if s.Used != "" {
		if err := f.view.Say(s.Used); err != nil {
			return err
		}
	}
	if err := f.result(); err != nil {
		return err
	}
	if f.session.Final() || f.tty == nil || f.json {
		return errTurnEnded
	}
	if f.cancelled {
		if err := f.view.Say("The turn was cancelled."); err != nil {
			return err
		}
	}
	f.readLine(ctx)
	return nil
}

// readLine asks for the next message.
func (f *follower) readLine(ctx context.Context) {
	if f.typing != nil {
		return
	}
	ctx, f.typing = context.WithCancel(ctx)
	go func() {
		line := typedLine{}
		tty, err := terminal.Open()
		if err != nil {
			line.err = err
		} else {
			p := &prompt{io: f.io, id: f.session.ID, tty: tty}
			if line.err = p.lockTerminal(ctx); line.err == nil {
				line.text, line.err = tty.ReadLine(ctx, "Next message (Enter to finish): ")
			}
			p.release()
		}
		f.typed <- line
	}()
}

// afterLine sends the message of the user. An empty line or the end of the input ends the command.
func (f *follower) afterLine(ctx context.Context, line typedLine) error {
	f.typing()
	f.typing = nil
	switch {
	case errors.Is(line.err, context.Canceled):
		return nil
	case errors.Is(line.err, terminal.ErrNoInput), line.err == nil && line.text == "":
		return errTurnEnded
	case line.err != nil:
		return line.err
	}
	f.message = line.text
	return f.send(ctx)
}

// send sends the message of the user, which starts the next turn.
func (f *follower) send(ctx context.Context) error {
	text := f.message
	f.message, f.cancelled = "", false
	s, err := f.conn.User.Send(ctx, f.session.ID, askback.SendMessage{Text: text})
	if err == nil {
		f.session = s
	}
	return err
}

// interrupt handles a signal. The first Ctrl+C cancels the turn. A later Ctrl+C, or Ctrl+C while no turn
// runs, leaves the run without a change.
func (f *follower) interrupt(ctx context.Context, s os.Signal) error {
	if s == syscall.SIGTERM || f.cancelled || f.typing != nil || f.session.Ended() {
		return errLeft
	}
	f.cancelled = true
	if f.asking == nil { // if an ask is shown, the screen shows its outcome instead of this line
		if err := f.view.Say("Cancelling the turn. Ctrl+C again leaves the run as it is."); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, lingerTime)
	defer cancel()
	_, err := f.conn.User.Send(ctx, f.session.ID, askback.EndTurn{Reason: "cancelled with Ctrl+C"})
	if errors.Is(err, askback.ErrEnded) {
		return nil
	}
	return err
}
