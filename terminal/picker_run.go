package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
)

// A Panel shows asks at a terminal, one at a time, and lets a person answer with single keys.
//
// It follows the rules of a [Prompt], and these:
//
//   - Nothing is taken without Enter or, for a call, without its own key. A default is only
//     marked. Keys that answer are ignored until there was no key for half a second since the
//     ask appeared, or for two seconds if a text was being typed then. A letter that decides a
//     call decides it only if no other letter was typed shortly before or after it.
//   - Several characters that arrive together are pasted text, even if the terminal does not
//     mark that. They decide nothing, and their line breaks send nothing.
//   - Digits select an option, and a slash begins a filter, so that letters can be commands. If
//     the keys of the options are letters, they take precedence.
//   - A dangerous call, a call that was not read, and an approval of later calls need a typed
//     word.
//   - The panel is drawn below the earlier output. When it ends, it is replaced by one row. An
//     ask that needs more rows than the terminal has is first written as a whole.
type Panel struct {
	tty     *TTY
	options Options
}

// NewPanel returns a panel on a terminal for which [TTY.ShowsPanels] is true.
func NewPanel(tty *TTY, o *Options) *Panel { return &Panel{tty, *o} }

// Size of the smallest terminal that shows a panel. On a smaller terminal, a [Prompt] is used.
const minPanelWidth, minPanelHeight = 30, 10

// ShowsPanels reports whether a panel can be shown. It returns false if NO_COLOR or ACCESSIBLE is set, if
// TERM is empty or dumb, or if the terminal is small. Use a [Prompt] then: screen readers read lines, and not
// a screen that changes.
func (t *TTY) ShowsPanels() bool {
	return t.Style() && os.Getenv("ACCESSIBLE") == "" &&
		t.control(canStop) == nil && t.Width() >= minPanelWidth && t.Height() >= minPanelHeight
}

// Ask shows an ask and returns the reaction of the person. It returns the same errors as [Prompt.Ask].
func (p *Panel) Ask(ctx context.Context, a view.Ask) (Result, error) {
	if a.Outcome != nil {
		return nil, askback.ErrSettled
	}
	ctx, cancel := context.WithCancel(ctx)
	m := newPicker(ctx, a, p.options)
	m.painter = painter{out: p.tty, reflows: reflows()}
	defer m.claims.Wait()
	defer cancel()
	keys, err := openKeyboard()
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrNoTerminal, err)
	}
	defer keys.Close()
	program := newProgram(ctx, m, keys, m.width, m.height)
	m.tty = p.tty
	if p.tty.typedAhead() {
		m.typedAhead()
	}
	if err := p.tty.Discard(); err != nil {
		return nil, err
	}
	m.enter()
	defer m.leave()
	signals := watchSignals(program, p.tty)
	defer signals.close()
	m.stop = signals.stopProcess
	_, err = program.Run()
	return m.finish(err)
}

// newProgram returns a program that reads keys and draws itself.
func newProgram(ctx context.Context, m tea.Model, keys io.Reader, width, height int) *tea.Program {
	return tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(keys), tea.WithOutput(io.Discard),
		tea.WithoutRenderer(), tea.WithoutSignalHandler(), tea.WithoutCatchPanics(), tea.WithWindowSize(width, height))
}

// finish replaces the panel with the result, and returns the result. Without a result, it returns the error
// that ended the panel. It also saves the draft.
func (p *picker) finish(err error) (Result, error) {
	p.done = true
	if p.open {
		p.painter.erase(p.width)
	}
	late, cancel := p.lateContext()
	defer cancel()
	if err := p.flush(late); err != nil {
		p.message(err.Error())
	}
	switch {
	case p.ctx.Err() != nil:
		return nil, p.ctx.Err()
	case p.err != nil:
		return nil, p.err
	case err != nil || p.result == nil:
		return nil, fmt.Errorf("%w: %v", ErrNoInput, err)
	}
	f := p.newFrame()
	f.result(p.ask, p.result)
	p.painter.write(strings.Join(f.lines(), "\r\n") + "\r\n")
	return p.withReason(p.result), p.painter.err
}

