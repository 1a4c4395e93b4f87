package mcp_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/test/interop/clienttest"
)

// A browser logs in with a link and sends forms.
type browser struct {
	t    *testing.T
	http *http.Client
}

func newBrowser(t *testing.T, p *clienttest.Instance) browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := browser{t, &http.Client{Jar: jar, Timeout: time.Minute}}
	link, err := url.Parse(strings.TrimSpace(p.Run("login")))
	if err != nil {
		t.Fatal(err)
	}
	b.field(b.page(link.String()), "hidden", "secret", link.Query().Get("secret"))
	b.send(p.URL+"/login", url.Values{"secret": {link.Query().Get("secret")}})
	return b
}

// page returns the page at an address.
func (b browser) page(address string) string {
	b.t.Helper()
	res, err := b.http.Get(address)
	return b.shown(address, res, err)
}

// send sends a form, and returns the next page.
func (b browser) send(address string, form url.Values) string {
	b.t.Helper()
	in, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	in.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	in.Header.Set("Sec-Fetch-Site", "same-origin")
	res, err := b.http.Do(in)
	return b.shown(address, res, err)
}

func (b browser) shown(address string, res *http.Response, err error) string {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		b.t.Fatalf("%s: %s, %v\n%s", address, res.Status, err, raw)
	}
	return string(raw)
}

// field requires that a page has a form field.
func (b browser) field(page, kind, name, value string) {
	b.t.Helper()
	for _, tag := range regexp.MustCompile(`<(input|button)[^>]*>`).FindAllString(page, -1) {
		if strings.Contains(tag, `type="`+kind+`"`) && strings.Contains(tag, `name="`+name+`"`) &&
			strings.Contains(tag, `value="`+value+`"`) {
			return
		}
	}
	b.t.Fatalf("the page has no %s %s=%s:\n%s", kind, name, value, page)
}

// answer answers the only question on the page of an ask, and waits until the answer can no longer
// be undone.
func (b browser) answer(address, option string) {
	b.t.Helper()
	page := b.page(address)
	b.field(page, "radio", "q1", option)
	b.field(page, "submit", "action", "answer")
	after := b.send(address, url.Values{"q1": {option}, "action": {"answer"}})
	if !strings.Contains(after, "Undo") {
		b.t.Fatalf("after the form:\n%s", after)
	}
	for deadline := time.Now().Add(time.Minute); !strings.Contains(after, "Answered by"); after = b.page(address) {
		if time.Now().After(deadline) {
			b.t.Fatalf("a minute after the form:\n%s", after)
		}
		<-time.After(100 * time.Millisecond)
	}
}

// A client of revision 2026-07-28 that can show a page is asked to show the page, and the call continues to
// the answer (B7).
func TestPageIsShown(t *testing.T) {
	clienttest.Packages(t)
	t.Parallel()
	for name, in := range map[string]func(*clienttest.Instance) setup{"stdio": overStdio, "HTTP": overHTTP} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := clienttest.New(t)
			a, b := newAgent(t, modern, in(p).withPage("accept")), newBrowser(t, p)
			done := a.start("call", ask("Which database?", "PostgreSQL", "SQLite"))
			k := p.Open(1)[0]
			b.answer(k.PageURL, "0")
			a.wantAnswer(a.result(done), "Which database?", "PostgreSQL")
			shown := a.about().Elicited
			if len(shown) != 1 || shown[0]["mode"] != "url" || shown[0]["url"] != k.PageURL {
				t.Errorf("shown: %v, want %s once", shown, k.PageURL)
			}
		})
	}
}

// If a client does not show the page, nothing is decided, and the call waits for the
// answer (B7, F4).
func TestDeclinedPageDecidesNothing(t *testing.T) {
	clienttest.Packages(t)
	t.Parallel()
	for _, looks := range []string{"decline", "cancel"} {
		t.Run(looks, func(t *testing.T) {
			t.Parallel()
			p := clienttest.New(t)
			a := newAgent(t, modern, overHTTP(p).withPage(looks))
			done := a.start("call", ask("Which database?", "PostgreSQL", "SQLite"))
			p.Answer(p.Open(1)[0].ID, askback.Choose("SQLite"))
			a.wantAnswer(a.result(done), "Which database?", "SQLite")
			if shown := a.about().Elicited; len(shown) != 1 {
				t.Errorf("it was asked to show %v, want one page", shown)
			}
		})
	}
}

// A client that is not known to show pages is not asked to show a page. Its call waits (B7).
func TestUnknownClientIsNotAskedToShowAPage(t *testing.T) {
	clienttest.Packages(t)
	t.Parallel()
	for _, name := range []string{"tester", "copilot-cli", "codex-mcp-client", "claude-code"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := clienttest.New(t)
			s := overHTTP(p).withPage("accept")
			s.Name = name
			a := newAgent(t, modern, s)
			done := a.start("call", ask("Which database?", "PostgreSQL", "SQLite"))
			p.Answer(p.Open(1)[0].ID, askback.Choose("SQLite"))
			a.wantAnswer(a.result(done), "Which database?", "SQLite")
			if shown := a.about().Elicited; len(shown) != 0 {
				t.Errorf("it was asked to show %v", shown)
			}
		})
	}
}

// A client of an older revision is not asked to show pages, because its session is not stored. Its call waits
// (B7).
func TestLegacyClientIsNotAskedToShowAPage(t *testing.T) {
	clienttest.Packages(t)
	t.Parallel()
	for name, in := range map[string]func(*clienttest.Instance) setup{"stdio": overStdio, "HTTP": overHTTP} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := clienttest.New(t)
			a := newAgent(t, legacy, in(p).withPage("accept"))
			c := ask("Which database?", "PostgreSQL", "SQLite")
			a.callAndTimeOut(p, c)
			done := a.start("call", c)
			p.Answer(p.Open(1)[0].ID, askback.Choose("SQLite"))
			a.wantAnswer(a.result(done), "Which database?", "SQLite")
			if shown := a.about().Elicited; len(shown) != 0 {
				t.Errorf("it was asked to show %v", shown)
			}
		})
	}
}
