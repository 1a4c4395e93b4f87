// Package terminal asks a person at a terminal, or whoever feeds a pipe, line by line.
//
// The rules of this door:
//
//   - The end of input is no answer, and neither is half a line: it is [ErrNoInput] and
//     nothing else. So is nothing at all where there is no default, and so is an input
//     that is no terminal after three lines in a row that say nothing.
//   - A confirmation is approved by y, yes, approve or approved, typed at a terminal
//     after it was shown; what was typed before is thrown away. Everything else denies
//     it or is asked about again. A pipe may deny, never approve. A default approves
//     nothing. What follows is approved by all, and then by yes, typed after it was said
//     what that means; anything else approves nothing at all.
//   - What stands right of the gutter (│) came from the agent, and stands nowhere else.
//     What stands left of it, or on a row without one, is ours. An approval shows the
//     tool and its exact arguments first and the agent's words below.
//   - All of it can be read. Rows are wrapped to the width and never cut; arguments are
//     wrapped without losing a space, and ┊ marks the rows that go on. What is long says
//     first how long. More than two empty rows in a row are counted instead of drawn. Of
//     a text with more than 200 rows the head and the tail are drawn, and :show shows the
//     rest; who approves a call without having read it is told so first.
//   - No row is wider than the terminal, however it draws each character: it would go on
//     in the first column, which is ours. Nothing turns a row around: where letters are
//     written from right to left, the gutter begins what goes from left to right.
//   - One goroutine reads the input, one line at a time, and not a byte beyond its end:
//     the next program in the shell finds the rest. Whoever asks is handed that line. An
//     ask that ends elsewhere leaves the reader waiting; the next ask takes it over and
//     throws away a line that was begun before it was shown.
//   - A line that begins with a colon is a command (:help lists them); two colons are
//     text that begins with one.
//   - What cannot be shown cannot be answered: an error of the output ends the ask.
package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/view"
)

// ErrNoInput says that the input ended before the ask was answered. It wraps [io.EOF].
// This door is closed for this ask, and the ask still waits for the others.
var ErrNoInput = fmt.Errorf("the input ended, and that is no answer: %w", io.EOF)

// Options say what the terminal can do. The zero value is a pipe.
type Options struct {
	Human bool           // a person sits there: only then can a confirmation be approved
	Width func() int     // how many columns there are now; nil is 80
	Style bool           // it understands colours and erasing; see [TTY.Style]
	Zone  *time.Location // for times; nil is the local one

	// Claim says that somebody is typing an answer to the ask. It is called when they
	// begin, and each minute while they go on, on a goroutine of its own; its context
	// ends with the ask. Not where no person sits. nil: nobody is told.
	Claim func(ctx context.Context)

	// Page shows a text that is longer than the screen, and returns when the person has
	// seen enough. nil: it is written below the prompt.
	Page func(ctx context.Context, text string) error
}

func (o Options) width() int {
	if o.Width == nil {
		return 80
	}
	return o.Width()
}

func (o Options) zone() *time.Location {
	if o.Zone == nil {
		return time.Local
	}
	return o.Zone
}

// A Prompt asks, one ask at a time. It owns its input from the first Ask on: nobody
// else may read from it.
type Prompt struct {
	lines   *lines
	out     io.Writer
	options Options

	left bool // the last ask ended without an answer of ours
	open bool // the cursor stands behind a prompt
}

// New returns a prompt. Where in can discard what was typed ahead (a [TTY] can), it is
// asked to do so before a confirmation and after an ask that ended elsewhere.
func New(in io.Reader, out io.Writer, o *Options) *Prompt {
	p := &Prompt{lines: newLines(in), out: out}
	if o != nil {
		p.options = *o
	}
	return p
}

// A Result is what a person did about an ask: [Given] or [Declined].
type Result interface{ result() }

// Given is an answer.
type Given struct{ Answer askback.Answer }

// Declined says that this person will not answer.
type Declined struct{ Reason string }

func (Given) result()    {}
func (Declined) result() {}

