package view

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/markdown"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/reports"
)

// A Session is an [askback.Session] for display.
type Session struct {
	ID        safetext.Text
	Agent     safetext.Text
	Owner     safetext.Text // name of the agent's token, if it differs from Agent
	Title     safetext.Text
	Status    string // "running", "waiting for an answer", "waiting for a message", or how the session or turn ended
	Ended     bool
	Failed    bool
	Waiting   bool
	Idle      bool // whether the turn has ended, so that a message starts the next turn
	Reads     bool // whether the agent reads messages: Askback runs it, or it has read messages of this session
	OfOneAsk  bool // whether the session belongs to a single ask, and has no messages; the page sets it
	Pending   int  // open asks
	Total     int  // all asks
	Todos     []Todo
	Hosted    bool          // whether Askback runs the session
	Parent    safetext.Text // id of the session that started this session
	StartedBy safetext.Text // person who started a hosted session
	OwnTitle  bool          // whether an agent chose Title, and neither a person nor Askback
	Used      string        // tokens and their cost, such as "1,204 tokens, $0.02"; "" for no tokens
	Error     safetext.Text
	Created   time.Time
	Updated   time.Time
	Completed time.Time // zero until the session ends
}

// A Todo is an entry in the todo list of an agent.
type Todo struct {
	Content safetext.Text
	Done    bool
	Active  bool // whether work on the entry is in progress
}

// Path returns the path of the session's page.
func (s Session) Path() string { return "/sessions/" + s.ID.String() }

// SessionOf returns the view of a session.
func SessionOf(s askback.Session) Session {
	v := Session{
		ID: safetext.Line(s.ID), Agent: safetext.Name(s.Agent), Title: safetext.Line(s.Title),
		Error: safetext.Block(s.Error), Ended: s.Final(), Failed: s.Status == askback.SessionFailed,
		Waiting: s.Status == askback.SessionWaiting, Pending: s.AsksPending, Total: s.AsksTotal, Created: s.CreatedAt,
		Updated: s.UpdatedAt, Completed: s.CompletedAt, Idle: s.Ended() && !s.Final(), Hosted: s.Hosted,
		Parent: safetext.Line(s.ParentID), StartedBy: safetext.Line(s.StartedBy), Used: usedBy(s),
		Reads: s.Hosted || s.ReadsMessages,
	}
	v.OwnTitle = !s.Hosted || s.StartedBy == "" && !strings.HasPrefix(s.Owner, askback.HostedPrefix)
	if s.Owner != s.Agent && s.Owner != askback.HostedPrefix+s.Agent {
		v.Owner = safetext.Name(s.Owner)
	}
	v.Todos = todosOf(s.Todos)
	switch {
	case v.Waiting:
		v.Status = "waiting for an answer"
	case v.Idle && s.ParentID == "": // an idle child has returned its result
		v.Status = "turn ended"
		if v.Reads {
			v.Status = "waiting for a message"
		}
	default:
		v.Status = string(s.Status)
	}
	return v
}

// ShortID returns the words that tell a session without a title apart in a list: the end of its id, and whether a
// sub-agent works in it.
func (s Session) ShortID() string {
	words := "session " + endOfID(s.ID)
	if s.Parent.String() != "" {
		words = "a sub-agent" + separator + words
	}
	return words
}

// MayEndTurn reports whether ending the turn of the session has an effect: a run of Askback stops, open asks are
// withdrawn, or the agent reads of it.
func (s Session) MayEndTurn() bool {
	return !s.Ended && !s.Idle && !s.OfOneAsk && (s.Reads || s.Pending > 0)
}

// SessionName returns the words that tell a session apart: its title, or its agent and the first words of its
// history.
func SessionName(s Session, moments []Moment) safetext.Text {
	if s.Title.String() != "" {
		return s.Title
	}
	for _, m := range moments {
		words := m.Text.String()
		if m.Ask != nil {
			words = m.Ask.Headline().String()
		}
		if words = RunTitle(words); words != "" {
			return safetext.Line(s.Agent.String() + ": " + words)
		}
	}
	return s.Agent
}

// maxTitle is the maximum number of characters in the title of a run.
const maxTitle = 100

// RunTitle returns the title of a run with a prompt: the beginning of the prompt's first line.
func RunTitle(prompt string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(prompt), "\n")
	return shorten(strings.TrimSpace(line), maxTitle)
}

