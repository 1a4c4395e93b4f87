// Package terminal asks a person at a terminal, or a program behind a pipe, line by line.
//
// Its rules:
//
//   - The end of input is not an answer, and neither is an unfinished line: Ask returns
//     [ErrNoInput]. An empty line is an answer only if there is a default, or if the question
//     is optional. A pipe counts as ended after three lines in a row without an answer.
//   - Only y, yes, approve or approved, typed at a terminal after the confirmation was shown,
//     approve it; what was typed earlier is discarded. Everything else denies it or is asked
//     again. A pipe can deny, but not approve. A default approves nothing. To approve later
//     calls as well, a person types all, sees what that allows, and then types yes.
//     Anything else approves nothing.
//   - Text of the agent is right of the gutter (│) and nowhere else. The margin, and rows
//     without a gutter, are written by Askback. An approval shows the tool and its exact
//     arguments first, and the words of the agent about them below.
//   - Everything can be read. Rows are wrapped to the width and never cut. Arguments keep
//     every space when they are wrapped, and ┊ marks the rows that continue a line. A long
//     text begins with its number of rows. More than two consecutive empty rows are counted
//     instead of drawn. For a text with more than 200 rows, the head and the tail are drawn,
//     and :show shows the rest. A person who approves a call without :show is warned first.
//   - No row is wider than the terminal, however it draws each character: the excess would
//     be in the first column, which is for Askback. No text reverses a row: even with
//     right-to-left text, each row begins with the gutter.
//   - One goroutine reads the input, one line at a time and nothing beyond its end: the next
//     program of the shell reads the rest. If an ask is settled elsewhere, the goroutine
//     keeps waiting, and the next ask continues with it. That ask discards a line that was
//     started before it was shown.
//   - A line that begins with a colon is a command (:help lists them). Two colons begin a
//     text that starts with a colon.
//   - An ask that cannot be shown cannot be answered: an error of the output ends it.
package terminal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/view"
)

// ErrNoInput is the error of an input that ended before the ask was answered. It wraps
// [io.EOF]. The ask is still open and can be answered elsewhere.
var ErrNoInput = fmt.Errorf("the input ended without an answer: %w", io.EOF)

// Options describe an input and an output. The zero value is for a pipe.
type Options struct {
	Human bool           // whether a person types: only a person can approve a confirmation
	Width func() int     // returns the current number of columns; nil means 80
	Style bool           // whether the output has styles and can erase a row; see [TTY.Style]
	Zone  *time.Location // zone of times; nil means the local time zone

	// Claim is called when a person begins to type, and each minute while they continue, in
	// a new goroutine. Its context ends with the ask. It may be nil.
	Claim func(ctx context.Context)

	// earlier returns an earlier approval of the call; see [view.FindEarlier]. It may be nil.
	earlier func(ctx context.Context) *view.Earlier

	// Page shows a long text, and returns when the person has closed it. If Page is nil, the
	// text is written below the prompt.
	Page func(ctx context.Context, text string) error

	// The fields below are for a [Panel]. Drafts reads and saves entries that were not sent. It may be nil.
	// Height returns the number of rows. Nil means 24. Edit lets the person change a text in their editor.
	// Nil means that there is no editor.
	Drafts askback.Drafts
	Height func() int
	Edit   func(ctx context.Context, name, text string) (string, error)

	// Now returns the current time; nil means [time.Now].
	Now func() time.Time
}

// defaultWidth is the number of columns of an output whose width is unknown.
const defaultWidth = 80

// defaultHeight is the number of rows of a terminal whose height is unknown.
const defaultHeight = 24

func (o Options) width() int {
	if o.Width == nil {
		return defaultWidth
	}
	return o.Width()
}

func (o Options) now() time.Time {
	if o.Now == nil {
		return time.Now()
	}
	return o.Now()
}

func (o Options) zone() *time.Location { return cmp.Or(o.Zone, time.Local) }

// A Prompt shows asks and reads their answers, one ask at a time. After the first call of
// Ask, nothing else may read from its input.
type Prompt struct {
	lines   *lineReader
	out     io.Writer
	options Options

	abandoned  bool // whether the last ask ended without an answer from this prompt
	promptOpen bool // whether the cursor is after a prompt
}

// New returns a prompt. If in has a method Discard, as a [TTY] has, the prompt calls it to discard text that
// was typed ahead. If Options.Human is false, it does so only after an ask that ended without an answer.
func New(in io.Reader, out io.Writer, o *Options) *Prompt {
	p := &Prompt{lines: newLineReader(in), out: out}
	if o != nil {
		p.options = *o
	}
	return p
}

// A Result is the reaction of a person to an ask. It is [Answered] or [Declined].
type Result interface{ result() }

// Answered is the result for an ask that the person answered.
type Answered struct{ Answer askback.Answer }

// Declined is the result for an ask that the person declined to answer.
type Declined struct{ Reason string }

func (Answered) result() {}
func (Declined) result() {}

// declined is the error with which the command :decline ends a dialog.
type declined Declined

