package terminal

import (
	"fmt"
	"io"
	"iter"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/askback/askback/internal/safetext"
	"github.com/askback/askback/internal/view"
)

// The frame, in columns:
//
//	0      7 9
//	── Askback · question ──────────
//	 agent │ deploy-bot
//	     1 │ PostgreSQL
//
// The margin and rows without a gutter are ours. Right of the gutter is the agent, on
// every row of its own.
const (
	margin  = 7 // "server" and a space
	gutter  = "│ "
	goesOn  = "┊ " // the row above was too long
	minText = 12   // columns for the agent, however narrow the terminal says it is
	maxText = 100  // wider is hard to read
)

// brailleBlank is a symbol that is drawn as nothing.
const brailleBlank = "\u2800"

// Looks of text, as SGR parameters.
const (
	plain = ""
	bold  = "1"
	dim   = "2"
)

// frame draws into memory, so that writing has one error.
type frame struct {
	b     strings.Builder
	rows  int
	width int // of the text right of the gutter
	style bool
	zone  *time.Location
}

func newFrame(o Options) *frame {
	width := o.width() - margin - utf8.RuneCountInString(gutter) - 1 // the last column makes some terminals wrap
	return &frame{width: min(max(width, minText), maxText), style: o.Style, zone: o.zone()}
}

func (f *frame) writeTo(w io.Writer) error {
	if f.b.Len() == 0 {
		return nil
	}
	_, err := io.WriteString(w, f.b.String())
	return err
}

func (f *frame) look(sgr, s string) string {
	if !f.style || sgr == plain || s == "" {
		return s
	}
	return "\x1b[" + sgr + "m" + s + "\x1b[0m"
}

// full is how many columns a row of ours may take.
func (f *frame) full() int { return margin + utf8.RuneCountInString(gutter) + f.width }

// rule draws a line across, with words of ours on it.
func (f *frame) rule(words string) {
	line := "──"
	if words != "" {
		line += " " + words + " "
	}
	line += strings.Repeat("─", max(0, f.full()-utf8.RuneCountInString(line)))
	f.b.WriteString(f.look(dim, line) + "\n")
	f.rows++
}

// say writes a sentence of ours, without a gutter.
func (f *frame) say(words string) {
	if words == "" {
		return
	}
	for _, row := range safetext.Wrap(safetext.Line(words), f.full()) {
		f.b.WriteString(row.String() + "\n")
		f.rows++
	}
}

// prompt leaves the cursor behind words of ours.
func (f *frame) prompt(words string) { f.b.WriteString(f.look(bold, words)) }

// erase takes an open prompt away, with what was typed behind it.
func (f *frame) erase() {
	if f.style {
		f.b.WriteString("\r\x1b[K")
		return
	}
	f.b.WriteString("\n")
}

// row draws one row: a word of ours in the margin, the agent's text right of the gutter.
func (f *frame) row(word, gutter, sgr, text string) {
	key := strings.Repeat(" ", max(0, margin-1-utf8.RuneCountInString(word))) + f.look(bold, word) + " "
	f.b.WriteString(strings.TrimRight(key+f.look(dim, gutter)+f.look(sgr, text), " ") + "\n")
	f.rows++
}

// text draws prose, wrapped between words.
func (f *frame) text(word, sgr string, t safetext.Text) { f.indented(word, sgr, "", t) }

func (f *frame) indented(word, sgr, indent string, t safetext.Text) {
	if t.String() == "" {
		return
	}
	empty := 0
	for _, row := range safetext.Wrap(t, f.width-len(indent)) {
		if strings.TrimSpace(strings.Trim(row.String(), brailleBlank+" ")) == "" {
			empty++
			continue
		}
		word = f.empty(word, empty)
		empty = 0
		f.row(word, gutter, sgr, indent+row.String())
		word = ""
	}
	f.empty(word, empty)
}

// empty draws empty rows, or their number where they could push something off the
// screen (T3).
func (f *frame) empty(word string, n int) string {
	if n > 2 {
		f.say(fmt.Sprintf("%*s(%d empty rows)", margin, "", n))
		return word
	}
	for range n {
		f.row(word, gutter, plain, "")
		word = ""
	}
	return word
}

// exact draws text of which no byte may be lost. Rows that go on are marked.
func (f *frame) exact(word, sgr string, t safetext.Text) {
	for line := range strings.SplitSeq(t.String(), "\n") {
		mark := gutter
		for row := range cut(line, f.width) {
			f.row(word, mark, sgr, row)
			word, mark = "", goesOn
		}
	}
}

// cut cuts a line into rows, at least one, in one walk: between characters, and inside
// only those that are wider than a row. A mark never begins a row: it would stand on the
// gutter.
func cut(line string, width int) iter.Seq[string] {
	return func(yield func(string) bool) {
		start, cells, pos := 0, 0, 0
		for cluster := range safetext.Clusters(line) {
			whole := 0
			for _, r := range cluster {
				whole += safetext.Cells(r)
			}
			fits := whole <= width
			for i, r := range cluster {
				wide := safetext.Cells(r)
				full := cells+wide > width || i == 0 && fits && cells+whole > width
				if at := pos + i; full && at > start && wide > 0 && !unicode.Is(unicode.M, r) {
					if !yield(line[start:at]) {
						return
					}
					start, cells = at, 0
				}
				cells += wide
			}
			pos += len(cluster)
		}
		yield(line[start:])
	}
}

