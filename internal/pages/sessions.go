package pages

import (
	"net/url"
	"strconv"

	"github.com/a-h/templ"

	"github.com/askback/askback/internal/text/view"
)

// SessionsPath is the address of the list of sessions.
const SessionsPath = "/sessions"

// A SessionList is one page of the sessions list.
type SessionList struct {
	Sessions              []view.Session
	Search, Status, Agent string // filters of the address
	Cursor, Next          string // cursors of this page and of the next page
}

// filtered reports whether the list omits any sessions.
func (l SessionList) filtered() bool { return l.Search != "" || l.Status != "" || l.Agent != "" }

// nextPath returns the address of the next page.
func (l SessionList) nextPath() templ.SafeURL {
	v := url.Values{"cursor": {l.Next}}
	for name, value := range map[string]string{"q": l.Search, "status": l.Status, "agent": l.Agent} {
		if value != "" {
			v.Set(name, value)
		}
	}
	return withQuery(SessionsPath, v)
}

// A SessionPage is a session with its timeline.
type SessionPage struct {
	Session view.Session
	Moments []view.Moment // newest last
	More    bool          // whether there are older asks

	MoreMessages bool      // whether there are newer messages
	Older        bool      // whether there are older events of a hosted agent
	Open         *view.Ask // ask of a hosted agent that is answered on this page, or nil
	Form         view.Form // form of that ask
	Problem      string    // reason why a message was not sent
	Text         string    // text of the message that was not sent
	MoreLate     bool      // whether there may be older late answers
}

// Name returns the words that tell the session apart: its title, or its agent and its first ask or message.
func (p SessionPage) Name() view.Text {
	return view.SessionName(p.Session, p.Moments)
}

// kind returns the heading above a name that has words of an agent. Such words are never a heading (T10).
func (p SessionPage) kind() string {
	if p.Session.Hosted {
		return "Run"
	}
	return "Session"
}

// todoMark returns a sign for the state of a todo, and its name.
func todoMark(t view.Todo) (sign, name string) {
	switch {
	case t.Done:
		return "✓", "done"
	case t.Active:
		return "▸", "in progress"
	}
	return "○", "open"
}

// askCount returns how many asks a session has, and how many of them are open.
func askCount(s view.Session) string {
	if s.Pending == 0 {
		return view.Count(s.Total, "ask")
	}
	return view.Count(s.Total, "ask") + ", " + strconv.Itoa(s.Pending) + " open"
}

// sessionStatuses are the choices of the filter by status.
var sessionStatuses = []outcomeOption{
	{"", "Any status"},
	{"running", "Running"},
	{"waiting_for_input", "Waiting for an answer"},
	{"completed", "Completed"},
	{"failed", "Failed"},
	{"cancelled", "Cancelled"},
}

// momentPath returns the address of the ask that a moment is about.
func momentPath(m view.Moment) templ.SafeURL {
	if m.Ask.Outcome != nil {
		return templ.URL(HistoryPath + "/" + m.Ask.ID.String())
	}
	return templ.URL(m.Ask.PagePath())
}
