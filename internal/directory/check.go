package directory

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
)

// A Rule is a rule for a whole value. A value can break the rule although each of its members is valid.
type Rule struct {
	Detail string // the problem: a sentence about the value
	Fix    string // the fix
}

// RouteRule returns the first rule that a route breaks. It reports false if the route breaks no rule.
func RouteRule(r *askback.Route) (Rule, bool) {
	switch {
	case r.OnTimeout != "" && r.Timeout == 0:
		return Rule{"it has on_timeout but no timeout", "write timeout: 24h"}, true
	case r.OnTimeout == askback.OnTimeoutDefault && r.Match.Kind == askback.Confirm:
		return Rule{"a timeout never approves a confirmation", "write on_timeout: decline"}, true
	case r.Quorum > 1 && r.Match.Kind == askback.Questions:
		return Rule{"the first answer to a question counts, so it has no quorum", "remove quorum"}, true
	case len(r.Approvers) > 0 && r.Match.Kind == askback.Questions:
		return Rule{
			"approvers decide confirmations, and this route is for questions", "write to instead of approvers",
		}, true
	case r.Join && r.Match.Kind == askback.Confirm:
		return Rule{"each approval is for one call, so confirmations are not joined", "remove join"}, true
	case len(r.Remind)+len(r.Escalate) > limits.MaxFollowUps:
		return Rule{
			fmt.Sprintf("it has more than %d reminders and escalations", limits.MaxFollowUps), "write fewer",
		}, true
	}
	return Rule{}, false
}

// EscalationRule returns the rule for an escalation of a route, and reports whether the escalation breaks the
// rule.
func EscalationRule(e *askback.Escalation) (Rule, bool) {
	return Rule{"it has no after or no to", `write {after: 2h, to: ["@oncall"]}`}, e.After == 0 || len(e.To) == 0
}

// QuietRule returns the rule for the quiet hours of a person. It also reports whether quiet and timeZone
// break the rule.
func QuietRule(quiet, timeZone string) (Rule, bool) {
	return Rule{"it has quiet hours but no time zone", "write time_zone: Europe/Berlin"}, quiet != "" && timeZone == ""
}

// MissingGroups returns the groups in a route that do not exist, as names with @. It also returns the JSON
// pointer of each of these groups in the route.
func MissingGroups(r *askback.Route, exists func(name string) bool) (names, pointers []string) {
	look := func(list []string, at string) {
		for i, name := range list {
			if group, isGroup := strings.CutPrefix(name, "@"); isGroup && !exists(group) {
				names, pointers = append(names, name), append(pointers, at+"/"+strconv.Itoa(i))
			}
		}
	}
	look(r.To, "/to")
	look(r.Approvers, "/approvers")
	for i, e := range r.Escalate {
		look(e.To, "/escalate/"+strconv.Itoa(i)+"/to")
	}
	return names, pointers
}

// Names reports whether a route or one of its escalations names a person or, after @, a group.
func Names(r *askback.Route, name string) bool {
	return slices.Contains(r.To, name) || slices.Contains(r.Approvers, name) ||
		slices.ContainsFunc(r.Escalate, func(e askback.Escalation) bool { return slices.Contains(e.To, name) })
}

