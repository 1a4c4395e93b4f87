package askback_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/askback/askback"
	"github.com/askback/askback/test/kit/filltest"
)

func TestCloneSharesNoMemory(t *testing.T) {
	a, want := filltest.New[askback.Ask](), filltest.New[askback.Ask]()
	clone := a.Clone()
	if diff := cmp.Diff(want, clone); diff != "" {
		t.Fatalf("the clone differs; want -, got +:\n%s", diff)
	}
	for _, leaf := range filltest.Leaves(&a) {
		leaf.Change()
	}
	if diff := cmp.Diff(want, clone); diff != "" {
		t.Errorf("the clone changed with the original; want -, got +:\n%s", diff)
	}
}

func TestCloneIsEqual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := anyAsk().Draw(t, "ask")
		if diff := cmp.Diff(a, a.Clone()); diff != "" {
			t.Errorf("want -, got +:\n%s", diff)
		}
	})
}

func TestAskWithOutcomeIsSettled(t *testing.T) {
	for _, outcome := range []*askback.Outcome{nil, {}} {
		a := askback.Ask{Outcome: outcome, Context: json.RawMessage(`{}`)}
		if got, want := a.Settled(), outcome != nil; got != want {
			t.Errorf("outcome %v: got %v, want %v", outcome, got, want)
		}
	}
}

func TestPageURLBeginsWithBase(t *testing.T) {
	a := askback.Ask{ID: "ask_1"}
	for base, want := range map[string]string{"": "", "https://ask.example.com": "https://ask.example.com/asks/ask_1"} {
		if got := a.WithPageURL(base).PageURL; got != want {
			t.Errorf("at %q: got %q, want %q", base, got, want)
		}
	}
	if got := (askback.Ask{}).WithPageURL("https://ask.example.com").PageURL; got != "" {
		t.Errorf("an ask without an id has the page %q", got)
	}
	if got, want := askback.PagePath("ask_1/../x"), "/asks/ask_1%2F..%2Fx"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
