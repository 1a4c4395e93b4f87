package conformance

import (
	"fmt"
	"slices"
	"time"

	"github.com/askback/askback"
)

var listing = []testCase{
	{"ListOrderDependsOnStatus", listOrder},      // wire.md §3
	{"PagesAreCompleteWithoutDuplicates", pages}, // wire.md §2
	{"ListContainsVisibleAsks", listVisibility},  // wire.md §3
	{"ListByKeyReturnsOwnAsk", listByKey},
	{"FiltersSelectAsks", filters}, // wire.md §3
	{"FiltersSelectSettledAsks", settledFilters},
	{"SearchFindsWordsOfSettledAsks", searches},
}

// list returns the items of all pages. It calls between before each page except the first.
func (f fixture) list(client askback.Asks, q askback.Query, between func()) []askback.Ask {
	f.Helper()
	var all []askback.Ask
	for range 1000 {
		page, err := client.List(f.ctx(), q)
		if err != nil {
			f.Fatalf("list: %v", err)
		}
		if q.Limit > 0 && len(page.Items) > q.Limit {
			f.Fatalf("got %d asks on a page, want at most %d", len(page.Items), q.Limit)
		}
		all = append(all, page.Items...)
		if page.NextCursor == "" {
			return all
		}
		if len(page.Items) == 0 {
			f.Fatal("got an empty page that is not the last one")
		}
		q.Cursor = page.NextCursor
		between()
	}
	f.Fatal("the list does not end")
	return nil
}

func nothing() {}

func ids(asks []askback.Ask) []string {
	out := make([]string, len(asks))
	for i, a := range asks {
		out[i] = a.ID
	}
	return out
}

// wantIDs requires the asks in got and want to be the same, in any order.
func (f fixture) wantIDs(what string, got, want []askback.Ask) {
	f.Helper()
	if g, w := slices.Sorted(slices.Values(ids(got))), slices.Sorted(slices.Values(ids(want))); !slices.Equal(g, w) {
		f.Errorf("%s: got asks  %v\nwant asks %v", what, g, w)
	}
}

// wantOrder requires the asks in got and want to be the same, in the same order.
func (f fixture) wantOrder(what string, got, want []askback.Ask) {
	f.Helper()
	if g, w := ids(got), ids(want); !slices.Equal(g, w) {
		f.Errorf("%s: got asks  %v\nwant asks %v", what, g, w)
	}
}

// askSeveral makes n asks. If the subject is a [Clock], it advances the clock after every third ask, so that
// some asks may have the same time. A list nevertheless has the asks in the order of creation.
func (f fixture) askSeveral(client askback.Asker, n int) []askback.Ask {
	f.Helper()
	asks := make([]askback.Ask, n)
	for i := range asks {
		q := database()
		q.Title = fmt.Sprint("ask ", i)
		asks[i] = f.ask(client, q)
		if clock, ok := f.subject.(Clock); ok && i%3 == 0 {
			clock.Advance(time.Millisecond)
		}
	}
	return asks
}

func listOrder(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	all := f.askSeveral(agent, 12)
	var settled []askback.Ask // the ask that was settled last is first
	for i, end := range []func(id string) (askback.Ask, error){
		func(id string) (askback.Ask, error) { return ana.Answer(f.ctx(), id, askback.Choose("SQLite")) },
		func(id string) (askback.Ask, error) { return ana.Decline(f.ctx(), id, "") },
		func(id string) (askback.Ask, error) { return agent.Cancel(f.ctx(), id, "") },
	} {
		for _, n := range []int{1, 2, 0} {
			if clock, ok := f.subject.(Clock); ok {
				clock.Advance(time.Millisecond)
			}
			all[n*4+i] = f.noError(end(all[n*4+i].ID))
			settled = slices.Insert(settled, 0, all[n*4+i])
		}
	}
	for _, client := range []askback.Client{agent, ana} {
		for i, status := range []askback.Status{
			askback.Answered, askback.Declined, askback.Cancelled, askback.Pending, askback.Expired,
		} {
			var want []askback.Ask
			if i < 4 {
				want = []askback.Ask{all[i], all[4+i], all[8+i]}
			}
			got := f.list(client, askback.Query{Status: status}, nothing)
			f.wantIDs(string(status), got, want)
			if status == askback.Pending {
				f.wantOrder("pending asks", got, want)
			} else {
				f.wantOrder(string(status)+" asks", got,
					slices.DeleteFunc(slices.Clone(settled), func(a askback.Ask) bool { return a.Status != status }))
			}
		}
		for _, limit := range []int{0, 1, 2} {
			f.wantOrder("settled asks",
				f.list(client, askback.Query{Status: askback.SettledStatus, Limit: limit}, nothing), settled)
			f.wantOrder("found asks",
				f.list(client, askback.Query{Status: askback.SettledStatus, Search: "database", Limit: limit}, nothing),
				settled)
		}
		got := f.list(client, askback.Query{Status: askback.AnyStatus}, nothing)
		newest := slices.Clone(all)
		slices.Reverse(newest)
		f.wantOrder("all asks", got, newest)
		for _, a := range got {
			f.wantSame(a, all[slices.Index(ids(all), a.ID)])
		}
		f.wantIDs("unsaid", f.list(client, askback.Query{}, nothing), []askback.Ask{all[3], all[7], all[11]})
	}
}

