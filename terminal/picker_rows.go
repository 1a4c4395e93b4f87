package terminal

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
)

// Numbers of rows and columns in a panel.
const (
	minOptionRows = 8  // rows for the options; with fewer, the text of the ask is written above
	usualFoot     = 3  // rows below the options that are kept free
	briefRows     = 3  // rows of a question whose whole text was written above
	besideWidth   = 90 // minimum width of a panel with a preview beside the options
	minPreview    = 3  // rows of a preview below its option
	maxLeft       = 76 // columns of the options beside a preview
)

// lines returns the rows of a frame.
func (f *frame) lines() []string {
	if f.b.Len() == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(f.b.String(), "\n"), "\n")
}

func (p *picker) newFrame() *frame {
	o := p.options
	o.Width = func() int { return p.width }
	f := newFrame(o)
	f.fold, f.show = true, "v"
	return f
}

// layout returns the rows of the panel, at most one less than the terminal has. If the rows do not fit, the
// text of the ask is written above the panel, where the person can scroll.
func (p *picker) layout() ([]string, caret) {
	room := max(p.height-1, 6)
	top, foot, c := p.topRows(), p.footRows(), caret{}
	middle := 0
	if cur := p.current(); cur != nil {
		middle = min(len(p.optionRows(room)), minOptionRows)
	}
	fieldRows, c := p.fieldRows(max(room/3, 2))
	fixed := len(fieldRows) + len(foot)
	if p.help && p.editing == nil && len(top)+middle+fixed > room {
		return foot[:min(len(foot), room)], caret{}
	}
	if !p.compact && !p.embedded && len(top)+middle+len(fieldRows)+max(len(foot), usualFoot) > room {
		p.writeAbove()
		top = p.topRows()
	}
	top = p.fitTop(top, max(1, room-fixed-middle))
	rows := top
	if p.current() != nil {
		rows = append(rows, p.optionRows(room-fixed-len(top))...)
	}
	c.row += len(rows)
	rows = append(append(rows, fieldRows...), foot...)
	if len(rows) > room { // a terminal of very few rows
		cut := len(rows) - room
		rows, c.row = rows[cut:], max(0, c.row-cut)
	}
	return rows, c
}

// fitTop returns at most limit of the rows above the options. In an inbox, the rows can be scrolled.
func (p *picker) fitTop(top []string, limit int) []string {
	if p.embedded {
		return p.text.window(p.newFrame(), top, limit)
	}
	return top[:min(len(top), limit)]
}

// writeAbove writes the whole ask above the panel.
func (p *picker) writeAbove() {
	f := p.newFrame()
	f.ask(p.ask)
	p.compact, p.unseen = true, f.folded
	p.above = append(p.above, f.lines()...)
	if p.call != nil && p.call.form.Edited() {
		edited := p.newFrame()
		p.drawEdited(edited)
		p.above = append(p.above, edited.lines()...)
	}
}

// topRows returns the rows above the options: the ask, or a short form if the ask was written above the
// panel. It counts the rows that the person has not been shown.
func (p *picker) topRows() []string {
	f := p.newFrame()
	switch {
	case p.call != nil && p.compact:
		where := "The exact arguments are above"
		if p.call.Own {
			where = "The details are above"
		}
		f.message(where + "; scroll up to read them. You decide about")
		f.target(p.call.Confirmation)
	case p.call != nil:
		f.head(p.ask)
		f.call(p.ask)
		if p.unseen = f.folded + p.text.unseen(); p.read {
			p.unseen = 0
		}
		p.drawEdited(f)
		f.rule("")
	case p.current() == nil:
		p.drawReview(f)
	case p.compact:
		return p.briefQuestion()
	default:
		f.head(p.ask)
		f.questionText(p.ask, p.at, p.current().q)
		if len(p.current().q.Choices) > 0 {
			f.row("", gutter, plain, "")
		}
	}
	return f.lines()
}

// briefQuestion returns the first rows of the question, with a hint where the whole text is.
func (p *picker) briefQuestion() []string {
	f, part := p.newFrame(), p.newFrame()
	title := "Askback · question"
	if len(p.choices) > 1 {
		title = fmt.Sprintf("%d of %d", p.at+1, len(p.choices))
	}
	f.rule(title)
	part.markdown("asks", bold, p.current().q.Text)
	rows := part.lines()
	if len(rows) > briefRows {
		rows = rows[:briefRows]
	}
	f.message("Scroll up for the whole text.")
	return append(f.lines(), rows...)
}

// drawEdited draws the arguments if the person changed them.
func (p *picker) drawEdited(f *frame) {
	if p.call.form.Edited() {
		f.rule("you changed the arguments")
		f.exact("with", plain, view.ArgumentLines(json.RawMessage(p.call.form.Input)))
	}
}

// drawReview draws all questions with their answers.
func (p *picker) drawReview(f *frame) {
	f.rule("Askback · your answers")
	for i, c := range p.choices {
		f.oneLine(fmt.Sprint(i+1), plain, safetext.Line(c.q.Text.String()))
		values := c.values()
		switch {
		case !c.answered && !c.q.Optional:
			f.row("", gutter, dim, "  (no answer yet)")
		case len(values) == 0:
			f.row("", gutter, dim, "  (skipped)")
		}
		for _, value := range values {
			f.text("→", bold, value)
		}
		f.text("note", dim, safetext.Block(c.note.text()))
	}
	f.text("remark", dim, safetext.Block(p.comment.text()))
	f.rule("")
}

