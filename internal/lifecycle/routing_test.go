package lifecycle_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/lifecycle"
)

// receiversIn parses a text such as ", through phone / chat (quiet until 12:00)" at the end of what. It also
// returns the text before this part.
func receiversIn(t *testing.T, what string) (rest string, all []lifecycle.Receiver) {
	t.Helper()
	rest, names, ok := strings.Cut(what, ", through ")
	for name := range strings.SplitSeq(names, " / ") {
		if !ok {
			break
		}
		name, quiet, isQuiet := strings.Cut(strings.TrimSuffix(name, ")"), " (quiet until ")
		to := receiver(name)
		if isQuiet {
			to.NotBefore = clock(t, quiet)
		}
		all = append(all, to)
	}
	return rest, all
}

// followedUp parses ", with cem, through phone / chat".
func followedUp(t *testing.T, at time.Time, what string) lifecycle.Input {
	t.Helper()
	in := lifecycle.FollowedUp{At: at}
	what, in.Receivers = receiversIn(t, what)
	if people, ok := strings.CutPrefix(what, ", with "); ok {
		in.People = strings.Split(people, " / ")
	}
	return in
}

// reassigned parses "it to ben / @oncall, who are ben / cem, through phone".
func reassigned(t *testing.T, at time.Time, by, what string) lifecycle.Input {
	t.Helper()
	in := lifecycle.Reassigned{By: by, Via: askback.ChannelWeb, At: at}
	what, in.Receivers = receiversIn(t, strings.TrimPrefix(what, "it to "))
	to, people, ok := strings.Cut(what, ", who are ")
	if in.To = strings.Split(to, " / "); !ok {
		people = to
	}
	in.People = strings.Split(people, " / ")
	return in
}

// decidedBy parses the part of how that names the approvers. The part is ", decided by ana / ben" or ",
// decided by ana / ben and whom it is escalated to". The second form may end with "escalated to within cem /
// zoe".
func decidedBy(how string, in lifecycle.Asked) lifecycle.Asked {
	for part := range strings.SplitSeq(how, ", ") {
		names, ok := strings.CutPrefix(part, "decided by ")
		if !ok {
			continue
		}
		var within string
		names, within, in.Widens = strings.Cut(names, " and whom it is escalated to")
		in.Ask.Approvers = strings.Split(names, " / ")
		if within != "" {
			in.Within = strings.Split(strings.TrimPrefix(within, " within "), " / ")
		}
	}
	return in
}

// describeApprovers writes to b the people who may decide an ask, if a step changed these people.
func describeApprovers(b *strings.Builder, before, after askback.Ask) {
	if before.ID != "" && !slices.Equal(before.Approvers, after.Approvers) {
		fmt.Fprintf(b, "  may be decided by %s\n", strings.Join(after.Approvers, ", "))
	}
}

// A confirmation is approved when as many different people have approved it as its quorum requires, and not
// earlier. One denial denies the confirmation (F12).
func TestQuorumCountsEachPersonOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := anyAsked().Filter(func(in lifecycle.Asked) bool {
			return in.Ask.Kind == askback.Confirm && in.Ask.OnTimeout == askback.OnTimeoutWait
		}).Draw(t, "asked")
		in.Ask.Quorum = rapid.IntRange(2, 4).Draw(t, "quorum")
		s, _, err := step(lifecycle.AskState{}, in)
		if err != nil {
			t.Fatal(err)
		}
		approved, denied := map[string]bool{}, false
		for i := range 12 {
			by := people.Draw(t, "by")
			via := rapid.SampledFrom(
				[]askback.Channel{askback.ChannelWeb, askback.ChannelSlack, askback.ChannelAPI},
			).Draw(t, "via")
			decision := rapid.SampledFrom(
				[]askback.Decision{askback.Approve, askback.Approve, askback.Approve, askback.Deny},
			).Draw(t, "decision")
			settled := s.Ask.Settled()
			next, _, err := step(s, lifecycle.Answered{
				By: by, Via: via, Answer: askback.Decide(decision, ""), At: nine.Add(time.Duration(i) * time.Minute),
			})
			if err != nil && !errors.Is(err, askback.ErrSettled) {
				t.Fatal(err)
			}
			if !settled {
				denied = decision == askback.Deny
				approved[by] = approved[by] || !denied
			}
			s = next
			want := !denied && len(approved) >= s.Ask.Quorum
			if got := s.Ask.Outcome.Approved(); got != want || s.Ask.Settled() != (want || denied) {
				t.Fatalf("quorum %d: got approved %v, settled %v after approvals of %v and a denial %v", s.Ask.Quorum,
					got, s.Ask.Settled(), approved, denied)
			}
		}
		var names []string
		for _, v := range s.Ask.Votes {
			if slices.Contains(names, v.Name) || len(s.Ask.Votes) > s.Ask.Quorum {
				t.Errorf("got votes %v with quorum %d", s.Ask.Votes, s.Ask.Quorum)
			}
			names = append(names, v.Name)
		}
	})
}

