package people

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/directory"
)

// A DirectoryProblem is a problem of a person, a group, a route or a hosted agent.
type DirectoryProblem struct {
	Text string // the problem, as one sentence without a full stop
	// Refuses is set if every confirmation of a route or a hosted agent is rejected, because too few people
	// may approve it. Route is the index of the route among the routes of its source.
	Refuses bool
	Source  askback.Source // the source of the route or the group
	Route   int
	Alone   bool // set if Refuses holds whatever the other routes require
}

// CheckDirectory returns the problems of the people, groups and routes that apply, such as unknown names of
// people. A route or a hosted agent whose confirmations have no approver is also a problem. CheckDirectory
// logs each problem once.
func (e *Service) CheckDirectory(ctx context.Context) ([]DirectoryProblem, error) {
	all, err := e.known(ctx)
	if err != nil {
		return nil, err
	}
	now := e.applied.Load()
	problems := append(now.problems(all), now.excluding(e.Recipients(), all)...)
	e.directory.mu.Lock()
	defer e.directory.mu.Unlock()
	reported := map[string]bool{}
	for _, p := range problems {
		if reported[p.Text] = true; !e.directory.reported[p.Text] {
			e.Log.Warn(p.Text)
		}
	}
	e.directory.reported = reported
	return problems, nil
}

// known returns the names of the known people.
func (e *Service) known(ctx context.Context) ([]string, error) {
	s, err := e.current(ctx)
	if err != nil {
		return nil, err
	}
	return e.everyone(ctx, s)
}

// refusing returns an [askback.Invalid] that lists the routes of the API whose confirmations would all be
// rejected, if these people are known.
func (c *current) refusing(known []string) error {
	var bad askback.Invalid
	for _, p := range c.problems(known) {
		if p.Refuses && p.Source == askback.SourceAPI {
			bad = append(bad, askback.Problem{
				Pointer: fmt.Sprintf("/items/%d", p.Route), Detail: p.Text,
				Fix: "add the people first, or name others in approvers or to",
			})
		}
	}
	if len(bad) > 0 {
		return bad
	}
	return nil
}

// reportDirectory logs the problems of the groups and routes after a change.
func (e *Service) reportDirectory(ctx context.Context) {
	if _, err := e.CheckDirectory(ctx); err != nil {
		e.Log.Error("groups and routes cannot be checked", "error", err)
	}
}

// problems returns the problems of the people, groups and routes, if these people are known.
func (c *current) problems(known []string) (all []DirectoryProblem) {
	if len(known) == 0 { // people get a token later
		known = nil
	}
	unknown := func(names []string) []string {
		return slices.DeleteFunc(slices.Clone(names),
			func(name string) bool { return known == nil || slices.Contains(known, name) })
	}
	for i, one := range c.People {
		for _, other := range known {
			isPerson := slices.ContainsFunc(c.People[:i], func(p askback.Person) bool { return p.Name == other })
			if other != one.Name && alike(other, one.Name, askback.Responder) && (isPerson || !c.hasPerson(other)) {
				all = append(all, DirectoryProblem{
					Source: one.Source, Text: fmt.Sprintf("the person %q looks like the person %q", one.Name, other),
				})
			}
		}
	}
	for _, g := range c.groups {
		if names := unknown(g.People); len(names) > 0 {
			all = append(all,
				DirectoryProblem{Source: g.Source, Text: fmt.Sprintf("the group %q names %s", g.Name, notKnown(names))})
		}
	}
	counts := map[askback.Source]int{}
	for i := range c.Routes {
		r := &c.Routes[i]
		p := DirectoryProblem{Source: r.Source, Route: counts[r.Source]}
		counts[r.Source]++
		what := routeName(r.Source, p.Route)
		if names := unknown(directory.PeopleOf(r)); len(names) > 0 {
			p.Text = fmt.Sprintf("%s names %s", what, notKnown(names))
			all = append(all, p)
		}
		p.Refuses = true
		if problem := c.unsatisfiable(r, known); problem != "" {
			p.Alone, p.Text = true, fmt.Sprintf("%s refuses each confirmation: %s", what, problem)
			if len(r.Approvers) == 0 && len(c.People) > 0 && r.Quorum <= len(known) {
				p.Alone, p.Text = false, fmt.Sprintf("%s refuses each confirmation that names no people: %s", what,
					problem)
			}
			all = append(all, p)
			continue
		}
		others := map[askback.Source]int{}
		for j := range c.Routes[:i] {
			other := &c.Routes[j]
			if problem := c.excludes(other, r, known); problem != "" {
				p.Text = fmt.Sprintf("%s and %s refuse each confirmation that both match: %s",
					routeName(other.Source, others[other.Source]), what, problem)
				all = append(all, p)
			}
			others[other.Source]++
		}
	}
	return all
}

