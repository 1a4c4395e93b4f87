package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/askback/askback"
)

// The secret of a new token is in one reply, which no cache keeps, and on no other page. The token works
// until it is revoked (T22).
func TestTokenSecretIsShownOnce(t *testing.T) {
	h := newServer(t)
	admin := browser{h, h.secret(askback.Admin, "root")}
	w := h.do(admin.request(http.MethodPost, "/tokens",
		url.Values{"kind": {"agent"}, "name": {"deploy-bot"}, "lasts": {"30d"}}))
	page := admin.page(w, http.StatusCreated)
	secret := page.one(t, "#secret").attr["value"]
	if w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Location") != "" {
		t.Errorf("the reply has the header %v", w.Header())
	}
	who, err := h.engine.Authenticate(t.Context(), secret)
	if err != nil || who.Kind != askback.Agent || who.Name != "deploy-bot" {
		t.Fatalf("got %+v, %v", who, err)
	}
	list := admin.open("/tokens", http.StatusOK)
	row := list.one(t, "#"+who.Token)
	for _, want := range []string{
		"deploy-bot", "agent", "added 3 November 2026, 18:30 UTC", "until 3 December 2026, 18:30 UTC",
		"last used 3 November 2026, 18:30 UTC", "You cannot undo this",
	} {
		if !strings.Contains(row.visibleText(), want) {
			t.Errorf("%q is not in %s", want, row.visibleText())
		}
	}
	again := h.do(admin.request(http.MethodGet, "/tokens", nil))
	if strings.Contains(again.Body.String(), secret) {
		t.Error("the list has the secret")
	}
	if !row.one(t, "button").inside("details") {
		t.Error("one press revokes")
	}
	done := h.do(admin.request(http.MethodPost, row.one(t, "form").attr["action"], url.Values{}))
	if got := admin.open(done.Header().Get("Location"),
		http.StatusOK).one(t, ".done-notice").visibleText(); !strings.Contains(got, "Revoked deploy-bot") {
		t.Errorf("the notice is %q", got)
	}
	if _, err := h.engine.Authenticate(t.Context(), secret); err == nil {
		t.Error("the token is still valid")
	}
}

// An invalid name is shown again with its problem. Forms with other invalid values are rejected.
func TestInvalidTokenFormShowsItsProblem(t *testing.T) {
	h := newServer(t)
	admin := browser{h, h.secret(askback.Admin, "root")}
	page := admin.send("/tokens", url.Values{"kind": {"agent"}, "name": {"@all"}, "lasts": {"never"}},
		http.StatusUnprocessableEntity)
	if got := page.one(t, "#name"); got.attr["value"] != "@all" || got.attr["aria-describedby"] != "name-problem" {
		t.Errorf("the field has %v", got.attr)
	}
	if got := page.one(t, "#kind").one(t, "[selected]").attr["value"]; got != "agent" {
		t.Errorf("the kind is %q", got)
	}
	if got := page.one(t, "#lasts").one(t, "[selected]").attr["value"]; got != "never" {
		t.Errorf("the lifetime is %q", got)
	}
	page.one(t, "#name-problem")
	for _, form := range []url.Values{
		{"kind": {"god"}, "name": {"x"}, "lasts": {"30d"}}, {"kind": {"agent"}, "name": {"x"}, "lasts": {"9999d"}}, {},
	} {
		admin.send("/tokens", form, http.StatusBadRequest)
	}
}

// Without https, another program may have the cookie. Such a program cannot get a token that can answer and
// that is valid for longer than the log-in (T28).
func TestTokensThatAnswerRequireHTTPS(t *testing.T) {
	h := newServer(t)
	admin := browser{h, h.secret(askback.Admin, "root")}
	post := func(kind askback.Kind, scheme string) (status int, page *node) {
		r := admin.request(http.MethodPost, "/tokens",
			url.Values{"kind": {string(kind)}, "name": {"eve"}, "lasts": {"30d"}})
		if scheme == "https" {
			r.Header.Set("X-Forwarded-Proto", "https")
			r.Header.Set("Cookie", strings.Replace(r.Header.Get("Cookie"), "askback=", "__Host-askback=", 1))
		}
		w := h.do(r)
		return w.Code, admin.page(w, w.Code)
	}
	for _, kind := range askback.Kinds {
		want := http.StatusUnprocessableEntity
		if kind == askback.Agent {
			want = http.StatusCreated
		}
		status, page := post(kind, "http")
		if status != want {
			t.Errorf("%s over http: got %d, want %d", kind, status, want)
		}
		if status != http.StatusCreated && !strings.Contains(page.visibleText(), "askback token add --kind responder") {
			t.Errorf("%s over http: the page does not say what to do", kind)
		}
		if status, _ := post(kind, "https"); status != http.StatusCreated {
			t.Errorf("%s over https: got %d, want %d", kind, status, http.StatusCreated)
		}
	}
	if kinds := admin.open("/tokens", http.StatusOK).one(t, "#kind").all("option"); len(kinds) != 1 {
		t.Errorf("over http, the form offers %d kinds, want 1", len(kinds))
	}
}

