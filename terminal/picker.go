package terminal

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/view"
)

// A picker is the state of a panel: the questions with the choices so far, or a call. Keys change it, and its
// rows are drawn after each change.
type picker struct {
	options Options
	ask     view.Ask
	ctx     context.Context
	painter painter
	after   func(time.Duration, tea.Msg) tea.Cmd
	host    host   // gives the terminal to other programs
	tty     *TTY   // nil in tests that only draw rows
	stop    func() // stops this process until it is continued
	open    bool   // whether the panel is on the screen
	width   int
	height  int

	// The fields below are for a picker inside an [Inbox], which draws its rows.
	embedded bool
	focused  bool     // whether keys go to the picker
	left     int      // number of columns to the left of the picker
	text     scroller // scrolls the rows above the options, if they do not fit
	watchers string   // sentence about the other people who are looking at the ask, or ""

	choices []*choosing // one per question
	at      int         // index of the current question; len(choices) is the review
	call    *deciding   // nil if the ask has questions

	mode    mode
	editing *field   // text being edited, unless mode is picking
	former  field    // the text before it was edited
	comment field    // comment on the whole ask
	reason  field    // reason for declining
	problem string   // problem of the last key
	help    bool     // whether the keys are listed
	compact bool     // whether the whole ask was written above the panel
	above   []string // rows to write above the panel
	unseen  int      // number of rows that the person has not been shown
	read    bool     // whether a pager showed all rows
	guard   *guard   // keys that answer work only if the guard is live
	letter  string   // key that decides the call, unless another key follows
	presses int      // number of keys that were pressed

	draft   keeper
	touched bool // a key was pressed
	claimed time.Time
	claims  sync.WaitGroup
	result  Result
	err     error
	done    bool
}

// A mode is the meaning of typed text.
type mode uint8

const (
	picking       mode = iota // keys are commands
	filtering                 // text filters the options
	writingOther              // text is the person's own answer
	writingNote               // text is a note on the answer, or the reason of a decision
	writingRemark             // text is a comment on the whole ask
	declining                 // text is the reason for declining
	confirming                // text is the word that approves a call
)

// The messages of the program.
type (
	armedMsg struct{}
	pagedMsg struct {
		by  *picker
		err error
	}
	editedMsg struct {
		by   *picker
		text string
		err  error
	}
	stoppedMsg struct{ err error } // the process was stopped and continued
	stopMsg    struct{}            // Ctrl+Z
)

func newPicker(ctx context.Context, a view.Ask, o Options) *picker {
	p := &picker{options: o, ask: a, ctx: ctx, width: o.width(), height: o.height(), guard: &guard{}}
	for _, q := range a.Questions {
		p.choices = append(p.choices, newChoosing(q))
	}
	if a.Confirmation != nil {
		p.call = &deciding{Confirmation: a.Confirmation, form: view.NewForm(a)}
	}
	p.host, p.after = p, after
	p.enterQuestion()
	return p
}

func (o Options) height() int {
	if o.Height == nil {
		return defaultHeight
	}
	return o.Height()
}

// Init implements [tea.Model].
func (p *picker) Init() tea.Cmd { return tea.Batch(p.arm(), p.readDraft()) }

// after returns a command that returns a message after a time.
func after(d time.Duration, m tea.Msg) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return m })
}

// View implements [tea.Model]. The picker draws itself.
func (p *picker) View() tea.View { return tea.View{} }

// Update implements [tea.Model].
func (p *picker) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd, ok := handleDraft(msg)
	if !ok {
		cmd = p.handle(msg)
	}
	if p.err = cmp.Or(p.err, p.painter.err); p.err != nil || p.result != nil {
		p.done = true
		return p, tea.Quit
	}
	p.draw()
	return p, tea.Batch(cmd, p.keep())
}

func (p *picker) handle(msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case tea.WindowSizeMsg:
		if m.Width > 0 && m.Height > 0 && (m.Width != p.width || m.Height != p.height) {
			p.width, p.height = m.Width, m.Height
			return p.arm()
		}
	case armedMsg:
		if rest := p.guard.check(p.options.now()); !p.guard.live {
			return p.after(rest, armedMsg{})
		}
	case decideMsg:
		p.decideNow(m)
	case tea.PasteMsg:
		p.claim()
		p.paste(m.Content)
	case tea.KeyPressMsg:
		p.claim()
		p.problem = ""
		key, text := keyName(m)
		p.guard.press(p.options.now(), text)
		return p.press(key, text)
	case stopMsg:
		return tea.Exec(&external{p, p.ctx, func() error { return stopProcess(p.stop, p.tty) }},
			func(err error) tea.Msg { return stoppedMsg{err} })
	case stoppedMsg:
		p.err = m.err
		return p.arm()
	case pagedMsg:
		p.paged(m.err)
		return p.arm()
	case editedMsg:
		return p.edited(m.text, m.err)
	}
	return nil
}

