package oauth_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/askback/askback"
)

// loginURL returns the address that begins the sign-in and leads back to a
// page.
func (f *fixture) loginURL(to string) string {
	return f.URL + "/login/oidc?" + url.Values{"to": {to}}.Encode()
}

// isLoggedIn reports whether a browser is logged in.
func (f *fixture) isLoggedIn(p *person) bool {
	f.t.Helper()
	v := p.step(f.URL+"/", nil)
	in := v.status == http.StatusOK
	if in != strings.Contains(v.body, "Log out") {
		f.t.Errorf("%d, and this page:\n%s", v.status, v.body)
	}
	return in
}

// After a sign-in with the wrong account, a person can choose another account at the issuer. The person then
// returns to the requested page.
func TestAnotherAccountCanBeChosen(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	k := f.ask("Which?")
	for _, wrong := range []string{"eve", "mallory"} {
		p := newPerson(t)
		_, v := p.follow(f.loginURL("/asks/"+k.ID), wrong, "")
		button := regexp.MustCompile(`href="([^"]*/login/oidc[^"]*)"`).FindStringSubmatch(v.body)
		if v.status != http.StatusForbidden || button == nil {
			t.Fatalf("%s comes to %d:\n%s", wrong, v.status, v.body)
		}
		at, v := p.follow(html.UnescapeString(button[1]), "ana", "")
		if at.String() != f.URL+"/asks/"+k.ID || v.status != http.StatusOK || !f.isLoggedIn(p) {
			t.Errorf("%s, then ana, comes to %s, %d:\n%s", wrong, at, v.status, v.body)
		}
	}
}

// The authorization request uses PKCE, state and nonce, and the cookies are protected
// (T2).
func TestAuthorizationRequestIsProtected(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	k := f.ask("Which?")
	p, other := newPerson(t), newPerson(t)
	v, w := p.step(f.loginURL("/asks/"+k.ID), nil), other.step(f.loginURL("/asks/"+k.ID), nil)
	if v.redirect() == nil || w.redirect() == nil ||
		!strings.HasPrefix(v.redirect().String(), f.setup.Issuer+"/auth?") {
		t.Fatalf("%d to %s: %s", v.status, v.redirect(), v.body)
	}
	one, two := v.redirect().Query(), w.redirect().Query()
	for name, want := range map[string]string{
		"client_id": clientID, "redirect_uri": f.URL + "/login/oidc/callback", "response_type": "code",
		"code_challenge_method": "S256",
	} {
		if got := one.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if scopes := strings.Fields(one.Get("scope")); len(scopes) < 2 || scopes[0] != "openid" {
		t.Errorf("scopes are %v", scopes)
	}
	for _, name := range []string{"state", "nonce", "code_challenge"} {
		if len(one.Get(name)) < 20 || one.Get(name) == two.Get(name) {
			t.Errorf("%s is %q, and %q the next time", name, one.Get(name), two.Get(name))
		}
	}
	if strings.Contains(v.redirect().String(), k.ID) {
		t.Errorf("the issuer hears of the ask: %s", v.redirect())
	}
	for _, line := range v.header.Values("Set-Cookie") {
		if !strings.Contains(line, "HttpOnly") || !strings.Contains(line, "SameSite=Lax") ||
			!strings.Contains(line, "Max-Age=") {
			t.Errorf("a cookie for a while, not for scripts and not for other sites: %s", line)
		}
	}
	if control := v.header.Get("Cache-Control"); !strings.Contains(control, "no-store") {
		t.Errorf("what is sent is for one browser, and may be kept: %q", control)
	}
}

// Only people whose verified address is in the settings can sign in. Other people are not shown the ask (T2).
func TestOnlyVerifiedPeopleSignIn(t *testing.T) {
	t.Parallel()
	for where, inIDToken := range map[string]bool{"at the userinfo endpoint": false, "in the ID token": true} {
		t.Run("claims "+where, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, func(s *issuerSetup) { s.ClaimsInIDToken = inIDToken })
			k := f.ask("Which?")
			page := f.URL + "/asks/" + k.ID
			for name := range accounts {
				p := newPerson(t)
				at, v := p.follow(f.loginURL("/asks/"+k.ID), name, "")
				if name == "ana" || name == "shouting" {
					if at.String() != page || v.status != http.StatusOK || !f.isLoggedIn(p) {
						t.Errorf("%s comes to %s, %d:\n%s", name, at, v.status, v.body)
					}
					continue
				}
				if v.status != http.StatusForbidden || f.isLoggedIn(p) || strings.Contains(v.body, "Which?") {
					t.Errorf("%s comes to %s, %d:\n%s", name, at, v.status, v.body)
				}
				if cookies := p.cookies(f.URL); cookies["askback"] != "" {
					t.Errorf("%s has %v", name, cookies)
				}
			}
			p := newPerson(t)
			if at, v := p.follow(f.loginURL("/"), "unknown", ""); v.status == http.StatusOK || f.isLoggedIn(p) ||
				strings.Contains(v.body, "<b>") {
				t.Errorf("who refuses at the issuer comes to %s, %d:\n%s", at, v.status, v.body)
			}
		})
	}
}

