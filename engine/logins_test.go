package engine_test

import (
	"errors"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
)

// A person sees and ends only their own browser log-ins (F4).
func TestPeopleEndTheirOwnLogins(t *testing.T) {
	k := newTokenFixture()
	login := func(kind askback.Kind, name string) (secret, id string) {
		t.Helper()
		_, token := k.createToken(t, askback.TokenRequest{Kind: kind, Name: name})
		who, err := k.Authenticate(t.Context(), token)
		if err != nil {
			t.Fatal(err)
		}
		link, err := k.As(who).LoginSecret(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if secret, err = k.Login(t.Context(), link, askback.Browser{}); err != nil {
			t.Fatal(err)
		}
		browser, err := k.Authenticate(t.Context(), secret)
		if err != nil {
			t.Fatal(err)
		}
		return secret, browser.Token
	}
	first, firstID := login(askback.Responder, "ana")
	second, secondID := login(askback.Responder, "ana")
	other, otherID := login(askback.Responder, "ben")
	boss, bossID := login(askback.Admin, "ana")
	ana := askback.Principal{Kind: askback.Responder, Name: "ana", Channel: askback.ChannelWeb}
	got, err := k.Logins(t.Context(), ana)
	if err != nil || len(got) != 2 || got[0].ID != firstID && got[1].ID != firstID {
		t.Fatalf("got %+v, %v; want %s and %s", got, err, firstID, secondID)
	}
	for _, id := range []string{otherID, bossID, "tok_none", ""} {
		if _, err := k.EndLogin(t.Context(), ana, id); !errors.Is(err, askback.ErrNotFound) {
			t.Errorf("%q: got %v, want %v", id, err, askback.ErrNotFound)
		}
	}
	if _, err := k.EndLogin(t.Context(), ana, firstID); err != nil {
		t.Fatal(err)
	}
	k.wantUnauthorized(t, "ended", first)
	for _, secret := range []string{second, other, boss} {
		if _, err := k.Authenticate(t.Context(), secret); err != nil {
			t.Errorf("another log-in: %v", err)
		}
	}
	if got, err := k.Logins(t.Context(), ana); err != nil || len(got) != 1 || got[0].ID != secondID {
		t.Errorf("got %+v, %v; want %s", got, err, secondID)
	}
	k.advance(limits.BrowserTime)
	if got, err := k.Logins(t.Context(), ana); err != nil || len(got) != 0 {
		t.Errorf("later: got %+v, %v", got, err)
	}
}
