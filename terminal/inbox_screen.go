package terminal

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
)

// Numbers of columns of an inbox.
const (
	minSplit    = 90 // minimum width of a screen with the selected ask beside the list
	minList     = 38 // columns of the list beside an ask
	maxList     = 64
	narrowWidth = 60 // a narrower screen has a short title and a short list of keys
	paneGap     = 2  // a line and a space between the list and the ask
	minBeside   = 8  // rows for the ask beside the list; with fewer, there is only the list
)

// listColumns returns the number of columns for the list beside an ask.
func (i *inbox) listColumns() int { return min(max(i.width*2/5, minList), maxList) }

// isSplit reports whether the screen has columns for the list and for the selected ask. A terminal may reorder
// a row that contains right-to-left text, so such a row is never shared. An ask with such text is opened on the
// whole screen, and a row of the list with such text leaves the rest of the screen row empty.
func (i *inbox) isSplit() bool {
	return i.width >= minSplit && i.current != "" && !i.crowded && !(i.inDetail && i.rightToLeft())
}

// isBeside reports whether the text of the selected ask is beside the list.
func (i *inbox) isBeside() bool { return i.isSplit() && !i.rightToLeft() }

// rightToLeft reports whether the selected ask, its outcome, or what the person typed has right-to-left text.
func (i *inbox) rightToLeft() bool {
	p := i.picker()
	if p == nil {
		return false
	}
	it := i.find(i.current)
	f := newFrame(p.options)
	f.ask(p.ask)
	if o := view.Of(it.ask).Outcome; o != nil {
		f.settled(o)
	}
	return hasRightToLeft(f.b.String() + p.watchers + p.problem + strings.Join(p.typed(), ""))
}

// isAlone reports whether a row of the list is not shared with the selected ask.
func isAlone(row string) bool { return hasRightToLeft(row) }

// measure records whether too many rows of the list are not shared.
func (i *inbox) measure(room int) {
	i.crowded = false
	if i.width < minSplit || !slices.ContainsFunc(i.items, func(it *item) bool { return it.rightToLeft }) {
		return
	}
	for _, row := range i.listRows(i.listColumns(), room) {
		if isAlone(row) {
			room--
		}
	}
	i.crowded = room < minBeside
}

// draw draws the current rows.
func (i *inbox) draw() tea.Cmd {
	if i.done || !i.open {
		return nil
	}
	cmd := i.arrive()
	i.arm()
	_, _ = i.layout() // records which rows fit, because the keys in the next row depend on the rows that fit
	rows, c := i.layout()
	i.painter.paint(nil, rows, c, i.width)
	return cmd
}

// layout returns the rows of the whole screen.
func (i *inbox) layout() ([]string, caret) {
	head, foot, c := i.headRows(), i.footRows(), caret{}
	if at := len(foot) - (i.height - len(head) - 3); at > 0 { // a terminal of very few rows
		foot = foot[:max(0, len(foot)-at)]
	}
	room := max(i.height-len(head)-len(foot), 1)
	i.measure(room)
	var body []string
	switch {
	case i.mode == helping:
		body = i.helpRows(room)
	case i.mode == batching || i.mode == decided:
		body = i.batch.rows(i.newFrame(), room)
	case i.isSplit():
		body, c = i.splitRows(room)
	case i.inDetail && i.current != "":
		body, c = i.detailRows(0, i.width, room)
	default:
		body = i.listRows(min(i.width, maxText), room)
	}
	body = body[:min(len(body), room)]
	for len(body) < room {
		body = append(body, "")
	}
	rows := append(append(head, body...), foot...)
	c.row += len(head)
	if own, ok := i.fieldCaret(len(rows) - len(foot)); ok {
		c = own
	}
	return rows, c
}

// newFrame returns a frame that is as wide as the screen.
func (i *inbox) newFrame() *frame {
	o := i.options.Options
	o.Width = func() int { return i.width }
	return newFrame(o)
}

