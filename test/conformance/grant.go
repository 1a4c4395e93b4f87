package conformance

import (
	"encoding/json"
	"slices"
	"sync/atomic"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
)

var granting = []testCase{
	{"EditedArgumentsHaveTheirOwnDigest", editedArguments},  // F7
	{"EqualArgumentsAreNotAnEdit", equalArguments},          // F7
	{"ApproveAllAnswersLaterAsks", approveAllAnswers},       // D1, F8
	{"DefaultScopeIsTheSameArguments", defaultScope},        // F8
	{"GrantCoversItsScope", grantScopes},                    // F8
	{"GrantIsForOneAgentAndPerson", grantOwners},            // F8
	{"DangerousCallRequiresDangerousGrant", dangerousGrant}, // F8
	{"RevokedGrantApprovesNothing", revokedGrant},           // F8
	{"ConsumeRequiresActiveGrant", consumeAfterRevoke},      // F8
	{"GrantsAreListedWithTheirUses", listGrants},            // F8
	{"RepeatedApproveAllMakesOneGrant", grantRepeated},      // D2
	{"EveryUseOfAGrantIsCounted", countGrantUses},           // F8
}

// toolCall returns a request, in the session with the key "run", to confirm a call that is not dangerous.
func toolCall(tool, input string) askback.Request {
	return askback.Request{
		SessionKey:   "run",
		Confirmation: &askback.Confirmation{ToolName: tool, Server: "files", Input: json.RawMessage(input)},
	}
}

func approveAll(scope askback.Scope) askback.Answer {
	return askback.Answer{Decision: askback.ApproveAll, Grant: &askback.GrantRequest{Scope: scope}}
}

// wantByGrant requires that an ask was approved by the grant with this id.
func (f fixture) wantByGrant(a askback.Ask, id string) {
	f.Helper()
	switch {
	case !a.Settled():
		f.Errorf("got a pending ask, want one answered by grant %s", id)
	case !a.Outcome.Approved() || a.Outcome.Actor.Kind != askback.ActorPolicy || a.Outcome.GrantID != id ||
		a.Outcome.Channel != "":
		f.Errorf("got outcome %s, want an approval by policy with grant %s", text(a.Outcome), id)
	}
}

// wantOpen requires that an ask is pending.
func (f fixture) wantOpen(a askback.Ask) {
	f.Helper()
	if a.Settled() {
		f.Errorf("got outcome %s, want a pending ask", text(a.Outcome))
	}
}

func editedArguments(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	ask := f.ask(agent, confirmation())
	edited := askback.Answer{
		Decision: askback.Approve, Input: json.RawMessage(`{ "path": "/var/builds/old", "older_than_days": 90 }`),
	}
	got := f.noError(ana.Answer(f.ctx(), ask.ID, edited))
	if want := `{"path":"/var/builds/old","older_than_days":90}`; string(got.Outcome.Input) != want {
		f.Errorf("got arguments %s, want %s", got.Outcome.Input, want)
	}
	if d := got.Outcome.Digest; d == "" || d == ask.Confirmation.Digest {
		f.Errorf("got digest %q, want one of the edited arguments", d)
	}
	f.noError(ana.Answer(f.ctx(), ask.ID, edited)) // repeated
	_, err := agent.Consume(f.ctx(), ask.ID, ask.Confirmation.Digest)
	f.wantError(err, askback.ErrDigest)
	f.noError(agent.Consume(f.ctx(), ask.ID, got.Outcome.Digest))
	_, err = agent.Consume(f.ctx(), ask.ID, got.Outcome.Digest)
	f.wantError(err, askback.ErrConsumed)
	// An ask with the same arguments has the same digest.
	q := confirmation()
	q.Confirmation.Input = edited.Input
	if same := f.ask(agent, q); same.Confirmation.Digest != got.Outcome.Digest {
		f.Errorf("got digest %s, want %s", same.Confirmation.Digest, got.Outcome.Digest)
	}
}

