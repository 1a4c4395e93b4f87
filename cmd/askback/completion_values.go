package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
)

// completers returns the candidates for each kind of value that a tag complete may have,
// except file, which the shells complete. After an error, they return none.
var completers = map[string]func(*completion, context.Context) []candidate{
	"pending": (*completion).pending, "ask": (*completion).asks, "answer": (*completion).answers, "session": (*completion).sessions,
	"agent": (*completion).agents, "person": (*completion).people, "tag": (*completion).tags, "grant": (*completion).grants, "token": (*completion).tokens,
	"endpoint": (*completion).endpoints, "delivery": (*completion).deliveries, "contact": (*completion).contacts, "hosted": (*completion).hosted, "group": (*completion).groups,
	"client": func(*completion, context.Context) (all []candidate) {
		for _, name := range agentNames() {
			all = append(all, candidate{value: name})
		}
		return all
	},
}

// maxDescription is the maximum width of a description, in columns.
const maxDescription = 60

// describe returns a candidate whose description is safe for a terminal.
func describe(value, description string) candidate {
	return candidate{value, fit(safetext.Line(description), maxDescription)}
}

// client returns a client for the server that the command would use, and a function that
// closes it. It does not connect to a database, and writes nothing.
func (c *completion) client() (askback.Client, func(), error) {
	all := *c.all
	all.DB, all.Config = c.path("db", all.DB), c.path("config", all.Config)
	file, err := all.settings()
	if err != nil {
		return nil, nil, err
	}
	database, err := all.database(file)
	if err == nil {
		_, err = os.Stat(filepath.Dir(database)) // otherwise, options would create it
	}
	if err != nil {
		return nil, nil, err
	}
	o, err := all.options(file, "")
	if err != nil {
		return nil, nil, err
	}
	o.ServerOnly = true
	conn, err := connector(o)
	if err != nil {
		return nil, nil, err
	}
	return conn.User, func() { _ = conn.Close() }, nil
}

// each calls do for the asks of a status, or returns an error.
func (c *completion) each(ctx context.Context, status askback.Status, do func(askback.Ask)) error {
	client, done, err := c.client()
	if err != nil {
		return err
	}
	defer done()
	return lookup{client: client}.each(ctx, status, do)
}

// hosted returns the hosted agents that can be run.
func (c *completion) hosted(ctx context.Context) (all []candidate) {
	client, done, err := c.client()
	if err != nil {
		return nil
	}
	defer done()
	agents, err := client.HostedAgents(ctx)
	if err != nil {
		return nil
	}
	for _, a := range agents {
		all = append(all, describe(a.Name, a.Description))
	}
	return all
}

// deciding reports whether a flag on the line decides calls.
func (c *completion) deciding() bool {
	return c.given["approve"] != nil || c.given["deny"] != nil || c.given["approve-all"] != nil
}

// pending returns the ids of the pending asks, newest first. If the line decides calls, it
// returns only those of calls that are not on the line yet.
func (c *completion) pending(ctx context.Context) (all []candidate) {
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
		all = append(all, candidate{latest, "The newest open ask."})
	}
	return all
}

// askCandidate describes an ask by its headline and its agent. The server may be any
// program, so the id is checked.
func askCandidate(a askback.Ask) candidate {
	if !wholeID.MatchString(a.ID) {
		return candidate{}
	}
	v := view.Brief(a)
	text := v.Headline().String() + ", " + v.From().String()
	if isDangerous(v) {
		text = "DANGEROUS " + text
	}
	return describe(a.ID, text)
}

// recent returns the newest asks of any status, without those that come after a page.
func (c *completion) recent(ctx context.Context) []askback.Ask {
	client, done, err := c.client()
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

// asks returns the ids of the newest asks, with how they ended.
func (c *completion) asks(ctx context.Context) (all []candidate) {
	for _, a := range c.recent(ctx) {
		found := askCandidate(a)
		if a.Settled() {
			found = describe(found.value, string(a.Status)+", "+found.description)
		}
		all = append(all, found)
	}
	return all
}

// answers returns the keys of the options of the ask on the line, with their labels, or the
// ids of more calls. The label is text of an agent: it is not put on the command line.
func (c *completion) answers(ctx context.Context) (all []candidate) {
	if c.deciding() {
		return c.pending(ctx)
	}
	client, done, err := c.client()
	if err != nil {
		return nil
	}
	defer done()
	ask, err := lookup{client: client, verb: "answer", decides: true}.get(ctx, c.args[0])
	if err != nil {
		return nil
	}
	for i, q := range view.Of(ask).Questions {
		question := ""
		if len(ask.Questions) > 1 {
			question = fmt.Sprintf("q%d=", i+1)
		}
		for _, choice := range q.Choices {
			all = append(all, describe(question+choice.Key, choice.Label.String()))
		}
	}
	return all
}

// sessions returns the sessions that have open calls.
func (c *completion) sessions(ctx context.Context) (all []candidate) {
	calls, agent := map[string]int{}, map[string]string{}
	err := c.each(ctx, askback.Pending, func(a askback.Ask) {
		if a.Kind == askback.Confirm && wholeID.MatchString(a.SessionID) {
			calls[a.SessionID]++
			agent[a.SessionID] = a.Agent
		}
	})
	if err != nil {
		return nil
	}
	for _, id := range slices.Sorted(maps.Keys(calls)) {
		all = append(all, describe(id, agent[id]+": "+view.Count(calls[id], "open call")))
	}
	return all
}

// agents returns the names of the agents that asked last, as people read them.
func (c *completion) agents(ctx context.Context) []candidate {
	names := map[string]int{}
	for _, a := range c.recent(ctx) {
		names[a.Agent]++
	}
	var all []candidate
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !strings.HasPrefix(name, "-") { // it would be read as a flag
			all = append(all, describe(name, view.Count(names[name], "ask")))
		}
	}
	return all
}

