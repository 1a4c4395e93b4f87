package askbacktest

import (
	"encoding/json"
	"slices"
	"sync/atomic"
	"time"

	"github.com/askback/askback"
)

var granting = []fact{
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
func (r room) byGrant(a askback.Ask, id string) {
	r.Helper()
	switch {
	case !a.Settled():
		r.Errorf("got a pending ask, want one answered by grant %s", id)
	case !a.Outcome.Approved() || a.Outcome.By.Kind != askback.ByPolicy || a.Outcome.GrantID != id || a.Outcome.Via != "":
		r.Errorf("got outcome %s, want an approval by policy with grant %s", text(a.Outcome), id)
	}
}

// open expects an ask to wait for a person.
func (r room) open(a askback.Ask) {
	r.Helper()
	if a.Settled() {
		r.Errorf("got outcome %s, want a pending ask", text(a.Outcome))
	}
}

func editing(r room) {
	agent, ana := r.agent(), r.person("ana")
	ask := r.must(agent, removal())
	edited := askback.Answer{Decision: askback.Approve, Input: json.RawMessage(`{ "path": "/var/builds/old", "older_than_days": 90 }`)}
	got := r.done(ana.Answer(r.ctx(), ask.ID, edited))
	if want := `{"path":"/var/builds/old","older_than_days":90}`; string(got.Outcome.Input) != want {
		r.Errorf("got arguments %s, want %s", got.Outcome.Input, want)
	}
	if d := got.Outcome.Digest; d == "" || d == ask.Confirmation.Digest {
		r.Errorf("got digest %q, want one of the edited arguments", d)
	}
	r.done(ana.Answer(r.ctx(), ask.ID, edited)) // a repeat
	_, err := agent.Consume(r.ctx(), ask.ID, ask.Confirmation.Digest)
	r.want(err, askback.ErrDigest)
	r.done(agent.Consume(r.ctx(), ask.ID, got.Outcome.Digest))
	_, err = agent.Consume(r.ctx(), ask.ID, got.Outcome.Digest)
	r.want(err, askback.ErrConsumed)
	// The same arguments, asked about themselves, have the same digest.
	q := removal()
	q.Confirmation.Input = edited.Input
	if same := r.must(agent, q); same.Confirmation.Digest != got.Outcome.Digest {
		r.Errorf("got digest %s, want %s", same.Confirmation.Digest, got.Outcome.Digest)
	}
}

func editingNothing(r room) {
	agent, ana := r.agent(), r.person("ana")
	ask := r.must(agent, removal())
	same := askback.Answer{Decision: askback.Approve, Input: json.RawMessage(`{"older_than_days":3e1,"path":"\u002fvar/builds"}`)}
	got := r.done(ana.Answer(r.ctx(), ask.ID, same))
	if got.Outcome.Input != nil || got.Outcome.Digest != ask.Confirmation.Digest {
		r.Errorf("got outcome %s, want the arguments as they were asked about", text(got.Outcome))
	}
}

func grantedTool(r room) {
	agent, ana := r.agent(), r.person("ana")
	first := r.must(agent, toolCall("read", `{"path":"/a"}`))
	all := approveAll(askback.ScopeTool)
	all.Reason = "go on"
	got := r.done(ana.Answer(r.ctx(), first.ID, all))
	id := got.Outcome.GrantID
	if !got.Outcome.Approved() || got.Outcome.By.Kind != askback.ByPerson || id == "" {
		r.Fatalf("got outcome %s, want an approval by ana that made a grant", text(got.Outcome))
	}
	next := r.must(agent, toolCall("read", `{"path":"/b"}`))
	r.byGrant(next, id)
	r.same(r.done(agent.Wait(r.ctx(), next.ID)), next)
	r.same(r.done(ana.Get(r.ctx(), next.ID)), next)
	// An approval by a grant is spent like any other.
	r.done(agent.Consume(r.ctx(), next.ID, next.Outcome.Digest))
	_, err := agent.Consume(r.ctx(), next.ID, next.Outcome.Digest)
	r.want(err, askback.ErrConsumed)
	// Whoever comes later learns that the policy was quicker.
	late, err := ana.Answer(r.ctx(), next.ID, askback.Decide(askback.Deny, ""))
	r.want(err, askback.ErrSettled)
	r.byGrant(late, id)
}

// grantedByDefault is the case of a tool whose whole effect is in its text: after "list
// the files" was approved with what follows, "drop the production database" is a question.
func grantedByDefault(r room) {
	agent, ana := r.agent(), r.person("ana")
	list := toolCall("confirm_action", `{"action":"List the files"}`)
	first := r.must(agent, list)
	got := r.done(ana.Answer(r.ctx(), first.ID, askback.Decide(askback.ApproveAll, "")))
	r.byGrant(r.must(agent, list), got.Outcome.GrantID)
	r.open(r.must(agent, toolCall("confirm_action", `{"action":"Drop the production database"}`)))
	page, err := ana.Grants(r.ctx(), askback.GrantQuery{})
	if err != nil || len(page.Items) != 1 {
		r.Fatalf("got grants %s, %v, want one", text(page), err)
	}
	g := page.Items[0]
	if g.Scope != askback.ScopeInput || g.Digest != first.Confirmation.Digest || g.AskID != first.ID ||
		string(g.Input) != string(first.Confirmation.Input) || g.ExpiresAt.Sub(g.CreatedAt) != askback.DefaultGrant {
		r.Errorf("got grant %s, want one for the arguments of %s, with them, for 24 hours", text(g), text(first))
	}
}

func grantedScopes(r room) {
	agent, ana := r.agent(), r.person("ana")
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
		ask := r.must(agent, toolCall(c.tool, `{"path":"/a"}`))
		r.done(ana.Answer(r.ctx(), ask.ID, approveAll(c.scope)))
		if got := r.must(agent, toolCall(c.tool, `{"path":"/b"}`)); got.Settled() != c.arguments {
			r.Errorf("%s: other arguments are covered: %v, want %v", c.scope, got.Settled(), c.arguments)
		}
		elsewhere.Confirmation.ToolName = c.tool
		if got := r.must(agent, elsewhere); got.Settled() != c.same {
			r.Errorf("%s: another session is covered: %v, want %v", c.scope, got.Settled(), c.same)
		}
	}
	alone := toolCall("move", `{}`)
	alone.SessionKey = ""
	ask := r.must(agent, alone)
	_, err := ana.Answer(r.ctx(), ask.ID, approveAll(askback.ScopeSession))
	r.invalid(err, "/grant/scope")
	r.open(r.done(ana.Get(r.ctx(), ask.ID)))
}

