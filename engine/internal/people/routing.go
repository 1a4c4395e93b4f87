package people

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/internal/limits"
)

// Routing determines who may answer an ask, which channels carry it, and what happens if no person answers
// (F12). The settings and the API have people, groups and routes. The ask itself may name people and groups.

// routeOf returns a combination of the routes that match an ask: the fields of the first route, and the
// approval rules of all routes.
func (c *current) routeOf(a *askback.Ask) (out routing) {
	found := false
	for i := range c.Routes {
		r := &c.Routes[i]
		if !r.Match.Matches(a) {
			continue
		}
		quorum, noSelf := max(out.Quorum, r.Quorum), out.NoSelfApproval || r.NoSelfApproval
		if !found {
			out.Route, out.widens, found = *r, len(r.Approvers) > 0, true
		}
		out.Quorum, out.NoSelfApproval = quorum, noSelf
		if len(r.Approvers) > 0 {
			out.approvers = append(out.approvers, r.Approvers)
		}
	}
	return out
}

// AddRoute applies the routes to a new ask. It sets the recipients, the approvers, the approval rules and the
// timeout of the ask. The fields of the request take precedence over a route, except for the approval rules.
// The error is an [askback.Invalid] if too few people may answer or decide the ask.
func (c *Client) AddRoute(ctx context.Context, n *txn.NewAsk) error {
	s, err := c.service.current(ctx)
	if err != nil {
		return err
	}
	a := &n.Asked.Ask
	a.Owner = c.Who.Name
	r := s.routeOf(a)
	n.Route, n.Asked.Channels, n.Named = r.Route, r.Channels, len(a.To) > 0
	if a.Kind == askback.Confirm {
		a.Quorum = max(a.Quorum, r.Quorum)
	}
	if a.NoSelfApproval = r.NoSelfApproval; a.NoSelfApproval {
		a.Directed = n.Directed
	}
	if n.Timeout == 0 && a.Deadline.IsZero() && r.Timeout > 0 {
		n.Timeout, a.OnTimeout = r.Timeout.Duration(), onTimeout(a, r.OnTimeout)
	}
	if err := c.service.setApprovers(ctx, s, n, &r); err != nil {
		return err
	}
	people, err := c.service.address(ctx, n, &r)
	if err != nil {
		return err
	}
	if err := c.service.checkDeciders(ctx, s, n, people); err != nil {
		return err
	}
	if a.Recipients = people; slices.Equal(a.To, people) {
		a.Recipients = nil
	}
	return nil
}

// address sets the people and groups who get a new ask, and returns the people. These are the people whom the
// request names. If the request names no people, they are the people of its route. If too few of these people
// may decide the ask, its approvers also get the ask.
func (e *Service) address(ctx context.Context, n *txn.NewAsk, r *routing) (people []string, err error) {
	a := &n.Asked.Ask
	if n.Named {
		people, skipped, err := e.expand(ctx, "/to", a.To, true)
		a.Warnings = withSkipped(a.Warnings, skipped,
			askback.Problem{Pointer: "/to", Fix: "name a person of GET /people"})
		return people, err
	}
	a.To = r.To
	people, skipped, err := e.expand(ctx, "/to", a.To, false)
	a.Warnings = withSkipped(a.Warnings, skipped,
		askback.Problem{Pointer: "/recipients", Fix: "ask the operator of this server to correct its routes"})
	switch {
	case len(a.Approvers) > 0 && (err == nil || errors.As(err, new(askback.Invalid))):
		if len(whoDecides(a, people)) < max(a.Quorum, 1) {
			names := a.Approvers
			if len(r.approvers) == 1 {
				names = r.approvers[0]
			}
			a.To, people = union(a.To, names), union(people, a.Approvers)
		}
		return people, nil
	case errors.As(err, new(askback.Invalid)): // the author of the request has not named these people
		return nil, askback.Invalid{{
			Detail: "none of the people in a route of this server is known here, so no one could answer: " +
				strings.Join(quoted(r.To), ", "),
			Fix: "ask the operator of this server to correct its routes; askback doctor checks them",
		}}
	}
	return people, err
}

// union returns the names in a, then the names in b that are not in a.
func union(a, b []string) []string {
	a = slices.Clip(a)
	for _, name := range b {
		if !slices.Contains(a, name) {
			a = append(a, name)
		}
	}
	return a
}

