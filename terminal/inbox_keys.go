package terminal

import (
	"errors"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// press handles a key. text is the text that the key types, or "".
func (i *inbox) press(key, text string) tea.Cmd {
	switch i.mode {
	case helping:
		if !i.help.press(key) {
			i.mode, i.help = listing, scroller{}
		}
		return nil
	case searching:
		i.pressInSearch(key, text)
		return nil
	case snoozing:
		return i.pressInSnoozeTimes(key, text)
	case typingSnooze:
		return i.pressInSnoozeField(key, text)
	case reassigning:
		return i.pressInReassignField(key, text)
	case batching, decided:
		return i.pressInBatch(key, text)
	}
	p := i.picker()
	switch {
	case key == "u" && i.lastHeld() != nil && !i.isText(p, text):
		return i.undo()
	case p == nil:
		return i.pressForAll(key)
	case p.letter != "":
		return p.ignoreKey()
	case !i.inDetail:
	case p.editing != nil && i.find(i.current).open(), p.editing == nil &&
		(i.isOptionKey(p, text) || p.wants(key) || p.current() != nil && p.current().filtersBy(text)):
		return i.forward(p, key, text)
	}
	return i.pressForAsk(p, key, text)
}

// isText reports whether a letter is text for the selected ask, or a key of one of its options. A person may
// go on typing a text after the ask was withdrawn, or after another person answered it. In the list, and in
// an ask whose answer can still be undone, a letter is a key of the inbox.
func (i *inbox) isText(p *picker, text string) bool {
	if p == nil {
		return false
	}
	it := i.find(i.current)
	if p.editing != nil && !it.open() && !it.isHeld() {
		return true
	}
	return i.inDetail && it.open() && (p.editing != nil || i.isOptionKey(p, text))
}

// wants reports whether a picker needs a key that otherwise belongs to the inbox.
func (p *picker) wants(key string) bool {
	c := p.current()
	switch key {
	case "esc":
		return p.at > 0 || c != nil && c.filter.text() != ""
	case "enter", "up", "down", "home", "end":
		return true
	case "/":
		return c != nil && len(c.q.Choices) > 0
	case "s":
		return c != nil && c.q.Optional
	}
	return false
}

// isOptionKey reports whether text is a key of an option, or the beginning of such a key.
func (i *inbox) isOptionKey(p *picker, text string) bool {
	c := p.current()
	if c == nil || text == "" {
		return false
	}
	for n := range len(c.q.Choices) + 1 {
		if key := c.keyOf(n); strings.HasPrefix(key, c.key+text) || strings.HasPrefix(key, text) {
			return true
		}
	}
	return false
}

// pressForAsk handles a key for the selected ask or for the list, unless the key is text.
func (i *inbox) pressForAsk(p *picker, key, text string) tea.Cmd {
	switch key {
	case "enter":
		if i.inDetail {
			return i.forward(p, key, text)
		}
		i.inDetail = true
	case "esc", "u":
		i.goBack()
	case "x":
		i.toggle()
	case "s":
		if it := i.find(i.current); it.open() {
			i.mode = snoozing
		}
	case "r":
		i.startReassigning()
	case "o":
		return i.writeOther(p)
	case "p":
		return i.openPage()
	case "a", "d", "y":
		if len(i.selected) > 0 && !i.inDetail {
			return i.startBatch(key != "d")
		}
		return i.decide(p, key, text)
	case "pgdown", "pgup":
		if i.onScreen != "" && p.text.press(key) {
			return nil
		}
		if !i.inDetail {
			i.move(map[string]int{"pgdown": pageStep, "pgup": -pageStep}[key])
			return nil
		}
		return i.forward(p, key, text)
	case "n", "c":
		// In the list, letters are keys.
		if control := map[string]string{"n": "ctrl+n", "c": "ctrl+r"}[key]; p.call == nil && !i.inDetail {
			return i.decide(p, control, "")
		}
		return i.decide(p, key, text)
	case "v", "D", "A", "e", "space", "tab", "shift+tab", "ctrl+n", "ctrl+r", "ctrl+k", "ctrl+v", "ctrl+x", "f1":
		return i.decide(p, key, text)
	default:
		if i.isOptionKey(p, text) {
			return i.decide(p, key, text)
		}
		return i.pressForAll(key)
	}
	return nil
}

// pressForAll handles a key that works without a selected ask.
func (i *inbox) pressForAll(key string) tea.Cmd {
	switch key {
	case "j", "down":
		i.move(1)
	case "k", "up":
		i.move(-1)
	case "home":
		i.move(-len(i.items))
	case "end":
		i.move(len(i.items))
	case "/":
		i.mode = searching
		i.search.set(i.search.text())
	case "esc":
		i.goBack()
	case "?":
		i.mode = helping
	case "q":
		i.quit()
	default:
		i.status = "This key does nothing here; ? lists the keys."
		i.guard.ignore()
		i.guard.stray()
		return i.after(i.guard.pause, armedMsg{})
	}
	return nil
}

// goBack returns from the ask to the list. In the list, it ends the selection, or the search.
func (i *inbox) goBack() {
	switch {
	case i.inDetail:
		i.inDetail = false
	case len(i.selected) > 0:
		clear(i.selected)
	case i.search.text() != "":
		i.search.set("")
		i.search.changed("")
	}
}

// quit leaves the inbox. If typed text cannot be saved, q must be pressed twice.
func (i *inbox) quit() {
	at := slices.IndexFunc(i.items, func(it *item) bool {
		return it.open() && i.hasTyped(it.ask.ID) && i.pickers[it.ask.ID].draft.err != nil
	})
	if i.leaving || at < 0 {
		i.err = errLeft
		return
	}
	i.leaving = true
	i.status = "You typed something that cannot be saved: " + i.pickers[i.items[at].ask.ID].draft.err.Error() +
		". Press q again to leave without it."
}

// toggle adds the selected ask to the asks that are decided together, or removes the ask from them.
func (i *inbox) toggle() {
	it := i.find(i.current)
	switch {
	case i.selected[i.current]:
		delete(i.selected, i.current)
	case !it.open():
		i.status = "This ask is not open any more."
	case len(i.selected) >= maxBatch:
		i.status = "No more calls can be selected."
	default:
		i.selected[i.current] = true
	}
}

// decide passes a key to the selected ask. If the ask is not on the screen, a key that decides only opens it,
// so that only displayed calls are decided.
func (i *inbox) decide(p *picker, key, text string) tea.Cmd {
	switch {
	case p.editing != nil:
		if i.inDetail {
			return i.forward(p, key, text)
		}
		i.inDetail = true
		return nil
	case !i.find(i.current).open():
		return i.forward(p, key, text) // a key for a settled ask only shows a sentence
	case i.onScreen == "" && p.call != nil && strings.Contains("a d y A", key):
		i.inDetail = true
		i.status = "Read it first, then press the key again."
		return nil
	}
	if p.call == nil && !i.isOptionKey(p, text) && strings.Contains("a d y e A", key) {
		i.status = "This is a question: choose an option, or open it with Enter."
		return nil
	}
	cmd := i.forward(p, key, text)
	i.inDetail = i.inDetail || p.editing != nil || p.call == nil && key != "v"
	return cmd
}

// writeOther opens the field for the person's own words. It shows a message if the ask accepts no such words.
func (i *inbox) writeOther(p *picker) tea.Cmd {
	c := p.current()
	if c == nil || c.q.OtherKey == "" && len(c.q.Choices) > 0 || !i.find(i.current).open() {
		i.status = "This ask takes no words of your own."
		return nil
	}
	i.inDetail = true
	if len(c.q.Choices) > 0 {
		c.cursor = len(c.q.Choices)
		p.edit(writingOther, &c.other)
	}
	return nil
}

// forward passes a key to the selected ask.
func (i *inbox) forward(p *picker, key, text string) tea.Cmd {
	it := i.find(i.current)
	if !it.open() {
		i.status = "This ask is not open any more; j and k go to others."
		switch {
		case it.sending:
			i.status = "The answer is being sent; j and k go to other asks."
		case it.isHeld():
			i.status = "Your answer is sent in a moment; u undoes it."
		}
		return nil
	}
	if c := p.current(); key == "esc" && p.mode == writingOther && p.at == 0 && len(c.q.Choices) == 0 {
		i.inDetail = false
		return nil
	}
	p.claim()
	p.problem = ""
	var cmd tea.Cmd
	if p.editing != nil || !p.text.press(key) {
		cmd = p.press(key, text)
	}
	if errors.Is(p.err, ErrNoInput) { // Ctrl+D leaves a panel, but not the inbox
		p.err = nil
		i.inDetail = false
	}
	if p.result != nil {
		return tea.Batch(cmd, i.send(it, p))
	}
	return cmd
}

// paste adds pasted text to the field that is edited. Pasted text is never a key.
func (i *inbox) paste(text string) {
	p := i.picker()
	switch {
	case i.mode == searching:
		_ = i.search.insert(strings.Join(strings.Fields(text), " "))
		i.search.changed(i.search.text())
	case i.mode == typingSnooze:
		_ = i.when.insert(strings.TrimSpace(text))
	case i.mode == reassigning:
		_ = i.handover.to.insert(strings.Join(strings.Fields(text), " "))
	case i.mode == batching && i.batch.editing:
		_ = i.batch.reason.insert(strings.Join(strings.Fields(text), " "))
	case i.mode == listing && i.inDetail && p != nil && i.find(i.current).open():
		p.claim()
		p.problem = ""
		p.paste(text)
	default:
		i.status = notAField
	}
}

// pressInSearch handles a key while the text to search for is typed.
func (i *inbox) pressInSearch(key, text string) {
	before := i.search.text()
	switch key {
	case "enter":
		i.mode = listing
	case "esc":
		i.mode = listing
		i.search.set("")
	case "up":
		i.move(-1)
	case "down":
		i.move(1)
	case "alt+enter":
	default:
		if !i.search.press(key) && text != "" {
			_ = i.search.insert(text)
		}
	}
	if i.search.text() != before {
		i.search.changed(i.search.text())
	}
}