func equalArguments(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	ask := f.ask(agent, confirmation())
	same := askback.Answer{
		Decision: askback.Approve, Input: json.RawMessage(`{"older_than_days":3e1,"path":"\u002fvar/builds"}`),
	}
	got := f.noError(ana.Answer(f.ctx(), ask.ID, same))
	if got.Outcome.Input != nil || got.Outcome.Digest != ask.Confirmation.Digest {
		f.Errorf("got outcome %s, want the arguments of the ask", text(got.Outcome))
	}
}

func approveAllAnswers(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	first := f.ask(agent, toolCall("read", `{"path":"/a"}`))
	all := approveAll(askback.ScopeTool)
	all.Reason = "go on"
	got := f.noError(ana.Answer(f.ctx(), first.ID, all))
	id := got.Outcome.GrantID
	if !got.Outcome.Approved() || got.Outcome.Actor.Kind != askback.ActorPerson || id == "" {
		f.Fatalf("got outcome %s, want an approval by ana with a grant", text(got.Outcome))
	}
	next := f.ask(agent, toolCall("read", `{"path":"/b"}`))
	f.wantByGrant(next, id)
	f.wantSame(f.noError(agent.Wait(f.ctx(), next.ID)), next)
	f.wantSame(f.noError(ana.Get(f.ctx(), next.ID)), next)
	// An approval by a grant is consumed like any other.
	f.noError(agent.Consume(f.ctx(), next.ID, next.Outcome.Digest))
	_, err := agent.Consume(f.ctx(), next.ID, next.Outcome.Digest)
	f.wantError(err, askback.ErrConsumed)
	// A later answer is rejected with the outcome that the grant gave.
	late, err := ana.Answer(f.ctx(), next.ID, askback.Decide(askback.Deny, ""))
	f.wantError(err, askback.ErrSettled)
	f.wantByGrant(late, id)
}

// defaultScope tests a grant without a scope for a tool whose effect depends on its input.
// A grant for "List the files" must not cover "Drop the production database".
func defaultScope(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	list := toolCall("confirm_action", `{"action":"List the files"}`)
	first := f.ask(agent, list)
	got := f.noError(ana.Answer(f.ctx(), first.ID, askback.Decide(askback.ApproveAll, "")))
	f.wantByGrant(f.ask(agent, list), got.Outcome.GrantID)
	f.wantOpen(f.ask(agent, toolCall("confirm_action", `{"action":"Drop the production database"}`)))
	page, err := ana.Grants(f.ctx(), askback.GrantQuery{})
	if err != nil || len(page.Items) != 1 {
		f.Fatalf("got grants %s, %v, want one", text(page), err)
	}
	g := page.Items[0]
	if g.Scope != askback.ScopeInput || g.Digest != first.Confirmation.Digest || g.AskID != first.ID ||
		string(g.Input) != string(first.Confirmation.Input) || g.ExpiresAt.Sub(g.CreatedAt) != limits.DefaultGrant {
		f.Errorf("got grant %s, want one for the arguments of %s, for 24 hours", text(g), text(first))
	}
}

func grantScopes(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	elsewhere := toolCall("write", `{"path":"/a"}`)
	elsewhere.SessionKey = "another run"
	for _, c := range []struct {
		scope           askback.Scope
		tool            string
		same, arguments bool
	}{
		{askback.ScopeTool, "list", true, true},
		{askback.ScopeInput, "read", true, false},
		{askback.ScopeSession, "write", false, true},
	} {
		ask := f.ask(agent, toolCall(c.tool, `{"path":"/a"}`))
		f.noError(ana.Answer(f.ctx(), ask.ID, approveAll(c.scope)))
		if got := f.ask(agent, toolCall(c.tool, `{"path":"/b"}`)); got.Settled() != c.arguments {
			f.Errorf("%s: other arguments are covered: %v, want %v", c.scope, got.Settled(), c.arguments)
		}
		elsewhere.Confirmation.ToolName = c.tool
		if got := f.ask(agent, elsewhere); got.Settled() != c.same {
			f.Errorf("%s: another session is covered: %v, want %v", c.scope, got.Settled(), c.same)
		}
	}
	alone := toolCall("move", `{}`)
	alone.SessionKey = ""
	ask := f.ask(agent, alone)
	_, err := ana.Answer(f.ctx(), ask.ID, approveAll(askback.ScopeSession))
	f.wantInvalid(err, "/grant/scope")
	f.wantOpen(f.noError(ana.Get(f.ctx(), ask.ID)))
}

