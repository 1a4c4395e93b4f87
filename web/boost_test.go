package web_test

import (
	"strings"
	"testing"

	"github.com/askback/askback/web/pages"
)

// The link to the issuer leaves Askback, so the browser must follow it itself: a script may
// send no request to another site.
func TestLinkToIssuerIsNotBoosted(t *testing.T) {
	var page strings.Builder
	if err := pages.Message(pages.Frame{}, pages.Notice{SignIn: pages.SignIn{Name: "issuer", URL: "/login/oidc"}}).Render(t.Context(), &page); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(page.String(), `href="/login/oidc" hx-boost="false"`) {
		t.Errorf("got %s", page.String())
	}
}
