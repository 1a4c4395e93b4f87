package pages

import (
	"strconv"
	"time"

	"github.com/askback/askback/internal/text/view"
)

// HeldPath is the address of the bar with the answers that can be undone. UndoPath is the address of its
// form.
const (
	HeldPath = "/held"
	UndoPath = "/undo"
)

// A HeldBar shows the answers that a person can still undo, and the results of earlier answers.
type HeldBar struct {
	Items []HeldItem
	Ended []HeldEnd
}

// A HeldItem is an answer that can still be undone.
type HeldItem struct {
	Ask   view.Ask
	Held  view.Held
	Focus bool // whether the person has just given the answer
}

// A HeldEnd is the result of an answer that can no longer be undone.
type HeldEnd struct {
	Sentence view.Text
	Path     string // path of the ask; "" if the person may not see it
	Sent     bool
}

// left returns the milliseconds until the answer is sent.
func (i HeldItem) left(f Frame) string {
	return strconv.FormatInt(max(0, i.Held.SendsAt.Sub(f.Now).Milliseconds()), 10)
}

// sends returns the time until the answer is sent, such as "Sent in 4 s".
func (i HeldItem) sends(f Frame) string {
	seconds := (i.Held.SendsAt.Sub(f.Now) + time.Second - 1) / time.Second
	return "Sent in " + strconv.Itoa(int(max(0, seconds))) + " s"
}

// textID returns the id of the element that describes the button of the item.
func (i HeldItem) textID() string { return "held-" + i.Ask.ID.String() }

// maxHeldItems is the maximum number of answers that the bar shows, each with a separate button.
const maxHeldItems = 3

// holds reports whether the person of the page has answered ask and the answer is not sent yet.
func (f Frame) holds(ask view.Ask) bool {
	_, held := ask.HeldBy(f.Name)
	return held && isSet(f.Name)
}