func grantedOthers(r room) {
	agent, ana := r.agent(), r.person("ana")
	ask := r.must(agent, toolCall("read", `{"path":"/a"}`))
	r.done(ana.Answer(r.ctx(), ask.ID, approveAll(askback.ScopeTool)))

	r.open(r.must(r.as(askback.Agent, "otherbot"), toolCall("read", `{"path":"/a"}`)))
	named := toolCall("read", `{"path":"/a"}`)
	named.Agent = "deploybot" // a label is no identity
	r.open(r.must(r.as(askback.Agent, "liar"), named))
	labelled := toolCall("read", `{"path":"/a"}`)
	labelled.Agent = "another label"
	r.open(r.must(agent, labelled))
	r.open(r.must(agent, toolCall("delete", `{"path":"/a"}`)))
	server := toolCall("read", `{"path":"/a"}`)
	server.Confirmation.Server = "elsewhere"
	r.open(r.must(agent, server))
	// Ana cannot have approved beforehand what is put to ben alone.
	bens := toolCall("read", `{"path":"/a"}`)
	bens.To = []string{"ben"}
	r.open(r.must(agent, bens))
	r.open(r.must(agent, database()))
}

func grantedDanger(r room) {
	agent, ana := r.agent(), r.person("ana")
	danger := toolCall("read", `{"path":"/a"}`)
	danger.Confirmation.Dangerous = true
	ask := r.must(agent, toolCall("read", `{"path":"/a"}`))
	r.done(ana.Answer(r.ctx(), ask.ID, approveAll(askback.ScopeTool)))
	second := r.must(agent, danger)
	r.open(second)
	got := r.done(ana.Answer(r.ctx(), second.ID, approveAll(askback.ScopeTool)))
	r.byGrant(r.must(agent, danger), got.Outcome.GrantID)
}

func revoking(r room) {
	agent, ana, ben := r.agent(), r.person("ana"), r.person("ben")
	ask := r.must(agent, toolCall("read", `{"path":"/a"}`))
	id := r.done(ana.Answer(r.ctx(), ask.ID, approveAll(askback.ScopeTool))).Outcome.GrantID
	r.byGrant(r.must(agent, toolCall("read", `{"path":"/a"}`)), id)
	g, err := ben.Revoke(r.ctx(), id)
	if err != nil || g.ID != id || g.RevokedAt.IsZero() || g.Uses != 1 {
		r.Fatalf("got %s, %v, want it revoked after one use", text(g), err)
	}
	again, err := ana.Revoke(r.ctx(), id)
	if err != nil || text(again) != text(g) {
		r.Errorf("revoked again: got %s, %v, want %s", text(again), err, text(g))
	}
	r.open(r.must(agent, toolCall("read", `{"path":"/a"}`)))
	_, err = ana.Revoke(r.ctx(), "grt_00000000000000000000000000")
	r.want(err, askback.ErrNotFound)
	_, err = agent.Revoke(r.ctx(), id)
	r.want(err, askback.ErrForbidden)
	_, err = agent.Grants(r.ctx(), askback.GrantQuery{})
	r.want(err, askback.ErrForbidden)
}