// An approval of several people makes no grant, and covers only the original arguments.
func TestQuorumAllowsNoGrantAndNoOtherArguments(t *testing.T) {
	in := anyAsked().Filter(func(in lifecycle.Asked) bool { return in.Ask.Kind == askback.Confirm }).Example(1)
	in.Ask.Quorum = 2
	s, _, err := step(lifecycle.AskState{}, in)
	if err != nil {
		t.Fatal(err)
	}
	for name, a := range map[string]askback.Answer{
		"/decision": askback.Decide(askback.ApproveAll, ""),
		"/input":    {Decision: askback.Approve, Input: []byte(`{"n":2}`)},
	} {
		_, history, err := step(s, lifecycle.Answered{By: "ana", Answer: a, Digest: edited, GrantID: "grt_1", At: nine})
		invalid, _ := errors.AsType[askback.Invalid](err)
		if len(invalid) != 1 || invalid[0].Pointer != name || len(history) > 0 {
			t.Errorf("%s: got %v, history %v", name, err, history)
		}
	}
}

// Each reminder and each escalation happens once, when it is due, in order (F12).
func TestFollowUpsHappenOnceInOrder(t *testing.T) {
	forEachTransition(t, func(t *rapid.T, m transition) {
		in, ok := m.event.(lifecycle.FollowedUp)
		for i, f := range m.after.Ask.FollowUps {
			before := askback.FollowUp{}
			if i < len(m.before.Ask.FollowUps) {
				before = m.before.Ask.FollowUps[i]
			}
			switch {
			case m.before.Ask.ID == "":
			case !before.DoneAt.IsZero() && !f.DoneAt.Equal(before.DoneAt):
				t.Errorf("%+v happened again at %v", before, f.DoneAt)
			case before.DoneAt.IsZero() && !f.DoneAt.IsZero() && (!ok || in.At.Before(f.At) || m.before.Ask.Settled()):
				t.Errorf("%T at %v: %+v happened", m.event, in.At, f)
			}
			if i > 0 && !f.DoneAt.IsZero() && m.after.Ask.FollowUps[i-1].DoneAt.IsZero() {
				t.Errorf("%+v happened before %+v", f, m.after.Ask.FollowUps[i-1])
			}
		}
		if !ok {
			return
		}
		next, due := m.before.NextFollowUp()
		if want := due && !in.At.Before(next.At); want == m.unchanged {
			t.Errorf("at %v, next %+v: got unchanged %v", in.At, next, m.unchanged)
		}
	})
}

// A timer takes no ask away from a person, because an escalation only adds people.
func TestEscalationOnlyAddsPeople(t *testing.T) {
	forEachTransition(t, func(t *rapid.T, m transition) {
		if _, ok := m.event.(lifecycle.FollowedUp); !ok {
			return
		}
		for _, name := range append(slices.Clone(m.before.Ask.People()), "zoe") {
			if m.before.Ask.Addressed(name) && !m.after.Ask.Addressed(name) {
				t.Errorf("%s lost the ask: %v became %v", name, m.before.Ask.People(), m.after.Ask.People())
			}
		}
	})
}

// Every input can be repeated. The repeat changes nothing.
func TestRoutingInputsCanBeRepeated(t *testing.T) {
	forEachTransition(t, func(t *rapid.T, m transition) {
		in, ok := m.event.(lifecycle.Reassigned)
		if !ok || m.err != nil {
			return
		}
		again, err := m.after.Step(in)
		if err != nil || !again.Unchanged || cmp.Diff(m.after, again.State) != "" {
			t.Errorf("%+v again: got %v, unchanged %v", in, err, again.Unchanged)
		}
	})
}

// The record of an ask does not grow without limit.
func TestReassignmentsAreLimited(t *testing.T) {
	s, _, err := step(lifecycle.AskState{}, anyAsked().Example(1))
	for i := range 2 * lifecycle.MaxReassigned {
		if err == nil {
			to := []string{[]string{"ana", "ben"}[i%2]}
			s, _, err = step(s, lifecycle.Reassigned{By: "cem", To: to, People: to, At: nine})
		}
	}
	if !errors.As(err, new(askback.Invalid)) || s.Moved != lifecycle.MaxReassigned {
		t.Errorf("got %v after %d reassignments, want a limit of %d", err, s.Moved, lifecycle.MaxReassigned)
	}
}
