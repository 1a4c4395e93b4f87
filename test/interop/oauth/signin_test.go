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

// begin is where people begin to sign in, to come back to a page.
func (h *house) begin(to string) string {
	return h.URL + "/login/oidc?" + url.Values{"to": {to}}.Encode()
}

// isIn says whether a browser is signed in, by the list that it gets.
func (h *house) isIn(p *person) bool {
	h.t.Helper()
	v := p.step(h.URL+"/", nil)
	in := v.status == http.StatusOK
	if in != strings.Contains(v.body, "Log out") {
		h.t.Errorf("%d, and this page:\n%s", v.status, v.body)
	}
	return in
}

// Whoever came with the wrong account is led to the issuer to choose another one, and
// from there to what they wanted to see.
func TestAnotherAccountCanBeTaken(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	k := h.asked("Which?")
	for _, wrong := range []string{"eve", "mallory"} {
		p := newPerson(t)
		_, v := p.walk(h.begin("/asks/"+k.ID), wrong, "")
		button := regexp.MustCompile(`href="([^"]*/login/oidc[^"]*)"`).FindStringSubmatch(v.body)
		if v.status != http.StatusForbidden || button == nil {
			t.Fatalf("%s comes to %d:\n%s", wrong, v.status, v.body)
		}
		at, v := p.walk(html.UnescapeString(button[1]), "ana", "")
		if at.String() != h.URL+"/asks/"+k.ID || v.status != http.StatusOK || !h.isIn(p) {
			t.Errorf("%s, then ana, comes to %s, %d:\n%s", wrong, at, v.status, v.body)
		}
	}
}

// What Askback asks the issuer for, and what it keeps in the browser (T2).
func TestWhatAskbackSendsToTheIssuer(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	k := h.asked("Which?")
	p, other := newPerson(t), newPerson(t)
	v, w := p.step(h.begin("/asks/"+k.ID), nil), other.step(h.begin("/asks/"+k.ID), nil)
	if v.leads() == nil || w.leads() == nil || !strings.HasPrefix(v.leads().String(), h.setup.Issuer+"/auth?") {
		t.Fatalf("%d to %s: %s", v.status, v.leads(), v.body)
	}
	one, two := v.leads().Query(), w.leads().Query()
	for name, want := range map[string]string{
		"client_id": clientID, "redirect_uri": h.URL + "/login/oidc/callback", "response_type": "code", "code_challenge_method": "S256",
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
	if strings.Contains(v.leads().String(), k.ID) {
		t.Errorf("the issuer hears of the ask: %s", v.leads())
	}
	for _, line := range v.header.Values("Set-Cookie") {
		if !strings.Contains(line, "HttpOnly") || !strings.Contains(line, "SameSite=Lax") || !strings.Contains(line, "Max-Age=") {
			t.Errorf("a cookie for a while, not for scripts and not for other sites: %s", line)
		}
	}
	if control := v.header.Get("Cache-Control"); !strings.Contains(control, "no-store") {
		t.Errorf("what is sent is for one browser, and may be kept: %q", control)
	}
}

// Who is let in: people whose verified address stands in the settings, and nobody
// else (T2). The page says why, and nothing of others.
func TestWhoIsLetIn(t *testing.T) {
	t.Parallel()
	for where, inIDToken := range map[string]bool{"at the userinfo endpoint": false, "in the ID token": true} {
		t.Run("claims "+where, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, func(s *issuerSetup) { s.ClaimsInIDToken = inIDToken })
			k := h.asked("Which?")
			page := h.URL + "/asks/" + k.ID
			for name := range accounts {
				p := newPerson(t)
				at, v := p.walk(h.begin("/asks/"+k.ID), name, "")
				if name == "ana" || name == "shouting" {
					if at.String() != page || v.status != http.StatusOK || !h.isIn(p) {
						t.Errorf("%s comes to %s, %d:\n%s", name, at, v.status, v.body)
					}
					continue
				}
				if v.status != http.StatusForbidden || h.isIn(p) || strings.Contains(v.body, "Which?") {
					t.Errorf("%s comes to %s, %d:\n%s", name, at, v.status, v.body)
				}
				if cookies := p.cookies(h.URL); cookies["askback"] != "" {
					t.Errorf("%s has %v", name, cookies)
				}
			}
			p := newPerson(t)
			if at, v := p.walk(h.begin("/"), "nobody", ""); v.status == http.StatusOK || h.isIn(p) || strings.Contains(v.body, "<b>") {
				t.Errorf("who refuses at the issuer comes to %s, %d:\n%s", at, v.status, v.body)
			}
		})
	}
}

