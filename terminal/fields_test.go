package terminal_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/view"
	"github.com/askback/askback/terminal"
	"github.com/askback/askback/test/kit/filltest"
)

// The terminal shows each field of an ask that people see. A new field that is not for people must be added
// to the list. Some fields in the list are shown in a dialog, or depend on a value that these asks do not
// have, such as a status.
func TestTerminalShowsEveryField(t *testing.T) {
	show := func(a askback.Ask) (screens []string) {
		confirmation, questions, pending := a, a, a
		confirmation.Questions, questions.Confirmation, pending.Outcome = nil, nil, nil
		for _, a := range []askback.Ask{confirmation, questions, pending} {
			var b strings.Builder
			if err := terminal.Show(&b, view.Of(a), &terminal.Options{Zone: time.UTC}); err != nil {
				t.Fatal(err)
			}
			screens = append(screens, b.String())
		}
		return screens
	}
	if diff := cmp.Diff([]string{
		"ID", "SessionID", "Kind", "Questions.ID", "Questions.MultiSelect", "Questions.Optional", "Questions.Format",
		"Confirmation.Tier", "Confirmation.NoEdit", "Confirmation.Digest", "Votes.Decision", "FollowUps.At",
		"Claims.At", "Held.Name", "Held.Yours", "Held.Channel", "Held.Declines", "Held.Answers.ID",
		"Held.Answers.Question", "Held.Answers.Selected", "Held.Answers.Other", "Held.Answers.Notes", "Held.Comment",
		"Held.Decision", "Held.Input", "Held.Reason", "Held.Scope", "Held.Until", "Held.At", "Held.SendsAt",
		"Held.Digest", "Held.GrantID", "Held.Token", "Status", "CreatedAt", "OnTimeout", "PageURL",
		"Warnings.Fix", "Outcome.Status", "Outcome.Answers.ID", "Outcome.Decision", "Outcome.Digest",
		"Outcome.Defaulted", "Outcome.Waiting", "Directed", "TraceParent", "OthersWaiting", "Repeated",
	}, filltest.Ignored(show, slices.Equal)); diff != "" {
		t.Errorf("fields of an ask that the terminal does not show: want -, got +\n%s", diff)
	}
}
