package terminal

import (
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/askback/askback/internal/text/safetext"
)

// pressForQuestion handles a key while options are chosen. The key of an option takes precedence over a
// command with the same letter.
func (p *picker) pressForQuestion(key, text string) tea.Cmd {
	c := p.current()
	if text != "" && key != "space" {
		if ok, moved := c.typeKey(text); ok {
			p.guard.meant()
			if moved {
				c.filter.set("")
				p.mark(c.cursor, c.q.Multi)
			}
			return nil
		}
	}
	c.key = ""
	if c.filtersBy(text) {
		p.edit(filtering, &c.filter)
		p.problem = p.editing.insert(text)
		c.keepVisible()
		return nil
	}
	if c.step(key) {
		return nil
	}
	switch key {
	case "enter":
		return p.choose()
	case "space":
		p.mark(c.cursor, true)
	case "/":
		p.edit(filtering, &c.filter)
	case "ctrl+n":
		p.edit(writingNote, &c.note)
	case "s", "ctrl+k":
		return p.skip()
	case "esc":
		if c.filter.text() != "" {
			c.filter.set("")
			return nil
		}
		p.goBack()
	default:
		return p.pressAnywhere(key)
	}
	return nil
}

// pressAnywhere handles the keys that work for every question, in the review and for a call.
func (p *picker) pressAnywhere(key string) tea.Cmd {
	switch key {
	case "tab", "right", "shift+tab", "left":
		return p.move(key)
	case "v", "ctrl+v":
		return p.showAll()
	case "ctrl+r":
		if p.call == nil {
			p.edit(writingRemark, &p.comment)
		}
	case "n", "c":
		p.problem = "Ctrl+N writes a note on this answer, and Ctrl+R a comment on all of them."
	case "D", "ctrl+x":
		p.edit(declining, &p.reason)
	case "?", "h", "f1":
		p.help = !p.help
	case "ctrl+d":
		p.err = ErrNoInput
	default:
		return p.stray(key)
	}
	return nil
}

// stray explains that a key has no meaning. Another letter is probably a part of a text, so keys are ignored
// for a while.
func (p *picker) stray(key string) tea.Cmd {
	p.problem = strayKey(key)
	if utf8.RuneCountInString(key) > 1 {
		return nil
	}
	if p.guard.ignore(); p.call != nil {
		p.guard.stray()
	}
	return p.after(p.guard.pause, armedMsg{})
}

// strayKey returns a message for a key that has no function. The message mentions the keyboard layout if the
// character suggests a layout without the keys shown in the panel.
func strayKey(key string) string {
	r, size := utf8.DecodeRuneInString(key)
	if size < len(key) || r < utf8.RuneSelf && !strings.ContainsRune(otherDigits, r) {
		return "This key does nothing here; ? lists the keys."
	}
	return safetext.Line(key).String() +
		" does nothing here. With any keyboard layout, ↑ ↓ and Enter reach everything, and F1 lists the keys."
}

// otherDigits are the characters that the digit keys type on a French keyboard, without the characters that
// are not ASCII.
const otherDigits = `&"'(-_`

// move moves to the next or the previous question, or to the review after the last question.
func (p *picker) move(key string) tea.Cmd {
	if len(p.choices) < 2 {
		return nil
	}
	to := p.at + 1
	if key == "shift+tab" || key == "left" {
		to = p.at - 1
	}
	if to < 0 || to > len(p.choices) {
		return nil
	}
	return p.goTo(to)
}

// mark marks the choice i, or removes its mark, if toggle is true. A question with one answer has no marks.
// The cursor is then the mark, and Enter chooses.
func (p *picker) mark(i int, toggle bool) {
	c := p.current()
	switch {
	case i < 0, !c.q.Multi || !toggle:
	case i < len(c.q.Choices):
		c.toggle(i)
	case c.otherMarked:
		c.otherMarked = false
	default:
		p.edit(writingOther, &c.other)
	}
}

// choose takes the choice under the cursor. If several answers are possible, it takes all marked choices. For
// "Other", it opens the field for the person's own words.
func (p *picker) choose() tea.Cmd {
	c := p.current()
	onOther := c.cursor == len(c.q.Choices)
	switch {
	case c.cursor < 0:
		p.problem = "No option matches the filter; Esc shows all."
	case onOther && !c.otherMarked, onOther && !c.q.Multi:
		p.edit(writingOther, &c.other)
	case c.q.Multi && len(c.picked) == 0 && !c.otherMarked && !c.q.Optional:
		p.problem = "Nothing is marked. Space marks an option, and Enter then sends what is marked."
	case c.q.Multi:
		return p.finishQuestion()
	default:
		c.picked, c.otherMarked = []int{c.cursor}, false
		return p.finishQuestion()
	}
	return nil
}

// skip leaves an optional question without an answer. It explains that a required question cannot be skipped.
func (p *picker) skip() tea.Cmd {
	c := p.current()
	if !c.q.Optional {
		p.problem = "This question cannot be skipped; D declines to answer."
		return nil
	}
	c.picked, c.otherMarked, c.useDefault = nil, false, false
	return p.finishQuestion()
}

// pressInReview handles a key while all answers are shown. Enter sends the answers.
func (p *picker) pressInReview(key string) tea.Cmd {
	if len(key) == 1 && key[0] >= '1' && key[0] <= '9' && int(key[0]-'1') < len(p.choices) {
		return p.goTo(int(key[0] - '1'))
	}
	switch key {
	case "enter":
		for i, c := range p.choices {
			if !c.answered && !c.q.Optional {
				p.problem = "This question has no answer yet."
				return p.goTo(i)
			}
		}
		p.result = Answered{p.answer()}
	case "esc":
		p.goBack()
	default:
		return p.pressAnywhere(key)
	}
	return nil
}