func hoarding(r room) {
	agent, ana := r.agent(), r.person("ana")
	first := r.must(agent, toolCall("read", `{"path":"/a"}`))
	first = r.done(ana.Answer(r.ctx(), first.ID, approveAll(askback.ScopeTool)))
	id := first.Outcome.GrantID
	soon, late := r.must(agent, toolCall("read", `{"path":"/b"}`)), r.must(agent, toolCall("read", `{"path":"/c"}`))
	r.byGrant(soon, id)
	r.byGrant(late, id)
	r.done(agent.Consume(r.ctx(), soon.ID, soon.Outcome.Digest))
	if _, err := ana.Revoke(r.ctx(), id); err != nil {
		r.Fatalf("revoke: %v", err)
	}
	_, err := agent.Consume(r.ctx(), late.ID, late.Outcome.Digest)
	r.want(err, askback.ErrNotApproved)
	_, err = agent.Consume(r.ctx(), soon.ID, soon.Outcome.Digest)
	r.want(err, askback.ErrConsumed)
	r.done(agent.Consume(r.ctx(), first.ID, first.Outcome.Digest)) // ana approved this very one
}

func grantsListed(r room) {
	agent, ana := r.agent(), r.person("ana")
	var ids []string
	for _, tool := range []string{"a", "b", "c"} {
		ask := r.must(agent, toolCall(tool, `{}`))
		got := r.done(ana.Answer(r.ctx(), ask.ID, askback.Answer{
			Decision: askback.ApproveAll, Grant: &askback.GrantRequest{Scope: askback.ScopeInput, ExpiresIn: time.Hour},
		}))
		ids = append(ids, got.Outcome.GrantID)
	}
	r.must(agent, toolCall("b", `{}`))
	slices.Sort(ids)
	slices.Reverse(ids) // newest first; made in one millisecond, their chance decides
	var all []askback.Grant
	q := askback.GrantQuery{Agent: "deploybot", Limit: 2}
	for {
		page, err := ana.Grants(r.ctx(), q)
		if err != nil {
			r.Fatalf("grants: %v", err)
		}
		all = append(all, page.Items...)
		if q.Cursor = page.NextCursor; q.Cursor == "" {
			break
		}
	}
	if len(all) != 3 {
		r.Fatalf("got %d grants, want 3: %s", len(all), text(all))
	}
	for i, g := range all {
		uses := map[bool]int{true: 1}[g.ToolName == "b"]
		if g.ID != ids[i] || g.By != "ana" || g.Owner != "deploybot" || g.Scope != askback.ScopeInput || g.Uses != uses || g.ExpiresAt.Sub(g.CreatedAt) != time.Hour {
			r.Errorf("got grant %s, want %s of ana for an hour with %d uses", text(g), ids[i], uses)
		}
	}
	if _, err := ana.Revoke(r.ctx(), ids[0]); err != nil {
		r.Fatalf("revoke: %v", err)
	}
	open, err := ana.Grants(r.ctx(), askback.GrantQuery{})
	ended, endedErr := ana.Grants(r.ctx(), askback.GrantQuery{Ended: true})
	if err != nil || endedErr != nil || len(open.Items) != 2 || len(ended.Items) != 1 || ended.Items[0].ID != ids[0] {
		r.Errorf("got %s and %s (%v, %v), want two that hold and one that ended", text(open), text(ended), err, endedErr)
	}
	_, err = ana.Grants(r.ctx(), askback.GrantQuery{Limit: 201})
	r.invalid(err, "/limit")
}

func grantRepeated(r room) {
	agent, ana := r.agent(), r.person("ana")
	ask := r.must(agent, toolCall("read", `{}`))
	got := r.done(ana.Answer(r.ctx(), ask.ID, approveAll(askback.ScopeInput)))
	r.same(r.done(ana.Answer(r.ctx(), ask.ID, approveAll(askback.ScopeInput))), got)
	wider, err := ana.Answer(r.ctx(), ask.ID, approveAll(askback.ScopeTool))
	r.settled(wider, err, got)
	once, err := ana.Answer(r.ctx(), ask.ID, askback.Decide(askback.Approve, ""))
	r.settled(once, err, got)
	page, err := ana.Grants(r.ctx(), askback.GrantQuery{})
	if err != nil || len(page.Items) != 1 {
		r.Errorf("got grants %s, %v, want one", text(page), err)
	}
}

func grantCounted(r room) {
	const n = 24
	agent, ana := r.agent(), r.person("ana")
	ask := r.must(agent, toolCall("read", `{}`))
	id := r.done(ana.Answer(r.ctx(), ask.ID, approveAll(askback.ScopeTool))).Outcome.GrantID
	var used atomic.Int32
	together(n, func(int) {
		a, err := agent.Ask(r.ctx(), toolCall("read", `{}`))
		if err != nil {
			r.Errorf("ask: %v", err)
			return
		}
		r.byGrant(a, id)
		used.Add(1)
	})
	page, err := ana.Grants(r.ctx(), askback.GrantQuery{})
	if err != nil || len(page.Items) != 1 || page.Items[0].Uses != int(used.Load()) {
		r.Errorf("got %s, %v, want one grant with %d uses", text(page), err, used.Load())
	}
}
