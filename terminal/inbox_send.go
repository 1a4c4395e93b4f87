package terminal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/view"
)

// Messages with the results of calls that an inbox made to its client.
type (
	sentMsg struct {
		id  string
		ask askback.Ask
		err error
	}
	snoozedMsg struct {
		id    string
		until time.Time
		err   error
	}
	openedMsg struct {
		address string
		err     error
	}
)

// errChanged is returned instead of deciding a call that differs from the displayed call.
var errChanged = errors.New("this is not the call that was shown to you")

// settle sends the answer of a person to an ask. If the call is not the call that was shown, it returns
// errChanged.
func (i *inbox) settle(shown askback.Ask, r Result) (askback.Ask, error) {
	switch r := r.(type) {
	case Answered:
		if shown.Confirmation != nil {
			now, err := i.client.Get(i.sending, shown.ID)
			if err != nil {
				return now, err
			}
			if now.Confirmation == nil || now.Confirmation.Digest != shown.Confirmation.Digest {
				return now, errChanged
			}
		}
		return i.client.Hold(i.sending, shown.ID, r.Answer)
	case Declined:
		return i.client.HoldDecline(i.sending, shown.ID, r.Reason)
	}
	return shown, nil
}

// send sends the result of the panel p for an ask.
func (i *inbox) send(it *item, p *picker) tea.Cmd {
	shown, result := it.ask, p.withReason(p.result)
	p.result = nil
	it.sending = true
	return i.call(func() tea.Msg {
		a, err := i.settle(shown, result)
		return sentMsg{shown.ID, a, err}
	})
}

// call starts a call immediately, so that it is also made if the inbox is left now. It returns a command with
// the message of the call. [Inbox.Run] waits until the call has ended.
func (i *inbox) call(do func() tea.Msg) tea.Cmd {
	done := make(chan tea.Msg, 1)
	i.sends.Go(func() { done <- do() })
	return func() tea.Msg { return <-done }
}

// checkSent checks the answers that were being sent when the person left the inbox. It returns an error if
// such an answer is not recorded.
func (i *inbox) checkSent() error {
	var bad []error
	for _, it := range i.items {
		if !it.sending {
			continue
		}
		a, err := i.client.Get(i.sending, it.ask.ID)
		if _, held := heldHere(a); err != nil || !a.Settled() && !a.Voted(i.options.Name) && !held {
			bad = append(bad, fmt.Errorf("your answer to %s was not sent", it.ask.ID))
		}
	}
	return errors.Join(bad...)
}

// A selectedMsg arrives when an ask has been selected for a moment.
type selectedMsg struct{ id string }

// keep saves the text typed for the selected ask. The draft of an ask is read after the ask has been selected
// for a moment. So moving through the list does not read many drafts.
func (i *inbox) keep() tea.Cmd {
	p := i.picker()
	if p == nil || !i.find(i.current).open() {
		return nil
	}
	cmd := p.keep()
	if !p.draft.asked && i.reading != i.current {
		i.reading = i.current
		cmd = tea.Batch(cmd, i.after(draftDelay, selectedMsg{i.current}))
	}
	return cmd
}

// wasSelected reads the draft of an ask if it is still selected.
func (i *inbox) wasSelected(id string) tea.Cmd {
	i.reading = ""
	if it := i.find(id); it == nil || !it.open() || id != i.current {
		return nil
	}
	return i.picker().readDraft()
}

// flush saves the text typed for open asks. It returns an error for each text that was not saved, unless the
// person has accepted the loss.
func (i *inbox) flush() error {
	var bad []error
	for _, it := range i.items {
		if p := i.pickers[it.ask.ID]; p != nil && it.open() && !(i.leaving && p.draft.err != nil) {
			bad = append(bad, p.flush(i.sending))
		}
	}
	return errors.Join(bad...)
}

// sent shows the result of an answer, and selects the next ask if the answer was sent.
func (i *inbox) sent(m sentMsg) tea.Cmd {
	it, p := i.find(m.id), i.pickers[m.id]
	if it == nil {
		return nil
	}
	it.sending = false
	var invalid askback.Invalid
	_, held := heldHere(m.ask)
	switch {
	case m.err == nil && held:
		return i.hold(it, m.ask)
	case m.err == nil && !m.ask.Settled(): // others must approve the call, too
		it.ask, it.row = m.ask, view.Brief(m.ask)
		delete(i.pickers, m.id)
		i.status = "Recorded: " + it.row.Status().String() + "."
		if m.id == i.current {
			i.moveOn()
			i.inDetail = i.inDetail && !i.isSplit()
		}
		return nil
	case m.err == nil || errors.Is(m.err, askback.ErrSettled):
		it.settle(m.ask, i.options.now())
		delete(i.selected, m.id)
		if m.err != nil {
			i.status = "Too late: it was " + view.Of(m.ask).Status().String() + "."
			break
		}
		delete(i.pickers, m.id)
		it.answered = true
		i.status = "Sent: " + view.Of(m.ask).Status().String() + "."
		if m.id == i.current {
			i.moveOn()
			i.inDetail = i.inDetail && !i.isSplit()
		}
	case errors.As(m.err, &invalid):
		p.problem = invalid.Error()
		return nil
	default:
		p.problem = "Your answer was not sent: " + m.err.Error() + "."
		return nil
	}
	return i.after(leaveTime, leaveMsg{})
}

