package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/asktool"
)

// The pages show an action of Askback's own confirm_action as text, with its line breaks, and never as a tool.
// The exact arguments are on the page of the ask.
func TestActionIsShownAsText(t *testing.T) {
	h := newServer(t)
	a := h.ask(asktool.Action("Merge PR #812", "The tests pass.\n**Two** reviews."))
	ana := h.browser("ana")
	page := ana.open("/asks/"+a.ID, http.StatusOK).one(t, "#detail")
	for _, words := range []string{"Merge PR #812", "The tests pass.\n**Two** reviews.", `"action": "Merge PR #812"`} {
		if !strings.Contains(page.raw(), words) {
			t.Errorf("the page lacks %q:\n%s", words, page.visibleText())
		}
	}
	for _, path := range []string{"/", "/asks/" + a.ID, "/decide?ask=" + a.ID} {
		text := ana.open(path, http.StatusOK).one(t, "main").visibleText()
		if !strings.Contains(text, "Merge PR #812") || strings.Contains(text, "confirm_action") {
			t.Errorf("%s shows\n%s", path, text)
		}
	}
	approval := askback.Decide(askback.Approve, "")
	if _, err := h.client(askback.Responder, "ana").Answer(t.Context(), a.ID, approval); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/history", "/asks/" + a.ID} {
		text := ana.open(path, http.StatusOK).one(t, "main").visibleText()
		if !strings.Contains(text, "Merge PR #812") || strings.Contains(text, "confirm_action") {
			t.Errorf("settled: %s shows\n%s", path, text)
		}
	}
}