// message writes a sentence below the panel, which has ended.
func (p *picker) message(words string) {
	f := p.newFrame()
	f.message(words)
	p.painter.write(strings.Join(f.lines(), "\r\n") + "\r\n")
}

// result draws an ask with the answer of this person, in one row if the question and the answer fit.
func (f *frame) result(a view.Ask, r Result) {
	given, answered := r.(Answered)
	switch {
	case !answered:
		f.oneLine("asked", plain, a.Headline())
		f.message("You declined to answer.")
	case a.Confirmation != nil && given.Answer.Decision == askback.Deny:
		f.oneLine("no", bold, callLine(a.Confirmation, nil))
	case a.Confirmation != nil:
		f.oneLine("yes", bold, callLine(a.Confirmation, given.Answer.Input))
	default:
		for i, q := range a.Questions {
			f.questionResult(q, given.Answer.Answers[i])
		}
	}
}

// callLine returns a call as one line, with changed arguments if there are any.
func callLine(c *view.Confirmation, changed []byte) safetext.Text {
	switch {
	case len(changed) > 0:
		return safetext.Line(c.Tool.String() + " " + string(changed))
	case c.Own:
		return c.Name()
	}
	return safetext.Line(c.Call().String() + " · " + c.ArgumentsLine.String())
}

// questionResult draws a question and its answer.
func (f *frame) questionResult(q view.Question, given askback.QuestionAnswer) {
	question, answer := safetext.Line(q.Text.String()), safetext.Line(given.String())
	if given.String() == "" {
		answer = safetext.Line("(skipped)")
	}
	if safetext.Width(question)+1+safetext.Width(answer) <= f.width &&
		!hasRightToLeft(question.String()+answer.String()) {
		f.styledRow("asked", gutter, question.String(), question.String()+" "+f.withSGR(bold, answer.String()))
		return
	}
	f.oneLine("asked", plain, question)
	f.text("answer", bold, answer)
}

// Settled draws the outcome of an ask in place of the panel. If the ask has no outcome, Settled draws
// nothing.
func (p *Panel) Settled(a view.Ask) error {
	if a.Outcome == nil {
		return nil
	}
	f := newFrame(p.options)
	f.oneLine("asked", plain, a.Headline())
	f.settled(a.Outcome)
	return f.writeTo(p.tty)
}

// enter prepares the terminal for the panel, and draws it.
func (p *picker) enter() {
	p.tty.Prepare()
	p.painter.write(markPaste)
	p.open = true
	p.draw()
}

// leave restores the terminal, so that other programs can use it.
func (p *picker) leave() {
	if !p.open {
		return
	}
	p.open = false
	p.painter.write(dontMark + wrap + showCursor)
	p.tty.pause()
}

// A host owns the terminal. It gives the terminal to other programs and takes it back.
type host interface {
	suspend()
	resume()
}

// suspend implements [host].
func (p *picker) suspend() {
	p.painter.erase(p.width)
	p.leave()
}

// resume implements [host].
func (p *picker) resume() {
	p.width, p.height = p.options.width(), p.options.height()
	p.enter()
}

// external is a command that gives the terminal to another program. It takes the terminal back when that
// program ends.
type external struct {
	host
	ctx context.Context
	run func() error
}

// Run implements [tea.ExecCommand].
func (e *external) Run() error {
	e.suspend()
	err := e.run()
	if !errors.Is(err, ErrNoInput) && e.ctx.Err() == nil {
		e.resume()
	}
	return err
}

// SetStdin implements [tea.ExecCommand]. The program opens the terminal itself.
func (e *external) SetStdin(io.Reader) {}

// SetStdout implements [tea.ExecCommand].
func (e *external) SetStdout(io.Writer) {}

// SetStderr implements [tea.ExecCommand].
func (e *external) SetStderr(io.Writer) {}

// stopProcess stops this process, as Ctrl+Z does, until it continues. In the background it returns
// [ErrNoInput], because it must not use the terminal there.
func stopProcess(stop func(), tty *TTY) error {
	stop()
	if !tty.Foreground() {
		return ErrNoInput
	}
	return nil
}