func pages(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	there := f.askSeveral(agent, 25)
	for _, q := range []askback.Query{{Limit: 7}, {Limit: 4, Status: askback.AnyStatus}} {
		for _, client := range []askback.Client{ana, agent} {
			before := slices.Clone(there)
			var during []askback.Ask
			got := f.list(client, q, func() { during = append(during, f.ask(agent, database())) })
			there = append(there, during...)
			if len(during) < 3 {
				f.Errorf("%+v: got %d asks in %d pages", q, len(got), len(during)+1)
			}
			if twice := slices.Compact(slices.Sorted(slices.Values(ids(got)))); len(twice) != len(got) {
				f.Errorf("%+v: got %d asks, of which %d are different", q, len(got), len(twice))
			}
			late := ids(during)
			f.wantIDs(fmt.Sprintf("%+v", q),
				slices.DeleteFunc(got, func(a askback.Ask) bool { return slices.Contains(late, a.ID) }), before)
		}
	}
	// A full page is the last page if no items follow.
	page, err := ana.List(f.ctx(), askback.Query{Limit: len(there)})
	if err != nil || len(page.Items) != len(there) || page.NextCursor != "" {
		f.Errorf("got %d asks, cursor %q and error %v, want %d and no cursor", len(page.Items), page.NextCursor, err,
			len(there))
	}
}

func listVisibility(f fixture) {
	agent, other := f.agent(), f.as(askback.Agent, "otherbot")
	ana, ben := f.person("ana"), f.person("ben")
	put := func(client askback.Asker, to ...string) askback.Ask {
		q := database()
		q.To, q.Agent = to, "deploybot" // a label is not an identity
		return f.ask(client, q)
	}
	everybody, toAna, toBoth, toBen := put(agent), put(agent, "ana"), put(agent, "ana", "ben"), put(other, "ben")
	for _, status := range []askback.Status{"", askback.AnyStatus} {
		q := askback.Query{Status: status}
		f.wantIDs("deploybot", f.list(agent, q, nothing), []askback.Ask{everybody, toAna, toBoth})
		f.wantIDs("otherbot", f.list(other, q, nothing), []askback.Ask{toBen})
		f.wantIDs("ana", f.list(ana, q, nothing), []askback.Ask{everybody, toAna, toBoth})
		f.wantIDs("ben", f.list(ben, q, nothing), []askback.Ask{everybody, toBoth, toBen})
		f.wantIDs("root", f.list(f.as(askback.Admin, "root"), q, nothing), []askback.Ask{everybody})
		f.wantIDs("a third agent", f.list(f.as(askback.Agent, "ana"), q, nothing), nil)
	}
	// Pages contain only visible asks.
	page, err := ben.List(f.ctx(), askback.Query{Limit: 2})
	if err != nil || len(page.Items) != 2 || page.NextCursor == "" {
		f.Errorf("got %d asks, cursor %q and error %v, want two and a cursor", len(page.Items), page.NextCursor, err)
	}
}

func filters(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	put := func(label, session string, to ...string) askback.Ask {
		q := database()
		q.Agent, q.SessionKey, q.To = label, session, to
		return f.ask(agent, q)
	}
	a, b, c, d := put("",
		"one"), put("painter", "one", "ana"), put("painter", "two", "ana", "ben"), put("", "two", "ana")
	b = f.noError(ana.Answer(f.ctx(), b.ID, askback.Choose("SQLite")))
	for _, client := range []askback.Client{agent, ana} {
		for name, tc := range map[string]struct {
			q    askback.Query
			want []askback.Ask
		}{
			"agent":           {askback.Query{Agent: "painter"}, []askback.Ask{c}},
			"agent, all":      {askback.Query{Agent: "painter", Status: askback.AnyStatus}, []askback.Ask{b, c}},
			"agent, answered": {askback.Query{Agent: "painter", Status: askback.Answered}, []askback.Ask{b}},
			"its own name":    {askback.Query{Agent: "deploybot"}, []askback.Ask{a, d}},
			"unknown agent":   {askback.Query{Agent: "unknown"}, nil},
			"session":         {askback.Query{SessionID: a.SessionID}, []askback.Ask{a}},
			"session, all": {
				askback.Query{SessionID: a.SessionID, Status: askback.AnyStatus}, []askback.Ask{a, b},
			},
			"session and agent": {askback.Query{SessionID: c.SessionID, Agent: "painter"}, []askback.Ask{c}},
			"to":                {askback.Query{To: "ben"}, []askback.Ask{a, c}},
			"to, all":           {askback.Query{To: "ana", Status: askback.AnyStatus}, []askback.Ask{a, b, c, d}},
			"no recipient":      {askback.Query{To: "carl"}, []askback.Ask{a}},
		} {
			for _, limit := range []int{0, 1} {
				tc.q.Limit = limit
				f.wantIDs(name, f.list(client, tc.q, nothing), tc.want)
			}
		}
	}
}

