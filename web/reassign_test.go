package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
)

// team returns a server whose settings have three people and two groups.
func team(t *testing.T) *server {
	h := newServer(t)
	h.engine.Set(engine.Settings{
		People: []askback.Person{{Name: "ana"}, {Name: "ben"}, {Name: "cem"}},
		Groups: map[string][]string{"oncall": {"ben", "cem"}, "payments": {"ana"}},
	})
	return h
}

// The page of an ask leads to a form that offers the groups and the people, and explains its effect.
// Afterwards, the ask is with the chosen people. The page of the ask names the person who reassigned the ask.
func TestFormReassignsAnAsk(t *testing.T) {
	h := team(t)
	ana, ben := h.browser("ana"), h.browser("ben")
	a := h.ask(single)
	link := ana.open("/asks/"+a.ID, http.StatusOK).one(t, ".reassign-link").attr["href"]
	page := ana.open(link, http.StatusOK)
	var offered []string
	for _, c := range page.all(`input[name=to]`) {
		offered = append(offered, c.attr["value"])
	}
	if got := strings.Join(offered, " "); got != "@oncall @payments ben cem ana" {
		t.Errorf("offered are %q", got)
	}
	text := page.one(t, "#detail").visibleText()
	for _, want := range []string{
		"Which database should we use?", "everyone who may answer",
		"After that, only the people you choose can answer it. To stay one of them", "ben and cem",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %q", want, text)
		}
	}
	h.now = h.now.Add(time.Minute)
	done := ana.send(link, url.Values{"to": {"@oncall"}, "others": {"cem, ben"}}, http.StatusOK)
	if got := done.one(t, ".reassigned").visibleText(); !strings.Contains(got,
		"@oncall, cem and ben can answer it now. You cannot") {
		t.Errorf("the reply is %q", got)
	}
	if strings.Contains(done.visibleText(), "Which database") {
		t.Error("a person who may not see the ask any more sees its question")
	}
	ana.open("/asks/"+a.ID, http.StatusNotFound)
	if got := ben.open("/asks/"+a.ID, http.StatusOK).one(t, ".about").visibleText(); !strings.Contains(got,
		"Reassigned by ana on 3 November 2026, 18:31 UTC.") {
		t.Errorf("the page for ben has %q", got)
	}
	// sends the form twice, as a reload does
	ana.send(link, url.Values{"to": {"@oncall"}, "others": {"cem, ben"}}, http.StatusOK)
	ana.send(link, url.Values{"to": {"ana"}}, http.StatusNotFound)
}

// A person who is named by an ask may give others only their own part, or the whole ask. The page explains
// the effect of each choice. A person who keeps the ask returns to the ask.
func TestFormDelegatesOwnPart(t *testing.T) {
	h := team(t)
	ana, ben, cem := h.browser("ana"), h.browser("ben"), h.browser("cem")
	r := single
	r.To = []string{"ana", "ben"}
	a := h.ask(r)
	path := "/asks/" + a.ID + "/reassign"
	text := ana.open(path, http.StatusOK).one(t, "form.reassign").visibleText()
	for _, want := range []string{
		"You and ben cannot, unless you choose them", "in your place. ben can still answer it, too.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %q", want, text)
		}
	}
	w := ben.do(ben.request(http.MethodPost, path, url.Values{"to": {"ben", "cem"}}))
	to := w.Header().Get("Location")
	if w.Code != http.StatusSeeOther || to != "/asks/"+a.ID+"?reassigned="+a.ID {
		t.Fatalf("got status %d to %q", w.Code, to)
	}
	if got := ben.open(to,
		http.StatusOK).one(t, ".done-notice").visibleText(); !strings.Contains(got, "Reassigned to ben and cem") {
		t.Errorf("the notice is %q", got)
	}
	if got := cem.open(to, http.StatusOK).all(".done-notice"); len(got) > 0 {
		t.Error("another person gets the notice")
	}
	page := ben.send(path, url.Values{"to": {"@payments"}, "how": {"delegate"}}, http.StatusOK)
	if got := page.one(t, ".reassigned").visibleText(); !strings.Contains(got, "cem and @payments can answer it now") ||
		!strings.Contains(got, "These are cem and ana") {
		t.Errorf("after delegating: %q", got)
	}
	ana.open("/asks/"+a.ID, http.StatusOK)
}

