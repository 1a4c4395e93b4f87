package people

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/txn"
)

// Only approvers decide the confirmations of their routes (F12). A person who decides must be an approver of
// each matching route that has approvers, whichever route comes first. An ask keeps its approvers. Its
// recipients, also after a reassignment, only select among them.

// A routing combines the routes that match an ask.
type routing struct {
	askback.Route            // the first route that matches, with the strictest approval rules of all routes
	approvers     [][]string // the people and groups of each route that has approvers
	widens        bool       // set if the first route has approvers: then the people of its escalations may decide, too
}

// setApprovers sets the people who may decide a new confirmation, as its routes require.
func (e *Service) setApprovers(ctx context.Context, s *current, n *txn.NewAsk, r *routing) error {
	a := &n.Asked.Ask
	if a.Kind != askback.Confirm || len(r.approvers) == 0 {
		return nil
	}
	var sets [][]string
	for _, names := range r.approvers {
		people, _, err := e.resolve(ctx, s, names)
		if err != nil {
			return err
		}
		sets = append(sets, people)
	}
	if n.Asked.Widens = r.widens; r.widens && len(sets) > 1 {
		n.Asked.Within = inAll(sets[1:])
	}
	if a.Approvers = inAll(sets); len(a.Approvers) == 0 {
		return askback.Invalid{{
			Detail: "no one may decide this: the routes of this server have no known approver in common",
			Fix:    "ask the operator of this server to correct approvers in the routes; askback doctor checks them",
		}}
	}
	return nil
}

// inAll returns the names that are in each of the lists, in the order of the first list.
func inAll(lists [][]string) []string {
	return slices.DeleteFunc(slices.Clone(lists[0]), func(name string) bool {
		return slices.ContainsFunc(lists[1:], func(list []string) bool { return !slices.Contains(list, name) })
	})
}

// resolve returns the people in a list of people and groups. It also returns the names in the list that are
// not known. If the settings and the API have no people, all names count as known. People are then known only
// by tokens, which may be made later.
func (e *Service) resolve(ctx context.Context, s *current, names []string) (people, unknown []string, err error) {
	all, missing := s.Members(names)
	if len(s.People) == 0 {
		return all, missing, nil
	}
	known, err := e.knownPeople(ctx, s, all)
	for _, name := range all {
		if slices.Contains(known, name) {
			people = append(people, name)
		} else {
			missing = append(missing, name)
		}
	}
	return people, missing, err
}