// onTimeout returns the effect of the timeout of a route: then, or OnTimeoutFail if then is "". If then is
// OnTimeoutDefault and the ask lacks a default, the effect is OnTimeoutDecline.
func onTimeout(a *askback.Ask, then askback.OnTimeout) askback.OnTimeout {
	switch {
	case then == "":
		return askback.OnTimeoutFail
	case then != askback.OnTimeoutDefault:
		return then
	}
	missing := slices.ContainsFunc(a.Questions,
		func(q askback.Question) bool { return !q.Optional && len(q.Default) == 0 })
	if a.Kind == askback.Confirm || missing {
		return askback.OnTimeoutDecline
	}
	return then
}

// FollowUps returns the reminders and the escalations of a route for an ask that is made at a time, sorted by
// time.
func FollowUps(r askback.Route, at time.Time) (all []askback.FollowUp) {
	for _, after := range r.Remind {
		all = append(all, askback.FollowUp{At: at.Add(after.Duration())})
	}
	for _, e := range r.Escalate {
		all = append(all, askback.FollowUp{At: at.Add(e.After.Duration()), To: e.To})
	}
	slices.SortStableFunc(all, func(a, b askback.FollowUp) int { return a.At.Compare(b.At) })
	return all
}

// expand returns the people in a list of people and groups. It also returns the names in the list that are
// not known. If the settings or the API have people, unknown people are omitted. Otherwise unknown people are
// kept, because they may get a token later.
//
// The pointer is the place of the list in the request. The error is an [askback.Invalid] if no person is
// left. If strict is set, a missing group is also an error. Otherwise a missing group is among the skipped
// names, because the author of an ask does not see the groups of a route.
func (e *Service) expand(
	ctx context.Context, pointer string, names []string, strict bool,
) (people, skipped []string, err error) {
	if len(names) == 0 {
		return nil, nil, nil
	}
	s, err := e.current(ctx)
	if err != nil {
		return nil, nil, err
	}
	all, missing := s.Members(names)
	if strict && len(missing) > 0 {
		return nil, nil, askback.Invalid{{
			Pointer: fmt.Sprintf("%s/%d", pointer, slices.Index(names, missing[0])),
			Detail:  fmt.Sprintf("there is no group %q", missing[0]),
			Fix:     "name a group of GET /groups, or people",
		}}
	}
	known, err := e.knownPeople(ctx, s, all)
	if err != nil {
		return nil, nil, err
	}
	skipped = missing
	for _, name := range all {
		if slices.Contains(known, name) {
			people = append(people, name)
		} else {
			skipped = append(skipped, name)
		}
	}
	switch {
	case len(all) == 0: // the list has only groups that no longer exist
	case known == nil || len(s.People) == 0 && len(people) > 0:
		return all, missing, nil
	case len(s.People) == 0: // people may get a token later
		return all, skipped, nil
	}
	if len(people) == 0 {
		return nil, nil, askback.Invalid{{
			Pointer: pointer, Detail: "none of the named people is known here, so none could answer: " +
				strings.Join(quoted(skipped), ", "),
			Fix: "name a person of GET /people, or leave it out to ask everyone",
		}}
	}
	return people, skipped, nil
}

// withSkipped returns warnings with a warning that lists unknown people, if there are any. The argument p has
// the pointer and the fix of the warning.
func withSkipped(warnings []askback.Problem, skipped []string, p askback.Problem) []askback.Problem {
	if len(skipped) == 0 || len(warnings) >= limits.MaxProblems {
		return warnings
	}
	p.Detail = skippedText(skipped)
	return append(slices.Clip(warnings), p)
}

// skippedText returns a sentence that lists unknown people, or "".
func skippedText(skipped []string) string {
	switch len(skipped) {
	case 0:
		return ""
	case 1:
		return quoted(skipped)[0] + " is not known here and cannot answer"
	}
	return strings.Join(quoted(skipped), ", ") + " are not known here and cannot answer"
}

func quoted(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = fmt.Sprintf("%q", name)
	}
	return out
}

