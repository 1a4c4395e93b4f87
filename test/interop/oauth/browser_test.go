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
	w.open(k.PageURL)
	w.miss("Which database?", "Log out")
	w.shot("1-offer")
	w.press(offer)
	w.signsIn("ana")
	w.is(k.PageURL)
	w.see("Which database?", "ana", "Log out")
	w.shot("2-the-ask")
	w.click(`input[name="q1"][value="0"]`)
	w.press(`button[value="answer"]`)
	w.see("Answered by", "ana")
	w.shot("3-answered")
	got, err := h.Person.Get(t.Context(), k.ID)
	if err != nil || got.Outcome == nil || got.Outcome.Actor.Name != "ana" || got.Outcome.Channel != askback.ChannelWeb {
		t.Errorf("the outcome is %+v, %v", got.Outcome, err)
	}
	w.press(`form[action="/logout"] button`)
	w.miss("What waits for you")
	w.shot("4-signed-out")
	w.open(k.PageURL)
	w.miss("Which database?")
	c.quiet()
}

// Who is not known, and who only says to be, is told so (T2).
func TestRefusedWithABrowser(t *testing.T) {
	t.Parallel()
	c, h := newChromium(t), newHouse(t, nil)
	k := h.asked("Which database?")
	for _, name := range []string{"eve", "mallory"} {
		w := c.window()
		w.open(k.PageURL)
		w.press(offer)
		w.signsIn(name)
		w.miss("Which database?", "Log out")
		w.shot("5-" + name)
		w.open(k.PageURL)
		w.miss("Which database?")
	}
	w := c.window()
	w.open(k.PageURL)
	w.press(offer)
	w.see("Issuer: who are you?")
	w.open(h.URL + "/login/oidc/callback?" + url.Values{"state": {"AAAAAAAAAAAAAAAAAAAAAAAAAA"}, "code": {"x"}, "iss": {h.setup.Issuer}}.Encode())
	w.miss("Which database?", "Log out")
	w.shot("6-foreign-state")
	c.quiet()
}

// While the issuer is down a browser is told so, and the same page works once it is up.
func TestTheIssuerIsDownForABrowser(t *testing.T) {
	t.Parallel()
	c, h := newChromium(t), shut(t, nil)
	k := h.asked("Which database?")
	w := c.window()
	w.open(k.PageURL)
	w.press(offer)
	w.see("Log-in is not available")
	w.shot("7-down")
	h.open()
	until(t, "the issuer is reached", func() error {
		if v := newPerson(t).step(h.begin("/"), nil); v.leads() == nil {
			return statusError(v.status)
		}
		return nil
	})
	w.open(k.PageURL)
	w.press(offer)
	w.signsIn("ana")
	w.is(k.PageURL)
	w.see("Which database?")
	c.quiet()
}