// An answer is recorded in the name of the person who is signed in.
func TestAnswerNamesTheSignedInPerson(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	k := f.ask("Which?")
	p := newPerson(t)
	p.follow(f.loginURL("/asks/"+k.ID), "ana", "")
	p.step(f.URL+"/asks/"+k.ID, url.Values{"q1": {"0"}, "action": {"answer"}})
	got, err := f.Person.Get(t.Context(), k.ID)
	if err != nil || got.Outcome == nil || got.Outcome.Actor.Name != "ana" ||
		got.Outcome.Channel != askback.ChannelWeb {
		t.Errorf("the outcome is %+v, %v", got.Outcome, err)
	}
	p.step(f.URL+"/logout", url.Values{})
	if f.isLoggedIn(p) {
		t.Error("signed out, and still in")
	}
}

// A callback is valid once, in the browser that started the sign-in, with its
// parameters (T2).
func TestForeignCallbacksAreRejected(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	callbackOf := func(p *person, name string) *url.URL {
		back, v := p.follow(f.loginURL("/"), name, f.URL+"/login/oidc/callback")
		if back == nil || !back.Query().Has("code") {
			t.Fatalf("no code: %s", v.body)
		}
		return back
	}
	refused := func(what string, p *person, address string) {
		t.Helper()
		_, v := p.follow(address, "ana", f.setup.Issuer)
		if v.status < 400 || v.status > 499 || f.isLoggedIn(p) {
			t.Errorf("%s: got %d and is in: %t:\n%s", what, v.status, f.isLoggedIn(p), v.body)
		}
	}
	with := func(u *url.URL, name, value string) string {
		q := u.Query()
		if q.Set(name, value); value == "" {
			q.Del(name)
		}
		return f.URL + "/login/oidc/callback?" + q.Encode()
	}

	ana, other := newPerson(t), newPerson(t)
	back := callbackOf(ana, "ana")
	refused("a browser that began nothing", other, back.String())
	other.step(f.loginURL("/"), nil)
	refused("a browser that began something else", other, back.String())
	other.step(f.loginURL("/"), nil)
	mine := other.step(f.loginURL("/"), nil).redirect().Query().Get("state")
	refused("the code of another browser with one's own state", other, with(back, "state", mine))

	for what, change := range map[string][2]string{
		"a foreign state": {"state", "AAAAAAAAAAAAAAAAAAAAAAAAAA"}, "no state": {"state", ""}, "no code": {"code", ""},
		"a foreign code": {"code", "AAAAAAAAAAAAAAAAAAAAAAAAAA"}, "another issuer": {"iss", "https://evil.example"},
	} {
		p := newPerson(t)
		refused(what, p, with(callbackOf(p, "ana"), change[0], change[1]))
	}

	// An attacker may change the authorization request.
	for what, change := range map[string][2]string{
		"a code of another log-in":    {"nonce", "AAAAAAAAAAAAAAAAAAAAAAAAAA"},
		"a code without the verifier": {"code_challenge", challenge("another")},
	} {
		p := newPerson(t)
		ask := p.step(f.loginURL("/"), nil).redirect()
		query := ask.Query()
		query.Set(change[0], change[1])
		ask.RawQuery = query.Encode()
		back, v := p.follow(ask.String(), "ana", f.URL+"/login/oidc/callback")
		if back == nil || !back.Query().Has("code") {
			t.Fatalf("no code: %s", v.body)
		}
		refused(what, p, back.String())
	}

	again := newPerson(t)
	back = callbackOf(again, "ana")
	if again.follow(back.String(), "ana", ""); !f.isLoggedIn(again) {
		t.Fatal("the way that all do is refused")
	}
	if cookies := again.cookies(f.URL + "/login/oidc/callback"); len(cookies) != 1 || cookies["askback"] == "" {
		t.Errorf("what was needed on the way is kept: %v", cookies)
	}
	another := newPerson(t)
	refused("a callback that was used", another, back.String())
	refused("a callback that was used, with a state of one's own", another,
		with(back, "state", another.step(f.loginURL("/"), nil).redirect().Query().Get("state")))
	if v := again.step(back.String(), nil); v.status < 400 || v.status > 499 {
		t.Errorf("a callback that was used, in the same browser: got %d\n%s", v.status, v.body)
	}
	if !f.isLoggedIn(again) {
		t.Error("a callback that is reloaded logs out")
	}

	says := newPerson(t)
	state := says.step(f.loginURL("/"), nil).redirect().Query().Get("state")
	v := says.step(f.URL+"/login/oidc/callback?"+url.Values{
		"state": {state}, "error": {"<script>alert(1)</script>"}, "error_description": {"call <b>0900</b> now"},
	}.Encode(), nil)
	if v.status == http.StatusOK || strings.Contains(v.body, "0900") || strings.Contains(v.body, "<script>alert") {
		t.Errorf("what a stranger wrote is on the page, %d:\n%s", v.status, v.body)
	}
}