// usedBy describes the tokens that the requests of a session to its model used, and their cost if the prices
// are known.
func usedBy(s askback.Session) string {
	if s.Tokens == 0 {
		return ""
	}
	words := Grouped(s.Tokens) + " tokens"
	switch {
	case s.CostUSD >= 0.01:
		words += fmt.Sprintf(", $%.2f", s.CostUSD)
	case s.CostUSD > 0:
		words += fmt.Sprintf(", $%.4f", s.CostUSD)
	}
	return words
}

// Grouped returns a number with its thousands separated by commas.
func Grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// A Moment is an entry in the timeline of a session. One of Ask, Text, What, Call, Child and Delivery is set.
// With Ask, ClaimedBy, Late or Delivery can be set, too.
type Moment struct {
	At      time.Time
	Ask     *Ask          // the ask was asked, or settled if Settled is true
	Settled bool          // whether the entry is the outcome of Ask
	Text    safetext.Text // a message
	By      safetext.Text // person who sent the message; empty if no person sent it
	What    string        // a change of the session

	Markdown  Markdown // the message of a hosted agent, formatted
	OfProgram bool     // whether a program sent the message, and neither a person nor the agent
	Queued    bool     // whether the agent gets the message when its calls have ended
	Call      *Call    // a tool call of a hosted agent
	Child     *Session // a session that the hosted agent started

	ClaimedBy safetext.Text // person who began to look at Ask
	Follows   bool          // whether the last entry before that is about an ask is about the same ask
	Late      *LateAnswer   // a late answer to Ask
	Delivery  *Delivery     // delivery of a message about Ask, or about the session if Ask is nil

	seq int64 // number of its event, which orders events at the same time; 0 if unknown
}

// Timeline returns the history of a session, newest last. Deliveries are at the time of their last change.
// Deliveries without an attempt are left out.
func Timeline(
	s askback.Session, asks []askback.Ask, messages []askback.Message, late []reports.LateAnswer, deliveries []Delivery,
) []Moment {
	all := []Moment{{At: s.CreatedAt, What: "The session began"}}
	for _, a := range asks {
		v := Brief(a)
		if !a.Settled() {
			v = Of(a) // people choose on the timeline which ask they answer
		}
		all = append(all, Moment{At: a.CreatedAt, Ask: &v})
		for _, c := range a.Claims {
			all = append(all, Moment{At: c.At, Ask: &v, ClaimedBy: safetext.Name(c.Name)})
		}
		if a.Settled() {
			all = append(all, Moment{At: a.Outcome.At, Ask: &v, Settled: true})
		}
		for _, l := range late {
			if l.AskID == a.ID {
				answer := LateAnswerOf(a, l)
				all = append(all, Moment{At: l.At, Ask: &v, Late: &answer})
			}
		}
		for _, d := range deliveries {
			if d.AskID.String() == a.ID && d.Attempts > 0 {
				all = append(all, Moment{At: d.At, Ask: &v, Delivery: &d})
			}
		}
	}
	for _, d := range deliveries {
		if d.AskID.String() == "" && d.Attempts > 0 {
			all = append(all, Moment{At: d.At, Delivery: &d})
		}
	}
	for _, m := range messages {
		all = append(all, messageMoment(m))
	}
	if s.Final() && !s.CompletedAt.IsZero() {
		all = append(all, Moment{At: s.CompletedAt, What: "The session ended: " + string(s.Status)})
	}
	slices.SortStableFunc(all, func(a, b Moment) int { return cmp.Compare(a.At.UnixMilli(), b.At.UnixMilli()) })
	return withFollowers(all)
}

// messageMoment returns the entry of a message.
func messageMoment(m askback.Message) Moment {
	return Moment{
		At: m.At, Text: safetext.Block(m.Text), By: safetext.Name(m.By),
		Markdown: formattedMessage(m.Role == askback.RoleAssistant, m.Text),
	}
}

// formattedMessage returns a message as Markdown if an agent wrote it, or if it has a block of code, such as a
// payload. It returns nil for another text of a person, which is shown exactly.
func formattedMessage(ofAgent bool, text string) Markdown {
	if !ofAgent && !strings.Contains(text, "```") {
		return nil
	}
	return markdown.Parse(safetext.Block(text).String())
}

// withFollowers sets Follows of each entry about an ask, so that its question is not shown again and again.
func withFollowers(all []Moment) []Moment {
	last := ""
	for i, m := range all {
		if m.Ask == nil {
			continue
		}
		all[i].Follows = m.Ask.ID.String() == last
		last = m.Ask.ID.String()
	}
	return all
}
