package conformance

import (
	"encoding/json"
	"slices"
	"sync/atomic"
	"time"

	"github.com/askback/askback"
)

var granting = []testCase{
	{"EditedArgumentsHaveTheirOwnDigestAndAreSpentOnce", editing},     // F7
	{"ArgumentsThatMeanTheSameAreNotEdited", editingNothing},          // F7
	{"ApproveAllAnswersWhatFollows", grantedTool},                     // D1, F8
	{"ApproveAllWithoutAScopeCoversTheseArguments", grantedByDefault}, // F8
	{"AGrantCoversItsScopeAndNothingElse", grantedScopes},             // F8
	{"AGrantCoversNobodyElse", grantedOthers},                         // F8
	{"ADangerousCallNeedsAGrantMadeForOne", grantedDanger},            // F8
	{"ARevokedGrantApprovesNothing", revoking},                        // F8
	{"WhatAGrantApprovedRunsOnlyWhileItHolds", hoarding},              // F8
	{"GrantsAreListedWithTheirUses", grantsListed},                    // F8
	{"TheSameApproveAllAgainIsARepeatAndAnotherIsNot", grantRepeated}, // D2
	{"EveryUseOfAGrantIsCounted", grantCounted},                       // F8
}

// call is a confirmation of a tool that is not dangerous.
func toolCall(tool, input string) askback.Request {
	return askback.Request{
		SessionKey:   "run",
		Confirmation: &askback.Confirmation{ToolName: tool, Server: "files", Input: json.RawMessage(input)},
	}
}

func approveAll(scope askback.Scope) askback.Answer {
	return askback.Answer{Decision: askback.ApproveAll, Grant: &askback.GrantRequest{Scope: scope}}
}

// byGrant expects an ask to have been answered by a grant, the moment it was asked.
func (f fixture) byGrant(a askback.Ask, id string) {
	f.Helper()
	switch {
	case !a.Settled():
		f.Errorf("got a pending ask, want one answered by grant %s", id)
	case !a.Outcome.Approved() || a.Outcome.Actor.Kind != askback.ActorPolicy || a.Outcome.GrantID != id || a.Outcome.Channel != "":
		f.Errorf("got outcome %s, want an approval by policy with grant %s", text(a.Outcome), id)
	}
}

// open expects an ask to wait for a person.
func (f fixture) open(a askback.Ask) {
	f.Helper()
	if a.Settled() {
		f.Errorf("got outcome %s, want a pending ask", text(a.Outcome))
	}
}

func editing(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	ask := f.must(agent, removal())
	edited := askback.Answer{Decision: askback.Approve, Input: json.RawMessage(`{ "path": "/var/builds/old", "older_than_days": 90 }`)}
	got := f.done(ana.Answer(f.ctx(), ask.ID, edited))
	if want := `{"path":"/var/builds/old","older_than_days":90}`; string(got.Outcome.Input) != want {
		f.Errorf("got arguments %s, want %s", got.Outcome.Input, want)
	}
	if d := got.Outcome.Digest; d == "" || d == ask.Confirmation.Digest {
		f.Errorf("got digest %q, want one of the edited arguments", d)
	}
	f.done(ana.Answer(f.ctx(), ask.ID, edited)) // a repeat
	_, err := agent.Consume(f.ctx(), ask.ID, ask.Confirmation.Digest)
	f.want(err, askback.ErrDigest)
	f.done(agent.Consume(f.ctx(), ask.ID, got.Outcome.Digest))
	_, err = agent.Consume(f.ctx(), ask.ID, got.Outcome.Digest)
	f.want(err, askback.ErrConsumed)
	// The same arguments, asked about themselves, have the same digest.
	q := removal()
	q.Confirmation.Input = edited.Input
	if same := f.must(agent, q); same.Confirmation.Digest != got.Outcome.Digest {
		f.Errorf("got digest %s, want %s", same.Confirmation.Digest, got.Outcome.Digest)
	}
}

