package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/askback/askback/internal/limits"
)

// After a log-in, the browser returns to the ask that it opened before.
func TestLogInReturnsToTheAsk(t *testing.T) {
	h := newServer(t)
	a := h.ask(single)
	visitor := browser{h, ""}
	w := h.do(visitor.request(http.MethodGet, "/asks/"+a.ID, nil))
	if got := w.Body.String(); !strings.Contains(got, "askback login") ||
		!strings.Contains(got, "return to this page") {
		t.Errorf("the page does not say how to log in: %s", got)
	}
	kept := w.Result().Cookies()
	if len(kept) != 1 || !kept[0].HttpOnly || kept[0].MaxAge != int(limits.LoginTime.Seconds()) {
		t.Fatalf("got cookies %v", kept)
	}
	r := visitor.request(http.MethodPost, "/login", url.Values{"secret": {h.link("ana")}})
	r.AddCookie(kept[0])
	w = h.do(r)
	if got, want := w.Header().Get("Location"), "/asks/"+a.ID; w.Code != http.StatusSeeOther || got != want {
		t.Errorf("got status %d to %q, want 303 to %q", w.Code, got, want)
	}
	var forgotten bool
	for _, c := range w.Result().Cookies() {
		forgotten = forgotten || c.Name == kept[0].Name && c.MaxAge < 0
	}
	if !forgotten {
		t.Errorf("the page is kept for the next log-in: %v", w.Result().Cookies())
	}
}

// Another site, or another program on this machine, cannot choose the destination of a log-in.
func TestLogInRedirectsToPagesOnly(t *testing.T) {
	h := newServer(t)
	for _, to := range []string{
		"//evil.example", "https://evil.example/", "http:evil.example", `/\evil.example`, `\\evil.example`,
		"/%2fevil.example", "/%5cevil.example",
		"///evil.example", "/asks//evil.example", "/asks/../..//evil.example", "/asks/..%2f..%2f", `/asks/\evil`,
		"/asks/%5c%5cevil.example",
		"/asks/a\tb", "javascript:alert(1)", "/login?secret=x", "/logout", "evil.example", "@evil.example",
		"/@evil.example", "", ".", "//", "/asks/", "/asks/ask_1@evil.example",
	} {
		r := browser{h, ""}.request(http.MethodPost, "/login", url.Values{"secret": {h.link("ana")}, "to": {to}})
		r.Header.Set("Cookie", "askback-to="+to)
		w := h.do(r)
		if got := w.Header().Get("Location"); w.Code != http.StatusSeeOther || got != "/" {
			t.Errorf("%q leads to %q (status %d)", to, got, w.Code)
		}
		w = h.do(browser{h, ""}.request(http.MethodGet, "/asks/"+url.PathEscape(to), nil))
		for _, c := range w.Result().Cookies() {
			if strings.Contains(c.Value, "evil") {
				t.Errorf("%q is kept as %q", to, c.Value)
			}
		}
	}
}
