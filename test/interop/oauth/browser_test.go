package oauth_test

import (
	"net/url"
	"testing"

	"github.com/askback/askback"
)

// signInLink selects the link or button that signs in.
const signInLink = `main a[href*="/login/oidc?"]`

// A person who opens the link of an ask signs in, returns to the ask, answers it and
// signs out (F2).
func TestPersonSignsInWithBrowser(t *testing.T) {
	t.Parallel()
	c, f := newChromium(t), newFixture(t, nil)
	k := f.ask("Which database?")
	w := c.window()
	w.Open(k.PageURL)
	w.wantNoText("Which database?", "Log out")
	w.checkWidth("1-offer")
	w.Press(signInLink)
	w.signIn("ana")
	w.wantAddress(k.PageURL)
	w.wantText("Which database?", "ana", "Log out")
	w.checkWidth("2-the-ask")
	w.Click(`input[name="q1"][value="0"]`)
	w.Press(`button[value="answer"]`)
	w.wantText("All clear", "Answered", "ana")
	w.checkWidth("3-answered")
	got, err := f.Person.Get(t.Context(), k.ID)
	if err != nil || got.Outcome == nil || got.Outcome.Actor.Name != "ana" ||
		got.Outcome.Channel != askback.ChannelWeb {
		t.Errorf("the outcome is %+v, %v", got.Outcome, err)
	}
	w.Press(`form[action="/logout"] button`)
	w.wantNoText("What waits for you")
	w.checkWidth("4-signed-out")
	w.Open(k.PageURL)
	w.wantNoText("Which database?")
	c.Check(t)
}

// People who are unknown or have an unverified address cannot sign in, and are not
// shown the ask. A callback with an unknown state does not sign in either (T2).
func TestUnknownPeopleCannotSignInWithBrowser(t *testing.T) {
	t.Parallel()
	c, f := newChromium(t), newFixture(t, nil)
	k := f.ask("Which database?")
	for _, name := range []string{"eve", "mallory"} {
		w := c.window()
		w.Open(k.PageURL)
		w.Press(signInLink)
		w.signIn(name)
		w.wantNoText("Which database?", "Log out")
		w.checkWidth("5-" + name)
		w.Open(k.PageURL)
		w.wantNoText("Which database?")
	}
	w := c.window()
	w.Open(k.PageURL)
	w.Press(signInLink)
	w.wantText("Issuer: who are you?")
	w.Open(f.URL + "/login/oidc/callback?" +
		url.Values{"state": {"AAAAAAAAAAAAAAAAAAAAAAAAAA"}, "code": {"x"}, "iss": {f.setup.Issuer}}.Encode())
	w.wantNoText("Which database?", "Log out")
	w.checkWidth("6-foreign-state")
	c.Check(t)
}

// The page reports that the issuer is down, and works when the issuer is
// available again.
func TestPageReportsThatIssuerIsDown(t *testing.T) {
	t.Parallel()
	c, f := newChromium(t), newFixtureWithoutIssuer(t, nil)
	k := f.ask("Which database?")
	w := c.window()
	w.Open(k.PageURL)
	w.Press(signInLink)
	w.wantText("Log-in is not available")
	w.checkWidth("7-down")
	f.open()
	until(t, "the issuer is reached", func() error {
		if v := newPerson(t).step(f.loginURL("/"), nil); v.redirect() == nil {
			return statusError(v.status)
		}
		return nil
	})
	w.Open(k.PageURL)
	w.Press(signInLink)
	w.signIn("ana")
	w.wantAddress(k.PageURL)
	w.wantText("Which database?")
	c.Check(t)
}
