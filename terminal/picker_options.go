package terminal

import (
	"fmt"
	"strings"

	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
)

// optionRows returns at most limit rows with the visible options around the cursor. A wide panel shows the
// preview of the option under the cursor beside the options.
func (p *picker) optionRows(limit int) []string {
	c := p.current()
	if len(c.q.Choices) == 0 {
		return nil
	}
	limit = max(limit, 1)
	f := p.newFrame()
	beside := p.previewBeside(c)
	if beside {
		f.width = min(f.width, maxLeft-f.margin-2, p.width/2-f.margin-2)
	}
	var blocks [][]string
	at := -1
	for _, i := range c.visible() {
		if i == c.cursor {
			at = len(blocks)
		}
		blocks = append(blocks, p.option(f, c, i, beside, limit))
	}
	rows := p.window(f, blocks, at, limit)
	if beside {
		rows = addPreview(p.newFrame(), rows, p.previewRows(c, p.paneWidth(f)), f.fullWidth()+p.left, limit)
	}
	return rows
}

// previewBeside reports whether previews are drawn beside the options. Right-to-left text is not drawn beside
// other text, because a terminal could reorder the two texts.
func (p *picker) previewBeside(c *choosing) bool {
	if p.width < besideWidth {
		return false
	}
	found := false
	for _, choice := range c.q.Choices {
		if hasRightToLeft(choice.Preview.String()) || hasRightToLeft(choice.Label.String()) ||
			hasRightToLeft(choice.Description.String()) {
			return false
		}
		found = found || choice.Preview.String() != ""
	}
	return found
}

// paneWidth returns the width of the text of a preview beside options that are drawn in f.
func (p *picker) paneWidth(f *frame) int { return min(p.width-1-f.fullWidth()-3, maxText) }

// option returns the rows of the option i. If the option is under the cursor, its preview is below, unless
// beside is true.
func (p *picker) option(f *frame, c *choosing, i int, beside bool, limit int) []string {
	part := &frame{margin: f.margin, width: f.width, style: f.style, zone: f.zone, show: f.show}
	word := p.optionMark(c, i)
	sgr := plain
	if i == c.cursor {
		sgr = bold
	}
	if i == len(c.q.Choices) {
		part.otherRow(word, sgr, c)
		return part.lines()
	}
	choice := c.q.Choices[i]
	part.text(word, sgr, choice.Label)
	part.indentedMarkdown("", dim, "  ", choice.Description)
	rows := part.lines()
	if i == c.cursor && !beside && choice.Preview.String() != "" {
		rows = append(rows, p.cutPreview(f, choice, max(limit-len(rows)-2, minPreview))...)
	}
	return rows
}

// otherRow draws the row for the person's own words, which has no text of the agent.
func (f *frame) otherRow(word, sgr string, c *choosing) {
	words := "Other: your own words"
	if c.other.text() != "" {
		f.oneLine(word, sgr, safetext.Line(words+": "+c.other.text()))
		return
	}
	f.row(word, gutter, sgr, words)
}

// optionMark returns the word in the margin of an option: the cursor, its mark, and its key.
func (p *picker) optionMark(c *choosing, i int) string {
	cursor, mark, key := " ", " ", c.keyOf(i)
	if i == c.cursor {
		cursor = ">"
	}
	isDefault := i < len(c.q.Choices) && c.q.Choices[i].Default
	switch {
	case !c.q.Multi && isDefault:
		mark = "*"
	case c.q.Multi && c.isMarked(i) && len(key) < 3:
		mark = "[x]"
	case c.q.Multi && len(key) < 3:
		mark = "[ ]"
	case c.q.Multi && c.isMarked(i):
		mark = "x"
	}
	return cursor + mark + fmt.Sprintf("%*s", max(0, margin-1-len(cursor)-len(mark)), key)
}

// window returns at most limit rows: the rows of blocks[at], and of as many blocks before and after it as
// fit. If blocks are omitted, a note above or below has their number.
func (p *picker) window(f *frame, blocks [][]string, at, limit int) []string {
	total := 0
	for _, b := range blocks {
		total += len(b)
	}
	first, last := 0, len(blocks)
	if total > limit && at >= 0 {
		first, last = at, at+1
		used := len(blocks[at]) + 2 // with a note above and a note below
		for grown := true; grown; {
			grown = false
			if last < len(blocks) && used+len(blocks[last]) <= limit {
				used, last, grown = used+len(blocks[last]), last+1, true
			}
			if first > 0 && used+len(blocks[first-1]) <= limit {
				used, first, grown = used+len(blocks[first-1]), first-1, true
			}
		}
	}
	var rows []string
	if first > 0 {
		rows = append(rows, f.note(fmt.Sprintf("(%d more above)", first)))
	}
	for _, b := range blocks[first:last] {
		rows = append(rows, b...)
	}
	below := ""
	if last < len(blocks) {
		below = f.note(fmt.Sprintf("(%d more below)", len(blocks)-last))
	}
	if keep := limit - min(len(below), 1); len(rows) > keep { // one option has more rows than fit
		rows = append(rows[:max(0, keep-1)], f.note("(more rows; v shows them)"))
	}
	if below != "" {
		rows = append(rows, below)
	}
	return rows
}