// tags returns the tags that routes match, and those of the newest asks.
func (c *completion) tags(ctx context.Context) (all []candidate) {
	asks := map[string]int{}
	for _, a := range c.recent(ctx) {
		for _, tag := range a.Tags {
			asks[tag]++
		}
	}
	routed := map[string]bool{}
	if client, done, err := c.client(); err == nil {
		defer done()
		list, _ := client.Routes(ctx) // without them, the tags of asks remain
		for _, r := range list.Items {
			for _, tag := range r.Match.Tags {
				routed[tag] = true
				asks[tag] += 0 // it is a candidate without asks, too
			}
		}
	}
	for _, tag := range slices.Sorted(maps.Keys(asks)) {
		description := view.Count(asks[tag], "ask")
		if routed[tag] {
			description = "A route matches it."
		}
		if !strings.HasPrefix(tag, "-") {
			all = append(all, describe(tag, description))
		}
	}
	return all
}

// people returns the names of the people who may answer.
func (c *completion) people(ctx context.Context) (all []candidate) {
	client, done, err := c.client()
	if err != nil {
		return nil
	}
	defer done()
	people, err := client.People(ctx)
	for _, p := range people {
		if err == nil && !strings.HasPrefix(p.Name, "-") {
			all = append(all, describe(p.Name, p.Email))
		}
	}
	return all
}

// grants returns the ids of the active standing approvals.
func (c *completion) grants(ctx context.Context) (all []candidate) {
	client, done, err := c.client()
	if err != nil {
		return nil
	}
	defer done()
	grants, err := allGrants(ctx, client, false)
	for _, g := range grants {
		if err == nil && wholeID.MatchString(g.ID) {
			all = append(all, describe(g.ID, g.Agent+": "+g.ToolName))
		}
	}
	return all
}

// tokens returns the ids of the tokens that are still valid.
func (c *completion) tokens(ctx context.Context) (all []candidate) {
	client, done, err := c.client()
	if err != nil {
		return nil
	}
	defer done()
	tokens, err := client.Tokens(ctx)
	for _, t := range tokens {
		expired := !t.ExpiresAt.IsZero() && !time.Now().Before(t.ExpiresAt)
		if err == nil && wholeID.MatchString(t.ID) && t.RevokedAt.IsZero() && !expired {
			all = append(all, describe(t.ID, string(t.Kind)+" "+t.Name+", "+usedBy(t)))
		}
	}
	return all
}

// endpoints returns the ids of the receivers of webhooks.
func (c *completion) endpoints(ctx context.Context) (all []candidate) {
	client, done, err := c.client()
	if err != nil {
		return nil
	}
	defer done()
	endpoints, err := allEndpoints(ctx, client, askback.EndpointQuery{})
	for _, e := range endpoints {
		if err == nil && wholeID.MatchString(e.ID) {
			all = append(all, describe(e.ID, string(e.Status)+" "+endpointOwner(e)+", "+e.Origin))
		}
	}
	return all
}

// deliveries returns the ids of the deliveries that were given up.
func (c *completion) deliveries(ctx context.Context) (all []candidate) {
	client, done, err := c.client()
	if err != nil {
		return nil
	}
	defer done()
	page, err := client.Deliveries(ctx, askback.DeliveryQuery{Status: askback.DeliveryFailed, Limit: askback.MaxLimit})
	for _, d := range page.Items {
		if err == nil && wholeID.MatchString(d.ID) {
			all = append(all, describe(d.ID, string(d.Event)+" to "+d.Target))
		}
	}
	return all
}

// contacts returns the ids of the chats and browsers that get asks.
func (c *completion) contacts(ctx context.Context) (all []candidate) {
	client, done, err := c.client()
	if err != nil {
		return nil
	}
	defer done()
	contacts, err := client.Contacts(ctx)
	for _, one := range contacts {
		if err == nil && wholeID.MatchString(one.ID) {
			all = append(all, describe(one.ID, one.Channel+" "+one.Person+", "+one.Label))
		}
	}
	return all
}
