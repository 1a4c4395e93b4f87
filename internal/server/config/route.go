package config

import (
	"slices"
	"strconv"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/directory"
)

// groups reads the groups of people: lists of names, by name.
func (l *loader) groups(v value) map[string][]string {
	const example = "write names and lists of people, as in payments: [ana, ben]"
	if !l.hasValue(v) {
		return nil
	}
	m, ok := v.node.(*ast.MappingNode)
	if !ok {
		l.addProblem(v.at, example, "%s is %s", v.key, describe(v.node))
		return nil
	}
	out := map[string][]string{}
	for _, n := range m.Values {
		here, name := positionOf(n.Key), keyName(n.Key)
		full := v.key + "." + name
		switch _, twice := out[name]; {
		case twice:
			l.addProblem(here, "write it once", "%s is already set", full)
			continue
		case directory.GroupNameProblem(name) != "":
			l.addProblem(here, "write a name without @, as in payments", "%s: %s is not the name of a group", v.key, quote(name))
			continue
		}
		before := len(l.problems)
		people := l.names(value{n.Value, full, valuePosition(n.Value, here)}, directory.NameProblem)
		if len(people) == 0 && len(l.problems) == before {
			l.addProblem(here, "name its people, or remove it", "%s has no people", full)
		}
		out[name] = people
	}
	return out
}

// names reads a list of different names. The check returns what is wrong with a name, or "".
func (l *loader) names(v value, check func(string) string) []string {
	out, _ := l.namesAt(v, "a name, as in ana", check)
	return out
}

// namesAt is like names for names of another kind. It also returns their positions.
func (l *loader) namesAt(v value, example string, check func(string) string) (out []string, at []position) {
	l.list(v, func(v value) {
		var name string
		l.textTo(&name, example, check)(v)
		if name != "" && slices.Contains(out, name) {
			l.addProblem(v.at, "write it once", "%s is already in the list", v.key)
		}
		out, at = append(out, name), append(at, v.at)
	})
	if problem := directory.ListProblem(out); problem != "" {
		l.addProblem(v.at, "name fewer", "%s %s", v.key, problem)
	}
	return out, at
}

// routes reads the list of routes.
func (l *loader) routes(v value) (out []askback.Route) {
	l.list(v, func(v value) {
		out = append(out, l.route(v))
		l.routePlaces = append(l.routePlaces, v)
	})
	return out
}

func (l *loader) route(v value) (r askback.Route) {
	before := len(l.problems)
	var onTimeout string
	l.group(append([]setting{
		{key: "match", read: l.match(&r.Match)},
		{key: "to", read: func(v value) { r.To = l.names(v, directory.RecipientProblem) }},
		{key: "approvers", read: func(v value) { r.Approvers = l.names(v, directory.RecipientProblem) }},
		{key: "channels", read: func(v value) { r.Channels = l.names(v, directory.ChannelProblem) }},
		{key: "quorum", read: l.number("a whole number from 1 to "+strconv.Itoa(askback.MaxQuorum), func(s string) (problem string) {
			n, err := strconv.Atoi(s)
			if err != nil || n < 1 || n > askback.MaxQuorum || strconv.Itoa(n) != s {
				return "is not valid"
			}
			r.Quorum = n
			return ""
		})},
		{key: "no_self_approval", read: l.boolean(&r.NoSelfApproval)},
		{key: "remind", read: func(v value) { l.list(v, func(v value) { r.Remind = append(r.Remind, l.span(v)) }) }},
		{key: "escalate", read: func(v value) {
			l.list(v, func(v value) { r.Escalate = append(r.Escalate, l.escalation(v)) })
		}},
		{key: "timeout", read: func(v value) { r.Timeout = l.span(v) }},
		{key: "on_timeout", read: l.oneOf(&onTimeout, "fail", "decline", "default", "wait")},
		{key: "join", read: l.boolean(&r.Join)},
	}, l.listedSettings(&r)...))(v)
	r.OnTimeout = askback.OnTimeout(onTimeout)
	if len(l.problems) == before {
		rule, broken := directory.RouteRule(&r)
		l.rule(v, rule, broken)
	}
	return r
}

// rule adds a problem if a value does not follow a rule although each of its settings is valid.
func (l *loader) rule(v value, r directory.Rule, broken bool) {
	if broken {
		l.addProblem(v.at, r.Fix, "%s: %s", v.key, r.Detail)
	}
}

// match returns a function that reads which asks a route is for.
func (l *loader) match(m *askback.Match) func(value) {
	return func(v value) {
		var kind string
		l.group([]setting{
			{key: "agent", read: l.textTo(&m.Agent, `the name of an agent, as in "deploy-*"`, directory.PatternProblem)},
			{key: "kind", read: l.oneOf(&kind, string(askback.Questions), string(askback.Confirm))},
			{key: "tags", read: func(v value) { m.Tags = l.names(v, directory.TagProblem) }},
		})(v)
		m.Kind = askback.AskKind(kind)
	}
}

func (l *loader) escalation(v value) (e askback.Escalation) {
	before := len(l.problems)
	l.group([]setting{
		{key: "after", read: func(v value) { e.After = l.span(v) }},
		{key: "to", read: func(v value) { e.To = l.names(v, directory.RecipientProblem) }},
	})(v)
	if len(l.problems) == before {
		rule, broken := directory.EscalationRule(&e)
		l.rule(v, rule, broken)
	}
	return e
}

// span reads a duration.
func (l *loader) span(v value) (s askback.Span) {
	l.duration((*time.Duration)(&s))(v)
	return s
}

// boolean returns a function that reads true or false into dst.
func (l *loader) boolean(dst *bool) func(value) {
	return func(v value) {
		if !l.hasValue(v) {
			return
		}
		b, ok := v.node.(*ast.BoolNode)
		if !ok {
			l.addProblem(v.at, "write true or false", "%s is %s", v.key, describe(v.node))
			return
		}
		*dst = b.Value
	}
}

// groupsExist adds a problem for each group that a route names and that does not exist. The
// groups may follow the routes in the file.
func (l *loader) groupsExist(c *Config, at position) {
	exists := func(name string) bool {
		_, ok := c.Groups[name]
		return ok
	}
	for i := range c.Routes {
		missing, _ := directory.MissingGroups(&c.Routes[i], exists)
		for _, group := range missing {
			l.addProblem(at, "add it to groups", "routes[%d]: there is no group %s", i+1, quote(group))
		}
	}
}