// Who is signed in can answer, and it is this person who did.
func TestAnAnswerAfterSigningIn(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	k := h.asked("Which?")
	p := newPerson(t)
	p.walk(h.begin("/asks/"+k.ID), "ana", "")
	p.step(h.URL+"/asks/"+k.ID, url.Values{"q1": {"0"}, "action": {"answer"}})
	got, err := h.Person.Get(t.Context(), k.ID)
	if err != nil || got.Outcome == nil || got.Outcome.Actor.Name != "ana" || got.Outcome.Channel != askback.ChannelWeb {
		t.Errorf("the outcome is %+v, %v", got.Outcome, err)
	}
	p.step(h.URL+"/logout", url.Values{})
	if h.isIn(p) {
		t.Error("signed out, and still in")
	}
}

// A callback is good once, in the browser that began, with what it began with (T2).
func TestCallbacksThatAreNotOnesOwn(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	callbackOf := func(p *person, name string) *url.URL {
		back, v := p.walk(h.begin("/"), name, h.URL+"/login/oidc/callback")
		if back == nil || !back.Query().Has("code") {
			t.Fatalf("no code: %s", v.body)
		}
		return back
	}
	refused := func(what string, p *person, address string) {
		t.Helper()
		_, v := p.walk(address, "ana", h.setup.Issuer)
		if v.status < 400 || v.status > 499 || h.isIn(p) {
			t.Errorf("%s: got %d and is in: %t:\n%s", what, v.status, h.isIn(p), v.body)
		}
	}
	with := func(u *url.URL, name, value string) string {
		q := u.Query()
		if q.Set(name, value); value == "" {
			q.Del(name)
		}
		return h.URL + "/login/oidc/callback?" + q.Encode()
	}

	ana, victim := newPerson(t), newPerson(t)
	back := callbackOf(ana, "ana")
	refused("a browser that began nothing", victim, back.String())
	victim.step(h.begin("/"), nil)
	refused("a browser that began something else", victim, back.String())
	victim.step(h.begin("/"), nil)
	mine := victim.step(h.begin("/"), nil).leads().Query().Get("state")
	refused("the code of another browser with one's own state", victim, with(back, "state", mine))

	for what, change := range map[string][2]string{
		"a foreign state": {"state", "AAAAAAAAAAAAAAAAAAAAAAAAAA"}, "no state": {"state", ""}, "no code": {"code", ""},
		"a foreign code": {"code", "AAAAAAAAAAAAAAAAAAAAAAAAAA"}, "another issuer": {"iss", "https://evil.example"},
	} {
		p := newPerson(t)
		refused(what, p, with(callbackOf(p, "ana"), change[0], change[1]))
	}

	// Somebody who can change what the browser asks the issuer for.
	for what, change := range map[string][2]string{
		"a code of another log-in": {"nonce", "AAAAAAAAAAAAAAAAAAAAAAAAAA"}, "a code of somebody who can prove nothing": {"code_challenge", challenge("another")},
	} {
		p := newPerson(t)
		asked := p.step(h.begin("/"), nil).leads()
		query := asked.Query()
		query.Set(change[0], change[1])
		asked.RawQuery = query.Encode()
		back, v := p.walk(asked.String(), "ana", h.URL+"/login/oidc/callback")
		if back == nil || !back.Query().Has("code") {
			t.Fatalf("no code: %s", v.body)
		}
		refused(what, p, back.String())
	}

	again := newPerson(t)
	back = callbackOf(again, "ana")
	if again.walk(back.String(), "ana", ""); !h.isIn(again) {
		t.Fatal("the way that all do is refused")
	}
	if cookies := again.cookies(h.URL + "/login/oidc/callback"); len(cookies) != 1 || cookies["askback"] == "" {
		t.Errorf("what was needed on the way is kept: %v", cookies)
	}
	thief := newPerson(t)
	refused("a callback that was used", thief, back.String())
	refused("a callback that was used, with a state of one's own", thief, with(back, "state", thief.step(h.begin("/"), nil).leads().Query().Get("state")))
	if v := again.step(back.String(), nil); v.status < 400 || v.status > 499 {
		t.Errorf("a callback that was used, in the same browser: got %d\n%s", v.status, v.body)
	}
	if !h.isIn(again) {
		t.Error("a callback that is reloaded logs out")
	}

	says := newPerson(t)
	state := says.step(h.begin("/"), nil).leads().Query().Get("state")
	v := says.step(h.URL+"/login/oidc/callback?"+url.Values{
		"state": {state}, "error": {"<script>alert(1)</script>"}, "error_description": {"call <b>0900</b> now"},
	}.Encode(), nil)
	if v.status == http.StatusOK || strings.Contains(v.body, "0900") || strings.Contains(v.body, "<script>alert") {
		t.Errorf("what a stranger wrote is on the page, %d:\n%s", v.status, v.body)
	}
}