func editingNothing(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	ask := f.must(agent, removal())
	same := askback.Answer{Decision: askback.Approve, Input: json.RawMessage(`{"older_than_days":3e1,"path":"\u002fvar/builds"}`)}
	got := f.done(ana.Answer(f.ctx(), ask.ID, same))
	if got.Outcome.Input != nil || got.Outcome.Digest != ask.Confirmation.Digest {
		f.Errorf("got outcome %s, want the arguments as they were asked about", text(got.Outcome))
	}
}

func grantedTool(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	first := f.must(agent, toolCall("read", `{"path":"/a"}`))
	all := approveAll(askback.ScopeTool)
	all.Reason = "go on"
	got := f.done(ana.Answer(f.ctx(), first.ID, all))
	id := got.Outcome.GrantID
	if !got.Outcome.Approved() || got.Outcome.Actor.Kind != askback.ActorPerson || id == "" {
		f.Fatalf("got outcome %s, want an approval by ana that made a grant", text(got.Outcome))
	}
	next := f.must(agent, toolCall("read", `{"path":"/b"}`))
	f.byGrant(next, id)
	f.same(f.done(agent.Wait(f.ctx(), next.ID)), next)
	f.same(f.done(ana.Get(f.ctx(), next.ID)), next)
	// An approval by a grant is spent like any other.
	f.done(agent.Consume(f.ctx(), next.ID, next.Outcome.Digest))
	_, err := agent.Consume(f.ctx(), next.ID, next.Outcome.Digest)
	f.want(err, askback.ErrConsumed)
	// Whoever comes later learns that the policy was quicker.
	late, err := ana.Answer(f.ctx(), next.ID, askback.Decide(askback.Deny, ""))
	f.want(err, askback.ErrSettled)
	f.byGrant(late, id)
}

// grantedByDefault is the case of a tool whose whole effect is in its text: after "list
// the files" was approved with what follows, "drop the production database" is a question.
func grantedByDefault(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	list := toolCall("confirm_action", `{"action":"List the files"}`)
	first := f.must(agent, list)
	got := f.done(ana.Answer(f.ctx(), first.ID, askback.Decide(askback.ApproveAll, "")))
	f.byGrant(f.must(agent, list), got.Outcome.GrantID)
	f.open(f.must(agent, toolCall("confirm_action", `{"action":"Drop the production database"}`)))
	page, err := ana.Grants(f.ctx(), askback.GrantQuery{})
	if err != nil || len(page.Items) != 1 {
		f.Fatalf("got grants %s, %v, want one", text(page), err)
	}
	g := page.Items[0]
	if g.Scope != askback.ScopeInput || g.Digest != first.Confirmation.Digest || g.AskID != first.ID ||
		string(g.Input) != string(first.Confirmation.Input) || g.ExpiresAt.Sub(g.CreatedAt) != askback.DefaultGrant {
		f.Errorf("got grant %s, want one for the arguments of %s, with them, for 24 hours", text(g), text(first))
	}
}

func grantedScopes(f fixture) {
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
		ask := f.must(agent, toolCall(c.tool, `{"path":"/a"}`))
		f.done(ana.Answer(f.ctx(), ask.ID, approveAll(c.scope)))
		if got := f.must(agent, toolCall(c.tool, `{"path":"/b"}`)); got.Settled() != c.arguments {
			f.Errorf("%s: other arguments are covered: %v, want %v", c.scope, got.Settled(), c.arguments)
		}
		elsewhere.Confirmation.ToolName = c.tool
		if got := f.must(agent, elsewhere); got.Settled() != c.same {
			f.Errorf("%s: another session is covered: %v, want %v", c.scope, got.Settled(), c.same)
		}
	}
	alone := toolCall("move", `{}`)
	alone.SessionKey = ""
	ask := f.must(agent, alone)
	_, err := ana.Answer(f.ctx(), ask.ID, approveAll(askback.ScopeSession))
	f.invalid(err, "/grant/scope")
	f.open(f.done(ana.Get(f.ctx(), ask.ID)))
}

