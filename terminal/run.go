package terminal

import (
	"io"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
)

// A RunView shows a hosted run: the text of the agent as it arrives, a row for each tool call, the todos, and
// the present activity of the run. Its methods must not be called concurrently. As in a [Prompt], text of the
// agent is only right of the gutter. No control sequence in that text reaches the terminal.
//
// The rows at the end are replaced while the run continues: the line that is being written, and the row of
// the activity. All other rows stay. An output that is not a terminal gets only whole messages. It does not
// get the last message, which is the result.
type RunView struct {
	out     io.Writer
	options Options
	live    bool // whether rows can be replaced
	painter painter

	run     view.Run
	name    string       // name of the person at this terminal
	lines   int          // number of lines already written of the message that arrives
	fence   string       // the mark that ends the block of code that is being written, or ""
	held    []string     // rows of a whole message, not written yet because it may be the last message
	partial []string     // rows of the line that is being written
	calls   []*view.Call // calls that run now
	doing   string       // present activity of the run, in words; "" for none
	spin    int          // frame of the spinner
	paused  bool         // whether a person answers, so that nothing is drawn
	waiting []string     // rows to write after the pause
	drawn   bool         // whether there are live rows on the screen
}

// A RunOptions describes the output of a [RunView].
type RunOptions struct {
	Options
	Live bool   // whether the output can replace rows; see [TTY.ShowsPanels]
	Name string // name of the person at this terminal, whose own messages are not shown again
}

// NewRunView returns a view that writes to out.
func NewRunView(out io.Writer, o RunOptions) *RunView {
	return &RunView{
		out: out, options: o.Options, live: o.Live, name: o.Name, painter: painter{out: out, reflows: reflows()},
	}
}

// Show shows an event, and returns its view. It returns an error only if the output fails.
func (v *RunView) Show(ev askback.Event) (view.RunEvent, error) {
	e := v.run.Read(ev)
	f := newFrame(v.options)
	switch {
	case e.Message != nil:
		v.message(f, e)
	case e.Call != nil:
		v.call(f, e.Call)
	case e.Type == askback.EventStateChange:
		v.state(e.State)
	case e.Type == askback.EventTodosChanged:
		v.flushHeld(f)
		v.todos(f, e.Todos)
	}
	v.write(f)
	return e, v.painter.err
}

// message shows a message, or the received part of it.
func (v *RunView) message(f *frame, e view.RunEvent) {
	m := e.Message
	switch {
	case !m.OfAgent:
		v.flushHeld(f)
		v.messageOfPerson(f, e)
	case e.Type != askback.EventMessage: // a part
		if v.options.Human {
			v.part(f, m)
		}
	case v.options.Human:
		v.addLines(f, splitLines(m.Text), 0)
		v.lines, v.partial = 0, nil
	default:
		v.flushHeld(f)
		whole := newFrame(v.options)
		v.addLines(whole, splitLines(m.Text), 0)
		v.held = whole.lines()
	}
}

// messageOfPerson shows a message and its author. It omits a message without an author, and a message of the
// person at this terminal that the agent already has.
func (v *RunView) messageOfPerson(f *frame, e view.RunEvent) {
	m := e.Message
	isQueued := e.Type != askback.EventMessage
	switch by := m.By.String(); {
	case by == "" || by == v.name && !isQueued:
		return
	case isQueued:
		f.message(by + " wrote a message. The agent gets it when its calls have ended.")
	default:
		f.message(by + " wrote:")
	}
	if len(m.Markdown) > 0 {
		f.document("", plain, "", m.Markdown)
		return
	}
	for _, row := range safetext.Wrap(m.Text, f.width) {
		f.row("", gutter, plain, row.String())
	}
}

// part shows the complete lines of a message that is arriving. The last line is in the rows that are
// replaced.
func (v *RunView) part(f *frame, m *view.RunMessage) {
	if m.Again && v.lines > 0 {
		f.message("The model began again:")
		v.lines = 0
	}
	all := splitLines(m.Text)
	if len(all) == 0 {
		return
	}
	v.addLines(f, all, 1)
	last := newFrame(v.options)
	last.agentRows(all[len(all)-1], v.lines == 0)
	v.partial = last.lines()
}

// addLines draws the lines that were not written yet, except the last keep lines. If keep is 0, the message
// is complete.
func (v *RunView) addLines(f *frame, all []safetext.Text, keep int) {
	for ; v.lines < len(all)-keep; v.lines++ {
		v.agentLine(f, all[v.lines], v.lines == 0)
	}
	if keep == 0 {
		v.lines = 0
	}
}

// agentRows draws a line that is still arriving. The first line has the word "agent" in the margin.
func (f *frame) agentRows(line safetext.Text, isFirst bool) {
	word := ""
	if isFirst {
		word = "agent"
	}
	for _, row := range safetext.Wrap(line, f.width) {
		f.row(word, gutter, plain, row.String())
		word = ""
	}
}

// splitLines returns the lines of a text, without empty lines at its end.
func splitLines(t safetext.Text) (all []safetext.Text) {
	text := strings.TrimRight(t.String(), "\n ")
	if text == "" {
		return nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		all = append(all, safetext.Block(line))
	}
	return all
}

// call shows a call when it has ended, and records the calls that run. A call that asks people is shown by
// its ask. A call that sets the todos is shown by the todos.
func (v *RunView) call(f *frame, c *view.Call) {
	v.forget(c.ID)
	switch {
	case c.Asks, c.SetsTodos && !c.Failed:
	case c.Finished:
		v.flushHeld(f)
		f.callRow(c)
	case c.Started:
		v.flushHeld(f)
		v.calls = append(v.calls, c)
	}
}

