package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
)

// A page is a browser that is logged in as the local user.
type page struct {
	t      *testing.T
	base   string
	client *http.Client
}

func (s *testServer) browser() *page {
	s.t.Helper()
	link, err := url.Parse(strings.TrimSpace(mustRun(s.t, s.env, "login")))
	if err != nil {
		s.t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	p := &page{s.t, link.Scheme + "://" + link.Host, &http.Client{Jar: jar}}
	p.send("/login", url.Values{"secret": {link.Query().Get("secret")}})
	return p
}

// read returns the page of an ask.
func (p *page) read(id string) string {
	p.t.Helper()
	res, err := p.client.Get(p.base + "/asks/" + id)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		p.t.Fatalf("got %s, %v", res.Status, err)
	}
	return string(raw)
}

// send sends a form.
func (p *page) send(path string, form url.Values) {
	p.t.Helper()
	res, err := p.client.PostForm(p.base+path, form)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode >= http.StatusBadRequest {
		p.t.Fatalf("POST %s: got %s", path, res.Status)
	}
}

// Text that is typed in the inbox of the terminal appears on the page, and the other way round. Neither
// answers the ask (B6, F8).
func TestDraftsAreSharedWithThePages(t *testing.T) {
	t.Parallel()
	server := newServer(t)
	server.call(server.agent, "POST", "/asks", `{"questions":[{"question":"Why?"}]}`, 201)
	id := server.waitForAsk()
	s := startInbox(t, server.env, 80, `Why\?`)
	s.typeKeys("\r")
	s.waitForScreen(`Enter sends`)
	s.typeKeys("from the terminal")
	s.waitForScreen(`from the terminal`)
	s.typeKeys("\x03")
	s.waitExit(exitInterrupted)
	browser := server.browser()
	if got := browser.read(id); !strings.Contains(got, "\nfrom the terminal</textarea>") {
		t.Errorf("the page has no field with what was typed:\n%s", got)
	}
	browser.send("/asks/"+id+"/draft", url.Values{"q1-other": {"from the page"}, "comment": {"both"}})
	s = startInbox(t, server.env, 80, `Why\?`)
	s.typeKeys("\r")
	s.waitForScreen(`you\S* .*from the page`)
	s.typeKeys("\x03")
	s.waitExit(exitInterrupted)
	if got := server.askStatus(id); got != "pending" {
		t.Errorf("the ask is %s", got)
	}
}

// Text in the panel of askback ask is kept when the command is interrupted. The panel shows the text again
// when the command continues (B6).
func TestInterruptedPanelKeepsItsDraft(t *testing.T) {
	t.Parallel()
	server := newServer(t)
	s := startPanel(t, server.env, "askback", "ask", "--key", "k", "Why?")
	s.typeKeys("half an answer")
	s.waitForScreen(`half an answer`)
	s.typeKeys("\x03")
	s.waitExit(exitInterrupted)
	id := server.waitForAsk()
	if got := server.browser().read(id); !strings.Contains(got, "\nhalf an answer</textarea>") {
		t.Errorf("the page has no field with what was typed:\n%s", got)
	}
	s = startPanel(t, server.env, "askback", "ask", "--key", "k", "Why?")
	s.waitForScreen(`half an answer`)
	s.pressUntil("\r", func() bool { return server.askStatus(id) == "answered" })
	s.waitExit(0)
}
