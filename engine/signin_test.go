package engine_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/limits"
)

const issuer = "https://id.example.com"

var (
	withAna = engine.Settings{Issuer: issuer, People: []askback.Person{
		{Name: "ben", Email: "ben@example.com"},
		{Name: "ana", Email: "ana@example.com"},
		{Name: "cem"},
		{Name: "kim", Email: "kim@example.com"},
		{Name: "sam", Email: "sam@example.com"},
	}}
	addressesMoved = engine.Settings{Issuer: issuer, People: []askback.Person{
		{Name: "ben", Email: "ana@example.com"}, {Name: "ana", Email: "ana@example.org"},
	}}
	// otherIssuer names another issuer, so people who signed in with the first issuer are logged out.
	otherIssuer = engine.Settings{Issuer: "https://id.example.org", People: withAna.People}
	noIssuer    = engine.Settings{People: withAna.People}
	withoutAna  = engine.Settings{Issuer: issuer, People: []askback.Person{{Name: "ben", Email: "ben@example.com"}}}
)

// A browser that signed in acts as the person with its address for a day, and only while the settings have
// this person (F12).
func TestSignInRequiresPersonInSettings(t *testing.T) {
	k := newTokenFixture()
	k.Set(withAna)
	for _, stranger := range []string{
		"eve@example.com", "", "ana", "ana@example.com.evil.example", " ana@example.com", "an\u0430@example.com",
		"\u212aim@example.com", "\u017fam@example.com",
	} {
		if _, err := k.SignIn(t.Context(), issuer, stranger, askback.Browser{}); !errors.Is(err, askback.ErrForbidden) {
			t.Errorf("%q: got %v, want %v", stranger, err, askback.ErrForbidden)
		}
	}
	secret, err := k.SignIn(t.Context(), issuer, "Ana@example.com", askback.Browser{})
	if err != nil {
		t.Fatal(err)
	}
	ana := askback.Principal{Kind: askback.Responder, Name: "ana", Channel: askback.ChannelWeb}
	k.wantPrincipal(t, secret, ana)
	k.Set(withoutAna)
	k.wantUnauthorized(t, "no longer in the settings", secret)
	k.Set(addressesMoved)
	k.wantUnauthorized(t, "the address is another person's now", secret)
	k.Set(otherIssuer)
	k.wantUnauthorized(t, "another issuer", secret)
	k.Set(noIssuer)
	k.wantUnauthorized(t, "no issuer", secret)
	_, err = k.SignIn(t.Context(), issuer, "ana@example.com", askback.Browser{})
	if !errors.Is(err, askback.ErrUnauthorized) {
		t.Errorf("no issuer: got %v, want %v", err, askback.ErrUnauthorized)
	}
	_, err = k.SignIn(t.Context(), "", "ana@example.com", askback.Browser{})
	if !errors.Is(err, askback.ErrUnauthorized) {
		t.Errorf("no issuer at all: got %v, want %v", err, askback.ErrUnauthorized)
	}
	k.Set(withAna)
	k.wantPrincipal(t, secret, ana)
	k.advance(limits.SignInTime)
	k.wantUnauthorized(t, "a day later", secret)
}

// A signed-in person logs in another browser by a link. That browser is logged out when the sign-in ends, and
// while the person is not in the settings.
func TestLoginByLinkEndsWithSignIn(t *testing.T) {
	k := newTokenFixture()
	k.Set(withAna)
	secret, err := k.SignIn(t.Context(), issuer, "ana@example.com", askback.Browser{})
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
	other, err := k.Login(t.Context(), link, askback.Browser{})
	if err != nil {
		t.Fatal(err)
	}
	k.wantPrincipal(t, other, askback.Principal{Kind: askback.Responder, Name: "ana", Channel: askback.ChannelWeb})
	k.Set(withoutAna)
	k.wantUnauthorized(t, "no longer in the settings", other)
	k.Set(withAna)
	k.wantPrincipal(t, other, askback.Principal{Kind: askback.Responder, Name: "ana", Channel: askback.ChannelWeb})
	k.advance(limits.SignInTime)
	k.wantUnauthorized(t, "a day later", other)
}

// A grant approves nothing while its maker is not in the settings. Any number of log-in
// links may be between the sign-in and the browser that made the grant.
func TestGrantMadeAfterLoginLinksRequiresPersonInSettings(t *testing.T) {
	k := newTokenFixture()
	k.Set(withAna)
	secret, err := k.SignIn(t.Context(), issuer, "ana@example.com", askback.Browser{})
	if err != nil {
		t.Fatal(err)
	}
	made := 0
	for depth := range 12 {
		ana, err := k.Authenticate(t.Context(), secret)
		if err != nil {
			break
		}
		_, err = k.As(ana).Answer(t.Context(), k.askToRemove(t, fmt.Sprint("/", depth)).ID, anyArguments())
		if err == nil {
			made++
		}
		k.Set(withoutAna)
		if a := k.askToRemove(t, fmt.Sprint("/gone/", depth)); a.Settled() {
			t.Errorf("%d links deep: got outcome %+v by a person who is not in the settings", depth, a.Outcome)
		}
		k.Set(withAna)
		k.revokeGrants(t)
		link, err := k.As(ana).LoginSecret(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if secret, err = k.Login(t.Context(), link, askback.Browser{}); err != nil {
			break
		}
	}
	if made < 8 {
		t.Errorf("she could approve %d times only: nothing was tried", made)
	}
}

// askToRemove asks for approval to remove a path.
func (k *tokenFixture) askToRemove(t *testing.T, path string) askback.Ask {
	t.Helper()
	a, err := k.As(askback.Principal{Kind: askback.Agent, Name: "bot"}).Ask(t.Context(),
		askback.Request{Confirmation: &askback.Confirmation{
			ToolName: "rm", Input: json.RawMessage(fmt.Sprintf(`{"path":%q}`, path)),
		}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// revokeGrants revokes all grants.
func (k *tokenFixture) revokeGrants(t *testing.T) {
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

// A grant that was made after a sign-in does not end when the browser is logged out. It approves nothing
// while its maker is not in the settings with the address of the sign-in (F8).
func TestGrantRequiresSignedInPersonInSettings(t *testing.T) {
	k := newTokenFixture()
	k.Set(withAna)
	secret, err := k.SignIn(t.Context(), issuer, "ana@example.com", askback.Browser{})
	if err != nil {
		t.Fatal(err)
	}
	ana, err := k.Authenticate(t.Context(), secret)
	if err != nil {
		t.Fatal(err)
	}
	agent := k.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
	if _, err := k.As(ana).Answer(t.Context(), k.askToRemove(t, "/a").ID, anyArguments()); err != nil {
		t.Fatal(err)
	}
	if err := k.Logout(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	hoarded := k.askToRemove(t, "/b")
	if !hoarded.Settled() {
		t.Error("the grant ended when ana logged out")
	}
	k.Set(addressesMoved)
	if a := k.askToRemove(t, "/c"); a.Settled() {
		t.Errorf("got outcome %+v by a person who is not in the settings", a.Outcome)
	}
	if _, err := agent.Consume(t.Context(), hoarded.ID,
		hoarded.Outcome.Digest); !errors.Is(err, askback.ErrNotApproved) {
		t.Errorf("got %v, want what was approved beforehand not to run any more", err)
	}
	k.Set(withAna)
	if a := k.askToRemove(t, "/d"); !a.Settled() {
		t.Error("the grant did not come back with its maker")
	}
}