// hasPerson reports whether the settings or the API have a person.
func (c *current) hasPerson(name string) bool {
	return slices.ContainsFunc(c.People, func(p askback.Person) bool { return p.Name == name })
}

// routeName returns a text such as "route 2 of the settings". The first index is 0.
func routeName(source askback.Source, index int) string {
	if source == askback.SourceAPI {
		return fmt.Sprintf("route %d of the API", index+1)
	}
	return fmt.Sprintf("route %d of the settings", index+1)
}

// notKnown returns a phrase that lists names and adds that they are not known here.
func notKnown(names []string) string {
	if len(names) == 1 {
		return quoted(names)[0] + ", who is unknown: no person or token has this name"
	}
	return strings.Join(quoted(names), ", ") + ", who are unknown: no person or token has these names"
}

// reachable returns the known people whom a route lets decide a confirmation. These are its approvers and the
// people of its escalations. Without approvers, they are the people in its To. If the route does not limit
// who decides, limited is false.
func (c *current) reachable(r *askback.Route, known []string) (people []string, limited bool) {
	names := r.Approvers
	switch {
	case len(names)+len(r.To) == 0:
		return known, len(c.People) > 0
	case len(names) == 0:
		return c.knownOf(r.To, known), true
	}
	for _, e := range r.Escalate {
		names = append(slices.Clip(names), e.To...)
	}
	return c.knownOf(names, known), true
}

// knownOf returns the known people in a list of people and groups. If people are known only by tokens, which
// may be made later, it returns all people in the list.
func (c *current) knownOf(names, known []string) []string {
	all, _ := c.Members(names)
	if len(c.People) == 0 {
		return all
	}
	return slices.DeleteFunc(all, func(name string) bool { return !slices.Contains(known, name) })
}

// unsatisfiable returns why no confirmation of a route can be approved, or "".
func (c *current) unsatisfiable(r *askback.Route, known []string) string {
	if r.Match.Kind == askback.Questions || len(r.Approvers) == 0 && r.Quorum == 0 {
		return ""
	}
	people, limited := c.reachable(r, known)
	switch {
	case !limited, len(people) >= max(r.Quorum, 1) && (len(r.Approvers) == 0 || len(c.knownOf(r.Approvers, known)) > 0):
		return ""
	case len(r.Approvers) > 0 && len(c.knownOf(r.Approvers, known)) == 0:
		return "none of its approvers is known here"
	}
	return fmt.Sprintf("%s must approve, but only %d known people may", howMany(r.Quorum), len(people))
}

// excludes returns why no confirmation that matches both routes can be approved, or "". It also returns "" if
// a confirmation may match only one of the routes.
func (c *current) excludes(a, b *askback.Route, known []string) string {
	if len(a.Approvers) == 0 || len(b.Approvers) == 0 || !covers(a.Match, b.Match) && !covers(b.Match, a.Match) {
		return ""
	}
	both := inAll([][]string{c.knownOf(a.Approvers, known), c.knownOf(b.Approvers, known)})
	switch quorum := max(a.Quorum, b.Quorum, 1); {
	case c.unsatisfiable(a, known) != "", c.unsatisfiable(b, known) != "", len(both) >= quorum:
		return ""
	case len(both) == 0:
		return "no person is an approver of both"
	case len(a.Escalate) > 0: // an escalation may add approvers
		return ""
	default:
		return fmt.Sprintf("%s must approve, but only %s may under both routes", howMany(quorum), listed(both))
	}
}

// covers reports whether every ask that matches b certainly matches a.
func covers(a, b askback.Match) bool {
	return (a.Kind == "" || a.Kind == b.Kind || a.Kind == askback.Confirm) &&
		(a.Agent == "" || a.Agent == "*" || a.Agent == b.Agent) &&
		!slices.ContainsFunc(a.Tags, func(tag string) bool { return !slices.Contains(b.Tags, tag) })
}
