// Package pages has the HTML templates of the web pages.
//
// The templates display only values of internal/text/view. Text of an agent is inside a marked block, with a
// label that names its author, so that it cannot imitate Askback (T10). Only Askback's own script runs, and
// every page works without it.
package pages

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/a-h/templ"

	"github.com/askback/askback/internal/text/view"
)

// A Frame is the data for the head and the header of every page.
type Frame struct {
	Style, Icon string         // paths of the static files
	TouchIcon   string         // the icon on the home screen of a phone
	CountedIcon string         // path of the icon with a number, in which IconNumber stands for the number
	Script      string         // path of the script; "" for none
	Seen        string         // for a link: the address that records that the ask is on a screen; otherwise ""
	Page        string         // path of the navigation link that leads to this page
	Links       []PageLink     // pages that the person may open
	Name        view.Text      // the person who is logged in; empty before the log-in
	IsLink      bool           // whether the page belongs to a link in a message, so that it links to no other page
	Reader      view.Text      // the person of the link
	Held        HeldBar        // answers that the person can still undo
	Now         time.Time      // the time of the request
	Zone        *time.Location // the time zone of the page; nil for UTC
	OwnZone     bool           // whether Zone is known to be the reader's; otherwise it is the server's
	Reloads     bool           // whether the page may be loaded again to show times in the zone of the browser

	number string // number of open asks for the icon of the tab: "1" to "9" or "many"; "" for 0
}

// SeenPath is the end of the address that records that an ask is on a screen. It follows the path of the
// page.
const SeenPath = "/seen"

// IconNumber is the part of [Frame.CountedIcon] that is replaced by 1 to 9, or by "many".
const IconNumber = "NUMBER"

// tabIcon returns the path of the tab's icon.
func (f Frame) tabIcon() string {
	if f.number == "" {
		return f.Icon
	}
	return strings.ReplaceAll(f.CountedIcon, IconNumber, f.number)
}

// counted returns the frame with the icon of the tab for the number of open asks in an inbox.
func (f Frame) counted(i Inbox) Frame {
	switch n := len(i.Asks); {
	case n > 9 || n > 0 && i.Next != "":
		f.number = "many"
	case n > 0:
		f.number = strconv.Itoa(n)
	}
	return f
}

// htmxConfig switches off features that the pages do not use: scripts in attributes, and styles that the
// Content-Security-Policy blocks. A stream that is lost is opened again every two seconds.
const htmxConfig = `{"includeIndicatorCSS": false, "defaultTimeout": 0, "history": true, ` +
	`"extensions": "sse,trusted", "sse": {"reconnectMaxDelay": 2000, "connectTimeout": 10000}}`

// current returns the value of aria-current for a link.
func current(is bool) string {
	if is {
		return "page"
	}
	return "false"
}

// A Notice is the content of a page with one message.
type Notice struct {
	Heading string
	Body    []string // paragraphs
	Command string   // a command for a terminal
	After   string   // a sentence after the command
	Home    bool     // whether to show a link to the inbox
	Retry   bool     // whether to show a link that opens the page again
	SignIn  SignIn   // link to log in; the zero value for no link
}

// A SignIn is a link to log in with an issuer.
type SignIn struct {
	Name        string // name for people
	URL         string // path that starts the log-in
	Alternative string // sentence before the command, for another way to log in
}

// Values of the field "action", one for each button of a form.
const (
	Answer     = "answer"
	Decline    = "decline"
	Approve    = "approve"
	ApproveAll = "approve_all"
	Deny       = "deny"
	NoAction   = "stay" // for the Enter key; decides nothing
)

// ApprovalWord is the word that a person types to approve a dangerous call.
const ApprovalWord = "approve"

// Values of the choices that Askback adds to the options of the agent.
const (
	OtherAnswer = "own"
	NoAnswer    = "none"
)

// ago returns roughly how long ago t was.
func (f Frame) ago(t time.Time) string {
	if d := f.Now.Sub(t); d >= time.Minute {
		return duration(d) + " ago"
	}
	return "just now"
}

// age returns roughly how long ago t was, in a few letters.
func (f Frame) age(t time.Time) string {
	switch d := f.Now.Sub(t); {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + " min"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d/time.Hour)) + " h"
	default:
		return strconv.Itoa(int(d/(24*time.Hour))) + " d"
	}
}

