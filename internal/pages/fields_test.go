package pages_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"
	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/pages"
	"github.com/askback/askback/internal/text/view"
	"github.com/askback/askback/test/kit/filltest"
)

// The pages show each field of an ask and of a grant that people see. A new field that is not for people must
// be added to the list. Some fields in the list depend on a value that these asks and grants do not have,
// such as a status.
func TestPagesShowEveryField(t *testing.T) {
	html := func(c templ.Component) string {
		var b strings.Builder
		if err := c.Render(context.Background(), &b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	show := func(a askback.Ask) (out []string) {
		confirmation, questions := a, a
		confirmation.Questions, questions.Confirmation = nil, nil
		answered := *a.Outcome
		answered.Input, questions.Outcome = nil, &answered
		for _, a := range []askback.Ask{confirmation, questions} {
			out = append(out, html(pages.Settled(pages.Frame{}, pages.Inbox{}, view.Of(a))))
			a.Outcome = nil
			out = append(out, html(pages.Ask(pages.Frame{}, pages.Inbox{}, view.Of(a), view.NewForm(view.Of(a)))))
		}
		return out
	}
	if diff := cmp.Diff([]string{
		"Kind", "Questions.Format", "Confirmation.Tier", "Votes.Decision", "FollowUps.At", "Claims.At",
		"Held.Yours", "Held.Channel", "Held.Answers.ID", "Held.Answers.Question", "Held.Answers.Notes",
		"Held.Answers.Selected", "Held.Answers.Other", "Held.Comment", "Held.Decision", "Held.Input", "Held.Reason",
		"Held.Scope", "Held.Until", "Held.At", "Held.Digest", "Held.GrantID", "Held.Token", "Status", "OnTimeout",
		"PageURL", "Warnings.Fix", "Outcome.Answers.ID", "Outcome.Decision", "Outcome.Digest", "Outcome.Defaulted",
		"Outcome.Waiting", "Directed", "TraceParent", "OthersWaiting", "Repeated",
	}, filltest.Ignored(show, slices.Equal)); diff != "" {
		t.Errorf("fields of an ask that the pages do not show: want -, got +\n%s", diff)
	}
	grants := func(g askback.Grant) []string {
		valid := g
		valid.RevokedAt, valid.Input = time.Time{}, nil
		list := func(g askback.Grant) string {
			return html(pages.Grants(pages.Frame{},
				pages.GrantList{Groups: view.GroupGrants([]view.Grant{view.OfGrant(g)}), MayRevoke: true}))
		}
		return []string{list(g), list(valid)}
	}
	if diff := cmp.Diff([]string{"Scope", "SessionID", "Digest", "Token"},
		filltest.Ignored(grants, slices.Equal)); diff != "" {
		t.Errorf("fields of a grant that the page does not show: want -, got +\n%s", diff)
	}
}
