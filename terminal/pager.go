package terminal

import (
	"errors"
	"io"

	"github.com/askback/askback/internal/view"
)

// frame returns a frame in which what is very long is folded.
func (t *talk) frame() *frame {
	f := newFrame(t.options)
	f.fold = true
	return f
}

// noteFolded counts what was folded, below it all.
func (t *talk) noteFolded(f *frame) {
	t.folded += f.folded
	if f.folded > 0 {
		f.say(notShown(f.folded))
	}
}

// showAll shows the whole ask, in a pager if there is one.
func (t *talk) showAll() error {
	options := t.options
	options.Style = false // for a pager that shows escape sequences as they are
	f := newFrame(options)
	f.ask(t.ask)
	err := errors.ErrUnsupported
	if t.options.Page != nil {
		err = t.options.Page(t.ctx, f.b.String())
	}
	if t.ctx.Err() != nil {
		return t.ctx.Err()
	}
	if err != nil {
		if _, err := io.WriteString(t.out, f.b.String()); err != nil {
			return err
		}
	}
	t.folded = 0
	if t.ask.Confirmation == nil {
		return t.refuse("That was all of it.")
	}
	last := newFrame(t.options)
	last.say("That was all of it. You decide about")
	last.target(t.ask.Confirmation)
	if err := last.writeTo(t.out); err != nil {
		return err
	}
	return t.refuse()
}

// ask draws all of an ask.
func (f *frame) ask(a view.Ask) {
	f.head(a)
	if a.Confirmation != nil {
		f.call(a)
	}
	for i, q := range a.Questions {
		f.question(a, i, q)
	}
	f.rule("")
}
