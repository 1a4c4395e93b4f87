package terminal

import (
	"errors"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/view"
)

// Messages about answers that can still be undone.
type (
	undoneMsg struct {
		id  string
		ask askback.Ask
		err error
	}
	heldTickMsg struct{} // a second has passed, so the remaining time is drawn again
)

// heldHere returns the answer of this person to an ask that can still be undone. It reports whether there is
// such an answer.
func heldHere(a askback.Ask) (view.Held, bool) {
	for _, h := range view.Brief(a).Held {
		if h.Yours {
			return h, true
		}
	}
	return view.Held{}, false
}

// hold shows an answer that was given and can still be undone, and selects the next ask. The entries stay in
// the panel.
func (i *inbox) hold(it *item, a askback.Ask) tea.Cmd {
	it.ask, it.row = a, view.Brief(a)
	i.noteHeld(it)
	delete(i.selected, a.ID)
	if a.ID == i.current {
		i.moveOn()
		i.inDetail = i.inDetail && !i.isSplit()
	}
	return i.after(time.Second, heldTickMsg{})
}

// noteHeld records in the item whether an answer to its ask can still be undone, and whether this person gave
// that answer.
func (i *inbox) noteHeld(it *item) {
	var mine bool
	if it.held, mine = heldHere(it.ask); mine {
		it.watchers = "your answer is sent in a moment"
		return
	}
	it.watchers = i.watchers(it.row)
	if len(it.row.Held) > 0 {
		it.watchers = it.row.Held[0].Name.String() + " has answered, and can still undo it"
	}
}

// isHeld reports whether this person's answer can still be undone.
func (it *item) isHeld() bool { return !it.held.SendsAt.IsZero() }

// lastHeld returns the ask with the most recent answer that this person can undo, or nil.
func (i *inbox) lastHeld() (last *item) {
	for _, it := range i.items {
		if it.settledAt.IsZero() && it.isHeld() && (last == nil || it.held.SendsAt.After(last.held.SendsAt)) {
			last = it
		}
	}
	return last
}

// heldLine returns the answer that can be undone and the time when it is sent, or "".
func (i *inbox) heldLine() string {
	it := i.lastHeld()
	if it == nil {
		return ""
	}
	left := max(0, (it.held.SendsAt.Sub(i.options.now())+time.Second-1)/time.Second)
	text := it.held.Word
	if detail := it.held.Detail.String(); detail != "" {
		text += " " + detail
	}
	return fmt.Sprintf("%s, sent in %d s · u undoes", text, left)
}

// heldTick returns a command that draws the remaining time again after a second. It returns nil if no answer
// can be undone.
func (i *inbox) heldTick() tea.Cmd {
	if i.lastHeld() == nil {
		return nil
	}
	return i.after(time.Second, heldTickMsg{})
}

// undo undoes the most recent answer.
func (i *inbox) undo() tea.Cmd {
	id := i.lastHeld().ask.ID
	return i.call(func() tea.Msg {
		a, err := i.client.Undo(i.sending, id)
		return undoneMsg{id, a, err}
	})
}

// undone shows the result for an answer that the person wanted to undo. If the answer was undone, the ask is
// selected, with its entries.
func (i *inbox) undone(m undoneMsg) tea.Cmd {
	it := i.find(m.id)
	switch {
	case it == nil:
	case m.err == nil:
		it.ask, it.row = m.ask, view.Brief(m.ask)
		i.noteHeld(it)
		i.current = m.id
		i.status = "Undone: nothing was sent."
	case errors.Is(m.err, askback.ErrSettled):
		i.status = "Too late: it was " + view.Of(m.ask).Status().String() + "."
		return i.settleHeld(it, m.ask)
	default:
		i.status = "Not undone: " + m.err.Error() + "."
	}
	return nil
}

// settleHeld records the outcome of an ask to which this person had given an answer.
func (i *inbox) settleHeld(it *item, a askback.Ask) tea.Cmd {
	own := a.Outcome.Actor.Kind == askback.ActorPerson && a.Outcome.Actor.Name == it.held.Name.String()
	it.settle(a, i.options.now())
	if it.held = (view.Held{}); own {
		it.answered = true
		delete(i.pickers, a.ID)
	}
	return i.after(leaveTime, leaveMsg{})
}