// Only an admin creates and revokes tokens. An operator reads the list. A GET changes nothing (F4).
func TestOnlyAdminsChangeTokens(t *testing.T) {
	h := newServer(t)
	admin := browser{h, h.secret(askback.Admin, "root")}
	who, err := h.engine.Authenticate(t.Context(), admin.secret)
	if err != nil {
		t.Fatal(err)
	}
	filled := url.Values{"kind": {"admin"}, "name": {"eve"}, "lasts": {"never"}}
	for _, kind := range []askback.Kind{askback.Responder, askback.Operator, askback.Agent} {
		b := browser{h, h.secret(kind, "eve")}
		b.send("/tokens", filled, http.StatusForbidden)
		b.send("/tokens/"+who.Token+"/revoke", url.Values{}, http.StatusForbidden)
		if kind == askback.Operator {
			if page := b.open("/tokens", http.StatusOK); len(page.all("main form")) != 0 {
				t.Error("an operator sees a form")
			}
			continue
		}
		b.open("/tokens", http.StatusForbidden)
	}
	for _, path := range []string{"/tokens?" + filled.Encode(), "/tokens/" + who.Token + "/revoke"} {
		h.do(admin.request(http.MethodGet, path, nil))
	}
	if n := len(admin.open("/tokens", http.StatusOK).all(".grant")); n != 4 {
		t.Errorf("got %d tokens, want 4", n)
	}
}

// On a phone, an admin makes a token and sees its secret, without a violation of WCAG 2.2 AA.
func TestChromiumTokenIsMadeOnAPhone(t *testing.T) {
	c := newChromium(t)
	w := c.window(phone)
	secret, err := c.client(askback.Admin, "root").LoginSecret(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.open("/login?secret=" + secret)
	w.Press(`form[action="/login"] button`)
	w.open("/tokens")
	w.Click(".new-token summary")
	w.checkAccessibility("tokens")
	w.look(360, "light")
	w.typeInto("#name", "builder")
	w.PressKey("\r")
	w.waitText("It is never shown again")
	w.waitUntil(`document.querySelector("#secret").value.startsWith("askback_")`)
	w.waitUntil("document.documentElement.scrollWidth <= innerWidth && location.search === ''")
	w.checkAccessibility("new token")
	if _, err := c.client(askback.Admin,
		"root").PutRoutes(t.Context(), []askback.Route{{To: []string{"ana"}}, {Quorum: 2}}, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := c.client(askback.Admin,
		"root").PutGroup(t.Context(), "eu", []string{"root", strings.Repeat("long", 49)}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/routes?kind=confirmation&agent=&tags=", "/routes/edit", "/people", "/people/edit"} {
		w.open(path)
		w.Run(chromedp.Evaluate(`document.querySelectorAll("details.more").forEach((d) => { d.open = true; })`, nil))
		w.checkAccessibility(path)
	}
	c.Check(t)
}

// If a shell would change the host, the page shows no command with the address (T10).
func TestCommandsContainOnlyPlainHosts(t *testing.T) {
	h := newServer(t)
	ana := browser{h, h.secret(askback.Responder, "ana")}
	for host, want := range map[string]bool{
		"127.0.0.1:7575": true, "localhost:7575": true, "[::1]:7575": true, "localhost:1$(id)": false,
		"localhost:`id`": false, "localhost:1\"": false, "localhost:1;id": false,
	} {
		r := ana.request(http.MethodGet, "/", nil)
		r.Host = host
		w := h.do(r)
		if got := strings.Contains(w.Body.String(), "curl"); got != want {
			t.Errorf("host %q: status %d, the page has a command: %t, want %t", host, w.Code, got, want)
		}
	}
}
