package config

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/askback/askback"
)

// routeChannels are the channels that a route may name. The callback of an ask is not one of
// them: the agent chooses it.
var routeChannels = []string{"post", "webpush", "telegram", "slack", "email"}

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
		case strings.TrimSpace(name) == "" || nameProblem(name) != "":
			l.addProblem(here, "write a name without @, as in payments", "%s: %s is not the name of a group", v.key, quote(name))
			continue
		}
		before := len(l.problems)
		people := l.names(value{n.Value, full, valuePosition(n.Value, here)}, nameProblem)
		if len(people) == 0 && len(l.problems) == before {
			l.addProblem(here, "name its people, or remove it", "%s has no people", full)
		}
		out[name] = people
	}
	return out
}

// names reads a list of different names. The check returns what is wrong with a name, or "".
func (l *loader) names(v value, check func(string) string) (out []string) {
	l.list(v, func(v value) {
		var name string
		l.textTo(&name, "a name, as in ana", check)(v)
		if name != "" && slices.Contains(out, name) {
			l.addProblem(v.at, "write it once", "%s is already in the list", v.key)
		}
		out = append(out, name)
	})
	if len(out) > askback.MaxNames {
		l.addProblem(v.at, "name fewer", "%s has more than %d entries", v.key, askback.MaxNames)
	}
	return out
}

// routes reads the list of routes.
func (l *loader) routes(v value) (out []askback.Route) {
	l.list(v, func(v value) { out = append(out, l.route(v)) })
	return out
}

func (l *loader) route(v value) (r askback.Route) {
	before := len(l.problems)
	var onTimeout string
	l.group([]setting{
		{key: "match", read: l.match(&r.Match)},
		{key: "to", read: func(v value) { r.To = l.names(v, recipientProblem) }},
		{key: "channels", read: func(v value) { r.Channels = l.names(v, channelProblem) }},
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
	})(v)
	r.OnTimeout = askback.OnTimeout(onTimeout)
	if len(l.problems) == before {
		l.checkRoute(v, r)
	}
	return r
}

// checkRoute adds the problems of a route whose settings are valid by themselves.
func (l *loader) checkRoute(v value, r askback.Route) {
	switch {
	case r.OnTimeout != "" && r.Timeout == 0:
		l.addProblem(v.at, "write timeout: 24h", "%s has on_timeout but no timeout", v.key)
	case r.OnTimeout == askback.OnTimeoutDefault && r.Match.Kind == askback.Confirm:
		l.addProblem(v.at, "write on_timeout: decline", "%s: a timeout never approves a confirmation", v.key)
	case r.Quorum > 1 && r.Match.Kind == askback.Questions:
		l.addProblem(v.at, "remove quorum", "%s: the first answer to a question counts, so it has no quorum", v.key)
	case r.Join && r.Match.Kind == askback.Confirm:
		l.addProblem(v.at, "remove join", "%s: each approval is for one call, so confirmations are not joined", v.key)
	case len(r.Remind)+len(r.Escalate) > askback.MaxFollowUps:
		l.addProblem(v.at, "write fewer", "%s has more than %d reminders and escalations", v.key, askback.MaxFollowUps)
	}
}

// match returns a function that reads which asks a route is for.
func (l *loader) match(m *askback.Match) func(value) {
	return func(v value) {
		var kind string
		l.group([]setting{
			{key: "agent", read: l.textTo(&m.Agent, `the name of an agent, as in "deploy-*"`, patternProblem)},
			{key: "kind", read: l.oneOf(&kind, string(askback.Questions), string(askback.Confirm))},
			{key: "tags", read: func(v value) { m.Tags = l.names(v, func(string) string { return "" }) }},
		})(v)
		m.Kind = askback.AskKind(kind)
	}
}

func (l *loader) escalation(v value) (e askback.Escalation) {
	before := len(l.problems)
	l.group([]setting{
		{key: "after", read: func(v value) { e.After = l.span(v) }},
		{key: "to", read: func(v value) { e.To = l.names(v, recipientProblem) }},
	})(v)
	if len(l.problems) == before && (e.After == 0 || len(e.To) == 0) {
		l.addProblem(v.at, `write {after: 2h, to: ["@oncall"]}`, "%s has no after or no to", v.key)
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
	for i, r := range c.Routes {
		named := slices.Clone(r.To)
		for _, e := range r.Escalate {
			named = append(named, e.To...)
		}
		for _, name := range named {
			group, isGroup := strings.CutPrefix(name, "@")
			if _, ok := c.Groups[group]; isGroup && !ok {
				l.addProblem(at, "add it to groups", "routes[%d]: there is no group %s", i+1, quote(name))
			}
		}
	}
}

// recipientProblem returns what is wrong with the name of a person or, after @, of a group.
func recipientProblem(s string) string {
	name := strings.TrimPrefix(s, "@")
	if name == "" {
		return "has no name"
	}
	return nameProblem(name)
}

func channelProblem(s string) string {
	if !slices.Contains(routeChannels, s) {
		return "is not one of " + strings.Join(routeChannels, ", ")
	}
	return ""
}

func patternProblem(s string) string {
	if _, err := path.Match(s, ""); err != nil {
		return "is not a pattern"
	}
	return ""
}
