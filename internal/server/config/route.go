package config

import (
	"slices"
	"strconv"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/channels/kinds"
	"github.com/askback/askback/internal/directory"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/settings"
)

// groups reads the groups: lists of the names of people, keyed by the name of the group.
func (l *loader) groups(v settings.Value) map[string][]string {
	out := map[string][]string{}
	l.Named(v, "write names and lists of people, as in payments: [ana, ben]",
		groupProblem, func(name string, here settings.Position, v settings.Value) {
			before := l.Problems()
			people := l.names(v, directory.NameProblem)
			if len(people) == 0 && l.Problems() == before {
				l.AddProblem(here, "name its people, or remove it", "%s has no people", v.Key)
			}
			out[name] = people
		})
	return out
}

func groupProblem(name string) (problem, fix string) {
	return directory.GroupNameProblem(name), "write a name without @, as in payments"
}

// names reads a list of different names. check returns the problem of a name, or "".
func (l *loader) names(v settings.Value, check func(string) string) []string {
	out, _ := l.namesAt(v, "a name, as in ana", check)
	return out
}

// namesAt is like names, with another example of a name. It also returns the positions of the names.
func (l *loader) namesAt(
	v settings.Value, example string, check func(string) string,
) (out []string, at []settings.Position) {
	l.List(v, func(v settings.Value) {
		var name string
		l.TextTo(&name, example, check)(v)
		if name != "" && slices.Contains(out, name) {
			l.AddProblem(v.At, "write it once", "%s is already in the list", v.Key)
		}
		out, at = append(out, name), append(at, v.At)
	})
	if problem := directory.ListProblem(out); problem != "" {
		l.AddProblem(v.At, "name fewer", "%s %s", v.Key, problem)
	}
	return out, at
}

// routes reads the list of routes.
func (l *loader) routes(v settings.Value) (out []askback.Route) {
	l.List(v, func(v settings.Value) {
		out = append(out, l.route(v))
		l.routePlaces = append(l.routePlaces, v)
	})
	return out
}

func (l *loader) route(v settings.Value) (r askback.Route) {
	before := l.Problems()
	var onTimeout string
	l.Group(append([]settings.Setting{
		{Key: "match", Read: l.match(&r.Match)},
		{Key: "to", Read: func(v settings.Value) { r.To = l.names(v, directory.RecipientProblem) }},
		{Key: "approvers", Read: func(v settings.Value) { r.Approvers = l.names(v, directory.RecipientProblem) }},
		{Key: "channels", Read: func(v settings.Value) {
			r.Channels = l.names(v, directory.ChannelProblem(kinds.Routed()))
		}},
		{
			Key: "quorum",
			Read: l.Number("a whole number from 1 to "+strconv.Itoa(limits.MaxQuorum), func(s string) (problem string) {
				n, err := strconv.Atoi(s)
				if err != nil || n < 1 || n > limits.MaxQuorum || strconv.Itoa(n) != s {
					return "is not valid"
				}
				r.Quorum = n
				return ""
			}),
		},
		{Key: "no_self_approval", Read: l.Boolean(&r.NoSelfApproval)},
		{Key: "remind", Read: func(v settings.Value) {
			l.List(v, func(v settings.Value) { r.Remind = append(r.Remind, l.span(v)) })
		}},
		{Key: "escalate", Read: func(v settings.Value) {
			l.List(v, func(v settings.Value) { r.Escalate = append(r.Escalate, l.escalation(v)) })
		}},
		{Key: "timeout", Read: func(v settings.Value) { r.Timeout = l.span(v) }},
		{Key: "on_timeout", Read: l.OneOf(&onTimeout, "fail", "decline", "default", "wait")},
		{Key: "join", Read: l.Boolean(&r.Join)},
	}, l.listedSettings(&r)...))(v)
	r.OnTimeout = askback.OnTimeout(onTimeout)
	if l.Problems() == before {
		rule, broken := directory.RouteRule(&r)
		l.rule(v, rule, broken)
	}
	return r
}

// rule adds the problem of the rule r to v if broken is set. A rule is about several settings, each of which
// is valid by itself.
func (l *loader) rule(v settings.Value, r directory.Rule, broken bool) {
	if broken {
		l.AddProblem(v.At, r.Fix, "%s: %s", v.Key, r.Detail)
	}
}

// match returns a function that reads the conditions of a route into m.
func (l *loader) match(m *askback.Match) func(settings.Value) {
	return func(v settings.Value) {
		var kind string
		l.Group([]settings.Setting{
			{
				Key:  "agent",
				Read: l.TextTo(&m.Agent, `the name of an agent, as in "deploy-*"`, directory.PatternProblem),
			},
			{Key: "kind", Read: l.OneOf(&kind, string(askback.Questions), string(askback.Confirm))},
			{Key: "tags", Read: func(v settings.Value) { m.Tags = l.names(v, directory.TagProblem) }},
		})(v)
		m.Kind = askback.AskKind(kind)
	}
}

func (l *loader) escalation(v settings.Value) (e askback.Escalation) {
	before := l.Problems()
	l.Group([]settings.Setting{
		{Key: "after", Read: func(v settings.Value) { e.After = l.span(v) }},
		{Key: "to", Read: func(v settings.Value) { e.To = l.names(v, directory.RecipientProblem) }},
	})(v)
	if l.Problems() == before {
		rule, broken := directory.EscalationRule(&e)
		l.rule(v, rule, broken)
	}
	return e
}

// span reads a duration.
func (l *loader) span(v settings.Value) (s askback.Span) {
	l.Duration((*time.Duration)(&s))(v)
	return s
}

// groupsExist adds a problem for each group that a route names but that does not exist. The groups may follow
// the routes in the file.
func (l *loader) groupsExist(c *Config, at settings.Position) {
	exists := func(name string) bool {
		_, ok := c.Groups[name]
		return ok
	}
	for i := range c.Routes {
		missing, _ := directory.MissingGroups(&c.Routes[i], exists)
		for _, group := range missing {
			l.AddProblem(at, "add it to groups", "routes[%d]: there is no group %s", i+1, settings.Quote(group))
		}
	}
}