func (declined) Error() string { return "declined" }

// Ask shows an ask and returns the reaction of the person. The caller sends the answer: Ask does not settle
// the ask, and changes it only through Options.Claim. The error is [ErrNoInput], the error of ctx as soon as
// ctx ends, or [askback.ErrSettled] if the ask is settled. It can also be an error of the output or of
// Discard.
func (p *Prompt) Ask(ctx context.Context, a view.Ask) (Result, error) {
	if a.Outcome != nil {
		return nil, askback.ErrSettled
	}
	ctx, cancel := context.WithCancel(ctx)
	d := &dialog{Prompt: p, ctx: ctx, ask: a}
	defer d.claims.Wait()
	defer cancel()
	d.discardEarlier()
	answer, err := d.run()
	decline, isDeclined := errors.AsType[declined](err)
	p.abandoned = err != nil && !isDeclined
	switch {
	case isDeclined:
		return Declined(decline), nil
	case err != nil:
		return nil, err
	}
	return Answered{answer}, nil
}

// discardEarlier discards text that was typed for an earlier ask, or before this ask was shown.
func (d *dialog) discardEarlier() {
	if tty, ok := d.lines.in.(interface{ Prepare() }); ok {
		tty.Prepare()
	}
	if tty, ok := d.lines.in.(interface{ typedAhead() bool }); ok && d.options.Human && tty.typedAhead() {
		f := newFrame(d.options)
		f.message(discardedKeys)
		d.draw(f)
	}
	d.discardTyped()
	d.lines.discardStarted() // also if the line was finished just now
}

// discardTyped discards text that was typed ahead, if the input supports that. From a pipe, it does so only
// after an ask that ended without an answer.
func (d *dialog) discardTyped() {
	tty, ok := d.lines.in.(interface{ Discard() error })
	if ok && d.err == nil && (d.abandoned || d.options.Human) {
		d.err = tty.Discard()
	}
}

// Settled draws the outcome of an ask: the person, the channel and the answer. The outcome replaces an open
// prompt. If the ask has no outcome, Settled only erases the prompt.
func (p *Prompt) Settled(a view.Ask) error {
	f := newFrame(p.options)
	if p.promptOpen {
		f.erasePrompt()
	}
	p.promptOpen = false
	if a.Outcome != nil {
		f.settled(a.Outcome)
	}
	return f.writeTo(p.out)
}

// Show draws an ask with its outcome, or with its status if it is open. It does not ask. If
// o is nil, the output has no styles and 80 columns.
func Show(out io.Writer, a view.Ask, o *Options) error {
	if o == nil {
		o = &Options{}
	}
	f := newFrame(*o)
	f.ask(a)
	if a.Outcome == nil {
		f.message("It is " + a.Status().String() + ".")
		f.message(a.TimeoutNotice(f.zone))
	} else {
		f.outcome(a.Outcome)
		if !a.AckedAt.IsZero() {
			f.message("Delivered to the agent: " + view.FormatTime(a.AckedAt, f.zone) + ".")
		}
		switch {
		case !a.ConsumedAt.IsZero():
			f.message("Used by the agent: " + view.FormatTime(a.ConsumedAt, f.zone) + ".")
		case a.Outcome.Approved:
			f.message("Not used by the agent yet.")
		}
		for _, line := range a.HowToTell() {
			f.message(line)
		}
	}
	f.deliveries(a)
	return f.writeTo(out)
}

// deliveries lists the deliveries about an ask.
func (f *frame) deliveries(a view.Ask) {
	for _, d := range a.Deliveries {
		f.message(d.Sentence(f.zone).String())
	}
}

// A dialog is the state of one call of Ask.
type dialog struct {
	*Prompt
	ctx context.Context
	ask view.Ask

	notes      []string // texts for the current question, or reasons of a decision
	comments   []string // comments on the whole ask
	rejected   int      // number of consecutive lines without an answer
	claimed    time.Time
	claims     sync.WaitGroup
	current    view.Question // the question being asked
	takesText  bool          // whether the prompt is for a text, which may have several lines
	unseenRows int           // number of rows that the person has not been shown
	err        error         // reason why the ask ends without an answer; then nothing more is read or drawn
}

// claimEvery is the minimum time between two claims. It is well below the five minutes for
// which a claim postpones a deadline.
const claimEvery = time.Minute

// claim claims the ask for the person who is typing, unless it was claimed within
// claimEvery. It does nothing for a pipe.
func (d *dialog) claim() {
	if now := time.Now(); d.options.Human && d.options.Claim != nil && now.Sub(d.claimed) >= claimEvery {
		d.claimed = now
		d.claims.Go(func() { d.options.Claim(d.ctx) })
	}
}

