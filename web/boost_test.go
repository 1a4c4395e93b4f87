package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/askback/askback/internal/pages"
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

// A page has one script. htmx starts in the first task after its script, so an extension in
// a script of its own was sometimes late, and then the list was not live.
func TestPageHasOneScript(t *testing.T) {
	ana := newServer(t).browser("ana")
	if got := len(ana.open("/", http.StatusOK).all("script")); got != 1 {
		t.Errorf("the page has %d scripts, want 1", got)
	}
}
