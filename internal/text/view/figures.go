package view

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/reports"
)

// An AgentFigures contains the figures of an agent, for display.
type AgentFigures struct {
	Label    safetext.Text
	Owner    safetext.Text // name of the agent's token, if it differs from Label
	Filter   string        // Label without marks, escaped as the value of a query
	Open     int
	Asked    int
	Wait     Wait
	LastSeen time.Time // zero if the agent was not seen in the period
	Grants   int       // number of the agent's valid standing approvals
}

// A PersonFigures contains the figures of a person, for display.
type PersonFigures struct {
	Person           // zero if the person may not answer any more
	Name             safetext.Text
	Key              string // unescaped name
	Open             int
	Approved, Denied int
	Wait             Wait
}

// A Wait contains waiting times in words. The times are "–" if there were no answers.
type Wait struct {
	Answers     int
	Median, P90 string
}

func waitOf(w reports.WaitFigures) Wait {
	if w.Answers == 0 {
		return Wait{0, "–", "–"}
	}
	return Wait{w.Answers, shortDuration(w.Median), shortDuration(w.P90)}
}

// shortDuration formats a duration with one or two units, such as "2 h 5 min".
func shortDuration(d time.Duration) string {
	n := func(d time.Duration, unit string) string { return strconv.Itoa(int(d)) + " " + unit }
	switch {
	case d < time.Minute:
		return n(d/time.Second, "s")
	case d < time.Hour:
		return n(d/time.Minute, "min")
	case d < 24*time.Hour && d%time.Hour >= time.Minute:
		return n(d/time.Hour, "h") + " " + n(d%time.Hour/time.Minute, "min")
	case d < 48*time.Hour:
		return n(d/time.Hour, "h")
	}
	return n(d/(24*time.Hour), "d")
}

// OfAgents returns the agents of f and the agents that have a token, sorted by name. Each has the number of
// its standing approvals in grants.
func OfAgents(f reports.Figures, tokens []askback.AgentStats, grants []askback.Grant) []AgentFigures {
	all := slices.Clone(f.Agents)
	for _, t := range tokens {
		if !slices.ContainsFunc(all, func(a reports.AgentFigures) bool { return a.Owner == t.Name }) {
			all = append(all, reports.AgentFigures{Label: t.Name, Owner: t.Name})
		}
	}
	slices.SortStableFunc(all, func(a, b reports.AgentFigures) int { return cmp.Compare(a.Label, b.Label) })
	var views []AgentFigures
	for _, a := range all {
		v := AgentFigures{
			Label: safetext.Line(a.Label), Filter: url.QueryEscape(a.Label), Open: a.Open, Asked: a.Asked,
			Wait: waitOf(a.Wait), LastSeen: a.LastSeen,
		}
		if a.Owner != a.Label {
			v.Owner = safetext.Name(a.Owner)
		}
		for _, g := range grants {
			if g.Agent == a.Label && g.Owner == a.Owner {
				v.Grants++
			}
		}
		views = append(views, v)
	}
	return views
}

// OfPeople returns the people who may answer and the people who answered, sorted by name.
func OfPeople(f reports.Figures, people []askback.Person) []PersonFigures {
	var views []PersonFigures
	for _, p := range people {
		v := PersonFigures{
			Person: ofPerson(p), Key: p.Name, Name: safetext.Name(p.Name), Open: f.OpenForAll,
			Wait: waitOf(reports.WaitFigures{}),
		}
		for _, x := range f.People {
			if x.Name == p.Name {
				v.Open += x.Open
				v.Approved, v.Denied, v.Wait = x.Approved, x.Denied, waitOf(x.Wait)
			}
		}
		views = append(views, v)
	}
	for _, x := range f.People {
		if !slices.ContainsFunc(people, func(p askback.Person) bool { return p.Name == x.Name }) && x.Wait.Answers > 0 {
			views = append(views, PersonFigures{
				Name: safetext.Line(x.Name), Approved: x.Approved, Denied: x.Denied, Wait: waitOf(x.Wait),
			})
		}
	}
	slices.SortStableFunc(views, func(a, b PersonFigures) int { return cmp.Compare(a.Name.String(), b.Name.String()) })
	return views
}

// A Numbers contains the figures of a period, for display.
type Numbers struct {
	Asked    int
	Wait     Wait
	Outcomes []OutcomeCount // the most frequent outcome first
	Agents   []AgentFigures // the agents with answered asks
	People   []PersonFigures
	Waiting  []reports.WaitingCount
}

// An OutcomeCount counts the asks with an outcome.
type OutcomeCount struct {
	Outcome string // such as "answered by a person"
	Count   int
}

// OfFigures returns the view of figures.
func OfFigures(f reports.Figures) Numbers {
	n := Numbers{Asked: f.Asked, Wait: waitOf(f.Wait), Waiting: f.Waiting}
	for _, o := range f.Outcomes {
		n.Outcomes = append(n.Outcomes, OutcomeCount{
			cmp.Or(statusWords[o.Status], "other") + " by " + cmp.Or(actorWords[o.Actor], "others"), o.Count,
		})
	}
	slices.SortStableFunc(n.Outcomes, func(a, b OutcomeCount) int { return cmp.Compare(b.Count, a.Count) })
	for _, a := range OfAgents(f, nil, nil) {
		if a.Wait.Answers > 0 {
			n.Agents = append(n.Agents, a)
		}
	}
	n.People = OfPeople(f, nil)
	return n
}

var statusWords = map[askback.Status]string{
	askback.Answered: "answered", askback.Declined: "declined", askback.Cancelled: "cancelled",
	askback.Expired: "expired",
}

var actorWords = map[askback.ActorKind]string{
	askback.ActorPerson: "a person", askback.ActorTimer: "the timer", askback.ActorPolicy: "a standing approval",
	askback.ActorAgent: "the agent", askback.ActorOperator: "an operator",
}