func grantOwners(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	ask := f.ask(agent, toolCall("read", `{"path":"/a"}`))
	f.noError(ana.Answer(f.ctx(), ask.ID, approveAll(askback.ScopeTool)))

	f.wantOpen(f.ask(f.as(askback.Agent, "otherbot"), toolCall("read", `{"path":"/a"}`)))
	named := toolCall("read", `{"path":"/a"}`)
	named.Agent = "deploybot" // a label is not an identity
	f.wantOpen(f.ask(f.as(askback.Agent, "liar"), named))
	labelled := toolCall("read", `{"path":"/a"}`)
	labelled.Agent = "another label"
	f.wantOpen(f.ask(agent, labelled))
	f.wantOpen(f.ask(agent, toolCall("delete", `{"path":"/a"}`)))
	server := toolCall("read", `{"path":"/a"}`)
	server.Confirmation.Server = "elsewhere"
	f.wantOpen(f.ask(agent, server))
	// A grant of ana does not cover an ask to ben only.
	bens := toolCall("read", `{"path":"/a"}`)
	bens.To = []string{"ben"}
	f.wantOpen(f.ask(agent, bens))
	f.wantOpen(f.ask(agent, database()))
}

func dangerousGrant(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	danger := toolCall("read", `{"path":"/a"}`)
	danger.Confirmation.Dangerous = true
	ask := f.ask(agent, toolCall("read", `{"path":"/a"}`))
	f.noError(ana.Answer(f.ctx(), ask.ID, approveAll(askback.ScopeTool)))
	second := f.ask(agent, danger)
	f.wantOpen(second)
	got := f.noError(ana.Answer(f.ctx(), second.ID, approveAll(askback.ScopeTool)))
	f.wantByGrant(f.ask(agent, danger), got.Outcome.GrantID)
}

func revokedGrant(f fixture) {
	agent, ana, ben := f.agent(), f.person("ana"), f.person("ben")
	ask := f.ask(agent, toolCall("read", `{"path":"/a"}`))
	id := f.noError(ana.Answer(f.ctx(), ask.ID, approveAll(askback.ScopeTool))).Outcome.GrantID
	f.wantByGrant(f.ask(agent, toolCall("read", `{"path":"/a"}`)), id)
	g, err := ben.Revoke(f.ctx(), id)
	if err != nil || g.ID != id || g.RevokedAt.IsZero() || g.Uses != 1 {
		f.Fatalf("got %s, %v, want it revoked after one use", text(g), err)
	}
	again, err := ana.Revoke(f.ctx(), id)
	if err != nil || text(again) != text(g) {
		f.Errorf("second revoke: got %s, %v, want %s", text(again), err, text(g))
	}
	f.wantOpen(f.ask(agent, toolCall("read", `{"path":"/a"}`)))
	_, err = ana.Revoke(f.ctx(), "grt_00000000000000000000000000")
	f.wantError(err, askback.ErrNotFound)
	_, err = agent.Revoke(f.ctx(), id)
	f.wantError(err, askback.ErrForbidden)
	_, err = agent.Grants(f.ctx(), askback.GrantQuery{})
	f.wantError(err, askback.ErrForbidden)
}

func consumeAfterRevoke(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	first := f.ask(agent, toolCall("read", `{"path":"/a"}`))
	first = f.noError(ana.Answer(f.ctx(), first.ID, approveAll(askback.ScopeTool)))
	id := first.Outcome.GrantID
	soon, late := f.ask(agent, toolCall("read", `{"path":"/b"}`)), f.ask(agent, toolCall("read", `{"path":"/c"}`))
	f.wantByGrant(soon, id)
	f.wantByGrant(late, id)
	f.noError(agent.Consume(f.ctx(), soon.ID, soon.Outcome.Digest))
	if _, err := ana.Revoke(f.ctx(), id); err != nil {
		f.Fatalf("revoke: %v", err)
	}
	_, err := agent.Consume(f.ctx(), late.ID, late.Outcome.Digest)
	f.wantError(err, askback.ErrNotApproved)
	_, err = agent.Consume(f.ctx(), soon.ID, soon.Outcome.Digest)
	f.wantError(err, askback.ErrConsumed)
	f.noError(agent.Consume(f.ctx(), first.ID, first.Outcome.Digest)) // approved by ana, not by the grant
}

