package view_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/view"
)

func planAsk(description, input string) askback.Ask {
	return askback.Ask{
		ID: "ask_1", Kind: askback.Confirm, Status: askback.Pending, Confirmation: &askback.Confirmation{
			ToolName: "ExitPlanMode", Description: description, Input: json.RawMessage(input),
		},
	}
}

// A plan is shown as text with its line breaks, and the other arguments are shown with it.
func TestPlanIsShownAsText(t *testing.T) {
	a := planAsk("Move the users", `{"plan":"# Move the users\n1. copy\n2. \u0064rop","planFilePath":"/a.md"}`)
	c := view.Of(a).Confirmation
	if c.Plan == nil || c.Plan.Exact.String() != "# Move the users\n1. copy\n2. drop" ||
		len(c.Plan.Document) < 2 || len(c.Rest.Members) != 1 || strings.Contains(c.Plan.Others.String(), "copy") ||
		!strings.Contains(c.Plan.Others.String(), "/a.md") {
		t.Fatalf("got %+v", c.Plan)
	}
	for name, v := range map[string]view.Ask{"of": view.Of(a), "brief": view.Brief(a)} {
		if got := v.Headline().String(); got != "Approve the plan: Move the users" {
			t.Errorf("%s: got the headline %q", name, got)
		}
		if got := v.Line().String(); !strings.HasSuffix(got, "1. copy 2. drop …") || strings.Contains(got, "{") {
			t.Errorf("%s: got the line %q", name, got)
		}
	}
	if got := view.Of(planAsk("Approve the plan?", `{"plan":"Go."}`)).Headline().String(); got != "Approve the plan?" {
		t.Errorf("got the headline %q", got)
	}
}

// Arguments that programs could read in different ways, and arguments without a plan, are shown as they are.
func TestUnclearPlanIsShownAsArguments(t *testing.T) {
	for _, input := range []string{
		`{}`, `{"plan":""}`, `{"plan":"a","plan":"b"}`, `{"plan":"a","PLAN":"b"}`, `{"plan":"\ud800"}`, `{"plan":1}`,
	} {
		c := view.Of(planAsk("", input)).Confirmation
		if c.Plan != nil || c.Arguments.String() == "" {
			t.Errorf("%s: got %+v", input, c.Plan)
		}
	}
	other := planAsk("", `{"plan":"a"}`)
	other.Confirmation.ToolName = "Bash"
	if c := view.Of(other).Confirmation; c.Plan != nil {
		t.Errorf("another tool: got %+v", c.Plan)
	}
}

// A long plan is not decided from a list, and a list does not show it as JSON.
func TestLongPlanInAList(t *testing.T) {
	v := view.Brief(planAsk("Long", `{"plan":"# Long\n`+strings.Repeat("word ", 2000)+`"}`))
	if v.Quick || strings.Contains(v.Line().String(), "{") || v.Headline().String() != "Approve the plan: Long" {
		t.Errorf("got %v, %q", v.Quick, v.Line())
	}
	v = view.Brief(planAsk("", `{"plan":"# `+strings.Repeat("tidy ", 22)+`and drop the backups"}`))
	if strings.Contains(v.Line().String(), "backups") || v.Quick {
		t.Errorf("a row with a part of the heading decides: %v, %q", v.Quick, v.Line())
	}
}

// The changes of a person are shown in the plan, and not in JSON.
func TestEditedPlanIsComparedAsText(t *testing.T) {
	a := planAsk("", `{"plan":"1. copy\n2. drop","n":1}`)
	a.Outcome = &askback.Outcome{
		Status: askback.Answered, Decision: askback.Approve, Input: json.RawMessage(`{"plan":"1. copy\n2. keep","n":1}`),
	}
	var got []string
	for _, l := range view.Of(a).Outcome.Changes {
		got = append(got, l.Sign+l.Text.String())
	}
	if want := " 1. copy|-2. drop|+2. keep"; strings.Join(got, "|") != want {
		t.Errorf("got %q, want %q", got, want)
	}
	a.Outcome.Input = json.RawMessage(`{"plan":"1. copy\n2. drop","n":2}`)
	if changes := view.Of(a).Outcome.Changes; len(changes) == 0 {
		t.Error("another argument differs, and no change is shown")
	}
}