// list joins names for one row.
func list(names []safetext.Text, separator string) safetext.Text {
	var all []string
	for _, name := range names {
		all = append(all, name.String())
	}
	return safetext.Line(strings.Join(all, separator))
}

// head draws who asks whom, and what belongs to the whole ask.
func (f *frame) head(a view.Ask) {
	title := "Askback · question"
	switch {
	case a.Confirmation != nil:
		title = "Askback · approval"
	case len(a.Questions) > 1:
		title = fmt.Sprintf("Askback · %d questions", len(a.Questions))
	}
	f.rule(title)
	f.text("agent", bold, list(append([]safetext.Text{a.Agent}, reversed(a.Path)...), " < "))
	f.text("token", bold, a.Owner)
	f.text("for", plain, list(a.To, ", "))
	if a.Confirmation == nil {
		f.text("tags", plain, list(a.Tags, ", "))
		f.text("title", bold, a.Title)
	}
	if a.Hidden {
		f.say("Careful: there are hidden characters in this. They are drawn as marks or escapes: ⟨U+202E⟩, ␛, \\u202e.")
	}
	if a.Confirmation == nil {
		f.context(a)
	}
}

func (f *frame) context(a view.Ask) {
	switch {
	case a.Context.String() == "":
	case a.Code:
		f.exact("about", plain, a.Context)
	default:
		f.text("about", plain, a.Context)
	}
}

func reversed(path []safetext.Text) []safetext.Text {
	var out []safetext.Text
	for i := range path {
		out = append(out, path[len(path)-1-i])
	}
	return out
}

// question draws one question with everything that can be chosen (F3).
func (f *frame) question(a view.Ask, i int, q view.Question) {
	if len(a.Questions) > 1 {
		f.rule(fmt.Sprintf("%d of %d", i+1, len(a.Questions)))
	} else {
		f.row("", gutter, plain, "")
	}
	f.text("", dim, q.Header)
	f.text("asks", bold, q.Text)
	if len(q.Choices) > 0 {
		f.row("", gutter, plain, "")
	}
	for _, c := range q.Choices {
		f.choice(c)
	}
	if q.OtherKey != "" {
		f.b.WriteString(strings.Repeat(" ", max(0, margin-1-len(q.OtherKey))) + f.look(bold, q.OtherKey) + "   Other: your own words\n")
		f.rows++
	}
	f.text("*", plain, q.Default)
}

func (f *frame) choice(c view.Choice) {
	key := c.Key
	if c.Default {
		key = "* " + key
	}
	f.text(key, plain, c.Label)
	f.indented("", dim, "  ", c.Description)
	f.indented("shows", plain, "  ", c.Preview)
}

// call draws a tool call: exactly what will run, then, fenced off, what the agent says
// about it.
func (f *frame) call(a view.Ask) {
	c := a.Confirmation
	f.target(c)
	f.exact("with", plain, c.Arguments)
	if c.Dangerous {
		f.say("This tool is marked dangerous: what it does may not be undone.")
	}
	if !a.Prose() {
		return
	}
	f.rule("what the agent says about it")
	f.text("tags", plain, list(a.Tags, ", "))
	f.text("title", bold, a.Title)
	f.text("says", plain, c.Description)
	f.text("shows", plain, c.Preview)
	f.text("about", plain, c.Context)
	f.context(a)
}

func (f *frame) target(c *view.Confirmation) {
	f.exact("tool", bold, c.Tool)
	if c.Server.String() != "" {
		f.exact("server", bold, c.Server)
	}
}

// again names the tool once more below a long call.
func (f *frame) again(c *view.Confirmation, rows int) {
	f.say(fmt.Sprintf("All of it takes %d rows. Scroll up: the exact arguments stand first. You decide about", rows))
	f.target(c)
}

// settled draws how an ask ended, on one row where that fits.
func (f *frame) settled(o *view.Outcome) {
	words := "Settled: " + o.Sentence.String()
	if len(o.Answers) == 1 && len(o.Answers[0].Values) > 0 {
		said := list(o.Answers[0].Values, ", ")
		if w := safetext.Width(safetext.Line(words)) + safetext.Width(said) + 3; w <= f.full() {
			f.b.WriteString(words + " " + f.look(dim, gutter) + f.look(bold, said.String()) + "\n")
			f.rows++
			return
		}
	}
	f.say(words)
	for _, answer := range o.Answers {
		f.answer(answer, len(o.Answers) > 1)
	}
}

func (f *frame) answer(a view.Answer, several bool) {
	if several {
		f.text("asked", dim, a.Question)
	}
	for _, value := range a.Values {
		f.text("said", bold, value)
	}
}

// outcome draws how an ask ended with everything that went with it.
func (f *frame) outcome(o *view.Outcome) {
	f.say("Settled: " + o.Sentence.String() + ", " + view.When(o.At, f.zone))
	for _, answer := range o.Answers {
		f.answer(answer, len(o.Answers) > 1)
		f.text("note", plain, answer.Notes)
	}
	f.text("remark", plain, o.Comment)
	f.text("reason", plain, o.Reason)
	if o.Arguments.String() != "" {
		f.exact("with", plain, o.Arguments)
	}
}