// typed returns the texts and answers that the person has entered and not sent.
func (p *picker) typed() (all []string) {
	add := func(text string) {
		if strings.TrimSpace(text) != "" {
			all = append(all, text)
		}
	}
	for _, c := range p.choices {
		if text := c.other.text(); text != c.q.DefaultAnswer().Other {
			add(text)
		}
		if c.answered && len(p.choices) > 1 {
			for _, value := range c.answer().Values() {
				if value != c.other.text() {
					add(value)
				}
			}
		}
		add(c.note.text())
	}
	if p.call != nil {
		add(p.call.note.text())
		if p.call.form.Edited() {
			add(string(p.call.form.Input))
		}
	}
	add(p.comment.text())
	add(p.reason.text())
	return all
}

// openPage opens the page of the selected ask in a browser.
func (i *inbox) openPage() tea.Cmd {
	if i.options.Open == nil {
		i.status = "Pages cannot be opened here."
		return nil
	}
	a := i.find(i.current).ask
	return func() tea.Msg {
		address, err := i.options.Open(i.ctx, a)
		return openedMsg{address, err}
	}
}

func (i *inbox) opened(m openedMsg) {
	switch {
	case m.address == "":
		i.status = "The page cannot be opened: " + m.err.Error() + "."
	case m.err != nil:
		i.status = "No browser was found. The page is " + m.address
	default:
		i.status = "Opened " + m.address
	}
}

// snoozeTimes returns the times to choose from.
func (i *inbox) snoozeTimes() []view.SnoozeTime {
	return view.SnoozeTimes(i.options.now(), i.options.zone())
}

// minTimes is the number of screen rows from which each time has a row.
const minTimes = 16

// drawSnoozeTimes draws the times to choose from, with their keys.
func (i *inbox) drawSnoozeTimes(f *frame) {
	var all []string
	for n, t := range i.snoozeTimes() {
		all = append(all, fmt.Sprintf("%d %s", n+1, t.Words))
	}
	all = append(all, fmt.Sprintf("%d another time", len(all)+1))
	if i.height < minTimes {
		f.message("Hide it until: " + strings.Join(all, " · "))
		return
	}
	f.message("Hide it from your list until")
	for _, words := range all {
		f.message(words)
	}
}

// pressInSnoozeTimes handles a key that chooses a time.
func (i *inbox) pressInSnoozeTimes(key, text string) tea.Cmd {
	i.mode = listing
	times := i.snoozeTimes()
	switch n := slices.Index([]string{"1", "2", "3", "4", "5"}, text); {
	case key == "esc":
	case n >= 0 && n < len(times):
		return i.snooze(times[n].At)
	case n == len(times):
		i.mode = typingSnooze
		i.when.set("")
	default:
		i.status = "No time has this key."
		i.guard.ignore()
		i.guard.stray()
		return i.after(i.guard.pause, armedMsg{})
	}
	return nil
}

// pressInSnoozeField handles a key while a time is typed.
func (i *inbox) pressInSnoozeField(key, text string) tea.Cmd {
	switch key {
	case "esc":
		i.mode = listing
	case "enter":
		until, err := view.ParseSnooze(i.when.text(), i.options.now(), i.options.zone())
		if err == nil {
			err = askback.CheckSnooze(until, i.options.now())
		}
		if err != nil {
			i.status = "Not snoozed: " + err.Error() + "."
			return nil
		}
		i.mode = listing
		return i.snooze(until)
	case "alt+enter":
	default:
		if !i.when.press(key) && text != "" {
			_ = i.when.insert(text)
		}
	}
	return nil
}

// snooze hides the selected ask until a time.
func (i *inbox) snooze(until time.Time) tea.Cmd {
	id := i.current
	return i.call(func() tea.Msg {
		_, err := i.client.Snooze(i.sending, id, until)
		return snoozedMsg{id, until, err}
	})
}

// snoozed removes an ask that is hidden now, or shows the reason why the ask was not snoozed.
func (i *inbox) snoozed(m snoozedMsg) {
	it, now := i.find(m.id), i.options.now()
	switch {
	case errors.Is(m.err, askback.ErrSettled):
		i.status = "It is settled, so it was not snoozed."
		i.search.changed(i.search.text())
	case m.err != nil:
		i.status = "Not snoozed: " + m.err.Error() + "."
	case it != nil:
		i.search.changed(i.search.text())
		i.status = "Snoozed until " + view.FormatSnooze(m.until, now, i.options.zone()) + "."
		if d := it.ask.Deadline; !d.IsZero() && d.Before(m.until) {
			i.status += " Its deadline is earlier: " + view.FormatTime(d, i.options.zone()) + "."
		}
		i.setItems(slices.DeleteFunc(slices.Clone(i.items), func(other *item) bool { return other == it }), now,
			i.rowOfCurrent())
	}
}

// whyNot returns the reason why a call could not be decided, as a sentence.
func whyNot(a askback.Ask, err error) string {
	switch {
	case errors.Is(err, askback.ErrSettled):
		return "It was settled before: " + view.Of(a).Status().String() + "."
	case errors.Is(err, context.Canceled):
		return "The inbox was left before it was sent."
	}
	return err.Error() + "."
}
