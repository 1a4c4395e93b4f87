package engine_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
)

const issuer = "https://id.example.com"

var (
	anaHere  = engine.Settings{Issuer: issuer, People: []askback.Person{{Name: "ben", Email: "ben@example.com"}, {Name: "ana", Email: "ana@example.com"}, {Name: "cem"}, {Name: "kim", Email: "kim@example.com"}, {Name: "sam", Email: "sam@example.com"}}}
	anaMoved = engine.Settings{Issuer: issuer, People: []askback.Person{{Name: "ben", Email: "ana@example.com"}, {Name: "ana", Email: "ana@example.org"}}}
	// An issuer that is not ours any more vouches for nobody.
	anaElse  = engine.Settings{Issuer: "https://id.example.org", People: anaHere.People}
	anaAlone = engine.Settings{People: anaHere.People}
	anaGone  = engine.Settings{Issuer: issuer, People: []askback.Person{{Name: "ben", Email: "ben@example.com"}}}
)

// Who signed in is the person whose address it is, for a day, and no longer than the
// settings say so (F12).
func TestWhoSignedInIsInTheSettings(t *testing.T) {
	k := newKeyring()
	k.Set(anaHere)
	for _, stranger := range []string{"eve@example.com", "", "ana", "ana@example.com.evil.example", " ana@example.com", "an\u0430@example.com", "\u212aim@example.com", "\u017fam@example.com"} {
		if _, err := k.SignIn(t.Context(), issuer, stranger); !errors.Is(err, askback.ErrForbidden) {
			t.Errorf("%q: got %v, want %v", stranger, err, askback.ErrForbidden)
		}
	}
	secret, err := k.SignIn(t.Context(), issuer, "Ana@example.com")
	if err != nil {
		t.Fatal(err)
	}
	ana := askback.Principal{Kind: askback.Responder, Name: "ana", Via: askback.ViaWeb}
	k.accepts(t, secret, ana)
	k.Set(anaGone)
	k.refuses(t, "no longer in the settings", secret)
	k.Set(anaMoved)
	k.refuses(t, "the address is somebody else's now", secret)
	k.Set(anaElse)
	k.refuses(t, "another issuer", secret)
	k.Set(anaAlone)
	k.refuses(t, "no issuer", secret)
	if _, err := k.SignIn(t.Context(), issuer, "ana@example.com"); !errors.Is(err, askback.ErrUnauthorized) {
		t.Errorf("no issuer: got %v, want %v", err, askback.ErrUnauthorized)
	}
	if _, err := k.SignIn(t.Context(), "", "ana@example.com"); !errors.Is(err, askback.ErrUnauthorized) {
		t.Errorf("no issuer at all: got %v, want %v", err, askback.ErrUnauthorized)
	}
	k.Set(anaHere)
	k.accepts(t, secret, ana)
	k.pass(askback.SignInTime)
	k.refuses(t, "a day later", secret)
}

// What somebody makes with such a log-in ends with it: a link for another browser
// outlives neither the settings nor the log-in.
func TestALinkOfWhoSignedInEndsWithThem(t *testing.T) {
	k := newKeyring()
	k.Set(anaHere)
	secret, err := k.SignIn(t.Context(), issuer, "ana@example.com")
	if err != nil {
		t.Fatal(err)
	}
	who, err := k.Authenticate(t.Context(), secret)
	if err != nil {
		t.Fatal(err)
	}
	link, err := k.As(who).LoginSecret(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other, err := k.Login(t.Context(), link)
	if err != nil {
		t.Fatal(err)
	}
	k.accepts(t, other, askback.Principal{Kind: askback.Responder, Name: "ana", Via: askback.ViaWeb})
	k.Set(anaGone)
	k.refuses(t, "no longer in the settings", other)
	k.Set(anaHere)
	k.accepts(t, other, askback.Principal{Kind: askback.Responder, Name: "ana", Via: askback.ViaWeb})
	k.pass(askback.SignInTime)
	k.refuses(t, "a day later", other)
}

// However long the way of links is from the sign-in to the browser that approves, or
// too long: the approval ends with the person.
func TestNoChainOfLinksOutlivesThePerson(t *testing.T) {
	k := newKeyring()
	k.Set(anaHere)
	secret, err := k.SignIn(t.Context(), issuer, "ana@example.com")
	if err != nil {
		t.Fatal(err)
	}
	made := 0
	for depth := range 12 {
		ana, err := k.Authenticate(t.Context(), secret)
		if err != nil {
			break
		}
		_, err = k.As(ana).Answer(t.Context(), k.remove(t, fmt.Sprint("/", depth)).ID, anyArguments())
		if err == nil {
			made++
		}
		k.Set(anaGone)
		if a := k.remove(t, fmt.Sprint("/gone/", depth)); a.Settled() {
			t.Errorf("%d links deep: got outcome %+v by somebody who is not in the settings", depth, a.Outcome)
		}
		k.Set(anaHere)
		k.endGrants(t)
		link, err := k.As(ana).LoginSecret(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if secret, err = k.Login(t.Context(), link); err != nil {
			break
		}
	}
	if made < 8 {
		t.Errorf("she could approve %d times only: nothing was tried", made)
	}
}

// remove asks whether a path may be removed.
func (k *keyring) remove(t *testing.T, path string) askback.Ask {
	t.Helper()
	a, err := k.As(askback.Principal{Kind: askback.Agent, Name: "bot"}).Ask(t.Context(), askback.Request{Confirmation: &askback.Confirmation{
		ToolName: "rm", Input: json.RawMessage(fmt.Sprintf(`{"path":%q}`, path)),
	}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// endGrants revokes every grant.
func (k *keyring) endGrants(t *testing.T) {
	t.Helper()
	page, err := k.As(admin).Grants(t.Context(), askback.GrantQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range page.Items {
		if _, err := k.As(admin).Revoke(t.Context(), g.ID); err != nil {
			t.Fatal(err)
		}
	}
}

// A standing approval outlives the log-in, as any does, and ends when its maker is no
// longer in the settings (F8).
func TestAGrantEndsWithThePersonWhoSignedIn(t *testing.T) {
	k := newKeyring()
	k.Set(anaHere)
	secret, err := k.SignIn(t.Context(), issuer, "ana@example.com")
	if err != nil {
		t.Fatal(err)
	}
	ana, err := k.Authenticate(t.Context(), secret)
	if err != nil {
		t.Fatal(err)
	}
	agent := k.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
	if _, err := k.As(ana).Answer(t.Context(), k.remove(t, "/a").ID, anyArguments()); err != nil {
		t.Fatal(err)
	}
	if err := k.Logout(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	hoarded := k.remove(t, "/b")
	if !hoarded.Settled() {
		t.Error("the grant ended when ana logged out")
	}
	k.Set(anaMoved)
	if a := k.remove(t, "/c"); a.Settled() {
		t.Errorf("got outcome %+v by somebody who is not in the settings", a.Outcome)
	}
	if _, err := agent.Consume(t.Context(), hoarded.ID, hoarded.Outcome.Digest); !errors.Is(err, askback.ErrNotApproved) {
		t.Errorf("got %v, want what was approved beforehand not to run any more", err)
	}
	k.Set(anaHere)
	if a := k.remove(t, "/d"); !a.Settled() {
		t.Error("the grant did not come back with its maker")
	}
}
