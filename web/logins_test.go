package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/askback/askback"
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

// Each log-in shows its browser, its address, and when it was used last. The header User-Agent is text of
// another program: only the names of browsers that Askback knows are shown.
func TestLoginsShowTheirBrowsers(t *testing.T) {
	h := newServer(t)
	from := func(userAgent, address string) browser {
		r := browser{h, ""}.request(http.MethodPost, "/login", url.Values{"secret": {h.link("ana")}})
		r.Header.Set("User-Agent", userAgent)
		r.RemoteAddr = address
		w := h.do(r)
		return browser{h, w.Result().Cookies()[0].Value}
	}
	first := from("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "203.0.113.7:4711")
	phone := from("Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) Version/18.1 Safari/604.1", "198.51.100.2:9")
	strange := from("<b>evil</b>", "198.51.100.3:9")
	page := first.open("/logins", http.StatusOK)
	for b, want := range map[browser]string{
		first: "Firefox on Linux this browser from 203.0.113.7", phone: "Safari on iPhone from 198.51.100.2",
		strange: "unknown browser from 198.51.100.3",
	} {
		who, err := h.engine.Authenticate(t.Context(), b.secret)
		if err != nil {
			t.Fatal(err)
		}
		got := first.open("/logins", http.StatusOK).one(t, "#"+who.Token).visibleText()
		if !strings.Contains(strings.Join(strings.Fields(got), " "), want) || !strings.Contains(got, "last used") {
			t.Errorf("got %q, want %q and its last use", got, want)
		}
	}
	if strings.Contains(page.visibleText(), "evil") {
		t.Errorf("the page has text of a browser: %s", page.visibleText())
	}
	admin := browser{h, h.secret(askback.Admin, "root")}
	if got := admin.open("/tokens", http.StatusOK).visibleText(); !strings.Contains(got, "Safari on iPhone") ||
		!strings.Contains(got, "198.51.100.2") {
		t.Errorf("the tokens are %s", got)
	}
}

// The page of all tokens marks the log-in of this browser, as the page of a person's log-ins does.
func TestTokensMarkThisBrowser(t *testing.T) {
	h := newServer(t)
	h.logIn("ana")
	secret, err := h.client(askback.Admin, "root").LoginSecret(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w := h.do(browser{h, ""}.request(http.MethodPost, "/login", url.Values{"secret": {secret}}))
	root := browser{h, w.Result().Cookies()[0].Value}
	mine, err := h.engine.Authenticate(t.Context(), root.secret)
	if err != nil {
		t.Fatal(err)
	}
	page := root.open("/tokens", http.StatusOK)
	if got := page.one(t, "#"+mine.Token).visibleText(); !strings.Contains(got, "this browser") ||
		strings.Count(page.visibleText(), "this browser") != 1 {
		t.Errorf("this browser is not marked: %s", page.visibleText())
	}
}

// An admin ends all log-ins of a person by one form, and no other token.
func TestAdminEndsAllLoginsOfPerson(t *testing.T) {
	h := newServer(t)
	first, second, ben := h.logIn("ana"), h.logIn("ana"), h.logIn("ben")
	admin := browser{h, h.secret(askback.Admin, "root")}
	_, token, err := h.engine.CreateToken(t.Context(), askback.TokenRequest{Kind: askback.Responder, Name: "ana"})
	if err != nil {
		t.Fatal(err)
	}
	form := admin.open("/tokens", http.StatusOK).one(t, "[value=all-logins]")
	if !form.inside("details") {
		t.Error("one press ends all log-ins")
	}
	who, err := h.engine.Authenticate(t.Context(), first.secret)
	if err != nil {
		t.Fatal(err)
	}
	path := "/tokens/" + who.Token + "/revoke"
	ben.send(path, url.Values{"what": {"all-logins"}}, http.StatusForbidden)
	admin.send(path, url.Values{"what": {"all-logins"}}, http.StatusSeeOther)
	first.open("/", http.StatusUnauthorized)
	second.open("/", http.StatusUnauthorized)
	ben.open("/", http.StatusOK)
	if _, err := h.engine.Authenticate(t.Context(), token); err != nil {
		t.Errorf("the token of the person: %v", err)
	}
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