// soon reports whether a deadline is near.
func (f Frame) soon(deadline time.Time) bool { return view.Soon(deadline, f.Now) }

// timeLeft returns the approximate time until a deadline.
func (f Frame) timeLeft(deadline time.Time) string {
	switch d := deadline.Sub(f.Now); {
	case d <= 0:
		return "the deadline has passed"
	case d < time.Minute:
		return "less than a minute left"
	default:
		return duration(d) + " left"
	}
}

// duration formats a duration roughly: in minutes below an hour, in hours and minutes
// below ten hours, in hours below two days, or in days.
func duration(d time.Duration) string {
	switch {
	case d < time.Hour:
		return view.Count(int(d/time.Minute), "minute")
	case d < 10*time.Hour && d%time.Hour >= time.Minute:
		return view.Count(int(d/time.Hour), "hour") + " " + view.Count(int(d%time.Hour/time.Minute), "minute")
	case d < 48*time.Hour:
		return view.Count(int(d/time.Hour), "hour")
	}
	return view.Count(int(d/(24*time.Hour)), "day")
}

// rowCount estimates the number of rows that t takes on the page.
func rowCount(t view.Text) int {
	n := 0
	for line := range strings.SplitSeq(t.String(), "\n") {
		n += 1 + len(line)/80
	}
	return n
}

// Limits of background text in rows. Longer text is folded, and its size is shown. The arguments of a
// confirmation are never folded (T3).
const (
	longPreview = 14
	longProse   = 40
	longContext = 6 // it is between the question and its options
)

// proseSize returns the size of t without its longest line, because a long line of
// ordinary text needs no warning.
func proseSize(t view.Text) view.Size {
	s := view.SizeOf(t)
	s.Longest = 0
	return s
}

// isSet reports whether t is not empty.
func isSet(t view.Text) bool { return t.String() != "" }

// maxUnscrolled is the number of characters of a line that fit on a narrow phone.
const maxUnscrolled = 30

// focusable returns the attribute that lets the keyboard reach text that scrolls sideways because it has a
// long line.
func focusable(t view.Text) templ.Attributes {
	for line := range strings.Lines(t.String()) {
		if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > maxUnscrolled {
			return templ.Attributes{"tabindex": "0"}
		}
	}
	return nil
}

// heading returns the heading of an open ask. It contains no text of the agent.
func heading(a view.Ask) string {
	switch {
	case a.Confirmation != nil && a.Confirmation.Dangerous:
		return "Dangerous: approval needed"
	case a.Confirmation != nil:
		return "Approval needed"
	case len(a.Questions) == 1:
		return "A question for you"
	}
	return fmt.Sprintf("%d questions for you", len(a.Questions))
}

// title returns the title for the browser's tab. It contains no text of the agent (T10).
func title(a view.Ask) string {
	switch {
	case a.Outcome != nil:
		return "Settled"
	case a.Confirmation != nil:
		return "Approval needed"
	}
	return "Question"
}

// problemID returns the id of the element that shows the problem with a field, for
// aria-describedby. It returns "" if there is no problem.
func problemID(f view.Form, field string) string {
	if isSet(f.Problem(field)) {
		return field + "-problem"
	}
	return ""
}

// questionLabel returns the label of a field's question, such as "Question 2: ". It returns "" if the
// form has one question, or if the field belongs to no question.
func questionLabel(form view.Form, field string) string {
	id, _, _ := strings.Cut(field, "-")
	if n, ok := strings.CutPrefix(id, "q"); ok && len(form.Entries) > 1 {
		return "Question " + n + ": "
	}
	return ""
}

// idList joins the ids that are not empty, with spaces.
func idList(ids ...string) string {
	return strings.Join(strings.Fields(strings.Join(ids, " ")), " ")
}

func join(list []view.Text) string {
	var names []string
	for _, t := range list {
		names = append(names, t.String())
	}
	return strings.Join(names, ", ")
}

// pressedButton returns a sentence that names the button for the decision, or "" if
// there is no decision.
func pressedButton(f view.Form) string {
	switch f.Decision {
	case "approved":
		return "You pressed Approve."
	case "approve_all":
		return "You pressed Always allow."
	case "denied":
		return "You pressed Deny."
	}
	return ""
}

// ThemeLight and ThemeDark are the colors of the header, and of the bars of a phone around an installed page.
// In tokens.css, they are named --card.
const (
	ThemeLight = "#fff"
	ThemeDark  = "#191c25"
)
