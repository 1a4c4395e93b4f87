package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/askback/askback/internal/pages"
)

// The browser itself follows the link to the issuer, because the link leaves Askback: a script may send no
// request to another site.
func TestLinkToIssuerIsNotBoosted(t *testing.T) {
	var page strings.Builder
	if err := pages.Message(pages.Frame{},
		pages.Notice{SignIn: pages.SignIn{Name: "issuer", URL: "/login/oidc"}}).Render(t.Context(), &page); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(page.String(), `href="/login/oidc" hx-boost="false"`) {
		t.Errorf("got %s", page.String())
	}
}

// A page has one script. htmx starts in the first task after its script, so an extension in a separate script
// was sometimes late. Then the list was not live.
func TestPageLoadsOneScript(t *testing.T) {
	ana := newServer(t).browser("ana")
	if got := len(ana.open("/", http.StatusOK).all("script")); got != 1 {
		t.Errorf("the page has %d scripts, want 1", got)
	}
}
