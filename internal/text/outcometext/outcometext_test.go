package outcometext_test

import (
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/outcometext"
)

var (
	statuses = []askback.Status{askback.Answered, askback.Declined, askback.Cancelled, askback.Expired}
	actors   = []askback.Actor{
		{Kind: askback.ActorPerson, Name: "ana"},
		{Kind: askback.ActorAgent, Name: "bot"},
		{Kind: askback.ActorTimer},
		{Kind: askback.ActorOperator, Name: "root"},
		{},
	}
	timeouts = []askback.OnTimeout{
		askback.OnTimeoutWait, askback.OnTimeoutFail, askback.OnTimeoutDefault, askback.OnTimeoutDecline,
	}
)

// each calls f for every outcome without an approval of an ask of a kind.
func each(kind askback.AskKind, f func(askback.Ask)) {
	for _, status := range statuses {
		for _, by := range actors {
			for _, o := range timeouts {
				ask := askback.Ask{
					Kind: kind, Status: status, OnTimeout: o,
					Outcome: &askback.Outcome{Status: status, Actor: by, Decision: askback.Deny},
				}
				if kind == askback.Confirm {
					ask.Confirmation = &askback.Confirmation{ToolName: "rm", Input: []byte(`{"a":1}`)}
				}
				f(ask)
			}
		}
	}
}

// If a confirmation ended without an approval, its text forbids other means to the same end.
func TestDenialForbidsOtherMeans(t *testing.T) {
	each(askback.Confirm, func(ask askback.Ask) {
		if text := outcometext.Decision(ask); !strings.Contains(text, outcometext.Boundary) ||
			strings.Contains(text, "judgement") {
			t.Errorf("%s by %q: %s", ask.Status, ask.Outcome.Actor.Kind, text)
		}
	})
}

// A model goes on by its own judgement only if the asker chose that, and the deadline passed.
func TestOwnJudgementIsTheChoiceOfTheAsker(t *testing.T) {
	each(askback.Questions, func(ask askback.Ask) {
		text := outcometext.NoAnswer(ask)
		chosen := ask.Status == askback.Expired && ask.OnTimeout == askback.OnTimeoutDecline
		if strings.Contains(text, "judgement") != chosen || !strings.Contains(text, "This is not consent") {
			t.Errorf("%s, %s: %s", ask.Status, ask.OnTimeout, text)
		}
		withdrawn := ask.Status == askback.Cancelled && ask.Outcome.Actor.Kind == askback.ActorAgent
		if strings.Contains(text, "withdrew") != withdrawn {
			t.Errorf("%s by %q: %s", ask.Status, ask.Outcome.Actor.Kind, text)
		}
	})
}

// Each way in which an ask ends without an answer has a text of its own.
func TestTextsOfOutcomesDiffer(t *testing.T) {
	timer := askback.Actor{Kind: askback.ActorTimer}
	seen := map[string]string{}
	for name, o := range map[string]askback.Outcome{
		"declined":             {Status: askback.Declined, Actor: actors[0]},
		"withdrawn":            {Status: askback.Cancelled, Actor: actors[1]},
		"cancelled by ana":     {Status: askback.Cancelled, Actor: actors[0]},
		"cancelled by root":    {Status: askback.Cancelled, Actor: actors[3]},
		"its session failed":   {Status: askback.Cancelled, Actor: timer},
		"expired":              {Status: askback.Expired, Actor: timer, Reason: "no one answered in time"},
		"no message delivered": {Status: askback.Expired, Actor: timer, Reason: askback.ReasonUnreached},
	} {
		text := outcometext.Ended(askback.Ask{Kind: askback.Questions, Status: o.Status, Outcome: &o})
		if other := seen[text]; other != "" {
			t.Errorf("%s and %s have the same text: %s", name, other, text)
		}
		seen[text] = name
	}
}

// A denied plan is changed and asked about again. Doing parts of it is no way around the denial.
func TestDeniedPlanIsChanged(t *testing.T) {
	ask := askback.Ask{
		Kind: askback.Confirm, Confirmation: &askback.Confirmation{ToolName: "ExitPlanMode"},
		Outcome: &askback.Outcome{
			Status: askback.Answered, Decision: askback.Deny, Actor: actors[0], Reason: "do 3 last",
		},
	}
	const want = `Denied by "ana": do not begin with any part of this plan. Change the plan, and ask for approval of the changed plan. Reason: "do 3 last".`
	if got := outcometext.Decision(ask); got != want {
		t.Errorf("got %s", got)
	}
}

// The arguments that a model sent are cut in a text for this model, and the approved arguments are not.
func TestLongArgumentsOfTheModelAreCut(t *testing.T) {
	long := `{"a":"` + strings.Repeat("x", 5000) + `"}`
	ask := askback.Ask{
		Kind: askback.Confirm, Confirmation: &askback.Confirmation{ToolName: "Bash", Input: []byte(long)},
		Outcome: &askback.Outcome{
			Status: askback.Answered, Decision: askback.Approve, Actor: actors[0], Input: []byte(long[:len(long)-2] + `y"}`),
		},
	}
	text := outcometext.Decision(ask)
	if strings.Contains(text, long) || !strings.Contains(text, string(ask.Outcome.Input)) {
		t.Errorf("got %s", text)
	}
}