// keyName returns the name of a key, and the text that it types. The terminal sends Enter as
// a line feed, because it translates newlines.
func keyName(m tea.KeyPressMsg) (name, text string) {
	switch name = m.String(); name {
	case "ctrl+j":
		return "enter", ""
	case "alt+ctrl+j", "ctrl+alt+j", "shift+enter":
		return "alt+enter", ""
	}
	return name, m.Text
}

// claim claims the ask for the person who is typing. See [dialog.claim].
func (p *picker) claim() {
	if now := time.Now(); p.options.Claim != nil && !p.isBarred() && now.Sub(p.claimed) >= claimEvery {
		p.claimed = now
		p.claims.Go(func() { p.options.Claim(p.ctx) })
	}
}

// draw draws the current rows.
func (p *picker) draw() {
	if p.done {
		return
	}
	rows, c := p.layout()
	p.painter.paint(p.above, rows, c, p.width)
	p.above = nil
}

// current returns the displayed question, or nil in the review or for a call.
func (p *picker) current() *choosing {
	if p.at < len(p.choices) {
		return p.choices[p.at]
	}
	return nil
}

// enterQuestion prepares the current question. The text for a question without options is edited immediately.
func (p *picker) enterQuestion() {
	p.mode, p.editing, p.help = picking, nil, false
	if c := p.current(); c != nil && len(c.q.Choices) == 0 && !p.isBarred() {
		p.edit(writingOther, &c.other)
	}
}

// edit lets the person edit the text in f. It restores text that the person had set aside.
func (p *picker) edit(m mode, f *field) {
	p.mode, p.editing, p.former = m, f, *f
	f.set(cmp.Or(f.aside, f.text()))
	f.aside = ""
}

// press handles a key. text is the text that the key types, or "".
func (p *picker) press(key, text string) tea.Cmd {
	p.touched = true
	p.presses++
	switch {
	case p.isBarred() && !slices.Contains(readingKeys, key):
		p.problem = p.ask.Barred.String()
		return nil
	case p.letter != "", !p.guard.live && p.mayAnswer(key, text):
		return p.ignoreKey()
	case p.editing != nil:
		return p.pressInField(key, text)
	case p.call != nil:
		return p.pressForCall(key)
	case p.current() == nil:
		return p.pressInReview(key)
	}
	return p.pressForQuestion(key, text)
}

// readingKeys lists the keys for a person who may read an ask, but not decide it.
var readingKeys = []string{
	"v", "up", "down", "pgup", "pgdown", "?", "h", "esc", "ctrl+d", "tab", "shift+tab", "ctrl+v", "f1",
}

// isBarred reports whether only other people may decide the ask.
func (p *picker) isBarred() bool { return p.ask.Barred.String() != "" }

// notAField is shown for pasted text where no field is. Keys that arrive together also count as pasted text.
const notAField = "Text can be pasted only into a field. If these were keys, press them again."

// paste adds pasted text to the field. Without a field, a paste has no effect, because it must not choose an
// option.
func (p *picker) paste(text string) {
	p.touched = true
	if p.isBarred() {
		p.problem = p.ask.Barred.String()
		return
	}
	p.presses++
	p.letter = ""
	if p.editing == nil || p.mode == confirming {
		p.problem = notAField
		return
	}
	if p.mode == filtering {
		text = strings.Join(strings.Fields(text), " ")
	}
	p.problem = p.editing.insert(text)
}