func grantedOthers(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	ask := f.must(agent, toolCall("read", `{"path":"/a"}`))
	f.done(ana.Answer(f.ctx(), ask.ID, approveAll(askback.ScopeTool)))

	f.open(f.must(f.as(askback.Agent, "otherbot"), toolCall("read", `{"path":"/a"}`)))
	named := toolCall("read", `{"path":"/a"}`)
	named.Agent = "deploybot" // a label is no identity
	f.open(f.must(f.as(askback.Agent, "liar"), named))
	labelled := toolCall("read", `{"path":"/a"}`)
	labelled.Agent = "another label"
	f.open(f.must(agent, labelled))
	f.open(f.must(agent, toolCall("delete", `{"path":"/a"}`)))
	server := toolCall("read", `{"path":"/a"}`)
	server.Confirmation.Server = "elsewhere"
	f.open(f.must(agent, server))
	// Ana cannot have approved beforehand what is put to ben alone.
	bens := toolCall("read", `{"path":"/a"}`)
	bens.To = []string{"ben"}
	f.open(f.must(agent, bens))
	f.open(f.must(agent, database()))
}

func grantedDanger(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	danger := toolCall("read", `{"path":"/a"}`)
	danger.Confirmation.Dangerous = true
	ask := f.must(agent, toolCall("read", `{"path":"/a"}`))
	f.done(ana.Answer(f.ctx(), ask.ID, approveAll(askback.ScopeTool)))
	second := f.must(agent, danger)
	f.open(second)
	got := f.done(ana.Answer(f.ctx(), second.ID, approveAll(askback.ScopeTool)))
	f.byGrant(f.must(agent, danger), got.Outcome.GrantID)
}

func revoking(f fixture) {
	agent, ana, ben := f.agent(), f.person("ana"), f.person("ben")
	ask := f.must(agent, toolCall("read", `{"path":"/a"}`))
	id := f.done(ana.Answer(f.ctx(), ask.ID, approveAll(askback.ScopeTool))).Outcome.GrantID
	f.byGrant(f.must(agent, toolCall("read", `{"path":"/a"}`)), id)
	g, err := ben.Revoke(f.ctx(), id)
	if err != nil || g.ID != id || g.RevokedAt.IsZero() || g.Uses != 1 {
		f.Fatalf("got %s, %v, want it revoked after one use", text(g), err)
	}
	again, err := ana.Revoke(f.ctx(), id)
	if err != nil || text(again) != text(g) {
		f.Errorf("revoked again: got %s, %v, want %s", text(again), err, text(g))
	}
	f.open(f.must(agent, toolCall("read", `{"path":"/a"}`)))
	_, err = ana.Revoke(f.ctx(), "grt_00000000000000000000000000")
	f.want(err, askback.ErrNotFound)
	_, err = agent.Revoke(f.ctx(), id)
	f.want(err, askback.ErrForbidden)
	_, err = agent.Grants(f.ctx(), askback.GrantQuery{})
	f.want(err, askback.ErrForbidden)
}

func hoarding(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	first := f.must(agent, toolCall("read", `{"path":"/a"}`))
	first = f.done(ana.Answer(f.ctx(), first.ID, approveAll(askback.ScopeTool)))
	id := first.Outcome.GrantID
	soon, late := f.must(agent, toolCall("read", `{"path":"/b"}`)), f.must(agent, toolCall("read", `{"path":"/c"}`))
	f.byGrant(soon, id)
	f.byGrant(late, id)
	f.done(agent.Consume(f.ctx(), soon.ID, soon.Outcome.Digest))
	if _, err := ana.Revoke(f.ctx(), id); err != nil {
		f.Fatalf("revoke: %v", err)
	}
	_, err := agent.Consume(f.ctx(), late.ID, late.Outcome.Digest)
	f.want(err, askback.ErrNotApproved)
	_, err = agent.Consume(f.ctx(), soon.ID, soon.Outcome.Digest)
	f.want(err, askback.ErrConsumed)
	f.done(agent.Consume(f.ctx(), first.ID, first.Outcome.Digest)) // ana approved this very one
}