// settledFilters tests the filters of the history (E6).
func settledFilters(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	open, answered, declined := f.ask(agent, database()), f.ask(agent, database()), f.ask(agent, database())
	tagged := confirmation()
	tagged.Tags, tagged.Confirmation.ToolName = []string{"prod", "eu"}, "db.migrate"
	approved, denied := f.ask(agent, tagged), f.ask(agent, confirmation())
	answered = f.noError(ana.Answer(f.ctx(), answered.ID, askback.Choose("SQLite")))
	declined = f.noError(f.person("ben").Decline(f.ctx(), declined.ID, "no"))
	approved = f.noError(ana.Answer(f.ctx(), approved.ID, askback.Answer{Decision: askback.Approve}))
	denied = f.noError(ana.Answer(f.ctx(), denied.ID, askback.Answer{Decision: askback.Deny}))
	settled := []askback.Ask{answered, declined, approved, denied}
	var later, earlier []askback.Ask
	for _, a := range settled {
		if a.Outcome.At.Before(declined.Outcome.At) {
			earlier = append(earlier, a)
		} else {
			later = append(later, a)
		}
	}
	for name, tc := range map[string]struct {
		q    askback.Query
		want []askback.Ask
	}{
		"settled":       {askback.Query{}, settled},
		"by":            {askback.Query{By: "ben"}, []askback.Ask{declined}},
		"approved":      {askback.Query{Decision: askback.Approve}, []askback.Ask{approved}},
		"denied":        {askback.Query{Decision: askback.Deny, By: "ana"}, []askback.Ask{denied}},
		"tool":          {askback.Query{Tool: "db.migrate"}, []askback.Ask{approved}},
		"tag":           {askback.Query{Tag: "eu"}, []askback.Ask{approved}},
		"tag and by":    {askback.Query{Tag: "eu", By: "ben"}, nil},
		"since":         {askback.Query{Since: declined.Outcome.At}, later},
		"until":         {askback.Query{Until: declined.Outcome.At}, earlier},
		"since the end": {askback.Query{Since: denied.Outcome.At.Add(time.Hour)}, nil},
	} {
		tc.q.Status = askback.SettledStatus
		for _, limit := range []int{0, 1} {
			tc.q.Limit = limit
			f.wantIDs(name, f.list(ana, tc.q, nothing), tc.want)
		}
	}
	f.wantIDs("pending since", f.list(ana, askback.Query{Since: open.CreatedAt}, nothing), []askback.Ask{open})
	_, err := ana.List(f.ctx(), askback.Query{Decision: "yes"})
	f.wantInvalid(err, "/decision")
	_, err = ana.List(f.ctx(), askback.Query{Since: open.CreatedAt, Until: open.CreatedAt.Add(-time.Hour)})
	f.wantInvalid(err, "/until")
}

func listByKey(f fixture) {
	agent, other, ana := f.agent(), f.as(askback.Agent, "other"), f.person("ana")
	keyed := database()
	keyed.Key = "deploy-17"
	f.ask(agent, confirmation())
	id := f.ask(agent, keyed).ID
	if _, err := ana.Answer(f.ctx(), id, askback.Choose("SQLite")); err != nil {
		f.Fatal(err)
	}
	page, err := agent.List(f.ctx(), askback.Query{Key: "deploy-17"})
	if err != nil || len(page.Items) != 1 || page.Items[0].ID != id || !page.Items[0].Settled() {
		f.Errorf("got %s, %v, want only the settled ask %s", text(page), err, id)
	}
	for name, c := range map[string]askback.Client{"another agent": other, "a person": ana} {
		if page, err := c.List(f.ctx(), askback.Query{Key: "deploy-17"}); err != nil || len(page.Items) != 0 {
			f.Errorf("%s: got %s, %v, want an empty page", name, text(page), err)
		}
	}
	if page, err := agent.List(f.ctx(), askback.Query{Key: "deploy-18"}); err != nil || len(page.Items) != 0 {
		f.Errorf("a key without an ask: got %s, %v, want an empty page", text(page), err)
	}
	_, err = agent.List(f.ctx(), askback.Query{Key: "deploy-17", Agent: "agent"})
	f.wantInvalid(err, "/key")
}