// note returns a note in one row, indented to the gutter.
func (f *frame) note(words string) string {
	return strings.Repeat(" ", f.margin) + f.withSGR(dim, words)
}

// cutPreview returns the first rows of a preview below its option.
func (p *picker) cutPreview(f *frame, choice view.Choice, limit int) []string {
	part := &frame{margin: f.margin, width: f.width, style: f.style, zone: f.zone, show: f.show}
	part.previewLines("shows", "  ", choice.Preview, choice.PreviewMarkdown)
	rows := part.lines()
	if len(rows) > limit {
		rows = append(rows[:limit], f.note(fmt.Sprintf("(%d more rows; v shows them)", len(rows)-limit)))
	}
	return rows
}

// previewRows returns the rows of the preview of the option under the cursor, with their gutter, in a pane whose
// text has this width.
func (p *picker) previewRows(c *choosing, width int) []string {
	if c.cursor < 0 || c.cursor >= len(c.q.Choices) {
		return nil
	}
	choice := c.q.Choices[c.cursor]
	if choice.Preview.String() == "" {
		return nil
	}
	pane := p.newFrame()
	pane.margin, pane.width = 0, width
	pane.previewLines("", "", choice.Preview, choice.PreviewMarkdown)
	return pane.lines()
}

// addPreview adds at most limit rows of a preview to the right of rows, from the given column on. It moves
// the cursor there by column number, because the width of the text to the left is not certain.
func addPreview(f *frame, rows, preview []string, column, limit int) []string {
	if len(preview) > limit {
		preview = append(preview[:max(0, limit-1)], fmt.Sprintf("(%d more rows; v shows them)", len(preview)-limit+1))
	}
	for len(rows) < len(preview) {
		rows = append(rows, strings.Repeat(" ", f.margin)+f.withSGR(dim, gutter))
	}
	for i, text := range preview {
		rows[i] += fmt.Sprintf("\x1b[%dG\x1b[K", column+2) + text
	}
	return rows
}

// fieldRows returns at most limit rows of the text being edited, and the position of the cursor in the rows.
// If no text is edited, it returns the texts that will be sent.
func (p *picker) fieldRows(limit int) ([]string, caret) {
	if p.editing == nil {
		return p.keptRows(), caret{}
	}
	f := p.newFrame()
	word := "you"
	switch p.mode {
	case filtering:
		word = "/"
	case writingNote:
		word = "note"
	case writingRemark:
		word = "remark"
	case declining:
		f.message("Decline to answer. Give the agent a reason, or leave this empty.")
		word = "reason"
	case confirming:
		p.explainWord(f)
		word = "word"
	default:
		p.showDefault(f)
	}
	if word == "note" && p.call != nil {
		word = "reason"
	}
	before := len(f.lines())
	rows, row, column := p.editing.rows(f.width - 1)
	first := max(0, row-limit+1)
	last := min(len(rows), first+limit)
	for i, text := range rows[first:last] {
		if i > 0 {
			word = ""
		}
		f.row(word, gutter, plain, text)
	}
	left := f.margin + 2
	if f.margin == 0 {
		before++ // the word is on its own row
	}
	return f.lines(), caret{true, before + row - first, min(left+column, p.width-1)}
}

// keptRows returns the filter and the other texts that will be sent, while they are not edited.
func (p *picker) keptRows() []string {
	f := p.newFrame()
	if p.call != nil && p.call.note.text() != "" {
		f.oneLine("reason", dim, safetext.Line(p.call.note.text()))
	}
	if c := p.current(); c != nil && c.filter.text() != "" {
		f.oneLine("/", dim, safetext.Line(c.filter.text()))
	}
	if c := p.current(); c != nil && c.note.text() != "" {
		f.oneLine("note", dim, safetext.Line(c.note.text()))
	}
	if p.current() != nil && p.comment.text() != "" { // the review shows it anyway
		f.oneLine("remark", dim, safetext.Line(p.comment.text()))
	}
	return f.lines()
}

// showDefault draws the default of a question without options.
func (p *picker) showDefault(f *frame) {
	if c := p.current(); c != nil && len(c.q.Choices) == 0 {
		f.text("*", plain, c.q.DefaultText)
	}
}

// explainWord draws the consequences of the typed word.
func (p *picker) explainWord(f *frame) {
	c := p.call
	if c.grant != "" {
		f.grantPreview(p.ask, c.grant)
	}
	if p.unseen > 0 {
		f.message(fmt.Sprintf(
			"%d rows of this call were not shown, and you would approve them unread. Esc, then v shows them.", p.unseen,
		))
	}
	f.message("Type " + c.word + " and press Enter. Anything else approves nothing.")
}