func grantsListed(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	var ids []string
	for _, tool := range []string{"a", "b", "c"} {
		ask := f.must(agent, toolCall(tool, `{}`))
		got := f.done(ana.Answer(f.ctx(), ask.ID, askback.Answer{
			Decision: askback.ApproveAll, Grant: &askback.GrantRequest{Scope: askback.ScopeInput, ExpiresIn: time.Hour},
		}))
		ids = append(ids, got.Outcome.GrantID)
	}
	f.must(agent, toolCall("b", `{}`))
	slices.Sort(ids)
	slices.Reverse(ids) // newest first; made in one millisecond, their chance decides
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
		if g.ID != ids[i] || g.By != "ana" || g.Owner != "deploybot" || g.Scope != askback.ScopeInput || g.Uses != uses || g.ExpiresAt.Sub(g.CreatedAt) != time.Hour {
			f.Errorf("got grant %s, want %s of ana for an hour with %d uses", text(g), ids[i], uses)
		}
	}
	if _, err := ana.Revoke(f.ctx(), ids[0]); err != nil {
		f.Fatalf("revoke: %v", err)
	}
	open, err := ana.Grants(f.ctx(), askback.GrantQuery{})
	ended, endedErr := ana.Grants(f.ctx(), askback.GrantQuery{Ended: true})
	if err != nil || endedErr != nil || len(open.Items) != 2 || len(ended.Items) != 1 || ended.Items[0].ID != ids[0] {
		f.Errorf("got %s and %s (%v, %v), want two that hold and one that ended", text(open), text(ended), err, endedErr)
	}
	_, err = ana.Grants(f.ctx(), askback.GrantQuery{Limit: 201})
	f.invalid(err, "/limit")
}

func grantRepeated(f fixture) {
	agent, ana := f.agent(), f.person("ana")
	ask := f.must(agent, toolCall("read", `{}`))
	got := f.done(ana.Answer(f.ctx(), ask.ID, approveAll(askback.ScopeInput)))
	f.same(f.done(ana.Answer(f.ctx(), ask.ID, approveAll(askback.ScopeInput))), got)
	wider, err := ana.Answer(f.ctx(), ask.ID, approveAll(askback.ScopeTool))
	f.settled(wider, err, got)
	once, err := ana.Answer(f.ctx(), ask.ID, askback.Decide(askback.Approve, ""))
	f.settled(once, err, got)
	page, err := ana.Grants(f.ctx(), askback.GrantQuery{})
	if err != nil || len(page.Items) != 1 {
		f.Errorf("got grants %s, %v, want one", text(page), err)
	}
}

func grantCounted(f fixture) {
	const n = 24
	agent, ana := f.agent(), f.person("ana")
	ask := f.must(agent, toolCall("read", `{}`))
	id := f.done(ana.Answer(f.ctx(), ask.ID, approveAll(askback.ScopeTool))).Outcome.GrantID
	var used atomic.Int32
	together(n, func(int) {
		a, err := agent.Ask(f.ctx(), toolCall("read", `{}`))
		if err != nil {
			f.Errorf("ask: %v", err)
			return
		}
		f.byGrant(a, id)
		used.Add(1)
	})
	page, err := ana.Grants(f.ctx(), askback.GrantQuery{})
	if err != nil || len(page.Items) != 1 || page.Items[0].Uses != int(used.Load()) {
		f.Errorf("got %s, %v, want one grant with %d uses", text(page), err, used.Load())
	}
}
