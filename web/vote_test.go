package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
)

// The pages show how many of the required people have approved. An approval that settles nothing is
// confirmed, and the ask stays in the list (F12).
func TestPagesShowTheNumberOfApprovals(t *testing.T) {
	h := newServer(t)
	ana, ben := h.browser("ana"), h.browser("ben")
	r := harmless
	r.Quorum, r.To = 2, []string{"ana", "ben"}
	a := h.ask(r)
	form := ana.open("/asks/"+a.ID, http.StatusOK)
	if got := form.one(t, ".ask-header").visibleText(); !strings.Contains(got, "0 of 2 approved") {
		t.Errorf("at first: %q", got)
	}
	values := url.Values{"action": {"approve"}, "then": {"list"}}
	w := ana.do(ana.request(http.MethodPost, "/asks/"+a.ID, values))
	to := w.Header().Get("Location")
	if w.Code != http.StatusSeeOther {
		t.Fatalf("got status %d\n%s", w.Code, w.Body)
	}
	page := ana.open(to, http.StatusOK)
	if got := page.one(t, ".done-notice").visibleText(); !strings.Contains(got, "Approved; 1 of 2 approved: ana") {
		t.Errorf("the notice is %q", got)
	}
	if got := page.one(t, ".row").visibleText(); !strings.Contains(got, "1 of 2 approved: ana") {
		t.Errorf("the row is %q", got)
	}
	if got := ben.open("/asks/"+a.ID,
		http.StatusOK).one(t, ".about").visibleText(); !strings.Contains(got, "ana approved on") {
		t.Errorf("for ben: %q", got)
	}
	ben.do(ben.request(http.MethodPost, "/asks/"+a.ID, values))
	if got := h.get(a.ID); !got.Outcome.Approved() || len(got.Votes) != 2 {
		t.Errorf("got %+v", got)
	}
}

// A person who started the session and must not settle its asks gets an explanation. The attempt to answer is
// not an error of the server.
func TestStarterIsShownThatAnotherPersonMustDecide(t *testing.T) {
	h := newServer(t)
	h.engine.Set(engine.Settings{Routes: []askback.Route{{NoSelfApproval: true}}})
	r := harmless
	r.StartedBy = "ana"
	a := h.ask(r)
	for _, action := range []string{"approve", "deny", "decline"} {
		ana := h.browser("ana")
		w := ana.do(ana.request(http.MethodPost, "/asks/"+a.ID, url.Values{"action": {action}}))
		if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "Another person must decide") {
			t.Errorf("%s: got status %d\n%s", action, w.Code, w.Body)
		}
	}
	if h.get(a.ID).Settled() {
		t.Error("the ask is settled")
	}
}

// Approvers whom the server does not know are left out. The page lists them under a separate heading, because
// leaving them out is no repair of the agent's call.
func TestPeopleWhoAreNotAskedAreListedSeparately(t *testing.T) {
	h := newServer(t)
	h.engine.Set(engine.Settings{People: []askback.Person{{Name: "ana"}}})
	a := h.ask(askback.Request{Questions: []askback.Question{{Text: "Which database?"}}, To: []string{"ana", "eve"}})
	page := h.browser("ana").open("/asks/"+a.ID, http.StatusOK)
	var headings []string
	for _, part := range page.all(".agent-text") {
		if len(part.all(".warnings")) > 0 {
			headings = append(headings, part.one(t, ".label").visibleText()+": "+part.one(t, ".warnings").visibleText())
		}
	}
	if want := `Not everyone is asked: "eve" is not known here and cannot answer`; len(headings) != 1 ||
		headings[0] != want {
		t.Errorf("got %q, want %q", headings, want)
	}
}

// A person who is addressed by a call but may not decide the call can read it: on its page, in the list and
// on the page of several calls. No page has a button that decides. The page names the people who may decide.
func TestPersonWhoMayNotDecideSeesNoButtons(t *testing.T) {
	h := newServer(t)
	h.engine.Set(engine.Settings{
		People: []askback.Person{{Name: "ana"}, {Name: "ben"}, {Name: "cem"}},
		Routes: []askback.Route{{Approvers: []string{"ana", "ben"}}},
	})
	r := harmless
	r.To = []string{"cem", "ana", "ben"}
	a := h.ask(r)
	cem := h.browser("cem")
	page := cem.open("/asks/"+a.ID, http.StatusOK)
	if got := page.one(t, ".barred").visibleText(); got != "Only ana, ben may decide this. You can read it." {
		t.Errorf("got %q", got)
	}
	for _, address := range []string{"/asks/" + a.ID, "/", "/decide?ask=" + a.ID} {
		page := cem.open(address, http.StatusOK)
		for _, button := range []string{
			"button[value=approve]", "button[value=deny]", "button[value=decline]", "button[value=approve_all]",
			".reassign-link", ".quick button[value=approve]", "input[name=ask]",
		} {
			if n := len(page.all(button)); n > 0 {
				t.Errorf("%s: %d of %s", address, n, button)
			}
		}
	}
	if len(h.browser("ana").open("/asks/"+a.ID, http.StatusOK).all("button[value=approve]")) == 0 {
		t.Error("an approver has no button")
	}
	for _, action := range []string{"approve", "deny", "decline", "approve_all"} {
		w := cem.do(cem.request(http.MethodPost, "/asks/"+a.ID,
			url.Values{"action": {action}, "scope": {"tool_and_input"}, "expires_in": {"1h"}}))
		if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "Other people decide this call") {
			t.Errorf("%s: got status %d\n%s", action, w.Code, w.Body)
		}
	}
	if form := cem.open("/asks/"+a.ID+"/reassign",
		http.StatusForbidden).visibleText(); !strings.Contains(form, "Other people decide this call") {
		t.Errorf("got %q", form)
	}
	if h.get(a.ID).Settled() {
		t.Error("the ask is settled")
	}
}