// splitRows returns the rows of the list, with the rows of the selected ask to the right. It moves the cursor
// to the ask by column number, because the width of the text before is not certain.
func (i *inbox) splitRows(room int) ([]string, caret) {
	columns := i.listColumns()
	rows := make([]string, room)
	copy(rows, i.listRows(columns, room))
	var shared []int // the rows that have a row of the ask
	for y, row := range rows {
		if !isAlone(row) {
			shared = append(shared, y)
		}
	}
	detail, c := i.besideRows(columns+paneGap, i.width-columns-paneGap, len(shared))
	f := i.newFrame()
	for n, y := range shared {
		rows[y] += fmt.Sprintf("\x1b[%dG", columns+1) + eraseRight + f.withSGR(dim, gutter) + " "
		if n < len(detail) {
			rows[y] += detail[n]
		}
	}
	if c.row < len(shared) {
		c.row = shared[c.row]
	}
	c.column += columns + paneGap
	return rows, c
}

// besideRows returns the rows of the selected ask beside the list, or a note if the ask has right-to-left text.
func (i *inbox) besideRows(left, columns, room int) ([]string, caret) {
	if !i.rightToLeft() {
		return i.detailRows(left, columns, room)
	}
	p := i.picker()
	p.left, p.width, p.height, p.focused = left, columns, room+1, false
	f := p.newFrame()
	f.message("This ask has right-to-left text. Enter opens it on the whole screen.")
	return f.lines(), caret{}
}

// detailRows returns the rows of the selected ask, in a part of the screen.
func (i *inbox) detailRows(left, columns, room int) ([]string, caret) {
	it, p := i.find(i.current), i.picker()
	p.left, p.width, p.height, p.focused = left, columns, room+1, i.inDetail
	switch {
	case !it.settledAt.IsZero():
		return i.settledRows(it, p, room), caret{}
	case it.sending:
		f := p.newFrame()
		f.message("Sending your answer …")
		return f.lines(), caret{}
	case it.isHeld():
		f := p.newFrame()
		f.message("Your answer is sent in a moment; u undoes it.")
		f.ask(view.Of(it.ask))
		return p.text.window(f, f.lines(), room), caret{}
	}
	rows, c := p.layout()
	c.shown = c.shown && i.inDetail && i.mode == listing
	return rows, c
}

// settledRows returns the rows of a settled ask, with the text that was typed and not sent.
func (i *inbox) settledRows(it *item, p *picker, room int) []string {
	f := p.newFrame()
	drawn := view.Of(it.ask)
	drawn.Run = it.run
	f.settled(drawn.Outcome)
	for _, line := range drawn.HowToTell() {
		f.message(line)
	}
	if typed := p.typed(); len(typed) > 0 {
		f.rule("what you typed was not sent")
		for _, text := range typed {
			f.text("you", plain, safetext.Block(text))
		}
	}
	f.ask(drawn)
	return p.text.window(f, f.lines(), room)
}

// headRows returns the title, with the number of open asks.
func (i *inbox) headRows() []string {
	f := i.newFrame()
	f.margin, f.width = 0, i.width-3
	count, which := fmt.Sprint(i.openCount()), "open"
	if i.search.text() != "" {
		which = "found"
	}
	if i.more {
		count = "more than " + count
	}
	count += " " + which
	title := "inbox · " + count
	if i.width >= narrowWidth {
		title = "Askback · " + title
	}
	if n := len(i.selected); n > 0 {
		title += fmt.Sprintf(" · %d selected", n)
	}
	f.rule(title)
	return f.lines()
}

// footRows returns the rows at the bottom: a field or a menu, the state of the connection, the last event,
// and the keys.
func (i *inbox) footRows() []string {
	f := i.newFrame()
	f.margin, f.width = 0, min(i.width-3, maxText+margin)
	switch i.mode {
	case searching:
		i.drawField(f, "/", i.search.text())
	case snoozing:
		i.drawSnoozeTimes(f)
	case typingSnooze:
		i.drawField(f, "until", i.when.text())
	case reassigning:
		i.drawField(f, "to", i.handover.to.text())
		f.message(i.effect())
	case batching:
		if i.batch.editing || i.batch.reason.text() != "" {
			i.drawField(f, "reason", i.batch.reason.text())
		}
	}
	if i.mode != searching && i.search.text() != "" {
		i.drawField(f, "/", i.search.text())
	}
	if i.lost {
		f.message("The connection is lost; reconnecting. What you typed is kept.")
	}
	f.message(i.heldLine())
	f.message(i.status)
	f.message(i.keys())
	return f.lines()
}