// pressInField handles a key while a text is edited.
func (p *picker) pressInField(key, text string) tea.Cmd {
	switch key {
	case "enter":
		return p.closeField()
	case "esc":
		p.leaveField()
	case "tab", "shift+tab":
		if p.mode == writingOther && len(p.choices) > 1 {
			return p.move(key)
		}
	case "up", "down", "pgup", "pgdown":
		if c := p.current(); p.mode == filtering {
			c.step(key)
		}
	case "ctrl+g":
		if p.mode != filtering && p.mode != confirming {
			return p.openEditor("text.txt", p.editing.text())
		}
	case "alt+enter":
		if p.mode != filtering && p.mode != confirming {
			p.problem = p.editing.insert("\n")
		}
	case "ctrl+d":
		if p.editing.text() == "" {
			p.err = ErrNoInput
		}
	default:
		if !p.editing.press(key) && text != "" {
			p.problem = p.editing.insert(text)
		}
	}
	if c := p.current(); p.mode == filtering {
		c.keepVisible()
	}
	return nil
}

// leaveField ends editing without a change, as Esc does. The text is not sent. It appears again when the
// person opens the field again.
func (p *picker) leaveField() {
	c := p.current()
	if p.mode == writingOther && len(c.q.Choices) == 0 {
		p.goBack()
		return
	}
	typed := p.editing.text()
	keeps := p.mode != filtering && p.mode != confirming && strings.TrimSpace(typed) != "" && typed != p.former.text()
	switch {
	case p.mode == filtering:
		p.editing.set("")
	case p.mode == writingOther && !c.otherMarked: // the text is shown, but not sent
	default:
		*p.editing = p.former
		if keeps {
			p.editing.aside = typed
		}
	}
	if keeps {
		p.problem = "Your text is kept and not sent. Open the field again to go on with it."
	}
	p.mode, p.editing = picking, nil
}

// closeField accepts the text, as Enter does.
func (p *picker) closeField() tea.Cmd {
	c := p.current()
	switch p.mode {
	case declining:
		p.result = Declined{strings.TrimSpace(p.reason.text())}
	case confirming:
		p.checkWord()
	case filtering:
		p.mode, p.editing = picking, nil
		if !c.q.Multi && c.cursor >= 0 {
			return p.choose()
		}
	case writingOther:
		return p.takeOther(c)
	case writingNote, writingRemark:
		p.guard.meant()
		p.mode, p.editing = picking, nil
		if p.current() != nil && len(p.current().q.Choices) == 0 {
			p.enterQuestion()
		}
	}
	return nil
}

// takeOther accepts the person's own words. An empty field means the default, no answer to an optional
// question, or no own words.
func (p *picker) takeOther(c *choosing) tea.Cmd {
	c.other.set(strings.TrimSpace(c.other.text()))
	free, empty := len(c.q.Choices) == 0, c.other.text() == ""
	switch {
	case empty && free && c.q.HasDefault:
		c.useDefault = true
		return p.finishQuestion()
	case empty && free && c.q.Optional:
		return p.finishQuestion()
	case empty && free:
		p.problem = "Write an answer first. " + p.leaving() + "."
		return nil
	case empty:
		c.otherMarked = false
		p.mode, p.editing = picking, nil
		return nil
	}
	if p.problem = c.q.Problem(c.other.text()); p.problem != "" {
		return nil
	}
	c.useDefault, c.otherMarked = false, true
	if c.q.Multi {
		p.mode, p.editing = picking, nil
		return nil
	}
	c.picked = nil
	return p.finishQuestion()
}

// finishQuestion moves to the next question that has no answer, or to the review. The answer to a single
// question becomes the result without a review.
func (p *picker) finishQuestion() tea.Cmd {
	p.choices[p.at].answered = true
	if len(p.choices) == 1 {
		p.result = Answered{p.answer()}
		return nil
	}
	next := p.at + 1
	for next < len(p.choices) && p.choices[next].answered {
		next++
	}
	return p.goTo(next)
}

// goTo shows a question, or the review.
func (p *picker) goTo(i int) tea.Cmd {
	p.at = i
	p.enterQuestion()
	p.guard.wait(p.options.now(), p.editing != nil)
	return p.after(p.guard.pause, armedMsg{})
}

// goBack shows the previous question. At the first question, it explains how to leave the ask.
func (p *picker) goBack() {
	if p.at == 0 {
		p.problem = p.leaving() + "."
		return
	}
	p.at--
	p.enterQuestion()
}

// answer returns the answer with all choices.
func (p *picker) answer() askback.Answer {
	out := askback.Answer{Comment: p.comment.text()}
	for _, c := range p.choices {
		out.Answers = append(out.Answers, c.answer())
	}
	return out
}