// ReceiversOf returns the receivers that may carry an ask to the people who may answer it. They are from the
// settings and from the contacts of these people. Each receiver has the end of the quiet hours of its person.
// If channels is not empty, only these channels may carry the ask. A settled ask has no receivers.
func (e *Service) ReceiversOf(
	ctx context.Context, a *askback.Ask, channels []string, now time.Time,
) (all []lifecycle.Receiver, err error) {
	if a.Settled() {
		return nil, nil
	}
	s, err := e.current(ctx)
	if err != nil {
		return nil, err
	}
	add := func(channel, name, person string) {
		if e.Channels[channel] != nil && (len(channels) == 0 || slices.Contains(channels, channel)) &&
			reads(a, person, channels) {
			all = append(all,
				lifecycle.Receiver{Channel: channel, Name: name, Person: person, NotBefore: s.quiet[person].until(now)})
		}
	}
	for _, r := range s.Receivers {
		if !r.Addressed || len(a.People()) > 0 {
			add(r.Channel, r.Name, r.Person)
		}
	}
	contacts, err := e.contactsFor(ctx, a, now)
	for _, c := range contacts {
		add(c.Channel, c.ID, c.Person)
	}
	return all, err
}

// reads reports whether an ask may be sent to a receiver that a person reads. A receiver that several people
// read gets the asks for every person, and the asks whose route names its channel.
func reads(a *askback.Ask, person string, channels []string) bool {
	if person == "" {
		return len(a.People()) == 0 || len(channels) > 0
	}
	return a.MayDecide(person)
}

// Reassigned returns the input that gives an ask to other people. If this principal delegates only its own
// part, the other people stay.
func (c *Client) Reassigned(t *txn.Tx, a *lifecycle.AskState, r askback.Reassignment) (lifecycle.Input, error) {
	ask, named := a.Ask, r.To
	if r.Delegate {
		i := slices.Index(ask.People(), c.Who.Name)
		if i < 0 {
			return nil, askback.Invalid{{
				Pointer: "/delegate", Detail: "this ask does not name you",
				Fix: "leave delegate out, to name all who may answer",
			}}
		}
		r.To = append(slices.Delete(slices.Clone(ask.People()), i, i+1), r.To...)
		var err error
		if r, err = r.Normalize(); err != nil {
			return nil, err
		}
	}
	people, skipped, err := c.service.expand(t.Context(), "/to", r.To, true)
	if err != nil {
		return nil, err
	}
	if err := c.checkReassigned(t.Context(), &ask, named, people); err != nil {
		return nil, err
	}
	ask.To, ask.Recipients = r.To, people
	in := lifecycle.Reassigned{
		By: c.Who.Name, Via: c.Who.Channel, To: r.To, People: people, Why: skippedText(skipped), At: t.Now(),
	}
	in.Receivers, err = c.service.ReceiversOf(t.Context(), &ask, a.Channels, t.Now())
	return in, err
}

// checkReassigned returns an [askback.Invalid] if too few of the new recipients may decide an ask. It also
// returns an [askback.Invalid] if no person in named may decide the ask.
func (c *Client) checkReassigned(ctx context.Context, ask *askback.Ask, named, people []string) error {
	chosen, _, err := c.service.expand(ctx, "/to", named, true)
	if err != nil {
		return err
	}
	if len(ask.Approvers) > 0 && len(whoDecides(ask, chosen)) == 0 {
		return askback.Invalid{{
			Pointer: "/to", Detail: fmt.Sprintf("only %s may decide this, as the routes of this server say",
				listed(whoDecides(ask, ask.Approvers))), Fix: "name one of them",
		}}
	}
	for _, v := range ask.Votes { // an approval counts even if its author is no longer a recipient
		people = union(people, []string{v.Name})
	}
	if may := len(whoDecides(ask, people)); may < max(ask.Quorum, 1) {
		return tooFew(ask, true, may)
	}
	return nil
}

// FollowUp performs the reminders and escalations of an ask that are due.
func (e *Service) FollowUp(t *txn.Tx, a *txn.AskRecord) error {
	for {
		next, ok := a.State.NextFollowUp()
		if !ok || t.Now().Before(next.At) {
			return nil
		}
		in := lifecycle.FollowedUp{At: t.Now()}
		if len(next.To) > 0 && len(a.State.Ask.People()) > 0 {
			people, skipped, err := e.expand(t.Context(), "/to", next.To, false)
			switch {
			case err == nil:
				in.People, in.Why = people, skippedText(skipped)
			case errors.As(err, new(askback.Invalid)): // the settings have changed since the ask was made
				in.Why = err.Error()
			default:
				return err
			}
		}
		after, err := a.State.Step(in) // the new people determine the receivers
		if err != nil {
			return err
		}
		if in.Receivers, err = e.ReceiversOf(t.Context(), &after.State.Ask, a.State.Channels, t.Now()); err != nil {
			return err
		}
		if err := a.Step(t, in); err != nil {
			return err
		}
	}
}
