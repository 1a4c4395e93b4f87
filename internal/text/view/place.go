package view

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// An Order is the sorting and the grouping of a list.
type Order struct {
	Urgent bool  // dangerous calls before other asks
	Group  Group // "" for groups by urgency
}

// A Group is a criterion by which a list is grouped.
type Group string

// The groups of a list.
const (
	GroupAgent   Group = "agent"
	GroupSession Group = "session"
	GroupKind    Group = "kind"
	GroupTag     Group = "tag"
)

// A Place is the position of an ask in a list. The list is sorted by Sort, with all asks of a group together.
type Place struct {
	Group string // a key of the group
	Name  string // title of the group, if Askback named it
	Text  Text   // title of the group, if an agent named it
	Sort  string // key for sorting, in ASCII; it begins with Group
}

// soonTime is the longest time before its deadline at which an ask is urgent. Lists show the time in whole minutes.
const soonTime = time.Hour

// Soon reports whether a deadline is near or has passed. It is near if a list shows "1 hour left" or less.
func Soon(deadline, now time.Time) bool {
	return !deadline.IsZero() && deadline.Sub(now).Truncate(time.Minute) <= soonTime
}

// The groups of urgent asks, in order.
const (
	rankSoon = iota
	rankDangerous
	rankOther
)

var rankNames = [...]string{rankSoon: "Due soon", rankDangerous: "Dangerous", rankOther: "Everything else"}

// Place returns the position of an ask in a list at the time now. The groups of o.Group are sorted by their
// keys. In a group, asks that are due soon are first, sorted by deadline. If o.Urgent is true, the dangerous
// calls follow. The other asks are sorted by age, oldest first.
func (o Order) Place(a Ask, now time.Time) Place {
	rank, key := rankOther, a.ID.String()
	switch {
	case Soon(a.Deadline, now):
		rank, key = rankSoon, fmt.Sprintf("%012d", max(0, a.Deadline.Unix()))+key
	case o.Urgent && a.Confirmation != nil && a.Confirmation.Dangerous:
		rank = rankDangerous
	}
	urgency := fmt.Sprint(rank)
	p := Place{Group: "u" + urgency, Name: rankNames[rank]}
	switch o.Group {
	case GroupAgent:
		p = Place{Group: "a" + textKey(a.Agent), Text: a.Agent}
	case GroupSession:
		p = Place{Group: "s" + textKey(a.Session), Text: a.Agent, Name: "session …" + end(a.Session.String(), 6)}
		if a.OwnSession {
			p = Place{Group: "t", Name: "Without a session"}
		}
	case GroupKind:
		p = Place{Group: fmt.Sprint("k", a.Kind()), Name: kindNames[a.Kind()]}
	case GroupTag:
		p = Place{Group: "z", Name: "No tag"}
		if len(a.Tags) > 0 {
			p = Place{Group: "t" + textKey(a.Tags[0]), Text: a.Tags[0]}
		}
	}
	p.Sort = p.Group + "-" + urgency + key
	return p
}

// end returns the last n bytes of id.
func end(id string, n int) string { return id[max(0, len(id)-n):] }

// maxSortText is the maximum number of bytes of a text in its key for sorting.
const maxSortText = 40

// textKey returns a short key that sorts like the text without case. Different texts have different keys.
func textKey(t Text) string {
	lower, sum := strings.ToLower(t.String()), sha256.Sum256([]byte(t.String()))
	return hex.EncodeToString([]byte(lower[:min(len(lower), maxSortText)])) + "." + hex.EncodeToString(sum[:8])
}

// A Kind is a kind of ask. Lists show the kinds in this order.
type Kind int

// The kinds of asks.
const (
	KindDangerous Kind = iota
	KindApproval
	KindQuestion
)

var kindNames = [...]string{KindDangerous: "Dangerous calls", KindApproval: "Approvals", KindQuestion: "Questions"}

// Kind returns the kind of an ask.
func (a Ask) Kind() Kind {
	switch {
	case a.Confirmation == nil:
		return KindQuestion
	case a.Confirmation.Dangerous:
		return KindDangerous
	}
	return KindApproval
}

// AgentLabel returns the agent's label as the agent sent it. A filter with this label selects the agent's
// asks.
func (a Ask) AgentLabel() RawText { return a.agent }

// TagLabels returns the tags as the agent sent them, in the order of [Ask.Tags]. A filter with a tag selects
// the asks with this tag.
func (a Ask) TagLabels() []RawText { return a.tags }

// Together reports whether a call can be decided together with other calls, from a table. The call is not
// dangerous, it has no warnings, hidden characters or misleading names, and the reader may decide it.
func (a Ask) Together() bool {
	c := a.Confirmation
	return c != nil && !c.Dangerous && !a.Hidden && !c.lookalike && len(c.Warnings) == 0 && a.Barred.String() == ""
}
