package completion

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
)

// completers return the candidates for each kind of value in a tag complete, except file, which the shells
// complete. After an error, a completer returns no candidates.
var completers = map[string]func(*Line, context.Context) []Candidate{
	"pending": (*Line).pending, "ask": (*Line).asks, "answer": (*Line).answers, "session": (*Line).sessions,
	"agent": (*Line).agents, "person": (*Line).people, "tag": (*Line).tags, "grant": (*Line).grants,
	"token": (*Line).tokens, "endpoint": (*Line).endpoints, "delivery": (*Line).deliveries,
	"contact": (*Line).contacts, "hosted": (*Line).hosted, "group": (*Line).groups,
	"client": func(c *Line, _ context.Context) (all []Candidate) {
		for _, name := range c.source.Clients {
			all = append(all, Candidate{Value: name})
		}
		return all
	},
}

// A Source provides the data for candidates.
type Source struct {
	// Client returns a client for the server that the command on the line would use, and a
	// function that closes it.
	Client  func(*Line) (askback.Client, func(), error)
	Clients []string // the names of the agents that can be configured
	Latest  string   // the word that can be given instead of the id of an ask

	Get       func(ctx context.Context, client askback.Inbox, typed string) (askback.Ask, error)
	Each      func(ctx context.Context, client askback.Inbox, status askback.Status, do func(askback.Ask)) error
	Grants    func(ctx context.Context, client askback.Grants, ended bool) ([]askback.Grant, error)
	Endpoints func(context.Context, askback.Endpoints, askback.EndpointQuery) ([]askback.Endpoint, error)
	TokenUse  func(askback.Token) string
}

// Known reports whether there are candidates for the value of a tag complete.
func Known(kind string) bool { return kind == "file" || completers[kind] != nil }