// Each of two concurrent sign-ins leads to the page of its link.
func TestConcurrentSignInsLeadToTheRequestedPages(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	one, two := f.ask("Which?"), f.ask("How?")
	p := newPerson(t)
	first, second := p.step(f.loginURL("/asks/"+one.ID),
		nil).redirect(), p.step(f.loginURL("/asks/"+two.ID), nil).redirect()
	for page, begun := range map[string]*url.URL{one.PageURL: first, two.PageURL: second} {
		if at, v := p.follow(begun.String(), "ana", ""); at.String() != page || v.status != http.StatusOK {
			t.Errorf("it comes to %s, %d, want %s:\n%s", at, v.status, page, v.body)
		}
	}
}

// A form from a person who is not signed in is rejected, and signing in then leads
// to an existing page.
func TestFormWithoutSignInIsRejected(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	k := f.ask("Which?")
	for path, form := range map[string]url.Values{
		"/asks/" + k.ID: {"q1": {"0"}, "action": {"answer"}}, "/asks/" + k.ID + "/claim": {},
		"/asks/" + k.ID + "/seen": {}, "/grants/gr_1/revoke": {},
	} {
		p := newPerson(t)
		v := p.step(f.URL+path, form)
		_, after, _ := strings.Cut(v.body, f.URL+"/login/oidc?")
		link, _, _ := strings.Cut(after, `"`)
		if v.status != http.StatusUnauthorized || link == "" {
			t.Fatalf("%s: got %d:\n%s", path, v.status, v.body)
		}
		if at, v := p.follow(f.URL+"/login/oidc?"+link, "ana", ""); v.status != http.StatusOK {
			t.Errorf("%s: signing in leads to %s, %d", path, at, v.status)
		}
	}
	if got, err := f.Person.Get(t.Context(), k.ID); err != nil || got.Status != askback.Pending || len(got.Claims) > 0 {
		t.Errorf("a signed-out person had an effect: %+v, %v", got, err)
	}
}

// Whatever the link contains, it is rejected, or the return address is a page of Askback (T6).
func TestRedirectsStayOnAskback(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for _, to := range []string{
		"https://evil.example/", "//evil.example/", `/\evil.example`, `\\evil.example`, "/%2F/evil.example",
		"/%5Cevil.example", "/./%2Fevil.example",
		"/\t/evil.example", "/\n/evil.example", "/../..//evil.example", "javascript:alert(1)", "http:evil.example",
		"asks/1", "@evil.example", "", f.URL + ".evil.example/", "/asks/../logout", "/" + strings.Repeat("x", 10_000),
	} {
		p := newPerson(t)
		first := p.step(f.loginURL(to), nil)
		if first.redirect() == nil {
			if first.status < 400 || first.status > 499 {
				t.Errorf("%.60q: got %d", to, first.status)
			}
			continue
		}
		back, _ := p.follow(first.redirect().String(), "ana", f.URL+"/login/oidc/callback")
		v := p.step(back.String(), nil)
		if at := v.redirect(); at == nil || !strings.HasPrefix(at.String(), f.URL+"/") ||
			strings.HasPrefix(at.EscapedPath(), "//") {
			t.Errorf("%.60q leads to %s, %d, %.200q", to, at, v.status, v.header.Get("Location"))
		}
	}
}

// A person whose address is removed from the settings is signed out, and cannot sign
// in again.
func TestRemovedPersonIsSignedOut(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	p := newPerson(t)
	p.follow(f.loginURL("/"), "ana", "")
	if !f.isLoggedIn(p) {
		t.Fatal("ana is not in")
	}
	f.changePerson("ana", "another@example.com")
	until(t, "the browser is signed out", func() error {
		if v := p.step(f.URL+"/", nil); v.status == http.StatusOK {
			return statusError(v.status)
		}
		return nil
	})
	if _, v := p.follow(f.loginURL("/"), "ana", ""); v.status != http.StatusForbidden {
		t.Errorf("signing in again: got %d\n%s", v.status, v.body)
	}
}