// run asks the person to decide about a call, or to answer all questions of the ask.
func (d *dialog) run() (askback.Answer, error) {
	f := d.newFrame()
	f.head(d.ask)
	if d.ask.Confirmation != nil {
		return d.confirm(f)
	}
	var answer askback.Answer
	for i, q := range d.ask.Questions {
		d.notes, d.rejected, d.current = nil, 0, q
		if i > 0 {
			d.discardTyped()
		}
		f.question(d.ask, i, q)
		f.rule("")
		if i == 0 {
			f.message(d.ask.TimeoutNotice(f.zone))
		}
		d.addFolded(f)
		f.message(hint(q))
		d.draw(f)
		given, err := d.askQuestion(q)
		if err != nil {
			return askback.Answer{}, err
		}
		given.Notes = strings.Join(d.notes, "\n")
		answer.Answers = append(answer.Answers, given)
		f = d.newFrame()
	}
	answer.Comment = strings.Join(d.comments, "\n")
	return answer, nil
}

// askQuestion reads lines until a line answers the question.
func (d *dialog) askQuestion(q view.Question) (askback.QuestionAnswer, error) {
	line, _ := d.readText("> ", len(q.Choices) == 0)
	for d.err == nil {
		r := parseReply(q, line)
		if r.problem == "" && r.needsOwnText {
			own, _ := d.readText("Your own words: ", true)
			r.needsConfirmation = own.lines > 1
			if r.ownText = own.text; r.ownText == "" {
				r.problem = "Nothing was typed. " + hint(q)
			}
		}
		if r.needsConfirmation && d.options.Human && view.IsHelp(r.ownText) { // free text
			r.needsConfirmation, r.help = false, true
		}
		if r.needsConfirmation {
			next, isReply, problem := d.confirmOwnText(q, r)
			if isReply {
				line = next
				continue
			}
			r.problem = cmp.Or(problem, r.problem)
		}
		switch {
		case r.help:
			d.reject(questionHelp...)
		case r.problem != "":
			d.reject(r.problem)
		default:
			return r.answer(q), nil
		}
		line, _ = d.readText("> ", len(q.Choices) == 0)
	}
	return askback.QuestionAnswer{}, d.err
}

// readText is like readInput. If takesText is true, the text may have several lines.
func (d *dialog) readText(prompt string, takesText bool) (input, error) {
	d.takesText = takesText
	defer func() { d.takesText = false }()
	return d.readInput(prompt)
}

// confirmOwnText asks a person whether to send text that is not an option. If the person types another reply
// to the question instead, it returns that line. From a pipe, it rejects text that looks like an option.
// problem is the reason why the text is not sent, or "".
func (d *dialog) confirmOwnText(q view.Question, r reply) (line input, isReply bool, problem string) {
	if !d.options.Human {
		if len(q.Choices) > 0 && r.resemblesChoice {
			problem = r.notAnOption()
		}
		return input{}, false, problem
	}
	for {
		line, err := d.askToSend(q, r)
		yes, no := isYes(line.text), isNo(line.text)
		switch {
		case err != nil || line.skip || line.isText || !yes && !no:
			return line, true, ""
		case len(q.Match(line.text)) > 0 && line.text != "":
			d.reject("That is also an option. Type its key to choose it, or :other and your own words to send those.")
		case yes:
			return input{}, false, ""
		default:
			return input{}, false, "Not sent. " + hint(q)
		}
	}
}

func isYes(words string) bool { return slices.Contains([]string{"y", "yes"}, strings.ToLower(words)) }

func isNo(words string) bool { return slices.Contains([]string{"", "n", "no"}, strings.ToLower(words)) }

// askToSend asks whether to send text that is not an option. It discards text that was typed ahead.
func (d *dialog) askToSend(q view.Question, r reply) (input, error) {
	d.discardTyped()
	f := newFrame(d.options)
	prompt := "Send it as your own words? [y/N] "
	switch lines := strings.Count(r.ownText, "\n") + 1; {
	case lines > 1:
		prompt = "Send them as your answer? [y/N] "
		f.message(fmt.Sprintf("%d lines were pasted.", lines))
	case len(q.Choices) == 0:
		prompt = "Send it as your answer? [y/N] "
		f.message(howToLeave)
	case len(r.choices) > 0:
		f.message("Not an option: " + r.ownText)
	case r.nearest != "":
		f.message("Not an option; the nearest is " + r.nearest + ".")
	case f.fullWidth() < 2*len(prompt):
		f.message("Not an option.")
	default:
		prompt = "Not an option. " + prompt
	}
	d.draw(f)
	return d.readInput(prompt)
}

// print writes sentences of Askback, each on a new row.
func (d *dialog) print(sentences ...string) {
	f := newFrame(d.options)
	for _, words := range sentences {
		f.message(words)
	}
	d.draw(f)
}

// writePrompt writes a prompt and leaves the cursor after it.
func (d *dialog) writePrompt(words string) {
	f := newFrame(d.options)
	f.b.WriteString(f.withSGR(bold, words))
	d.promptOpen = true
	d.draw(f)
}

// draw writes a frame, unless d.err is set. It sets d.err if writing fails.
func (d *dialog) draw(f *frame) {
	if d.err == nil {
		d.err = f.writeTo(d.out)
	}
}
