package view_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/asktool"
	"github.com/askback/askback/internal/text/view"
)

// People see in a list what they are asked. The agent's title hides no question and no call.
func TestHeadlineIsTheQuestionOrTheCall(t *testing.T) {
	question := []askback.Question{{Text: "Which\none?"}}
	long := strings.Repeat("word ", 1000)
	for want, a := range map[string]askback.Ask{
		"Which one?": {Title: "Before I start", Questions: question},
		"Use orders_v2?": {
			Title: "New table `orders_v2`", Questions: []askback.Question{{Text: "Use `orders_v2`?"}},
		},
		"Which one? +2 more": {Title: "Setup", Questions: append(question, askback.Question{}, askback.Question{})},
		strings.Repeat("word ", 19) + "word … +1 more": {
			Questions: []askback.Question{{Text: long}, {Text: "And?"}},
		},
		"Run rm?": {Title: "Tidy up", Confirmation: &askback.Confirmation{ToolName: "rm"}},
		"rm: Delete all": {
			Title: "Tidy up", Confirmation: &askback.Confirmation{ToolName: "rm", Description: "Delete\nall"},
		},
		"rm: " + strings.Repeat("word ", 19) + "word …": {
			Confirmation: &askback.Confirmation{ToolName: "rm", Description: long},
		},
		"Only a title": {ID: "ask_1", Title: "Only a title"},
		"ask_1":        {ID: "ask_1"},
	} {
		if got := view.Of(a).Headline().String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if got := view.Brief(a).Headline().String(); got != want {
			t.Errorf("in a list: got %q, want %q", got, want)
		}
	}
}

// action returns the ask of Askback's own confirm_action.
func action(t *testing.T, action, details string) askback.Ask {
	t.Helper()
	r, err := asktool.Action(action, details).Normalize()
	if err != nil {
		t.Fatal(err)
	}
	return askback.Ask{ID: "ask_1", Agent: "bot", Kind: askback.Confirm, Confirmation: r.Confirmation}
}

// Askback's own confirm_action is shown as its action and its details, exactly, and never as a tool with JSON.
func TestConfirmActionIsShownAsItsAction(t *testing.T) {
	a := action(t, "Merge PR #812\n\tnow", "Tests pass.\n**two** reviews \u200b\"ok\"\\n")
	v := view.Of(a)
	c := v.Confirmation
	if !c.Own || c.Action.String() != "Merge PR #812\n    now" ||
		c.Details.String() != "Tests pass.\n**two** reviews ⟨U+200B⟩\"ok\"\\n" || !v.Hidden {
		t.Errorf("got %v, %q, %q, hidden %v", c.Own, c.Action, c.Details, v.Hidden)
	}
	if len(c.Description)+len(c.Context) > 0 || v.HasText() {
		t.Errorf("the texts are repeated: %q, %q", c.Description, c.Context)
	}
	want := "Merge PR #812     now · Tests pass. **two** reviews ⟨U+200B⟩\"ok\"\\n"
	for _, got := range []view.Ask{v, view.Brief(a)} {
		if got.Line().String() != want {
			t.Errorf("got %q, want %q", got.Line(), want)
		}
	}
	if got := view.Of(action(t, "Merge", "")).Line().String(); got != "Merge" {
		t.Errorf("without details: got %q", got)
	}
	long := action(t, strings.Repeat("word ", 400), strings.Repeat("detail ", 4000))
	for _, got := range []view.Ask{view.Of(long), view.Brief(long)} {
		if s := got.Headline().String(); !strings.HasPrefix(s, "word word") || !strings.HasSuffix(s, "word …") ||
			!strings.HasSuffix(got.Line().String(), "detail …") {
			t.Errorf("long: got %q and %q", s, got.Line())
		}
	}
	held := a
	held.Held = []askback.Held{{Name: "ana", Decision: askback.Approve}}
	if got := view.Of(held).Held[0].Detail.String(); got != "Merge PR #812     now" {
		t.Errorf("held: got %q", got)
	}
}

// A tool that only has the name of confirm_action, or has more than an action and details, is shown as a tool
// with all of its arguments.
func TestOtherToolIsNotShownAsAnAction(t *testing.T) {
	for name, change := range map[string]func(c *askback.Confirmation){
		"of a server":              func(c *askback.Confirmation) { c.Server = "github" },
		"another name":             func(c *askback.Confirmation) { c.ToolName = "confirm_Action" },
		"a look-alike":             func(c *askback.Confirmation) { c.ToolName = "сonfirm_action" },
		"another description":      func(c *askback.Confirmation) { c.Description = "List the files" },
		"no description":           func(c *askback.Confirmation) { c.Description = "" },
		"another context":          func(c *askback.Confirmation) { c.Context = "Nothing else." },
		"a preview":                func(c *askback.Confirmation) { c.InputPreview = "ls" },
		"one more member":          input(`{"action":"Merge","details":"Now.","force":true}`),
		"one more member first":    input(`{"a":1,"action":"Merge","details":"Now."}`),
		"a repeated member":        input(`{"action":"Merge","details":"Later.","details":"Now."}`),
		"a member in other case":   input(`{"action":"Merge","Details":"Now."}`),
		"details that are no text": input(`{"action":"Merge","details":["Now."]}`),
		"the wrong order":          input(`{"details":"Now.","action":"Merge"}`),
		"half of a pair":           input(`{"action":"Merge","details":"Now.\ud800"}`),
		"no arguments":             input(`{}`),
	} {
		a := action(t, "Merge", "Now.")
		change(a.Confirmation)
		for _, v := range []view.Ask{view.Of(a), view.Brief(a)} {
			if c := v.Confirmation; c.Own || c.Action.String() != "" ||
				!strings.Contains(strings.ToLower(v.Headline().String()), "onfirm_action") {
				t.Errorf("%s: got %q, own %v", name, v.Headline(), c.Own)
			}
		}
	}
}

func input(raw string) func(c *askback.Confirmation) {
	return func(c *askback.Confirmation) { c.Input = json.RawMessage(raw) }
}