// PeopleOf returns the distinct names of people in a route and its escalations, without the people of its
// groups.
func PeopleOf(r *askback.Route) (names []string) {
	add := func(list []string) {
		for _, name := range list {
			if !strings.HasPrefix(name, "@") && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	add(r.To)
	add(r.Approvers)
	for _, e := range r.Escalate {
		add(e.To)
	}
	return names
}

// ListProblem returns the problem with the length of a list of names, or "". The problem is the end of a
// sentence whose subject is the list.
func ListProblem(names []string) string {
	total := 0
	for _, name := range names {
		total += utf8.RuneCountInString(name)
	}
	switch {
	case len(names) > limits.MaxNames:
		return fmt.Sprintf("has more than %d entries", limits.MaxNames)
	case total > limits.MaxTo:
		return fmt.Sprintf("has more than %d characters in all", limits.MaxTo)
	}
	return ""
}

// A checker collects up to limits.MaxProblems problems.
type checker struct{ problems askback.Invalid }

func (c *checker) add(pointer, fix, format string, args ...any) {
	if len(c.problems) < limits.MaxProblems {
		c.problems = append(c.problems,
			askback.Problem{Pointer: pointer, Detail: fmt.Sprintf(format, args...), Fix: fix})
	}
}

// text checks a member that may be "".
func (c *checker) text(pointer, s, fix string, check func(string) string) {
	if s == "" {
		return
	}
	if problem := check(s); problem != "" {
		c.add(pointer, fix, "%s %s", quote(s), problem)
	}
}

func (c *checker) rule(pointer string, r Rule, broken bool) {
	if broken {
		c.add(pointer, r.Fix, "%s", r.Detail)
	}
}

// names checks that the names in a list are valid and distinct, and that the list is not too long.
func (c *checker) names(pointer string, list []string, fix string, check func(string) string) {
	if problem := ListProblem(list); problem != "" {
		c.add(pointer, "name fewer", "it %s", problem)
		return
	}
	for i, one := range list {
		at := pointer + "/" + strconv.Itoa(i)
		if problem := check(one); problem != "" {
			c.add(at, fix, "%s %s", quote(one), problem)
		} else if slices.Contains(list[:i], one) {
			c.add(at, "write it once", "%s is already in the list", quote(one))
		}
	}
}

func (c *checker) err() error {
	if len(c.problems) == 0 {
		return nil
	}
	return c.problems
}

// CheckPerson returns an [askback.Invalid] if p is not valid.
func CheckPerson(p askback.PersonRequest) error {
	var c checker
	if problem := NameProblem(p.Name); problem != "" {
		c.add("", "choose another name, as in ana", "%s %s", quote(p.Name), problem)
	}
	c.text("/email", p.Email, `"email": "ana@example.com"`, EmailProblem)
	c.text("/slack", p.Slack, `"slack": "U012AB3CD"`, SlackProblem)
	c.text("/time_zone", p.TimeZone, `"time_zone": "Europe/Berlin"`, ZoneProblem)
	c.text("/quiet", p.Quiet, `"quiet": "22:00-07:00"`, func(s string) string {
		_, problem := ParseQuiet(s)
		return problem
	})
	rule, broken := QuietRule(p.Quiet, p.TimeZone)
	c.rule("/quiet", rule, broken)
	return c.err()
}

// CheckGroup returns an [askback.Invalid] if name, or the list of people, is not valid. A group must have
// people.
func CheckGroup(name string, people []string) error {
	var c checker
	if problem := GroupNameProblem(name); problem != "" {
		c.add("", "choose a name without @, as in payments", "%s %s", quote(name), problem)
	}
	if len(people) == 0 {
		c.add("/people", `"people": ["ana"]`, "it has no people")
	}
	c.names("/people", people, "name a person, as in ana", NameProblem)
	return c.err()
}

// CheckRoutes returns an [askback.Invalid] if a route is not valid. The function exists reports whether a
// group exists. The argument channels lists the channels that a route may name.
func CheckRoutes(routes []askback.Route, channels []string, exists func(group string) bool) error {
	var c checker
	for i := range routes {
		r, at := &routes[i], "/items/"+strconv.Itoa(i)
		before := len(c.problems)
		c.route(at, r, channels)
		if len(c.problems) > before {
			continue
		}
		rule, broken := RouteRule(r)
		c.rule(at, rule, broken)
		names, pointers := MissingGroups(r, exists)
		for j, name := range names {
			c.add(at+pointers[j], "add the group first, or name people", "there is no group %s", quote(name))
		}
	}
	return c.err()
}

// route checks the members of a route.
func (c *checker) route(at string, r *askback.Route, channels []string) {
	c.text(at+"/match/agent", r.Match.Agent, `"agent": "deploy-*"`, PatternProblem)
	c.text(at+"/match/agent", r.Match.Agent, `"agent": "deploy-*"`, TagProblem)
	if r.Match.Kind != "" && r.Match.Kind != askback.Questions && r.Match.Kind != askback.Confirm {
		c.add(at+"/match/kind", "write questions or confirmation", "%s is not a kind of ask",
			quote(string(r.Match.Kind)))
	}
	c.names(at+"/match/tags", r.Match.Tags, "write a tag", TagProblem)
	c.names(at+"/to", r.To, "name a person, or a group after @", RecipientProblem)
	c.names(at+"/approvers", r.Approvers, "name a person, or a group after @", RecipientProblem)
	c.names(at+"/channels", r.Channels, "leave it out for all channels", ChannelProblem(channels))
	if r.Quorum < 0 || r.Quorum > limits.MaxQuorum {
		c.add(at+"/quorum", fmt.Sprintf("write a whole number from 1 to %d", limits.MaxQuorum), "%d is not valid",
			r.Quorum)
	}
	for i, after := range r.Remind {
		if after <= 0 {
			c.add(at+"/remind/"+strconv.Itoa(i), `write "2h"`, "a reminder needs a time after which it is sent")
		}
	}
	for i := range r.Escalate {
		e, at := &r.Escalate[i], at+"/escalate/"+strconv.Itoa(i)
		rule, broken := EscalationRule(e)
		c.rule(at, rule, broken)
		c.names(at+"/to", e.To, "name a person, or a group after @", RecipientProblem)
	}
	switch r.OnTimeout {
	case "", askback.OnTimeoutFail, askback.OnTimeoutDecline, askback.OnTimeoutDefault, askback.OnTimeoutWait:
	default:
		c.add(at+"/on_timeout", "write fail, decline, default or wait", "%s is not one of the values",
			quote(string(r.OnTimeout)))
	}
	if r.Source != "" && r.Source != askback.SourceAPI {
		c.add(at+"/source", "leave out the routes of the settings", "a route of the settings cannot be changed here")
	}
}
