package terminal

import (
	"errors"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
)

// A reassignedMsg is the result of a reassignment.
type reassignedMsg struct {
	id  string
	ask askback.Ask
	err error
}

// A handover is the form that gives the selected ask to others.
type handover struct {
	id   string // ask for which the form was opened
	to   field  // names with commas between them
	part bool   // whether the person gives only their own part
}

// startReassigning opens the form for the selected ask.
func (i *inbox) startReassigning() {
	if i.find(i.current).open() {
		i.mode, i.handover = reassigning, handover{id: i.current}
	}
}

// othersStay returns the people other than this person who may answer an ask, or nil if the ask does not name
// this person. If there are no such people, this person can only give the whole ask.
func (i *inbox) othersStay(a askback.Ask) []string {
	people := slices.Clone(a.People())
	if !slices.Contains(people, i.options.Name) {
		return nil
	}
	return slices.DeleteFunc(people, func(name string) bool { return name == i.options.Name })
}

// effect describes the effect of the form on the present state of the ask.
func (i *inbox) effect() string {
	it := i.find(i.handover.id)
	if it == nil {
		return "This ask is not in the list any more."
	}
	names := safetext.Line(strings.Join(i.othersStay(it.ask), ", ")).String()
	switch {
	case i.handover.part:
		return "They can answer it in your place. " + names + " can still answer it, too."
	case names != "":
		return "After that, only the people you name can answer it: not you, and not " + names + "."
	}
	return "After that, only the people you name can answer it. To stay one of them, name yourself."
}

// handoverKeys returns the keys of the form in one sentence.
func (i *inbox) handoverKeys(narrow bool) string {
	it := i.find(i.handover.id)
	switch {
	case it == nil || len(i.othersStay(it.ask)) == 0:
		return "Enter reassigns · Esc goes back"
	case narrow:
		return "Enter · Tab your part · Esc back"
	}
	return "Enter reassigns · Tab only your part, or all of it · Esc goes back"
}

// pressInReassignField handles a key while the names are typed.
func (i *inbox) pressInReassignField(key, text string) tea.Cmd {
	switch key {
	case "esc":
		i.mode = listing
	case "tab":
		if it := i.find(i.handover.id); it == nil || len(i.othersStay(it.ask)) == 0 {
			i.status = "You cannot give only your part: the ask names no one else."
		} else {
			i.handover.part = !i.handover.part
		}
	case "enter":
		names := view.SplitNames(i.handover.to.text())
		if len(names) == 0 {
			i.status = "Name at least one person, or a group with an @ in front."
			return nil
		}
		i.mode = listing
		return i.reassign(i.handover.id, askback.Reassignment{To: names, Delegate: i.handover.part})
	case "alt+enter":
	default:
		if !i.handover.to.press(key) && text != "" {
			_ = i.handover.to.insert(text)
		}
	}
	return nil
}

// reassign gives an ask to others.
func (i *inbox) reassign(id string, r askback.Reassignment) tea.Cmd {
	return i.call(func() tea.Msg {
		a, err := i.client.Reassign(i.sending, id, r)
		return reassignedMsg{id, a, err}
	})
}

// reassigned shows the people who can answer an ask now, or the reason why the ask was not reassigned. The
// ask leaves the list if this person may not answer it any more.
func (i *inbox) reassigned(m reassignedMsg) {
	it, now := i.find(m.id), i.options.now()
	var invalid askback.Invalid
	switch {
	case errors.Is(m.err, askback.ErrSettled):
		i.status = "It is settled, so it was not reassigned."
	case errors.As(m.err, &invalid):
		i.status = "Not reassigned: " + safetext.Line(invalid[0].Detail).String() + "."
		if i.mode == listing && i.current == m.id {
			i.mode = reassigning // keeps the names
		}
		return
	case m.err != nil:
		i.status = "Not reassigned: " + m.err.Error() + "."
		return
	default:
		i.status = "Reassigned to " + safetext.Line(strings.Join(m.ask.To, ", ")).String() + "."
		if it != nil && i.options.Name != "" && !m.ask.Addressed(i.options.Name) {
			delete(i.selected, m.id)
			i.setItems(slices.DeleteFunc(slices.Clone(i.items), func(other *item) bool { return other == it }), now,
				i.rowOfCurrent())
		}
	}
	i.search.changed(i.search.text())
}