// declined travels from a command to Ask.
type declined struct{ reason string }

func (declined) Error() string { return "declined" }

// Ask shows an ask and returns what the person did about it. It writes nothing to the
// ask itself. The errors are [ErrNoInput], that of ctx as soon as it ends, that of the
// output, and [askback.ErrSettled] for an ask that is.
func (p *Prompt) Ask(ctx context.Context, a view.Ask) (Result, error) {
	if a.Outcome != nil {
		return nil, askback.ErrSettled
	}
	if err := p.fresh(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	t := &talk{Prompt: p, ctx: ctx, ask: a}
	defer t.claims.Wait()
	defer cancel()
	answer, err := t.run()
	p.left = err != nil
	var no declined
	switch {
	case errors.As(err, &no):
		p.left = false
		return Declined{no.reason}, nil
	case err != nil:
		return nil, err
	}
	return Given{answer}, nil
}

// fresh makes sure that nothing that was typed for an earlier ask, or before a person saw
// this one, is taken for an answer.
func (p *Prompt) fresh() error {
	p.lines.fresh()
	if tty, ok := p.lines.in.(interface{ Prepare() }); ok {
		tty.Prepare()
	}
	return p.discard()
}

// discard throws away what a person typed ahead, where the input can.
func (p *Prompt) discard() error {
	tty, ok := p.lines.in.(interface{ Discard() error })
	if !ok || !p.left && !p.options.Human {
		return nil
	}
	return tty.Discard()
}

// Settled replaces an open prompt by how the ask ended: who answered, where and with
// what.
func (p *Prompt) Settled(a view.Ask) error {
	f := newFrame(p.options)
	if p.open {
		f.erase()
	}
	p.open = false
	if a.Outcome != nil {
		f.settled(a.Outcome)
	}
	return f.writeTo(p.out)
}

// Show draws an ask without asking, and its outcome if there is one.
func Show(out io.Writer, a view.Ask, o *Options) error {
	if o == nil {
		o = &Options{}
	}
	f := newFrame(*o)
	f.ask(a)
	if a.Outcome == nil {
		f.say("It is " + a.Status().String() + ".")
		f.say(a.TimeoutNotice(f.zone))
	} else {
		f.outcome(a.Outcome)
		if !a.AckedAt.IsZero() {
			f.say("The agent has it since " + view.FormatTime(a.AckedAt, f.zone) + ".")
		}
	}
	return f.writeTo(out)
}

// talk is one ask being answered.
type talk struct {
	*Prompt
	ctx context.Context
	ask view.Ask

	notes   []string // on the question, or the reason of a decision
	comment []string // on the whole form
	refused int      // lines in a row that brought nothing
	claimed time.Time
	claims  sync.WaitGroup
	current view.Question // the one that is asked
	folded  int           // rows that were not shown yet
}

// claimEvery is well below the five minutes for which a claim holds a deadline.
const claimEvery = time.Minute

// typing claims the ask for whoever is typing.
func (t *talk) typing() {
	if now := time.Now(); t.options.Human && t.options.Claim != nil && now.Sub(t.claimed) >= claimEvery {
		t.claimed = now
		t.claims.Go(func() { t.options.Claim(t.ctx) })
	}
}

func (t *talk) run() (askback.Answer, error) {
	f := t.frame()
	f.head(t.ask)
	if t.ask.Confirmation != nil {
		return t.confirm(f)
	}
	var answer askback.Answer
	for i, q := range t.ask.Questions {
		t.notes, t.refused, t.current = nil, 0, q
		if i > 0 {
			if err := t.discard(); err != nil {
				return askback.Answer{}, err
			}
		}
		f.question(t.ask, i, q)
		f.rule("")
		if i == 0 {
			f.say(t.ask.TimeoutNotice(f.zone))
		}
		t.noteFolded(f)
		f.say(hint(q))
		if err := f.writeTo(t.out); err != nil {
			return askback.Answer{}, err
		}
		given, err := t.question(q)
		if err != nil {
			return askback.Answer{}, err
		}
		given.Notes = strings.Join(t.notes, "\n")
		answer.Answers = append(answer.Answers, given)
		f = t.frame()
	}
	answer.Comment = strings.Join(t.comment, "\n")
	return answer, nil
}

// question asks until there is an answer.
func (t *talk) question(q view.Question) (askback.QuestionAnswer, error) {
	line, err := t.hear("> ")
	for {
		if err != nil {
			return askback.QuestionAnswer{}, err
		}
		r := read(q, line)
		if r.problem == "" && r.wantsOwn {
			if r.own, err = t.own(); err != nil {
				return askback.QuestionAnswer{}, err
			}
			if r.own == "" {
				r.problem = "Nothing written. " + hint(q)
			}
		}
		if r.unsure && t.options.Human && view.IsHelp(r.own) { // of free text
			r.unsure, r.help = false, true
		}
		if r.unsure {
			var sent bool
			if line, sent, err = t.unsure(q, r); err != nil || !sent {
				continue
			}
		}
		switch {
		case r.help:
			err = t.refuse(help...)
		case r.problem != "":
			err = t.refuse(r.problem)
		default:
			return r.answer(q), nil
		}
		if err == nil {
			line, err = t.hear("> ")
		}
	}
}

// unsure finds out whether words that are no option are to be sent: a person is asked; a
// program is refused where they look like an option. If they are not, it returns the line
// that takes their place.
func (t *talk) unsure(q view.Question, r reading) (line said, sent bool, err error) {
	if !t.options.Human {
		if len(q.Choices) == 0 || !r.resembles {
			return said{}, true, nil
		}
		if err = t.refuse(r.notAnOption()); err == nil {
			line, err = t.hear("> ")
		}
		return line, false, err
	}
	for {
		if line, err = t.sendOwn(q, r); err != nil {
			return said{}, false, err
		}
		yes, no := isYes(line.text), isNo(line.text)
		switch {
		case line.skip || line.own || !yes && !no:
			return line, false, nil
		case len(q.Match(line.text)) > 0 && line.text != "":
			err = t.refuse("That is an option, too. Type its key to choose it, or :other and your own words to send those.")
		case yes:
			return said{}, true, nil
		default:
			if err = t.refuse("Not sent. " + hint(q)); err == nil {
				line, err = t.hear("> ")
			}
			return line, false, err
		}
		if err != nil {
			return said{}, false, err
		}
	}
}

func isYes(words string) bool { return slices.Contains([]string{"y", "yes"}, strings.ToLower(words)) }

func isNo(words string) bool { return slices.Contains([]string{"", "n", "no"}, strings.ToLower(words)) }

// sendOwn asks whether to send words that are no option. What was typed ahead is no reply.
func (t *talk) sendOwn(q view.Question, r reading) (said, error) {
	if err := t.discard(); err != nil {
		return said{}, err
	}
	f := newFrame(t.options)
	prompt := "Send it as your own words? [y/N] "
	switch {
	case len(q.Choices) == 0:
		prompt = "Send it as your answer? [y/N] "
		f.say(leaving)
	case len(r.choices) > 0:
		f.say("Not an option: " + r.own)
	case r.nearest != "":
		f.say("Not an option; the nearest is " + r.nearest + ".")
	case f.full() < 2*len(prompt):
		f.say("Not an option.")
	default:
		prompt = "Not an option. " + prompt
	}
	if err := f.writeTo(t.out); err != nil {
		return said{}, err
	}
	return t.hear(prompt)
}

// own asks for the words behind "Other".
func (t *talk) own() (string, error) {
	line, err := t.hear("Your own words: ")
	return line.text, err
}

// say writes sentences of ours.
func (t *talk) say(sentences ...string) error {
	f := newFrame(t.options)
	for _, words := range sentences {
		f.say(words)
	}
	return f.writeTo(t.out)
}

// prompt writes a prompt and leaves the cursor behind it.
func (p *Prompt) prompt(words string) error {
	f := newFrame(p.options)
	f.prompt(words)
	p.open = true
	return f.writeTo(p.out)
}
