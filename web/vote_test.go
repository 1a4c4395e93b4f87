package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
)

// The pages show how many of the people who must approve did. An approval that settles nothing
// is confirmed, and the ask stays in the list (F12).
func TestApprovalsOfSeveralAreShown(t *testing.T) {
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
	if got := ben.open("/asks/"+a.ID, http.StatusOK).one(t, ".ask-header").visibleText(); !strings.Contains(got, "ana approved on") {
		t.Errorf("for ben: %q", got)
	}
	ben.do(ben.request(http.MethodPost, "/asks/"+a.ID, values))
	if got := h.get(a.ID); !got.Outcome.Approved() || len(got.Votes) != 2 {
		t.Errorf("got %+v", got)
	}
}

// A person who started the session and must not settle what it asks is told so. It is not an
// error of the server.
func TestStarterLearnsThatAnotherPersonMustDecide(t *testing.T) {
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

// People who are not known here are left out. The page says that under a heading of its own: it
// is no repair of the agent's call.
func TestPeopleWhoAreLeftOutHaveTheirOwnHeading(t *testing.T) {
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
	if want := `Not everyone is asked: "eve" is not known here and cannot answer`; len(headings) != 1 || headings[0] != want {
		t.Errorf("got %q, want %q", headings, want)
	}
}
