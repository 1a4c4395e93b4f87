package lifecycle_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/lifecycle"
)

// effectOf returns the effects of one type.
func effectOf[E lifecycle.Effect](m transition) []E {
	var out []E
	for _, f := range m.effects {
		if e, ok := f.(E); ok {
			out = append(out, e)
		}
	}
	return out
}

// The approval of an ask by a grant has the effect UseGrant. The consumption of this approval has the effect
// RequireGrant.
func TestApprovalByGrantUsesAndRequiresTheGrant(t *testing.T) {
	forEachTransition(t, func(t *rapid.T, m transition) {
		used, required := effectOf[lifecycle.UseGrant](m), effectOf[lifecycle.RequireGrant](m)
		_, covered := m.event.(lifecycle.Covered)
		_, consumed := m.event.(lifecycle.Consumed)
		byPolicy := m.after.Ask.Outcome != nil && m.after.Ask.Outcome.Actor.Kind == askback.ActorPolicy
		if want := covered && !m.unchanged; len(used) > 1 || (len(used) == 1) != want ||
			want && used[0].ID != m.after.Ask.Outcome.GrantID {
			t.Errorf("%+v: got effects %+v, want a grant used: %v", m.event, m.effects, want)
		}
		if want := consumed && !m.unchanged && byPolicy; (len(required) == 1) != want ||
			want && required[0].ID != m.after.Ask.Outcome.GrantID {
			t.Errorf("%+v: got effects %+v, want a grant required: %v", m.event, m.effects, want)
		}
	})
}

// An ask in a session with a record has two NotifySession effects: one effect when the ask is opened, and one
// effect when it is settled.
func TestSessionIsNotifiedOfOpenAndClosedAsk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var got []lifecycle.Input
		run := anyRun(t)
		for _, m := range run {
			for _, f := range effectOf[lifecycle.NotifySession](m) {
				if got = append(got, f.Input); f.ID != m.after.Ask.SessionID || f.MustExist != (m.before.Ask.ID == "") {
					t.Errorf("got %+v, want session %s, which must exist only for a new ask", f, m.after.Ask.SessionID)
				}
			}
		}
		var want []lifecycle.Input
		last := run[len(run)-1].after
		if a := last.Ask; !last.OwnSession() {
			want = append(want, lifecycle.AskOpened{ID: a.ID, At: a.CreatedAt})
			if o := a.Outcome; o != nil {
				fails := o.Status == askback.Expired && a.OnTimeout == askback.OnTimeoutFail
				want = append(want, lifecycle.AskClosed{ID: a.ID, Fails: fails, At: o.At})
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("want -, got +:\n%s", diff)
		}
	})
}