func listGrants(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	var ids []string
	for _, tool := range []string{"a", "b", "c"} {
		ask := f.ask(agent, toolCall(tool, `{}`))
		got := f.noError(ana.Answer(f.ctx(), ask.ID, askback.Answer{
			Decision: askback.ApproveAll, Grant: &askback.GrantRequest{Scope: askback.ScopeInput, ExpiresIn: time.Hour},
		}))
		ids = append(ids, got.Outcome.GrantID)
	}
	f.ask(agent, toolCall("b", `{}`))
	slices.Sort(ids)
	slices.Reverse(ids) // newest first
	var all []askback.Grant
	q := askback.GrantQuery{Agent: "deploybot", Limit: 2}
	for {
		page, err := ana.Grants(f.ctx(), q)
		if err != nil {
			f.Fatalf("grants: %v", err)
		}
		all = append(all, page.Items...)
		if q.Cursor = page.NextCursor; q.Cursor == "" {
			break
		}
	}
	if len(all) != 3 {
		f.Fatalf("got %d grants, want 3: %s", len(all), text(all))
	}
	for i, g := range all {
		uses := map[bool]int{true: 1}[g.ToolName == "b"]
		if g.ID != ids[i] || g.By != "ana" || g.Owner != "deploybot" || g.Scope != askback.ScopeInput ||
			g.Uses != uses || g.ExpiresAt.Sub(g.CreatedAt) != time.Hour {
			f.Errorf("got grant %s, want %s of ana for an hour with %d uses", text(g), ids[i], uses)
		}
	}
	if _, err := ana.Revoke(f.ctx(), ids[0]); err != nil {
		f.Fatalf("revoke: %v", err)
	}
	open, err := ana.Grants(f.ctx(), askback.GrantQuery{})
	ended, endedErr := ana.Grants(f.ctx(), askback.GrantQuery{Ended: true})
	if err != nil || endedErr != nil || len(open.Items) != 2 || len(ended.Items) != 1 || ended.Items[0].ID != ids[0] {
		f.Errorf("got %s and %s (%v, %v), want two active and one ended", text(open), text(ended), err, endedErr)
	}
	_, err = ana.Grants(f.ctx(), askback.GrantQuery{Limit: 201})
	f.wantInvalid(err, "/limit")
}

func grantRepeated(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	ask := f.ask(agent, toolCall("read", `{}`))
	got := f.noError(ana.Answer(f.ctx(), ask.ID, approveAll(askback.ScopeInput)))
	f.wantSame(f.noError(ana.Answer(f.ctx(), ask.ID, approveAll(askback.ScopeInput))), got)
	wider, err := ana.Answer(f.ctx(), ask.ID, approveAll(askback.ScopeTool))
	f.wantSettled(wider, err, got)
	once, err := ana.Answer(f.ctx(), ask.ID, askback.Decide(askback.Approve, ""))
	f.wantSettled(once, err, got)
	page, err := ana.Grants(f.ctx(), askback.GrantQuery{})
	if err != nil || len(page.Items) != 1 {
		f.Errorf("got grants %s, %v, want one", text(page), err)
	}
}

func countGrantUses(f fixture) {
	const n = 24
	agent, ana := f.agent(), f.person("ana")
	ask := f.ask(agent, toolCall("read", `{}`))
	id := f.noError(ana.Answer(f.ctx(), ask.ID, approveAll(askback.ScopeTool))).Outcome.GrantID
	var used atomic.Int32
	concurrently(n, func(int) {
		a, err := agent.Ask(f.ctx(), toolCall("read", `{}`))
		if err != nil {
			f.Errorf("ask: %v", err)
			return
		}
		f.wantByGrant(a, id)
		used.Add(1)
	})
	page, err := ana.Grants(f.ctx(), askback.GrantQuery{})
	if err != nil || len(page.Items) != 1 || page.Items[0].Uses != int(used.Load()) {
		f.Errorf("got %s, %v, want one grant with %d uses", text(page), err, used.Load())
	}
}
