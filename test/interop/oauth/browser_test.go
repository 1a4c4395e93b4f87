package oauth_test

import (
	"net/url"
	"testing"

	"github.com/askback/askback"
)

// offer is the link or button of a page that signs in.
const offer = `main a[href*="/login/oidc?"]`

// Somebody opens the link of an ask in a browser that nobody knows, signs in, is at
// that very ask, answers it, and signs out (F2).
func TestSigningInWithABrowser(t *testing.T) {
	t.Parallel()
	c, h := newChromium(t), newHouse(t, nil)
	k := h.asked("Which database?")
	w := c.window()
	w.Open(k.PageURL)
	w.wantNoText("Which database?", "Log out")
	w.checkWidth("1-offer")
	w.Press(offer)
	w.signIn("ana")
	w.wantAddress(k.PageURL)
	w.wantText("Which database?", "ana", "Log out")
	w.checkWidth("2-the-ask")
	w.Click(`input[name="q1"][value="0"]`)
	w.Press(`button[value="answer"]`)
	w.wantText("Answered by", "ana")
	w.checkWidth("3-answered")
	got, err := h.Person.Get(t.Context(), k.ID)
	if err != nil || got.Outcome == nil || got.Outcome.Actor.Name != "ana" || got.Outcome.Channel != askback.ChannelWeb {
		t.Errorf("the outcome is %+v, %v", got.Outcome, err)
	}
	w.Press(`form[action="/logout"] button`)
	w.wantNoText("What waits for you")
	w.checkWidth("4-signed-out")
	w.Open(k.PageURL)
	w.wantNoText("Which database?")
	c.Check(t)
}

// Who is not known, and who only says to be, is told so (T2).
func TestRefusedWithABrowser(t *testing.T) {
	t.Parallel()
	c, h := newChromium(t), newHouse(t, nil)
	k := h.asked("Which database?")
	for _, name := range []string{"eve", "mallory"} {
		w := c.window()
		w.Open(k.PageURL)
		w.Press(offer)
		w.signIn(name)
		w.wantNoText("Which database?", "Log out")
		w.checkWidth("5-" + name)
		w.Open(k.PageURL)
		w.wantNoText("Which database?")
	}
	w := c.window()
	w.Open(k.PageURL)
	w.Press(offer)
	w.wantText("Issuer: who are you?")
	w.Open(h.URL + "/login/oidc/callback?" + url.Values{"state": {"AAAAAAAAAAAAAAAAAAAAAAAAAA"}, "code": {"x"}, "iss": {h.setup.Issuer}}.Encode())
	w.wantNoText("Which database?", "Log out")
	w.checkWidth("6-foreign-state")
	c.Check(t)
}

// While the issuer is down a browser is told so, and the same page works once it is up.
func TestTheIssuerIsDownForABrowser(t *testing.T) {
	t.Parallel()
	c, h := newChromium(t), shut(t, nil)
	k := h.asked("Which database?")
	w := c.window()
	w.Open(k.PageURL)
	w.Press(offer)
	w.wantText("Log-in is not available")
	w.checkWidth("7-down")
	h.open()
	until(t, "the issuer is reached", func() error {
		if v := newPerson(t).step(h.begin("/"), nil); v.leads() == nil {
			return statusError(v.status)
		}
		return nil
	})
	w.Open(k.PageURL)
	w.Press(offer)
	w.signIn("ana")
	w.wantAddress(k.PageURL)
	w.wantText("Which database?")
	c.Check(t)
}
