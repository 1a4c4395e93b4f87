package terminal

import (
	"cmp"
	"time"

	tea "charm.land/bubbletea/v2"
)

// The times without a key after which keys that answer work.
const (
	armingTime = 500 * time.Millisecond // after a panel appeared, or after a key that was ignored
	typingTime = 2 * time.Second        // if a person was typing a text when the panel appeared
)

// decideTime is the time that a letter that decides a call waits for another key. Two letters within this
// time are a part of a word.
const decideTime = 200 * time.Millisecond

// A guard ignores keys that were not typed for the present content of the screen. A panel becomes live after
// a pause without keys. Each key before that prolongs the wait, unless steady is true.
type guard struct {
	live    bool
	pause   time.Duration // time without keys until the panel is live
	last    time.Time     // time of the last key, or when the panel appeared
	ignored int           // number of keys that were ignored since the panel appeared
	typed   int           // number of consecutive text keys that were not meant for a panel
	text    string        // text that the last text key typed
	textAt  time.Time     // time of that key
	alone   bool          // whether the last key came after a pause without text keys
	steady  bool          // whether keys do not prolong the wait
}

// typedAhead records that keys were typed before they could be read.
func (g *guard) typedAhead(now time.Time) { g.typed, g.textAt = 2, now }

// appear makes keys wait for a pause, because the content of the screen has changed. A person who has just
// typed text may continue it, however slowly.
func (g *guard) appear(now time.Time) {
	g.wait(now, false)
	if g.typed > 1 && now.Sub(g.textAt) < typingTime {
		g.pause = typingTime
	}
}

// wait makes the guard ignore keys that answer, for half a second. It is called for the next question of a
// form, which is sent only after a review. If steady is true, keys do not prolong the wait.
func (g *guard) wait(now time.Time, steady bool) {
	g.live, g.last, g.ignored, g.pause, g.steady = false, now, 0, armingTime, steady
}

// check makes the panel live if the pause is over. It returns the remaining time.
func (g *guard) check(now time.Time) (rest time.Duration) {
	rest = g.pause - now.Sub(g.last)
	g.live = g.live || rest <= 0
	return rest
}

// press records a key and the text that the key types, or "". It reports whether the key may answer. A key
// that is pressed repeatedly is not a text.
func (g *guard) press(now time.Time, text string) bool {
	g.check(now)
	if !g.steady {
		g.last = now
	}
	g.alone = now.Sub(g.textAt) >= armingTime
	if text != "" {
		switch {
		case now.Sub(g.textAt) >= typingTime:
			g.typed = 1
		case text != g.text || g.typed == 0:
			g.typed++
		}
		g.text, g.textAt = text, now
	}
	return g.live
}

// ignore records that the last key was ignored. From the second letter on, the letters are a text.
func (g *guard) ignore() {
	g.live, g.steady = false, false
	g.ignored++
	if g.typed > 1 {
		g.pause = typingTime
	}
}

// stray records that the last key has no meaning in the panel, like most letters of a text.
func (g *guard) stray() {
	g.live = false
	g.pause = typingTime
}

// meant records that the last key was meant for this panel, and was not a part of a text.
func (g *guard) meant() { g.typed = 0 }

// notice returns the reason why keys are ignored, and how to continue. It returns "" if no key was ignored.
func (g *guard) notice() string {
	switch {
	case g.pause > armingTime:
		return "This looks like text for another program, so its keys are ignored. Keys work after two seconds " +
			"without a key."
	case g.ignored > 0:
		return "That key came too early and was ignored. Keys work after half a second without a key."
	}
	return ""
}

// discardedKeys is a message that stays on the screen when the panel is gone. The keys may have been a command that a
// person pasted after the command that asks.
const discardedKeys = "Text that was typed or pasted before this appeared was discarded. If it was a command, enter " +
	"it again afterwards."

// typedAhead records that keys were typed before they could be read, and writes above the panel that they were
// discarded.
func (p *picker) typedAhead() {
	p.guard.typedAhead(p.options.now())
	f := p.newFrame()
	f.message(discardedKeys)
	p.above = append(p.above, f.lines()...)
}

// arm makes the panel ignore keys that answer until there is a pause without keys, because the content of the
// screen has changed. The returned command sends an armedMsg after the pause.
func (p *picker) arm() tea.Cmd {
	if p.letter = ""; p.call != nil {
		p.call.action = 0
	}
	p.guard.appear(p.options.now())
	p.problem = cmp.Or(p.guard.notice(), p.problem)
	return p.after(p.guard.pause, armedMsg{})
}

// ignoreKey explains that the last key was ignored, and waits for a pause.
func (p *picker) ignoreKey() tea.Cmd {
	wasLive := p.guard.live
	p.letter = ""
	p.guard.ignore()
	p.problem = p.guard.notice()
	if !wasLive {
		return nil
	}
	return p.after(p.guard.pause, armedMsg{})
}

// mayAnswer reports whether a key could answer the ask, so that the panel ignores the key until the guard is
// live. Such keys are Enter, and text that is typed outside a field or as the word that approves.
func (p *picker) mayAnswer(key, text string) bool {
	return key == "enter" || text != "" && (p.editing == nil || p.mode == confirming)
}