// A form with a problem is shown again as it was filled in, with the problem at its field. It changes
// nothing.
func TestInvalidReassignFormShowsItsProblem(t *testing.T) {
	h := team(t)
	ana := h.browser("ana")
	r := harmless
	r.Quorum = 2
	a := h.ask(r)
	path := "/asks/" + a.ID + "/reassign"
	for _, c := range []struct {
		form url.Values
		want string
	}{
		{url.Values{}, "Choose at least one person or group."},
		{url.Values{"to": {"ben"}}, "2 people must approve this, and only 1 of the people named may."},
		{url.Values{"others": {"@none"}}, `There is no group "@none".`},
		{url.Values{"others": {"dan, <b>\u202eeve"}}, "None of the named people is known here"},
		{url.Values{"others": {strings.Repeat("x", 300)}}, "characters"},
	} {
		page := ana.send(path, c.form, http.StatusUnprocessableEntity)
		if got := page.one(t, "#to-problem").visibleText(); !strings.Contains(got, c.want) {
			t.Errorf("%v: the problem is %q, want %q", c.form, got, c.want)
		}
		field := page.one(t, "#others")
		if field.attr["value"] != c.form.Get("others") || field.attr["aria-describedby"] != "to-problem" ||
			page.one(t, "#to").attr["aria-describedby"] != "to-problem" {
			t.Errorf("%v: the field has %v", c.form, field.attr)
		}
		if got := page.one(t, "#to").all("[checked]"); len(got) != len(c.form["to"]) {
			t.Errorf("%v: %d boxes are checked", c.form, len(got))
		}
	}
	if got := h.get(a.ID); len(got.To) > 0 {
		t.Errorf("the ask is for %q", got.To)
	}
	ana.send(path, url.Values{"others": {strings.Repeat("x", 70_000)}}, http.StatusRequestEntityTooLarge)
}

// Only a person who may give an ask to others gets the form. A settled ask has no form. For an ask of other
// people, the page is not found.
func TestOnlyPeopleWhoMayReassignGetTheForm(t *testing.T) {
	h := team(t)
	h.engine.Set(engine.Settings{
		People: []askback.Person{{Name: "ana"}, {Name: "ben"}},
		Routes: []askback.Route{{Match: askback.Match{Kind: askback.Confirm}, NoSelfApproval: true}},
	})
	ana, ben := h.browser("ana"), h.browser("ben")
	r := harmless
	r.StartedBy = "ana"
	own := h.ask(r)
	if page := ana.open("/asks/"+own.ID, http.StatusOK); len(page.all(".reassign-link")) > 0 {
		t.Error("the starter has the link")
	}
	ana.open("/asks/"+own.ID+"/reassign", http.StatusForbidden)
	ana.send("/asks/"+own.ID+"/reassign", url.Values{"to": {"ben"}}, http.StatusForbidden)
	ben.open("/asks/"+own.ID+"/reassign", http.StatusOK)
	other := single
	other.To = []string{"ben"}
	foreign := h.ask(other)
	ana.open("/asks/"+foreign.ID+"/reassign", http.StatusNotFound)
	ana.send("/asks/"+foreign.ID+"/reassign", url.Values{"to": {"ana"}}, http.StatusNotFound)
	if _, err := h.client(askback.Responder, "ben").Decline(t.Context(), foreign.ID, ""); err != nil {
		t.Fatal(err)
	}
	if page := ben.open("/asks/"+foreign.ID, http.StatusOK); len(page.all(".reassign-link")) > 0 {
		t.Error("a settled ask has the link")
	}
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		var form url.Values
		if method == http.MethodPost {
			form = url.Values{"to": {"ana"}}
		}
		w := ben.do(ben.request(method, "/asks/"+foreign.ID+"/reassign", form))
		if got := w.Header().Get("Location"); w.Code != http.StatusSeeOther || got != "/asks/"+foreign.ID {
			t.Errorf("%s of a settled ask: got status %d to %q", method, w.Code, got)
		}
	}
}
