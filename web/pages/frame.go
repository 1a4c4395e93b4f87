// Package pages is what a person sees in the browser.
//
// It draws values of internal/view and nothing else. Everything an agent wrote stands
// inside a bounded block that says whose words they are; the frame around it is ours
// (T10). Nothing runs in a page but our own script, and every page works without it.
package pages

import (
	"fmt"
	"strings"
	"time"

	"github.com/askback/askback/internal/view"
)

// A Frame is what stands around every page.
type Frame struct {
	Style, Script, Icon string    // addresses of our files
	Name                view.Text // who is logged in; nobody where it is blank
	Now                 time.Time
	Zone                *time.Location // of the times on the page; nil is UTC
}

// A Notice is a page that says one thing.
type Notice struct {
	Heading string
	Body    []string // paragraphs
	Command string   // what to type in a terminal, if that helps
	After   string   // a sentence after the command
	Home    bool     // there is a list to go back to
	SignIn  SignIn   // where to log in, if that helps and there is somewhere
}

// SignIn is an issuer that says who people are.
type SignIn struct {
	Name string // as people know it
	At   string // the address of ours that leads there
	Else string // what else can be done, before the command
}

// The names of the buttons of a form; the field is called "action".
const (
	Answer     = "answer"
	Decline    = "decline"
	Approve    = "approve"
	ApproveAll = "approve_all"
	Deny       = "deny"
	Stay       = "stay" // what Enter presses: nothing is decided
)

// Own and None are the values of a choice that is none of the agent's.
const (
	Own  = "own"
	None = "none"
)

func (f Frame) when(t time.Time) string { return view.FormatTime(t, f.Zone) }

// instant is a time for programs.
func instant(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// ago says how long something has been, roughly.
func (f Frame) ago(t time.Time) string {
	if d := f.Now.Sub(t); d >= time.Minute {
		return span(d) + " ago"
	}
	return "just now"
}

// left says how much time there is.
func (f Frame) left(deadline time.Time) string {
	switch d := deadline.Sub(f.Now); {
	case d <= 0:
		return "the deadline has passed"
	case d < time.Minute:
		return "less than a minute left"
	default:
		return span(d) + " left"
	}
}

func span(d time.Duration) string {
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

// rows is about how many lines a text takes on the page.
func rows(t view.Text) int {
	n := 0
	for line := range strings.SplitSeq(t.String(), "\n") {
		n += 1 + len(line)/80
	}
	return n
}

// A text of more rows than these is folded when it is only background; the fold says how
// much it is. Arguments of a confirmation never are (T3).
const (
	longPreview = 14
	longProse   = 40
)

// gaps measures prose, in which a long line is nothing strange.
func gaps(t view.Text) view.Size {
	s := view.SizeOf(t)
	s.Longest = 0
	return s
}

func said(t view.Text) bool { return t.String() != "" }

// heading says in our words what is asked.
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

// title is what the browser shows in its tab: never a word of the agent's (T10).
func title(a view.Ask) string {
	switch {
	case a.Outcome != nil:
		return "Settled"
	case a.Confirmation != nil:
		return "Approval needed"
	}
	return "Question"
}

// problemID names the problem of a field for aria-describedby; "" where all is well.
func problemID(f view.Form, field string) string {
	if said(f.Problem(field)) {
		return field + "-problem"
	}
	return ""
}

// about says which question a field belongs to, where there are several.
func about(form view.Form, field string) string {
	id, _, _ := strings.Cut(field, "-")
	if n, ok := strings.CutPrefix(id, "q"); ok && len(form.Entries) > 1 {
		return "Question " + n + ": "
	}
	return ""
}

// describes lists the ids of what explains a field.
func describes(ids ...string) string {
	return strings.Join(strings.Fields(strings.Join(ids, " ")), " ")
}

func join(list []view.Text) string {
	var names []string
	for _, t := range list {
		names = append(names, t.String())
	}
	return strings.Join(names, ", ")
}

// decided says in our words which button somebody pressed.
func decided(f view.Form) string {
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
