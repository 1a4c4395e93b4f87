package view_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback/internal/text/view"
	"github.com/askback/askback/test/kit/filltest"
)

// People see each field of an ask and of a grant. A new field that is not for people must be added to the
// list.
func TestViewsContainEveryField(t *testing.T) {
	if diff := cmp.Diff([]string{
		"Kind", "Confirmation.Tier", "Votes.Decision", "Held.Channel", "Held.Answers.ID", "Held.Answers.Question",
		"Held.Answers.Selected", "Held.Answers.Other", "Held.Answers.Notes", "Held.Comment", "Held.Decision",
		"Held.Input", "Held.Reason", "Held.Scope", "Held.Until", "Held.At", "Held.Digest", "Held.GrantID",
		"Held.Token", "Status", "PageURL", "Warnings.Fix", "Outcome.Status", "Outcome.Answers.ID", "Outcome.Decision",
		"Outcome.Digest", "Outcome.Waiting", "Directed", "TraceParent", "OthersWaiting", "Repeated",
	}, filltest.Ignored(view.Of, equal)); diff != "" {
		t.Errorf("fields of an ask that its view does not have: want -, got +\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Scope", "SessionID", "Digest", "Token"},
		filltest.Ignored(view.OfGrant, equal)); diff != "" {
		t.Errorf("fields of a grant that its view does not have: want -, got +\n%s", diff)
	}
}

// equal compares views with their unexported fields.
func equal[V any](a, b V) bool {
	return cmp.Equal(a, b, cmp.Exporter(func(reflect.Type) bool { return true }))
}
