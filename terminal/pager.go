package terminal

import (
	"errors"

	"github.com/askback/askback/internal/text/view"
)

// newFrame returns a frame that draws only the head and the tail of a long text.
func (d *dialog) newFrame() *frame {
	f := newFrame(d.options)
	f.fold = true
	return f
}

// addFolded adds the number of rows that f omitted to unseenRows, and draws a note about the omitted rows.
func (d *dialog) addFolded(f *frame) {
	d.unseenRows += f.folded
	if f.folded > 0 {
		f.message(f.notShown(f.folded))
	}
}

// showAll shows the whole ask in a pager or, if that is not possible, below the prompt.
func (d *dialog) showAll() {
	options := d.options
	options.Style = false // a pager may not interpret escape sequences
	f := newFrame(options)
	f.ask(d.ask)
	f.asJSON(d.ask)
	err := errors.ErrUnsupported
	if d.options.Page != nil {
		err = d.options.Page(d.ctx, f.b.String())
	}
	d.err = d.ctx.Err()
	if err != nil {
		d.draw(f)
	}
	d.unseenRows = 0
	if d.ask.Confirmation == nil {
		d.reject("All rows have been shown.")
		return
	}
	last := newFrame(d.options)
	last.message("All rows have been shown. You decide about")
	last.target(d.ask.Confirmation)
	d.draw(last)
	d.reject()
}

// ask draws an ask with its call, or with all its questions.
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
