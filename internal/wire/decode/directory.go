package decode

import (
	"fmt"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
)

// PersonRequest parses the body of PUT /people/{name}: {"email", "slack", "time_zone", "quiet"}. The body
// does not contain the name.
func PersonRequest(raw []byte) (askback.PersonRequest, error) {
	r, n, err := parse(raw)
	if err != nil {
		return askback.PersonRequest{}, err
	}
	var out askback.PersonRequest
	r.members(n, `{"email": "ana@example.com"}`, personRequestNames, func(name string, n node) bool {
		return r.personRequestMember(&out, name, n)
	})
	return out, r.err()
}

// GroupRequest parses the body of PUT /groups/{name}: {"people"}, which is required.
func GroupRequest(raw []byte) (people []string, err error) {
	r, n, err := parse(raw)
	if err != nil {
		return nil, err
	}
	r.members(n, `{"people": ["ana", "ben"]}`, []string{"people"}, func(name string, n node) bool {
		if name == "people" {
			r.stringList(n, &people)
		}
		return name == "people"
	})
	if people == nil && r.err() == nil {
		r.problemAt("/people", "people is missing", `"people": ["ana", "ben"]`)
	}
	return people, r.err()
}

// RoutesRequest parses the body of PUT /routes: {"items", "revision"}, which are required. The body may also
// be the reply to GET /routes without the routes of the settings, so next_cursor, by and changed_at are
// ignored.
func RoutesRequest(raw []byte) (routes []askback.Route, revision int64, err error) {
	r, n, err := parse(raw)
	if err != nil {
		return nil, 0, err
	}
	given := 0
	counted := false
	const example = `{"items": [{"match": {}, "to": ["ana"]}], "revision": 0}`
	r.members(n,
		example, []string{"items", "revision", "next_cursor", "by", "changed_at"}, func(name string, n node) bool {
			switch name {
			case "items":
				routes = []askback.Route{}
				r.elements(n, `[{"match": {}, "to": ["ana"]}]`, func(n node) { routes = append(routes, r.route(n)) })
			case "revision":
				counted = true
				r.number(n, &given)
			case "next_cursor", "by", "changed_at":
			default:
				return false
			}
			return true
		})
	if routes == nil && r.err() == nil {
		r.problemAt("/items", "items is missing", `"items": [] removes all routes of the API`)
	}
	if !counted && r.err() == nil {
		r.problemAt("/revision", "revision is missing", "send the revision of GET /routes")
	}
	return routes, int64(given), r.err()
}

var (
	routeNames = []string{
		"match", "to", "approvers", "channels", "quorum", "no_self_approval", "remind", "escalate", "timeout",
		"on_timeout", "join", "source", "warning",
	}
	matchNames = []string{"agent", "kind", "tags"}
)

// route reads a route. It also accepts the source and the warning that a route in a reply has.
func (r *reader) route(n node) (out askback.Route) {
	r.members(n, `{"match": {}, "to": ["ana"]}`, routeNames, func(name string, n node) bool {
		switch name {
		case "match":
			r.members(n, `{"agent": "deploy-*"}`, matchNames,
				func(name string, n node) bool { return r.matchMember(&out.Match, name, n) })
		case "to":
			r.stringList(n, &out.To)
		case "approvers":
			r.stringList(n, &out.Approvers)
		case "channels":
			r.stringList(n, &out.Channels)
		case "quorum":
			if r.number(n, &out.Quorum); out.Quorum < 1 {
				r.problem("must be at least 1", fmt.Sprintf("write a whole number from 1 to %d", limits.MaxQuorum))
			}
		case "no_self_approval":
			r.flag(n, &out.NoSelfApproval)
		case "remind":
			r.elements(n, `["2h"]`, func(n node) { out.Remind = append(out.Remind, r.span(n)) })
		case "escalate":
			r.elements(n, `[{"after": "2h", "to": ["@oncall"]}]`,
				func(n node) { out.Escalate = append(out.Escalate, r.escalation(n)) })
		case "timeout":
			out.Timeout = r.span(n)
		case "on_timeout":
			r.text(n, (*string)(&out.OnTimeout))
		case "join":
			r.flag(n, &out.Join)
		case "source":
			r.text(n, (*string)(&out.Source))
		case "warning":
			r.text(n, &out.Warning)
		default:
			return false
		}
		return true
	})
	return out
}

func (r *reader) matchMember(m *askback.Match, name string, n node) bool {
	switch name {
	case "agent":
		r.text(n, &m.Agent)
	case "kind":
		r.text(n, (*string)(&m.Kind))
	case "tags":
		r.stringList(n, &m.Tags)
	default:
		return false
	}
	return true
}

func (r *reader) escalation(n node) (out askback.Escalation) {
	r.members(n, `{"after": "2h", "to": ["@oncall"]}`, []string{"after", "to"}, func(name string, n node) bool {
		switch name {
		case "after":
			out.After = r.span(n)
		case "to":
			r.stringList(n, &out.To)
		default:
			return false
		}
		return true
	})
	return out
}

func (r *reader) span(n node) (s askback.Span) {
	r.duration(n, (*time.Duration)(&s))
	return s
}
