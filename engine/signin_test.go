package engine_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
)

var (
	anaHere  = engine.Settings{People: []askback.Person{{Name: "ben", Email: "ben@example.com"}, {Name: "ana", Email: "ana@example.com"}, {Name: "cem"}}}
	anaMoved = engine.Settings{People: []askback.Person{{Name: "ben", Email: "ana@example.com"}, {Name: "ana", Email: "ana@example.org"}}}
	anaGone  = engine.Settings{People: []askback.Person{{Name: "ben", Email: "ben@example.com"}}}
)

// Who signed in is the person whose address it is, for a day, and no longer than the
// settings say so (F12).
func TestWhoSignedInIsInTheSettings(t *testing.T) {
	k := newKeyring()
	k.Set(anaHere)
	for _, stranger := range []string{"eve@example.com", "", "ana", "ana@example.com.evil.example", " ana@example.com"} {
		if _, err := k.SignIn(t.Context(), stranger); !errors.Is(err, askback.ErrForbidden) {
			t.Errorf("%q: got %v, want %v", stranger, err, askback.ErrForbidden)
		}
	}
	secret, err := k.SignIn(t.Context(), "Ana@example.com")
	if err != nil {
		t.Fatal(err)
	}
	ana := askback.Principal{Kind: askback.Responder, Name: "ana", Via: askback.ViaWeb}
	k.accepts(t, secret, ana)
	k.Set(anaGone)
	k.refuses(t, "no longer in the settings", secret)
	k.Set(anaMoved)
	k.refuses(t, "the address is somebody else's now", secret)
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
	secret, err := k.SignIn(t.Context(), "ana@example.com")
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

// A standing approval outlives the log-in, as any does, and ends when its maker is no
// longer in the settings (F8).
func TestAGrantEndsWithThePersonWhoSignedIn(t *testing.T) {
	k := newKeyring()
	k.Set(anaHere)
	secret, err := k.SignIn(t.Context(), "ana@example.com")
	if err != nil {
		t.Fatal(err)
	}
	ana, err := k.Authenticate(t.Context(), secret)
	if err != nil {
		t.Fatal(err)
	}
	agent := k.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
	ask := func(path string) askback.Ask {
		t.Helper()
		a, err := agent.Ask(t.Context(), askback.Request{Confirmation: &askback.Confirmation{
			ToolName: "rm", Input: json.RawMessage(fmt.Sprintf(`{"path":%q}`, path)),
		}})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	if _, err := k.As(ana).Answer(t.Context(), ask("/a").ID, askback.Decide(askback.ApproveAll, "")); err != nil {
		t.Fatal(err)
	}
	if err := k.Logout(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	hoarded := ask("/b")
	if !hoarded.Settled() {
		t.Error("the grant ended when ana logged out")
	}
	k.Set(anaMoved)
	if a := ask("/c"); a.Settled() {
		t.Errorf("got outcome %+v by somebody who is not in the settings", a.Outcome)
	}
	if _, err := agent.Consume(t.Context(), hoarded.ID, hoarded.Outcome.Digest); !errors.Is(err, askback.ErrNotApproved) {
		t.Errorf("got %v, want what was approved beforehand not to run any more", err)
	}
	k.Set(anaHere)
	if a := ask("/d"); !a.Settled() {
		t.Error("the grant did not come back with its maker")
	}
}