// wholeID matches an id. The server may be any program, so the ids that it sends are checked.
var wholeID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z]{3}_[0-9a-z]{26}$`) })

// maxDescription is the maximum width of a description, in columns.
const maxDescription = 60

// Describe returns a candidate whose description is safe for a terminal.
func Describe(value, description string) Candidate {
	return Candidate{value, safetext.Fit(safetext.Line(description), maxDescription)}
}

// each calls do for each ask with a status. It returns an error if the asks cannot be listed.
func (c *Line) each(ctx context.Context, status askback.Status, do func(askback.Ask)) error {
	client, done, err := c.source.Client(c)
	if err != nil {
		return err
	}
	defer done()
	return c.source.Each(ctx, client, status, do)
}

// hosted returns the hosted agents that can be run.
func (c *Line) hosted(ctx context.Context) (all []Candidate) {
	client, done, err := c.source.Client(c)
	if err != nil {
		return nil
	}
	defer done()
	agents, err := client.HostedAgents(ctx)
	if err != nil {
		return nil
	}
	for _, a := range agents {
		all = append(all, Describe(a.Name, a.Description))
	}
	return all
}

// deciding reports whether a flag on the line decides calls.
func (c *Line) deciding() bool {
	return c.given["approve"] != nil || c.given["deny"] != nil || c.given["approve-all"] != nil
}

// pending returns the ids of the pending asks, newest first, and the word for the newest ask. If the line
// decides calls, it returns only the ids of calls that are not on the line yet.
func (c *Line) pending(ctx context.Context) (all []Candidate) {
	err := c.each(ctx, askback.Pending, func(a askback.Ask) {
		if !c.deciding() || a.Kind == askback.Confirm && !slices.Contains(c.args, a.ID) {
			all = append(all, askCandidate(a))
		}
	})
	if err != nil || len(all) == 0 {
		return nil
	}
	slices.Reverse(all)
	if !c.deciding() {
		all = append(all, Candidate{c.source.Latest, "The newest open ask."})
	}
	return all
}

// askCandidate describes an ask by its line in lists and its agent. The server may be any program, so an ask with
// an invalid id becomes an empty candidate.
func askCandidate(a askback.Ask) Candidate {
	if !wholeID().MatchString(a.ID) {
		return Candidate{}
	}
	v := view.Brief(a)
	text := v.Line().String() + ", " + v.From().String()
	if v.Confirmation != nil && v.Confirmation.Dangerous {
		text = "DANGEROUS " + text
	}
	return Describe(a.ID, text)
}

// recent returns the newest asks of any status, at most one page. It returns nil after an error.
func (c *Line) recent(ctx context.Context) []askback.Ask {
	client, done, err := c.source.Client(c)
	if err != nil {
		return nil
	}
	defer done()
	page, err := client.List(ctx, askback.Query{Status: askback.AnyStatus, Limit: askback.MaxLimit})
	if err != nil {
		return nil
	}
	return page.Items
}

// asks returns the ids of the newest asks. The description of a settled ask begins with its status.
func (c *Line) asks(ctx context.Context) (all []Candidate) {
	for _, a := range c.recent(ctx) {
		found := askCandidate(a)
		if a.Settled() {
			found = Describe(found.Value, string(a.Status)+", "+found.Description)
		}
		all = append(all, found)
	}
	return all
}

// answers returns the keys of the options of the ask on the line, with their labels. If the line decides
// calls, it returns the ids of other calls instead. A label is text of an agent, so it is never put on the
// command line.
func (c *Line) answers(ctx context.Context) (all []Candidate) {
	if c.deciding() {
		return c.pending(ctx)
	}
	client, done, err := c.source.Client(c)
	if err != nil {
		return nil
	}
	defer done()
	ask, err := c.source.Get(ctx, client, c.args[0])
	if err != nil {
		return nil
	}
	for i, q := range view.Of(ask).Questions {
		question := ""
		if len(ask.Questions) > 1 {
			question = fmt.Sprintf("q%d=", i+1)
		}
		for _, choice := range q.Choices {
			all = append(all, Describe(question+choice.Key, choice.Label.String()))
		}
	}
	return all
}

// sessions returns the sessions that have open calls.
func (c *Line) sessions(ctx context.Context) (all []Candidate) {
	calls, agent := map[string]int{}, map[string]string{}
	err := c.each(ctx, askback.Pending, func(a askback.Ask) {
		if a.Kind == askback.Confirm && wholeID().MatchString(a.SessionID) {
			calls[a.SessionID]++
			agent[a.SessionID] = a.Agent
		}
	})
	if err != nil {
		return nil
	}
	for _, id := range slices.Sorted(maps.Keys(calls)) {
		all = append(all, Describe(id, agent[id]+": "+view.Count(calls[id], "open call")))
	}
	return all
}

// agents returns the names of the agents that asked last, as people see them.
func (c *Line) agents(ctx context.Context) []Candidate {
	names := map[string]int{}
	for _, a := range c.recent(ctx) {
		names[a.Agent]++
	}
	var all []Candidate
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !strings.HasPrefix(name, "-") { // the shell command would read such a name as a flag
			all = append(all, Describe(name, view.Count(names[name], "ask")))
		}
	}
	return all
}

// tags returns the tags that routes match, and the tags of the newest asks.
func (c *Line) tags(ctx context.Context) (all []Candidate) {
	asks := map[string]int{}
	for _, a := range c.recent(ctx) {
		for _, tag := range a.Tags {
			asks[tag]++
		}
	}
	routed := map[string]bool{}
	if client, done, err := c.source.Client(c); err == nil {
		defer done()
		list, _ := client.Routes(ctx) // without routes, the tags of asks remain
		for _, r := range list.Items {
			for _, tag := range r.Match.Tags {
				routed[tag] = true
				asks[tag] += 0 // the tag of a route is a candidate even without asks
			}
		}
	}
	for _, tag := range slices.Sorted(maps.Keys(asks)) {
		description := view.Count(asks[tag], "ask")
		if routed[tag] {
			description = "matched by a route"
		}
		if !strings.HasPrefix(tag, "-") {
			all = append(all, Describe(tag, description))
		}
	}
	return all
}

// people returns the names of the people who may answer.
func (c *Line) people(ctx context.Context) (all []Candidate) {
	client, done, err := c.source.Client(c)
	if err != nil {
		return nil
	}
	defer done()
	people, err := client.People(ctx)
	for _, p := range people {
		if err == nil && !strings.HasPrefix(p.Name, "-") {
			all = append(all, Describe(p.Name, p.Email))
		}
	}
	return all
}

// grants returns the ids of the active standing approvals.
func (c *Line) grants(ctx context.Context) (all []Candidate) {
	client, done, err := c.source.Client(c)
	if err != nil {
		return nil
	}
	defer done()
	grants, err := c.source.Grants(ctx, client, false)
	for _, g := range grants {
		if err == nil && wholeID().MatchString(g.ID) {
			all = append(all, Describe(g.ID, g.Agent+": "+g.ToolName))
		}
	}
	return all
}

// tokens returns the ids of the tokens that are still valid.
func (c *Line) tokens(ctx context.Context) (all []Candidate) {
	client, done, err := c.source.Client(c)
	if err != nil {
		return nil
	}
	defer done()
	tokens, err := client.Tokens(ctx)
	for _, t := range tokens {
		expired := !t.ExpiresAt.IsZero() && !time.Now().Before(t.ExpiresAt)
		if err == nil && wholeID().MatchString(t.ID) && t.RevokedAt.IsZero() && !expired {
			all = append(all, Describe(t.ID, string(t.Kind)+" "+t.Name+", "+c.source.TokenUse(t)))
		}
	}
	return all
}

// endpoints returns the ids of webhook endpoints.
func (c *Line) endpoints(ctx context.Context) (all []Candidate) {
	client, done, err := c.source.Client(c)
	if err != nil {
		return nil
	}
	defer done()
	endpoints, err := c.source.Endpoints(ctx, client, askback.EndpointQuery{})
	for _, e := range endpoints {
		if err == nil && wholeID().MatchString(e.ID) {
			all = append(all, Describe(e.ID, string(e.Status)+" "+cmp.Or(e.Owner, "(all others)")+", "+e.Origin))
		}
	}
	return all
}

// deliveries returns the ids of the deliveries that were given up.
func (c *Line) deliveries(ctx context.Context) (all []Candidate) {
	client, done, err := c.source.Client(c)
	if err != nil {
		return nil
	}
	defer done()
	page, err := client.Deliveries(ctx, askback.DeliveryQuery{Status: askback.DeliveryFailed, Limit: askback.MaxLimit})
	for _, d := range page.Items {
		if err == nil && wholeID().MatchString(d.ID) {
			all = append(all, Describe(d.ID, view.EventWords(d.Event)+", to "+d.Target))
		}
	}
	return all
}

// contacts returns the ids of the chats and browsers that get asks.
func (c *Line) contacts(ctx context.Context) (all []Candidate) {
	client, done, err := c.source.Client(c)
	if err != nil {
		return nil
	}
	defer done()
	contacts, err := client.Contacts(ctx)
	for _, one := range contacts {
		if err == nil && wholeID().MatchString(one.ID) {
			all = append(all, Describe(one.ID, one.Channel+" "+one.Person+", "+one.Label))
		}
	}
	return all
}

// groups returns the names of the groups.
func (c *Line) groups(ctx context.Context) (all []Candidate) {
	client, done, err := c.source.Client(c)
	if err != nil {
		return nil
	}
	defer done()
	groups, err := client.Groups(ctx)
	for _, g := range groups {
		if err == nil && !strings.HasPrefix(g.Name, "-") {
			all = append(all, Describe(g.Name, strings.Join(g.People, ", ")))
		}
	}
	return all
}
