package askback

import (
	"path"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/askback/askback/internal/limits"
)

// A Route determines the recipients of the asks that it matches, and what happens if they do not answer
// (F12). The first route that matches an ask applies to it. The strictest Quorum and NoSelfApproval of all
// matching routes apply, and all their Approvers. So no route weakens another route.
type Route struct {
	Match Match    `json:"match"`
	To    []string `json:"to,omitempty"` // people, and groups after "@"; used if the ask names no recipients
	// Approvers lists the people, and groups after "@", who alone may decide a confirmation. If it is empty,
	// the recipients decide.
	Approvers []string `json:"approvers,omitempty"`
	Channels  []string `json:"channels,omitempty"` // the channels that carry the question; empty: all
	// Quorum is the number of people who must approve a confirmation. If it is 0, the number in the ask
	// applies.
	Quorum int `json:"quorum,omitempty"`
	// if set, the person who started the session must not settle the ask
	NoSelfApproval bool         `json:"no_self_approval,omitempty"`
	Remind         []Span       `json:"remind,omitempty"`     // when people are reminded, after the ask was made
	Escalate       []Escalation `json:"escalate,omitempty"`   // when more people may answer, after the ask was made
	Timeout        Span         `json:"timeout,omitempty"`    // for an ask that has no timeout or deadline
	OnTimeout      OnTimeout    `json:"on_timeout,omitempty"` // the effect of Timeout; "" is [OnTimeoutFail]
	// equal questions of one agent become one ask while it is pending
	Join    bool   `json:"join,omitempty"`
	Source  Source `json:"source,omitempty"`  // the origin of the route, in a [RouteList]
	Warning string `json:"warning,omitempty"` // the problem with the route, in a [RouteList]
}

// A Match is a condition on asks. An empty field matches every ask.
type Match struct {
	// Agent is a [path.Match] pattern for the label of the agent or the name of its token.
	Agent string   `json:"agent,omitempty"`
	Kind  AskKind  `json:"kind,omitempty"`
	Tags  []string `json:"tags,omitempty"` // the ask must have every tag
}

// An Escalation is a rule that lets more people answer an ask after a time without an answer. From then on,
// they may also decide a confirmation of a route with Approvers, unless the Approvers of another route
// exclude them.
type Escalation struct {
	After Span     `json:"after"`
	To    []string `json:"to"` // people, and groups after "@"
}

// Matches reports whether the ask meets the condition.
func (m Match) Matches(a *Ask) bool {
	if m.Kind != "" && m.Kind != a.Kind {
		return false
	}
	for _, tag := range m.Tags {
		if !slices.Contains(a.Tags, tag) {
			return false
		}
	}
	return m.Agent == "" || matchesPattern(m.Agent, a.Agent) || matchesPattern(m.Agent, a.Owner)
}

// matchesPattern reports whether a name matches a pattern. A "*" also matches a slash. An invalid pattern
// matches nothing.
func matchesPattern(pattern, name string) bool {
	ok, err := path.Match(hideSlashes(pattern), hideSlashes(name))
	return err == nil && ok
}

// hideSlashes replaces the slashes in s, because path.Match treats them as separators.
func hideSlashes(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c == '/' {
			b[i] = 0
		}
	}
	return string(b)
}

// A Span is a duration in settings, written as in "1h30m0s".
type Span time.Duration

// Duration returns the span as a [time.Duration].
func (s Span) Duration() time.Duration { return time.Duration(s) }

// MarshalText returns the text of the span.
func (s Span) MarshalText() ([]byte, error) { return []byte(time.Duration(s).String()), nil }

// UnmarshalText parses the text with [ParseDuration].
func (s *Span) UnmarshalText(text []byte) error {
	d, err := ParseDuration(string(text))
	*s = Span(d)
	return err
}

// A FollowUp is an action after a time without an answer: a reminder or, with To, an escalation to more
// people.
type FollowUp struct {
	At     time.Time `api:"at" store:"at,keep"`   // when it is due
	To     []string  `api:"to" store:"to"`        // the people and groups that an escalation adds; empty: a reminder
	DoneAt time.Time `api:"done_at" store:"done"` // when it happened; zero: not yet
}

// A Vote is the decision of one person on a confirmation that several people must approve.
type Vote struct {
	Name     string    `api:"name" store:"name,keep"`         // the name of the person
	Decision Decision  `api:"decision" store:"decision,keep"` // approved
	Reason   string    `api:"reason,null" store:"reason"`     // the reason, as the person wrote it
	Channel  Channel   `api:"via,null" store:"via"`           // the channel of the decision
	At       time.Time `api:"at" store:"at,keep"`             // the time of the decision
}

// A Reassignment is a request to give an ask to other people.
type Reassignment struct {
	To []string `json:"to"` // people, and groups after "@"
	// Delegate replaces only the person who reassigns the ask. The other people may still answer.
	Delegate bool `json:"delegate,omitempty"`
}

// Normalize returns the reassignment without repeated names, or an [Invalid].
func (r Reassignment) Normalize() (Reassignment, error) {
	var bad problems
	r.To = checkTo(&bad, r.To)
	if len(r.To) == 0 {
		bad.add("/to", "no person or group is named", `"to": ["ben"]`)
	}
	return r, bad.err()
}

// checkTo checks the names of people and groups, and returns them without duplicates.
func checkTo(bad *problems, names []string) []string {
	names = checkNames(bad, "/to", names)
	total := 0
	for _, name := range names {
		total += utf8.RuneCountInString(name)
	}
	if total > limits.MaxTo {
		bad.add("/to", tooLong(total, limits.MaxTo)+" in all", "name fewer people")
	}
	return names
}
