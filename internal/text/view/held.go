package view

import (
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
)

// A Held is an answer that a person has given and can still undo.
type Held struct {
	Name    safetext.Text
	Yours   bool          // whether the reader gave the answer
	Word    string        // "Approved", "Denied", "Declined" or "Answered"
	Detail  safetext.Text // the answer, the tool or the action
	SendsAt time.Time
}

// maxHeldDetail is the maximum number of bytes of an answer that a sentence repeats.
const maxHeldDetail = 120

func (c *cleaner) held(a askback.Ask, h askback.Held) Held {
	v := Held{Name: c.line(h.Name), Yours: h.Yours, Word: heldWord(h), SendsAt: h.SendsAt}
	if k := a.Confirmation; k != nil {
		v.Detail = c.line(k.ToolName)
		if k.ToolName != confirmAction {
			return v
		}
		if action, _, own := actionOf(*k, treeOf(k.Input)); own {
			v.Detail = safetext.Line(front(safetext.Code(action).String()))
		}
		return v
	}
	var values []string
	for _, q := range h.Answers {
		values = append(values, q.Values()...)
	}
	v.Detail = c.line(firstRunes(strings.Join(values, ", "), maxHeldDetail))
	return v
}

// heldWord returns the decision of a person, as a word that begins a sentence.
func heldWord(h askback.Held) string {
	switch {
	case h.Declines:
		return "Declined"
	case h.Decision == askback.Deny:
		return "Denied"
	case h.Decision != "":
		return "Approved"
	}
	return "Answered"
}

// HeldBy returns the answer that the person name gave to the ask and can still undo. It reports whether there
// is such an answer.
func (a Ask) HeldBy(name safetext.Text) (Held, bool) {
	for _, h := range a.Held {
		if h.Name == name {
			return h, true
		}
	}
	return Held{}, false
}