// forget removes a call from the calls that run.
func (v *RunView) forget(id string) {
	var still []*view.Call
	for _, c := range v.calls {
		if c.ID != id {
			still = append(still, c)
		}
	}
	v.calls = still
}

// callRow draws a call that has ended in one row, and the beginning of its error below.
func (f *frame) callRow(c *view.Call) {
	sign, sgr := "✓ ", plain
	line := c.Line.String()
	switch {
	case c.Withheld:
		sign, line = "· ", "(only the people who were asked see this call)"
	case c.Failed:
		sign, sgr = "✗ ", bold
	}
	f.row("tool", gutter, sgr, cutRow(sign+c.Name().String()+" "+line, f.width))
	if line, _, _ = strings.Cut(c.Output.String(), "\n"); c.Failed && line != "" {
		f.row("", gutter, plain, cutRow("  "+line, f.width))
	}
}

// cutRow returns s, or the part of s that fits on a row, with an ellipsis.
func cutRow(s string, width int) string {
	if safetext.Width(safetext.Line(s)) <= width {
		return s
	}
	end, cells := 0, 0
	for piece, wide := range safetext.Pieces(s, width-2) {
		if cells += wide; cells > width-2 {
			break
		}
		end += len(piece)
	}
	return strings.TrimRight(s[:end], " ") + " …"
}

// todoRow draws a todo in one row.
func (f *frame) todoRow(t view.Todo) {
	sign := "○ "
	switch {
	case t.Done:
		sign = "✓ "
	case t.Active:
		sign = "▸ "
	}
	f.row("", gutter, plain, cutRow(sign+t.Content.String(), f.width))
}

// todos draws the todos of the agent.
func (v *RunView) todos(f *frame, all []view.Todo) {
	for i, t := range all {
		if i == 0 {
			f.message("Todos:")
		}
		f.todoRow(t)
	}
}

// state records the present activity of the run.
func (v *RunView) state(name string) {
	v.doing = map[string]string{
		"llm_requesting": "thinking", "tool_executing": "running a tool",
		"awaiting_user_response": "waiting for an answer",
		"delegating":             "waiting for its children",
	}[name]
}

// flushHeld writes the message that was held back, because another event follows.
func (v *RunView) flushHeld(f *frame) {
	for _, row := range v.held {
		f.b.WriteString(row + "\n")
		f.rows++
	}
	v.held = nil
}

// Say writes a sentence of Askback.
func (v *RunView) Say(words string) error {
	f := newFrame(v.options)
	f.message(words)
	v.write(f)
	return v.painter.err
}

// Pause removes the rows that are replaced, so that a prompt can be drawn. Until [RunView.Resume], the view
// writes nothing.
func (v *RunView) Pause() {
	f := newFrame(v.options)
	v.flushHeld(f)
	v.write(f)
	v.erase()
	v.paused = true
}

// Resume writes the rows of events since [RunView.Pause].
func (v *RunView) Resume() error {
	v.paused = false
	rows := v.waiting
	v.waiting = nil
	v.draw(rows)
	return v.painter.err
}

// End removes the rows that are replaced. It drops the message that was held back, because the caller prints
// this message as the result.
func (v *RunView) End() error {
	v.erase()
	v.held, v.partial, v.calls, v.doing, v.lines = nil, nil, nil, "", 0
	return v.painter.err
}

// spinPause is the time between two frames of the spinner.
const spinPause = 120 * time.Millisecond

// Spinner returns the interval between two calls of [RunView.Spin]. 0 means that Spin is never called.
func (v *RunView) Spinner() time.Duration {
	if !v.live {
		return 0
	}
	return spinPause
}

// Spin draws the next frame of the spinner. While a person answers, the spinner stops.
func (v *RunView) Spin() error {
	if v.live && !v.paused && v.isWorking() {
		v.spin++
		v.draw(nil)
	}
	return v.painter.err
}

// isWorking reports whether the run works without waiting for a person.
func (v *RunView) isWorking() bool { return v.doing != "" && v.doing != "waiting for an answer" }

// write writes rows that stay.
func (v *RunView) write(f *frame) {
	if v.paused {
		v.waiting = append(v.waiting, f.lines()...)
		return
	}
	v.draw(f.lines())
}

// draw writes rows that stay, and draws the rows that are replaced below them.
func (v *RunView) draw(rows []string) {
	if !v.live {
		for _, row := range rows {
			v.painter.write(row + "\n")
		}
		return
	}
	now := v.liveRows()
	if len(rows) == 0 && len(now) == 0 && !v.drawn {
		return
	}
	v.painter.paint(rows, now, caret{}, v.options.width())
	if v.drawn = len(now) > 0; !v.drawn {
		v.erasePainted()
	}
}

// erase removes the rows that are replaced.
func (v *RunView) erase() {
	if v.live && v.drawn {
		v.erasePainted()
	}
	v.drawn = false
}

func (v *RunView) erasePainted() { v.painter.erase(v.options.width()) }

// spinner are the frames of the spinner.
var spinner = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// liveRows returns the rows that are replaced: the end of the line that is being written, and the activity of
// the run. It omits rows that do not fit on the screen.
func (v *RunView) liveRows() []string {
	f := newFrame(v.options)
	if v.doing != "" {
		words := v.doing
		if len(v.calls) > 0 {
			words = ""
		}
		sign := "·"
		if v.isWorking() {
			sign = spinner[v.spin%len(spinner)]
		}
		if words != "" {
			f.message(sign + " " + words)
		}
		for _, c := range v.calls {
			f.row("tool", gutter, plain, cutRow(sign+" "+c.Name().String()+" "+c.Line.String(), f.width))
		}
	}
	rows := f.lines()
	room := max(1, v.options.height()-len(rows)-2)
	return append(v.partial[max(0, len(v.partial)-room):len(v.partial):len(v.partial)], rows...)
}