// whoDecides returns the people in a list who may decide an ask, if the ask is addressed to them. The result
// has no duplicates.
func whoDecides(a *askback.Ask, people []string) (names []string) {
	for _, name := range people {
		if a.IsApprover(name) && !a.SelfApproval(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// later returns the people whom the escalations of a route add to the approvers.
func (e *Service) later(ctx context.Context, s *current, n *txn.NewAsk) (names []string, err error) {
	a, in := &n.Asked.Ask, &n.Asked
	for _, escalation := range n.Route.Escalate {
		people, _, err := e.resolve(ctx, s, escalation.To)
		if err != nil {
			return nil, err
		}
		for _, name := range people {
			allowed := a.IsApprover(name) || in.Widens && (len(in.Within) == 0 || slices.Contains(in.Within, name))
			if allowed && !a.SelfApproval(name) {
				names = append(names, name)
			}
		}
	}
	return names, nil
}

// checkDeciders returns an [askback.Invalid] if too few people may decide a new ask that is addressed to
// these people. An empty list means every person. Approvers that an escalation adds count for the quorum.
func (e *Service) checkDeciders(ctx context.Context, s *current, n *txn.NewAsk, people []string) error {
	a := &n.Asked.Ask
	if len(people) == 0 {
		return e.checkEveryone(ctx, s, n)
	}
	now := whoDecides(a, people)
	if len(now) == 0 {
		return tooFew(a, n.Named, 0)
	}
	if a.Quorum <= len(now) {
		return nil
	}
	if len(a.Approvers) == 0 {
		return tooFew(a, n.Named, len(now))
	}
	later, err := e.later(ctx, s, n)
	if err != nil {
		return err
	}
	for _, name := range later {
		if !slices.Contains(now, name) {
			now = append(now, name)
		}
	}
	if a.Quorum > len(now) {
		return tooFew(a, n.Named, len(now))
	}
	return nil
}

// checkEveryone returns the same error as checkDeciders, for an ask for every person. If the settings and the
// API have no people, any person may get a token later.
func (e *Service) checkEveryone(ctx context.Context, s *current, n *txn.NewAsk) error {
	a := &n.Asked.Ask
	if len(s.People) == 0 || a.Quorum <= 1 && !a.NoSelfApproval {
		return nil
	}
	all, err := e.everyone(ctx, s)
	if err != nil {
		return err
	}
	free := len(whoDecides(a, all))
	if free >= a.Quorum {
		return nil
	}
	p := askback.Problem{
		Detail: fmt.Sprintf("%d people must approve this, but only %d known people may", a.Quorum, free),
		Fix:    "ask the operator of this server to correct quorum in its routes; askback doctor checks them",
	}
	switch {
	case a.Quorum <= 1:
		p.Detail = "the only person who is known here started this session, and must not settle this ask"
		p.Fix = "ask the operator of this server to add a person"
	case a.Quorum > n.Route.Quorum:
		p.Pointer, p.Fix = "/quorum", fmt.Sprintf(`"quorum": %d, or fewer`, max(free, 1))
	}
	return askback.Invalid{p}
}

// tooFew returns the error for an ask that too few people may decide. The argument may is the number of
// recipients who may decide the ask. If named is set, the author of the request has named the people and can
// correct the names.
func tooFew(a *askback.Ask, named bool, may int) error {
	p := askback.Problem{Pointer: "/to", Fix: "name more people"}
	whom := "of the people named"
	if !named {
		p.Pointer, p.Fix = "", "ask the operator of this server to correct its routes, or name other people"
		whom = "of the people in the routes of this server"
	}
	free := whoDecides(a, a.Approvers)
	switch {
	case len(a.Approvers) > 0 && len(free) == 0:
		p.Detail = "the routes of this server allow only the person who started this session to decide this, " +
			"but that person must not approve it"
		p.Pointer, p.Fix = "", "ask the operator of this server to add approvers to its routes"
	case len(a.Approvers) > 0 && named:
		p.Detail = fmt.Sprintf(
			"%s must approve this, but %s %s may decide it: the routes of this server allow only %s",
			howMany(a.Quorum), onlySome(may), whom, listed(free),
		)
		p.Fix = "name people who may"
	case len(a.Approvers) > 0:
		p.Detail = fmt.Sprintf("%s must approve this, but the routes of this server let only %s decide it",
			howMany(a.Quorum), listed(free))
		p.Fix = "ask the operator of this server to add approvers to its routes"
	case may == 0:
		p.Detail = "the only person named started this session, and must not settle this ask"
		if named {
			p.Fix = "name another person"
		}
	default:
		p.Detail = fmt.Sprintf("%s must approve this, and only %d %s may", howMany(a.Quorum), may, whom)
	}
	return askback.Invalid{p}
}

// howMany returns "a person" if n is at most 1, and otherwise a text such as "2 people".
func howMany(n int) string {
	if n <= 1 {
		return "a person"
	}
	return fmt.Sprintf("%d people", n)
}

// onlySome returns "none" if n is 0, and otherwise a text such as "only 2".
func onlySome(n int) string {
	if n == 0 {
		return "none"
	}
	return fmt.Sprintf("only %d", n)
}

// listed returns the quoted names, separated by commas. After ten names, it returns only the number of the
// other names.
func listed(names []string) string {
	const most = 10
	if len(names) > most {
		return strings.Join(quoted(names[:most]), ", ") + fmt.Sprintf(" and %d others", len(names)-most)
	}
	return strings.Join(quoted(names), ", ")
}

// everyone returns the sorted names of all known people, including the people with a valid token.
func (e *Service) everyone(ctx context.Context, s *current) ([]string, error) {
	tokens, err := e.tokens.read(ctx, e, nil)
	return s.everyone(slices.Collect(maps.Keys(tokens))), err
}

// everyone returns the sorted names of all known people: in the settings, added over the API, or reached by a
// channel. It includes tokens, the names of the people with a valid token.
func (c *current) everyone(tokens []string) []string {
	names := slices.Clone(tokens)
	for _, p := range c.People {
		names = append(names, p.Name)
	}
	for _, r := range c.Receivers {
		if r.Person != "" {
			names = append(names, r.Person)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