// drawField draws a text that the person types. If it does not fit, its end is drawn.
func (i *inbox) drawField(f *frame, word, text string) {
	rows, _, _ := (&field{before: text}).rows(max(f.width-len(word)-3, minText))
	f.b.WriteString(f.withSGR(bold, word) + " " + f.withSGR(dim, gutter) + " " + rows[len(rows)-1] + "\n")
}

// fieldCaret returns the position of the cursor in the field below the list, which begins at row. It reports
// whether there is such a field.
func (i *inbox) fieldCaret(row int) (caret, bool) {
	text, word := i.search.field, "/"
	switch i.mode {
	case searching:
	case typingSnooze:
		text, word = i.when, "until"
	case reassigning:
		text, word = i.handover.to, "to"
	case batching:
		if !i.batch.editing {
			return caret{}, false
		}
		text, word = i.batch.reason, "reason"
	default:
		return caret{}, false
	}
	left := len(word) + 3
	_, _, column := text.rows(max(min(i.width-3, maxText+margin)-left, minText))
	return caret{true, row, min(left+column, i.width-1)}, true
}

// keys returns the most important keys in one sentence.
func (i *inbox) keys() string {
	narrow, back := i.width < narrowWidth, "Esc"
	if p := i.picker(); p != nil && i.inDetail && i.find(i.current).open() && p.wants("esc") {
		back = "u" // Esc goes to the previous question
	}
	switch {
	case i.mode == helping:
		return "Any key goes back"
	case i.mode == searching:
		return "Enter keeps it · Esc shows all"
	case i.mode == snoozing:
		return "Esc goes back"
	case i.mode == typingSnooze:
		return "Enter snoozes · Esc goes back"
	case i.mode == reassigning:
		return i.handoverKeys(narrow)
	case i.mode == batching || i.mode == decided:
		return i.batch.keys()
	case i.inDetail && i.isEditing():
		return ""
	case i.inDetail && narrow:
		return back + " list · j k next · ? keys"
	case i.inDetail:
		return back + " back to the list · j k next ask · s snooze · p page · ? keys · q leave"
	case len(i.selected) > 0 && narrow:
		return "a approve · d deny the selected · x · ? keys"
	case len(i.selected) > 0:
		return "a approve the selected · d deny them · x select · Esc none · ? keys · q leave"
	case narrow:
		return "j k · Enter open · ? keys · q leave"
	}
	return "j k · Enter open · x select · s snooze · / search · p page · ? keys · q leave"
}

// isEditing reports whether keys are text for the selected ask.
func (i *inbox) isEditing() bool {
	p := i.picker()
	return p != nil && p.editing != nil
}

// helpRows returns the list of keys, scrolled to fit in room rows.
func (i *inbox) helpRows(room int) []string {
	f := i.newFrame()
	for _, words := range []string{
		"j k ↑ ↓    select another ask; in an ask, the arrows go to its options",
		"Enter      open the ask; Esc or u goes back to the list",
		"u          undo what you answered, until it is sent",
		"1 2 3      go to an option, which Enter takes; o writes your own words",
		"a d        approve or deny the call, or the selected calls after a look",
		"e          change the arguments in your editor (EDITOR)",
		"n c D      write a note or a reason, a comment, decline to answer",
		"Ctrl+N R X like n c D, while letters filter the options of an ask",
		"A          also approve the same call later",
		"PgDn PgUp  read the rest of a long ask; v shows it in a pager",
		"x          select the call, to decide several together",
		"s          snooze the ask until a time you choose; skip an optional question",
		"r          reassign it: name who should answer instead of you",
		"/          search the list; in a question, filter its options",
		"p          open the page of the ask in the browser",
		"Ctrl+G     write a text in your editor",
		"q, Ctrl+C  leave; every ask stays open",
	} {
		f.message(words)
	}
	return i.help.window(f, f.lines(), room)
}
