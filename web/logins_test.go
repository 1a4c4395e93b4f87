package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// logIn logs in a browser with a link.
func (h *server) logIn(name string) browser {
	h.t.Helper()
	w := h.do(browser{h, ""}.request(http.MethodPost, "/login", url.Values{"secret": {h.link(name)}}))
	if len(w.Result().Cookies()) == 0 {
		h.t.Fatalf("status %d without a cookie", w.Code)
	}
	return browser{h, w.Result().Cookies()[0].Value}
}

// A person sees their own log-ins without secrets, and ends one of them, or all others (T22, F4).
func TestPeopleEndLogins(t *testing.T) {
	h := newServer(t)
	first, second, third, ben := h.logIn("ana"), h.logIn("ana"), h.logIn("ana"), h.logIn("ben")
	page := first.open("/logins", http.StatusOK)
	if n := len(page.all(".grant")); n != 3 {
		t.Fatalf("got %d log-ins, want 3", n)
	}
	mine, err := h.engine.Authenticate(t.Context(), first.secret)
	if err != nil {
		t.Fatal(err)
	}
	if got := page.one(t, "#"+mine.Token).visibleText(); !strings.Contains(got, "this browser") ||
		strings.Count(page.visibleText(), "this browser") != 1 {
		t.Errorf("this browser is not marked: %s", got)
	}
	if body := h.do(first.request(http.MethodGet, "/logins", nil)).Body.String(); strings.Contains(body,
		first.secret) || strings.Contains(body, second.secret) {
		t.Error("the page has a secret")
	}
	theirs, err := h.engine.Authenticate(t.Context(), ben.secret)
	if err != nil {
		t.Fatal(err)
	}
	first.send("/logins/"+theirs.Token+"/end", url.Values{}, http.StatusNotFound)
	h.do(first.request(http.MethodGet, "/logins/others/end", nil))
	second.open("/logins", http.StatusOK)
	for _, b := range page.all("main button") {
		if !b.inside("details") {
			t.Error("one press ends a log-in")
		}
	}
	other, err := h.engine.Authenticate(t.Context(), second.secret)
	if err != nil {
		t.Fatal(err)
	}
	first.send("/logins/"+other.Token+"/end", url.Values{}, http.StatusSeeOther)
	second.open("/", http.StatusUnauthorized)
	third.open("/", http.StatusOK)
	first.send("/logins/others/end", url.Values{}, http.StatusSeeOther)
	third.open("/", http.StatusUnauthorized)
	ben.open("/", http.StatusOK)
	first.send("/logins/"+mine.Token+"/end", url.Values{}, http.StatusSeeOther)
	first.open("/logins", http.StatusUnauthorized)
}

// On a phone, the page of log-ins fits and violates no rule of WCAG 2.2 AA.
func TestChromiumLogInsFitAPhone(t *testing.T) {
	c := newChromium(t)
	w := c.window(phone)
	w.login("ana")
	c.logIn("ana")
	w.open("/logins")
	w.waitText("this browser")
	w.Click("main > .revoke summary")
	w.checkAccessibility("log-ins")
	w.look(360, "light")
	w.waitUntil("document.documentElement.scrollWidth <= innerWidth")
	w.Press("main > .revoke button")
	w.waitUntil(`document.querySelectorAll("main .grant").length === 1`)
	c.Check(t)
}
