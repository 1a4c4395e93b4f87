package pages

import (
	"hash/fnv"
	"io"
	"slices"
	"strconv"

	"github.com/askback/askback/internal/text/view"
)

// An Inbox is the list of open asks, with the ask that is open on the page.
type Inbox struct {
	Asks    []view.Ask
	Next    string // the cursor of the next page; "" after the last page
	Filter  Filter
	Current string // the id of the ask that is open; "" if no ask is open
	Live    string // the address of the stream of changes; "" if the list is not live
	Done    *Done  // last action of the person; nil if there was no action
	Snoozes Snoozes
	Fresh   bool   // whether the ask of the row arrived after the page was shown
	PushKey string // key with which browsers subscribe to notifications; "" if browsers cannot subscribe
	// NoAlerts is true if this browser must not be offered notifications and sounds: the reader gets no asks.
	NoAlerts bool
	Address  string // address of the server, for commands; "" if no command can contain it
}

// askPath returns the address of the page that shows an ask beside the same list.
func (i Inbox) askPath(a view.Ask) string { return a.PagePath() + i.Filter.query() }

// fresh returns a copy of the inbox, with which the row of a new ask is drawn.
func (i Inbox) fresh() Inbox {
	i.Fresh = true
	return i
}

// listPath returns the address of the list. changes change the filter, as in [Filter.query].
func (i Inbox) listPath(changes ...string) string {
	return "/" + i.Filter.query(changes...)
}

// A Done is an action of a person before the page was shown.
type Done struct {
	Path     string    // path of the page of the ask
	Sentence string    // "Answered"
	Detail   view.Text // the answer, or the tool
}

// liveID returns the id of the element that keeps the list up to date. It depends on the filter and the
// snoozes, so that the stream of another list is not kept when the page changes.
func (i Inbox) liveID() string {
	sum := fnv.New32a()
	_, _ = io.WriteString(sum, i.Filter.query()+i.Snoozes.key())
	return "live-" + strconv.FormatUint(uint64(sum.Sum32()), 16)
}

// countText returns the number of open asks, with a plus sign if there are more pages.
func (i Inbox) countText() string {
	n := strconv.Itoa(len(i.Asks))
	if i.Next != "" {
		n += "+"
	}
	return n
}

// title returns the title of the inbox with the number of open asks.
func (i Inbox) title() string {
	if len(i.Asks) == 0 {
		return "Inbox"
	}
	return "(" + i.countText() + ") Inbox"
}

// askCommand returns the lines for a shell that ask a question over HTTP. token is the secret, or a command
// that prints the secret. The address must have no characters that a shell changes.
func askCommand(address, token string) string {
	return "token=" + token + `
curl -sS "` + address + `/api/v1/asks" -H "Authorization: Bearer $token" -H "Content-Type: application/json" \
  -d '{"question": "Which database should we use?", "options": ["PostgreSQL", "SQLite"]}'`
}

// maxRowTags is the maximum number of tags in a row for an ask. An agent may send a hundred tags, which
// would push other asks off the screen. The page of the ask has all tags.
const maxRowTags = 4

// watched reports whether another person is looking at an ask. Its row then has no buttons: two people would decide.
func (f Frame) watched(a view.Ask) bool {
	return slices.ContainsFunc(a.Claims, func(c view.Claim) bool { return c.Name.String() != f.Name.String() })
}

// rowID returns the HTML id of an ask's row.
func rowID(a view.Ask) string { return "row-" + a.ID.String() }

// kindOf returns the kind of an ask in one or two words.
func kindOf(a view.Ask) string {
	switch {
	case a.Confirmation != nil && a.Confirmation.Dangerous:
		return "dangerous"
	case a.Confirmation != nil:
		return "approval"
	case len(a.Questions) > 1:
		return view.Count(len(a.Questions), "question")
	}
	return "question"
}

// kindClass returns the part of a class name that stands for the kind of an ask.
func kindClass(a view.Ask) string {
	return [...]string{
		view.KindDangerous: "dangerous", view.KindApproval: "approval", view.KindQuestion: "question",
	}[a.Kind()]
}

// A keyBinding is a line in the list of keys.
type keyBinding struct {
	Keys []string
	Does string
}

// keyBindings lists the keys of the inbox. The script inbox.js handles them. A letter means the same in the
// inbox of the terminal.
var keyBindings = []keyBinding{
	{[]string{"j", "k"}, "Next or previous ask"},
	{[]string{"Enter"}, "Open the ask; in an answer, send it"},
	{[]string{"Ctrl+Enter", "⌘+Enter"}, "Send the answer from a text field"},
	{[]string{"1", "–", "9"}, "Choose an option"},
	{[]string{"o"}, "Answer in your own words"},
	{[]string{"a"}, "Approve, unless the call is dangerous; if calls are selected, review them first"},
	{[]string{"d"}, "Deny; if calls are selected, review them first"},
	{[]string{"A"}, "Also approve later calls"},
	{[]string{"e"}, "Edit the arguments"},
	{[]string{"n", "c"}, "Write a note or a reason, or a comment"},
	{[]string{"D"}, "Decline to answer"},
	{[]string{"r"}, "Reassign"},
	{[]string{"x"}, "Select the ask"},
	{[]string{"Shift+X"}, "Select all asks from the last selected ask to this one"},
	{[]string{"s"}, "Snooze"},
	{[]string{"u"}, "Undo an answer that is not sent yet; otherwise go back to the list"},
	{[]string{"g", "i"}, "Go to the inbox"},
	{[]string{"g", "h"}, "Go to the history"},
	{[]string{"/"}, "Search"},
	{[]string{"?"}, "Show these keys"},
}

// DoneVoting returns the notice that a person approved an ask that other people must approve, too.
func DoneVoting(a view.Ask) *Done {
	return &Done{Path: a.PagePath(), Sentence: "Approved; " + a.Approvals(), Detail: a.Confirmation.Name()}
}

// UndoneLate is the value of the parameter "undone" if the answer was already sent.
const UndoneLate = "late"

// DoneUndoing returns the notice for an answer that a person wanted to undo. late is true if the answer was
// sent before.
func DoneUndoing(late bool, path string) *Done {
	d := &Done{Path: path, Sentence: "Undone: nothing was sent"}
	if late {
		d.Sentence = "Too late: it was sent before you pressed Undo"
	}
	return d
}

// DoneOf returns the notice for a settled ask.
func DoneOf(a view.Ask) *Done {
	d := &Done{Path: a.PagePath(), Sentence: settledHeading(a.Outcome)}
	switch {
	case a.Confirmation != nil:
		d.Detail = a.Confirmation.Name()
	case len(a.Outcome.Answers) == 1 && len(a.Outcome.Answers[0].Values) == 1:
		d.Detail = a.Outcome.Answers[0].Values[0]
	}
	return d
}
