package conformance

import (
	"encoding/json"

	"github.com/askback/askback"
)

// searches tests the full-text search of settled asks (E6).
func searches(f fixture) {
	agent, ana, ben := f.agent(), f.person("ana"), f.person("ben")
	first := database()
	first.Title, first.Tags = "Ärger with the orders table", []string{"prod-eu"}
	first.Context = json.RawMessage(`{"ticket":{"number":4711,"note":"first line\nsecond"}}`)
	call := confirmation()
	call.Agent = "painter"
	call.Confirmation.ToolName, call.Confirmation.Server = "db.migrate", "warehouse"
	call.Confirmation.Input = json.RawMessage(`{"sql":"drop table orders_2019"}`)
	private := database()
	private.To, private.Title = []string{"ben"}, "A secret table"
	open := database()
	open.Title = "An open table"
	answered, denied, secret := f.ask(agent, first), f.ask(agent, call), f.ask(agent, private)
	f.ask(agent, open)
	answered = f.noError(ana.Answer(f.ctx(), answered.ID, askback.Answer{
		Answers: []askback.QuestionAnswer{
			{ID: answered.Questions[0].ID, Selected: []string{"SQLite"}, Notes: "Faster locally."},
		}, Comment: "Until March.",
	}))
	denied = f.noError(ben.Answer(f.ctx(), denied.ID,
		askback.Answer{Decision: askback.Deny, Reason: "not on a Monday"}))
	secret = f.noError(ben.Answer(f.ctx(), secret.ID, askback.Choose("SQLite")))
	one, two, both := []askback.Ask{answered}, []askback.Ask{denied}, []askback.Ask{answered, denied}
	for text, want := range map[string][]askback.Ask{
		"ärger": one, "PROD": one, "4711": one, "second": one, "faster march": one, "eu": one,
		"db.migrate": two, "warehouse": two, "painter": two, "monday": two, `"drop table"`: two, "ben": two,
		"table": both, "TAB": both, "orders tab": both, `"tab"`: nil, "tab orders": nil,
		"secret": nil, "open": nil, `"table drop"`: nil, "NOT": both, "drop OR march": nil,
		"!": nil, `"`: nil, `tab*`: nil, `title:table`: nil, `NEAR(orders table)`: nil, "')--": nil,
	} {
		for _, limit := range []int{0, 1} {
			q := askback.Query{Status: askback.SettledStatus, Search: text, Limit: limit}
			f.wantIDs(text, f.list(ana, q, nothing), want)
		}
	}
	f.wantIDs("the recipient", f.list(ben, askback.Query{Status: askback.SettledStatus, Search: "secret"}, nothing),
		[]askback.Ask{secret})
	f.wantIDs("the owner", f.list(agent, askback.Query{Status: askback.Answered, Search: "table"}, nothing),
		[]askback.Ask{answered, denied, secret})
	f.wantIDs("another agent",
		f.list(f.as(askback.Agent, "other"), askback.Query{Status: askback.SettledStatus, Search: "table"}, nothing),
		nil)
	for name, q := range map[string]askback.Query{
		"decision": {Status: askback.Answered, By: "ana"},
		"agent":    {Status: askback.SettledStatus, Agent: answered.Agent},
		"session":  {Status: askback.SettledStatus, SessionID: answered.SessionID},
		"by":       {Status: askback.SettledStatus, By: "ana"},
		"tag":      {Status: askback.SettledStatus, Tag: "prod-eu"},
		"until":    {Status: askback.SettledStatus, Until: denied.Outcome.At.Add(1), By: "ana"},
	} {
		q.Search = "table"
		f.wantIDs("table and "+name, f.list(ana, q, nothing), one)
	}
}