// Two links that are opened beside each other lead each to its own page: whoever has
// two asks waiting signs in from both.
func TestSigningInTwiceAtATime(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	one, two := h.asked("Which?"), h.asked("How?")
	p := newPerson(t)
	first, second := p.step(h.begin("/asks/"+one.ID), nil).leads(), p.step(h.begin("/asks/"+two.ID), nil).leads()
	for page, begun := range map[string]*url.URL{one.PageURL: first, two.PageURL: second} {
		if at, v := p.walk(begun.String(), "ana", ""); at.String() != page || v.status != http.StatusOK {
			t.Errorf("it comes to %s, %d, want %s:\n%s", at, v.status, page, v.body)
		}
	}
}

// A form that comes when one is signed out is not taken, and signing in leads to a
// page that is there.
func TestAFormOfSomebodySignedOut(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	k := h.asked("Which?")
	for path, form := range map[string]url.Values{
		"/asks/" + k.ID: {"q1": {"0"}, "action": {"answer"}}, "/asks/" + k.ID + "/claim": {}, "/grants/gr_1/revoke": {},
	} {
		p := newPerson(t)
		v := p.step(h.URL+path, form)
		_, after, _ := strings.Cut(v.body, h.URL+"/login/oidc?")
		link, _, _ := strings.Cut(after, `"`)
		if v.status != http.StatusUnauthorized || link == "" {
			t.Fatalf("%s: got %d:\n%s", path, v.status, v.body)
		}
		if at, v := p.walk(h.URL+"/login/oidc?"+link, "ana", ""); v.status != http.StatusOK {
			t.Errorf("%s: signing in leads to %s, %d", path, at, v.status)
		}
	}
	if got, err := h.Person.Get(t.Context(), k.ID); err != nil || got.Status != askback.Pending || len(got.Claims) > 0 {
		t.Errorf("somebody signed out did something: %+v, %v", got, err)
	}
}

// Where somebody comes back to is a page of Askback, whatever the link said (T6).
func TestNobodyIsLedAway(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	for _, to := range []string{
		"https://evil.example/", "//evil.example/", `/\evil.example`, `\\evil.example`, "/%2F/evil.example", "/%5Cevil.example", "/./%2Fevil.example",
		"/\t/evil.example", "/\n/evil.example", "/../..//evil.example", "javascript:alert(1)", "http:evil.example", "asks/1", "@evil.example", "",
		h.URL + ".evil.example/", "/asks/../logout", "/" + strings.Repeat("x", 10_000),
	} {
		p := newPerson(t)
		first := p.step(h.begin(to), nil)
		if first.leads() == nil {
			if first.status < 400 || first.status > 499 {
				t.Errorf("%.60q: got %d", to, first.status)
			}
			continue
		}
		back, _ := p.walk(first.leads().String(), "ana", h.URL+"/login/oidc/callback")
		v := p.step(back.String(), nil)
		if at := v.leads(); at == nil || !strings.HasPrefix(at.String(), h.URL+"/") || strings.HasPrefix(at.EscapedPath(), "//") {
			t.Errorf("%.60q leads to %s, %d, %.200q", to, at, v.status, v.header.Get("Location"))
		}
	}
}

// Who is taken out of the settings is out, also where a browser is signed in.
func TestWhoIsTakenOutIsOut(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	p := newPerson(t)
	p.walk(h.begin("/"), "ana", "")
	if !h.isIn(p) {
		t.Fatal("ana is not in")
	}
	h.settle("ana", "somebody.else@example.com")
	until(t, "the browser is signed out", func() error {
		if v := p.step(h.URL+"/", nil); v.status == http.StatusOK {
			return statusError(v.status)
		}
		return nil
	})
	if _, v := p.walk(h.begin("/"), "ana", ""); v.status != http.StatusForbidden {
		t.Errorf("signing in again: got %d\n%s", v.status, v.body)
	}
}