// oneLine draws the beginning of t on one row.
func (f *frame) oneLine(word, sgr string, t safetext.Text) {
	f.row(word, gutter, sgr, safetext.Beginning(t, f.width-2))
}

// footRows returns the rows below the options. These are the people who are looking at the ask, the deadline,
// the problem of the last key, and the keys.
func (p *picker) footRows() []string {
	f := p.newFrame()
	f.message(p.watchers)
	if p.editing == nil || p.mode == writingOther {
		f.message(p.ask.TimeoutNotice(f.zone))
	}
	if p.problem != "" {
		f.message(p.problem)
	}
	if p.help && p.editing == nil {
		for _, words := range p.helpRows() {
			f.message(words)
		}
		return f.lines()
	}
	if p.editing == nil && (!p.guard.live || p.letter != "") {
		f.message("One moment …")
		return f.lines()
	}
	f.message(p.keys())
	return f.lines()
}

// keys returns the most important keys in one sentence.
func (p *picker) keys() string {
	c := p.current()
	switch {
	case p.isBarred():
		return p.ask.Barred.String()
	case p.embedded && !p.focused && p.call == nil:
		return p.unfocusedKeys()
	case p.mode == filtering:
		return "Type to filter · ↑↓ move · Enter takes it · Esc shows all"
	case p.mode == confirming:
		return "Enter approves if the word is right · Esc goes back"
	case p.mode == declining:
		return "Enter declines to answer · Esc goes back"
	case p.mode == writingOther && len(c.q.Choices) == 0:
		return "Enter sends" + p.emptyMeans(c) + " · Ctrl+G opens your editor · " + p.leaving()
	case p.editing != nil:
		return "Enter keeps it · Esc goes back · Ctrl+G opens your editor"
	case p.call != nil:
		return p.callKeys()
	case c == nil:
		return "Enter sends all · 1-9 or Esc changes an answer · ? more keys"
	case c.q.Multi:
		return "↑↓ move · Space marks · Enter takes what is marked" + p.listKeys(c)
	}
	return "↑↓ move · Enter chooses" + p.listKeys(c)
}

// listKeys returns the keys that every list of options has.
func (p *picker) listKeys(c *choosing) string {
	filter := " · / filter"
	if c.filtersBy("a") {
		filter = " · letters filter"
	}
	return p.tabKey() + filter + " · Ctrl+N note · ? more keys"
}

// unfocusedKeys returns the keys of a question while the keys go to the list of the inbox.
func (p *picker) unfocusedKeys() string {
	c := p.current()
	if c == nil || len(c.q.Choices) == 0 {
		return "Enter opens it"
	}
	return c.q.Keys() + " choose · Enter opens it · n note · D decline"
}

func (p *picker) tabKey() string {
	if len(p.choices) > 1 {
		return " · Tab next"
	}
	return ""
}

// leaving returns the keys that leave the ask open, as a part of a sentence.
func (p *picker) leaving() string {
	if p.embedded {
		return "Esc goes back"
	}
	return "Ctrl+C leaves it open"
}

// emptyMeans returns the effect of Enter in an empty field, as a part of a sentence.
func (p *picker) emptyMeans(c *choosing) string {
	switch {
	case c.q.HasDefault:
		return ", or takes the default if you type nothing"
	case c.q.Optional:
		return ", or skips it if you type nothing"
	}
	return ""
}

// callKeys returns the keys of a call. If the arrows selected an action, the action is in brackets.
func (p *picker) callKeys() string {
	if p.call.action > 0 {
		var all []string
		for i, a := range p.actions() {
			words := a.words
			if p.call.action == i+1 {
				words = "[" + words + "]"
			}
			all = append(all, words)
		}
		return "↑↓ move · Enter takes it: " + strings.Join(all, " · ")
	}
	out := "a approve · d deny · n reason"
	if p.needsWord() {
		out = "d deny · n reason"
	}
	if !p.call.NoEdit && !p.call.Own {
		out += " · e edit"
	}
	if p.needsWord() {
		out += " · a approve with a typed word"
	}
	return out + " · ? more keys"
}

// helpRows returns the rows that list the keys of the current view.
func (p *picker) helpRows() []string {
	switch {
	case p.call != nil:
		return []string{
			"a or y   approve exactly this call, once", "d        deny it",
			"n        write a reason for the decision (or Ctrl+N)", "e        change the arguments in your editor",
			"A        also approve the same call later; shows for how long, and asks again",
			"v        show all rows in a pager", "D        decline to decide",
			"↑ ↓      choose what Enter does, on any keyboard", "Ctrl+C   leave it open",
		}
	case p.current() == nil:
		return []string{
			"Enter      send all answers", "1-9, Esc   change an answer", "Ctrl+R     write a comment on all answers",
			"D, Ctrl+X  decline to answer", "Ctrl+C     leave it open",
		}
	}
	letters := []string{
		"/                filter the options",
		"j k s v D        move, skip, show everything, decline; also with the keys above",
	}
	if p.current().filtersBy("a") {
		letters = []string{"letters          filter the options; Enter takes the one under the cursor"}
	}
	return append([]string{
		"↑ ↓              move; PgUp, PgDn, Home and End too",
		"1 2 3            go to an option, or mark it if several can be chosen",
		"Space            mark an option, if several can be chosen",
		"Enter            take the option, or what is marked", "Ctrl+N           write a note on this answer",
		"Ctrl+R           write a comment on all answers", "Tab, Shift+Tab   next and previous question",
		"Ctrl+K           skip an optional question", "Ctrl+V           show everything in a pager",
		"Ctrl+X           decline to answer", "Ctrl+C           leave it open",
	}, letters...)
}
