package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/message/answerlink"
	"github.com/askback/askback/web"
)

// linkServer is a server with links, which ben may no longer use.
type linkServer struct {
	*server
	signer *answerlink.Signer
	log    bytes.Buffer
}

func newLinkServer(t *testing.T) *linkServer {
	t.Helper()
	h := &linkServer{server: newServer(t)}
	h.signer = answerlink.New(func() ([]byte, error) { return make([]byte, 32), nil }, answerlink.Page)
	h.serve()
	return h
}

// serve serves the pages of the engine.
func (h *linkServer) serve() {
	h.handler = web.New(h.engine, h.engine, h.engine, &web.Options{
		Now: func() time.Time { return h.now }, Log: slog.New(slog.NewTextHandler(&h.log, nil)),
		ZoneOf: func(person string) *time.Location {
			if person == "udo" {
				return location(h.t, "Asia/Kolkata")
			}
			return nil
		},
		Links: &web.Links{
			Signer: h.signer,
			Person: func(_ context.Context, name string, via askback.Channel) (askback.PersonClient, error) {
				if name == "ben" {
					return nil, askback.ErrForbidden
				}
				client := h.engine.As(askback.Principal{Kind: askback.Responder, Name: name, Channel: via})
				if name == "udo" {
					return startedIt{client}, nil
				}
				return client, nil
			},
		},
	})
}

// startedIt is the client of a person who started the session. The client rejects every answer.
type startedIt struct{ askback.PersonClient }

func (startedIt) Answer(context.Context, string, askback.Answer) (askback.Ask, error) {
	return askback.Ask{}, askback.ErrForbidden
}

// path returns the path of a link of ana in a notification.
func (h *linkServer) path(a askback.Ask, choice int) string {
	return h.pathOf(answerlink.Link{AskID: a.ID, Person: "ana", Channel: askback.ChannelPush, Choice: choice})
}

func (h *linkServer) pathOf(l answerlink.Link) string {
	h.t.Helper()
	token, err := h.signer.Sign(l)
	if err != nil {
		h.t.Fatal(err)
	}
	return answerlink.Path + token
}

// send sends a request like a browser that shows the page of a link and has no cookie. change may replace the
// headers, as in a request of another program.
func (h *linkServer) send(
	method, path string, form url.Values, change ...func(*http.Request),
) *httptest.ResponseRecorder {
	r := browser{server: h.server}.request(method, path, form)
	if method == http.MethodPost {
		r.Header.Set("Origin", "null") // because of the referrer policy
		r.Header.Set("Accept", "text/html")
	}
	for _, f := range change {
		f(r)
	}
	return h.do(r)
}

// press sends the request of the button of a notification.
func (h *linkServer) press(path, body string) *httptest.ResponseRecorder {
	return h.do(httptest.NewRequest(http.MethodPost, "http://127.0.0.1:7575"+path, strings.NewReader(body)))
}

func (h *linkServer) checkOpen(name string, a askback.Ask) {
	h.t.Helper()
	if now := h.get(a.ID); now.Settled() || len(now.Claims) > 0 {
		h.t.Errorf("%s: the ask is %s, with claims %v", name, now.Status, now.Claims)
	}
}

func database() askback.Request {
	return askback.Request{Questions: []askback.Question{{Text: "Which database?", Options: []askback.Option{
		{Label: "PostgreSQL", Description: "needs a server"}, {Label: "SQLite"},
	}, Default: []string{"SQLite"}}}, Context: json.RawMessage(`"The tests took 3 minutes."`)}
}

func deployment(dangerous bool) askback.Request {
	return askback.Request{Confirmation: &askback.Confirmation{
		ToolName: "deploy", Input: json.RawMessage(`{"target":"staging"}`), Dangerous: dangerous,
	}}
}

// Opening a link shows the whole ask to its person. It selects nothing, stores nothing in the browser and
// changes nothing, neither with GET nor with HEAD, which programs that check mails send (T13).
func TestOpeningALinkChangesNothing(t *testing.T) {
	h := newLinkServer(t)
	a := h.ask(database())
	for _, choice := range []int{0, 2} {
		for range 3 {
			if w := h.send(http.MethodHead, h.path(a, choice), nil); w.Code != http.StatusOK {
				t.Errorf("HEAD: got %d", w.Code)
			}
			w := h.send(http.MethodGet, h.path(a, choice), nil)
			page := w.Body.String()
			for _, part := range []string{
				"Which database?", "PostgreSQL", "needs a server", "SQLite", "The tests took 3 minutes.",
				`<bdi class="username">ana</bdi>`,
			} {
				if !strings.Contains(page, part) {
					t.Errorf("choice %d: the page lacks %q", choice, part)
				}
			}
			if n := strings.Count(page, "<script"); n != 1 || !strings.Contains(page, `<script src="/assets/seen.`) {
				t.Errorf("choice %d: the page has %d scripts, want only the script that records that it is seen",
					choice, n)
			}
			for _, part := range []string{" checked", "/logout", "<nav", "hx-get", "https://", "Set-Cookie"} {
				if strings.Contains(page, part) {
					t.Errorf("choice %d: the page has %q", choice, part)
				}
			}
			for name, want := range map[string]string{
				"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
				"Set-Cookie": "",
				"Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'; form-action " +
					"'self'; frame-ancestors 'none'; base-uri 'none'; " +
					"script-src 'self'; connect-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'",
			} {
				if got := w.Header().Get(name); w.Code != http.StatusOK || got != want {
					t.Errorf("choice %d: %d, %s is %q, want %q", choice, w.Code, name, got, want)
				}
			}
		}
	}
	h.checkOpen("GET and HEAD", a)
}

// The form of a link answers as its person, and the outcome names the channel of the link.
func TestLinkAnswersAsItsPerson(t *testing.T) {
	h := newLinkServer(t)
	for name, c := range map[string]struct {
		request askback.Request
		choice  int
		form    url.Values
		want    string // a text of the page after the answer
		status  askback.Status
	}{
		"option": {
			database(), 0, url.Values{"action": {"answer"}, "q1": {"1"}}, "You answered", askback.Answered,
		},
		"own text": {
			database(), 0,
			url.Values{"action": {"answer"}, "q1": {"own"}, "q1-other": {"Redis"}},
			"Redis",
			askback.Answered,
		},
		"choice": {database(), 2, url.Values{"action": {"answer"}, "choice": {"2"}}, "SQLite", askback.Answered},
		"decline": {
			database(), 0, url.Values{"action": {"decline"}, "reason": {"not now"}}, "not now", askback.Declined,
		},
		"approve": {
			deployment(false), 0, url.Values{"action": {"approve"}}, "You approved this call", askback.Answered,
		},
		"deny": {
			deployment(false), 0,
			url.Values{"action": {"deny"}, "reason": {"too early"}},
			"You did not approve",
			askback.Answered,
		},
		"deny, choice": {
			deployment(false), 2,
			url.Values{"action": {"answer"}, "choice": {"2"}},
			"You did not approve",
			askback.Answered,
		},
	} {
		a := h.ask(c.request)
		path := h.path(a, c.choice)
		w := h.send(http.MethodPost, path, c.form)
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != path {
			t.Errorf("%s: got %d to %q: %s", name, w.Code, w.Header().Get("Location"), w.Body)
			continue
		}
		o := h.get(a.ID).Outcome
		if o == nil || o.Status != c.status || o.Actor.Name != "ana" || o.Actor.Kind != askback.ActorPerson ||
			o.Channel != askback.ChannelPush {
			t.Errorf("%s: got outcome %+v", name, o)
		}
		if page := h.send(http.MethodGet, path, nil); page.Code != http.StatusOK ||
			!strings.Contains(page.Body.String(), c.want) {
			t.Errorf("%s: the page after the answer lacks %q: %d", name, c.want, page.Code)
		}
	}
}

// The button of a notification answers with one request, without a page or a cookie. Pressing it again has no
// effect. A person who is too late reads who was first (E10, F6).
func TestButtonOfANotificationAnswersOnce(t *testing.T) {
	h := newLinkServer(t)
	a := h.ask(database())
	for _, bad := range []string{
		"", "choice=1", "choice=", "choice=2&choice=1", "choice=2&action=answer", "%zz", "choice=2&q1=0",
		strings.Repeat("x", 1<<20),
	} {
		if w := h.press(h.path(a, 2), bad); w.Code != http.StatusBadRequest {
			t.Errorf("%.30q: got %d %s", bad, w.Code, w.Body)
		}
	}
	if w := h.press(h.path(a, 0), "choice=2"); w.Code != http.StatusBadRequest {
		t.Errorf("a link without a choice: got %d", w.Code)
	}
	h.checkOpen("malformed buttons", a)
	for range 2 {
		if w := h.press(h.path(a, 2), "choice=2"); w.Code != http.StatusOK ||
			w.Body.String() != "You answered: SQLite\n" {
			t.Errorf("got %d %q", w.Code, w.Body)
		}
	}
	if w := h.press(h.path(a, 1), "choice=1"); w.Code != http.StatusConflict ||
		!strings.HasPrefix(w.Body.String(), "You answered this from a notification: SQLite") {
		t.Errorf("another button of the same person: got %d %q", w.Code, w.Body)
	}
	loser := h.pathOf(answerlink.Link{AskID: a.ID, Person: "eva", Channel: askback.ChannelPush, Choice: 1})
	if w := h.press(loser, "choice=1"); w.Code != http.StatusConflict ||
		w.Body.String() != "ana answered first: SQLite\n" {
		t.Errorf("the loser: got %d %q", w.Code, w.Body)
	}
	if o := h.get(a.ID).Outcome; o.Actor.Name != "ana" || !slices.Equal(o.Answers[0].Selected, []string{"SQLite"}) {
		t.Errorf("got outcome %+v", o)
	}
}

// A person who is late sees who was first. The link then shows the outcome of the ask.
func TestLateFormOfALinkShowsWhoWasFirst(t *testing.T) {
	h := newLinkServer(t)
	for _, form := range []url.Values{
		{"action": {"answer"}, "q1": {"0"}}, {"action": {"answer"}}, {"action": {"decline"}},
	} {
		a := h.ask(database())
		if _, err := h.client(askback.Responder,
			"eva").Answer(t.Context(), a.ID, askback.Choose("SQLite")); err != nil {
			t.Fatal(err)
		}
		w := h.send(http.MethodPost, h.path(a, 0), form)
		if page := w.Body.String(); w.Code != http.StatusConflict || !strings.Contains(page, "eva answered first") ||
			!strings.Contains(page, "SQLite") {
			t.Errorf("%v: got %d: %s", form, w.Code, page)
		}
		for _, choice := range []int{0, 1} {
			w = h.send(http.MethodGet, h.path(a, choice), nil)
			if page := w.Body.String(); w.Code != http.StatusOK || !strings.Contains(page, "Answered by eva") ||
				strings.Contains(page, "<form") {
				t.Errorf("%v: later: got %d: %s", form, w.Code, page)
			}
		}
	}
}

// A dangerous call is not decided by a link alone: neither approved nor denied nor declined.
func TestLinkDoesNotDecideDangerousCalls(t *testing.T) {
	h := newLinkServer(t)
	a := h.ask(deployment(true))
	w := h.send(http.MethodGet, h.path(a, 0), nil)
	if page := w.Body.String(); w.Code != http.StatusOK || strings.Contains(page, "<form") ||
		!strings.Contains(page, `href="/asks/`+a.ID+`"`) || !strings.Contains(page, "staging") {
		t.Errorf("got %d: %s", w.Code, page)
	}
	for _, form := range []url.Values{
		{"action": {"approve"}, "word": {"approve"}},
		{"action": {"deny"}},
		{"action": {"decline"}},
		{"choice": {"1"}},
		{"choice": {"1"}, "action": {"answer"}},
	} {
		if w := h.send(http.MethodPost, h.path(a, 0), form); w.Code != http.StatusForbidden {
			t.Errorf("%v: got %d", form, w.Code)
		}
	}
	for _, body := range []string{"choice=1", "choice=2"} {
		if w := h.press(h.path(a, int(body[7]-'0')), body); w.Code < 400 {
			t.Errorf("%s: got %d", body, w.Code)
		}
	}
	h.checkOpen("a dangerous call", a)
}

// A link cannot do anything that requires a log-in: it neither edits the arguments nor allows later calls.
func TestLinkMakesNoStandingApproval(t *testing.T) {
	h := newLinkServer(t)
	a := h.ask(deployment(false))
	for _, form := range []url.Values{
		{"action": {"approve_all"}, "scope": {"tool"}, "expires_in": {"1h"}},
		{"action": {"approve_all"}},
		{"action": {"approve"}, "scope": {"tool"}},
		{"action": {"approve"}, "input": {`{"target":"production"}`}},
		{"action": {"approve"}, "expires_in": {"1h"}},
		{"action": {"answer"}},
		{"action": {""}},
		{"action": {"other"}},
	} {
		if w := h.send(http.MethodPost, h.path(a, 0), form); w.Code != http.StatusBadRequest {
			t.Errorf("%v: got %d", form, w.Code)
		}
	}
	for _, form := range []url.Values{
		{"action": {"answer"}}, {"action": {"answer"}, "choice": {"2"}}, {"action": {"approve"}, "choice": {"2"}},
	} {
		if w := h.send(http.MethodPost, h.path(a, 1), form); w.Code != http.StatusBadRequest {
			t.Errorf("choice 1, %v: got %d", form, w.Code)
		}
	}
	if w := h.send(http.MethodPost, h.path(a, 0),
		url.Values{"action": {"stay"}}); w.Code != http.StatusUnprocessableEntity {
		t.Errorf("the Enter key: got %d", w.Code)
	}
	h.checkOpen("forms of other pages", a)
}

// An incomplete form of a link is shown again as it was filled in.
func TestIncompleteFormOfALinkIsShownAgain(t *testing.T) {
	h := newLinkServer(t)
	a := h.ask(askback.Request{Questions: []askback.Question{
		{Text: "Which checks?", Options: askback.Options("lint", "race"), MultiSelect: true},
		{Text: "Which name?", Options: askback.Options("alpha", "beta")},
	}})
	w := h.send(http.MethodPost, h.path(a, 0),
		url.Values{"action": {"answer"}, "q1": {"0", "1"}, "q1-notes": {"both, please"}})
	page := w.Body.String()
	if w.Code != http.StatusUnprocessableEntity || strings.Count(page, " checked") != 2 ||
		!strings.Contains(page, "both, please") || !strings.Contains(page, "Not sent yet.") {
		t.Errorf("got %d: %s", w.Code, page)
	}
	h.checkOpen("an incomplete form", a)
	if w := h.send(http.MethodPost, h.path(a, 0),
		url.Values{"action": {"answer"}, "q1": {"0", "1"}, "q2": {"1"}}); w.Code != http.StatusSeeOther {
		t.Errorf("the complete form: got %d", w.Code)
	}
}

// A request with an invalid token changes nothing and gets a clear page. Such a token is forged, belongs to a
// person who may no longer answer, or names an unknown ask. The log has no such token (T20, T22).
func TestInvalidLinksAreRejected(t *testing.T) {
	h := newLinkServer(t)
	a := h.ask(database())
	other := h.ask(askback.Request{
		Questions: []askback.Question{{Text: "Only for eva?", Options: askback.Options("Yes", "No")}},
		To:        []string{"eva"},
	})
	valid := h.path(a, 1)
	for name, c := range map[string]struct {
		path string
		code int
		want string
	}{
		"forged":         {valid[:len(valid)-4] + "AAAA", http.StatusNotFound, "This link does not work"},
		"cut":            {valid[:20], http.StatusNotFound, "This link does not work"},
		"no such choice": {h.path(a, 3), http.StatusNotFound, "This link does not work"},
		"person left": {
			h.pathOf(answerlink.Link{AskID: a.ID, Person: "ben", Channel: askback.ChannelPush}), http.StatusGone,
			"This link has ended",
		},
		"not a recipient": {h.path(other, 0), http.StatusGone, "This link has ended"},
		"no such ask": {
			h.path(askback.Ask{ID: "ask_01k6m3v7q8r9s0t1v2w3x4y5z6"}, 0), http.StatusGone, "This link has ended",
		},
	} {
		for _, form := range []url.Values{nil, {"action": {"answer"}, "q1": {"0"}}, {"choice": {"1"}}} {
			method := http.MethodGet
			if form != nil {
				method = http.MethodPost
			}
			w := h.send(method, c.path, form)
			if w.Code != c.code || !strings.Contains(w.Body.String(), c.want) ||
				w.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("%s, %s: got %d %s", name, method, w.Code, w.Body)
			}
			if strings.Contains(w.Body.String(), "<script") {
				t.Errorf("%s: the page has a script, which its policy blocks", name)
			}
			if strings.Contains(w.Body.String(), "Which database?") ||
				strings.Contains(w.Body.String(), "Only for eva?") {
				t.Errorf("%s: the page reveals the ask", name)
			}
			if token := strings.TrimPrefix(c.path, "/a/"); strings.Contains(h.log.String(), token) {
				t.Errorf("%s: the log has the token", name)
			}
		}
		if w := h.press(c.path, "choice=1"); w.Code != c.code || strings.Contains(w.Body.String(), "<") ||
			!strings.HasPrefix(w.Body.String(), c.want) {
			t.Errorf("%s, a button: got %d %s", name, w.Code, w.Body)
		}
	}
	if !strings.Contains(h.log.String(), "name=ben") {
		t.Errorf("the log lacks the person who left: %s", h.log.String())
	}
	h.checkOpen("invalid links", a)
}

// The token is the only credential of a link. The token of an agent is rejected, cookies are not read, and a
// page of another origin with the token may send the form (T1, T11).
func TestLinkAcceptsNoOtherCredential(t *testing.T) {
	h := newLinkServer(t)
	a := h.ask(database())
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		w := h.send(method, h.path(a, 2), url.Values{"choice": {"2"}}, func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer "+h.secret(askback.Agent, "bot"))
		})
		if w.Code != http.StatusForbidden {
			t.Errorf("%s with the token of an agent: got %d", method, w.Code)
		}
	}
	h.checkOpen("the token of an agent", a)
	w := h.send(http.MethodPost, h.path(a, 2), url.Values{"choice": {"2"}}, func(r *http.Request) {
		r.AddCookie(&http.Cookie{Name: "askback", Value: h.secret(askback.Responder, "eva")})
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		r.Header.Set("Origin", "https://ntfy.sh")
	})
	if w.Code != http.StatusOK || w.Header().Get("Access-Control-Allow-Origin") != "*" ||
		w.Header().Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("another origin: got %d %v", w.Code, w.Header())
	}
	if o := h.get(a.ID).Outcome; o == nil || o.Actor.Name != "ana" {
		t.Errorf("with the cookie of eva: got %+v, want the person of the link", o)
	}
}

// A call that needs two approvals waits for the second approval after the approval by a link. The page of the
// link explains this. The person who started the session cannot approve the call there.
func TestLinkCountsAsOneOfTwoApprovals(t *testing.T) {
	h := newLinkServer(t)
	r := deployment(false)
	r.Quorum, r.To = 2, []string{"ana", "eva", "udo"}
	a := h.ask(r)
	if w := h.send(http.MethodPost, h.path(a, 0), url.Values{"action": {"approve"}}); w.Code != http.StatusSeeOther {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	if page := h.send(http.MethodGet, h.path(a, 0), nil).Body.String(); !strings.Contains(page,
		"You approved this call. It needs 2 approvals and has 1.") {
		t.Errorf("got %s", page)
	}
	own := h.pathOf(answerlink.Link{AskID: a.ID, Person: "udo", Channel: askback.ChannelPush})
	if w := h.send(http.MethodPost, own, url.Values{"action": {"approve"}}); w.Code != http.StatusGone ||
		!strings.Contains(w.Body.String(), "may no longer answer it") {
		t.Errorf("the person who started it: got %d %s", w.Code, w.Body)
	}
	h.checkOpen("one approval", a)
	other := h.pathOf(answerlink.Link{AskID: a.ID, Person: "eva", Channel: askback.ChannelPush})
	if w := h.send(http.MethodPost, other, url.Values{"action": {"approve"}}); w.Code != http.StatusSeeOther ||
		h.get(a.ID).Status != askback.Answered {
		t.Errorf("the second approval: got %d, %s", w.Code, h.get(a.ID).Status)
	}
}

// The button of a notification gives one vote for a call that needs two approvals.
func TestButtonOfALinkCountsAsOneVote(t *testing.T) {
	h := newLinkServer(t)
	r := deployment(false)
	r.Quorum, r.To = 2, []string{"ana", "eva"}
	a := h.ask(r)
	for range 2 {
		if w := h.press(h.path(a, 1), "choice=1"); w.Code != http.StatusOK ||
			w.Body.String() != "You approved this call. It needs 2 approvals and has 1.\n" {
			t.Errorf("got %d %s", w.Code, w.Body)
		}
	}
	h.checkOpen("one approval", a)
	if page := h.send(http.MethodGet, h.path(a, 1), nil).Body.String(); !strings.Contains(page,
		"You approved this call. It needs 2 approvals and has 1.") {
		t.Errorf("got %s", page)
	}
	if votes := h.get(a.ID).Votes; len(votes) != 1 {
		t.Errorf("got votes %+v", votes)
	}
	other := h.pathOf(answerlink.Link{AskID: a.ID, Person: "eva", Channel: askback.ChannelPush, Choice: 1})
	if w := h.press(other, "choice=1"); w.Code != http.StatusOK || w.Body.String() != "You answered: Approve\n" ||
		!h.get(a.ID).Outcome.Approved() {
		t.Errorf("the second approval: got %d %s", w.Code, w.Body)
	}
}

// If the options of the pages have no links, the address of a link is not found.
func TestLinksAreOffWithoutASigner(t *testing.T) {
	h := newLinkServer(t)
	path := h.path(h.ask(database()), 0)
	h.handler = web.New(h.engine, h.engine, h.engine, nil)
	if w := h.send(http.MethodGet, path, nil); w.Code != http.StatusNotFound {
		t.Errorf("got %d", w.Code)
	}
}

// Markup in the text of an agent is escaped on the page of a link.
func TestAgentTextIsEscapedOnThePageOfALink(t *testing.T) {
	h := newLinkServer(t)
	const text = `<script>alert(1)</script><img src=https://evil.example/x>`
	a := h.ask(askback.Request{
		Agent: text, Questions: []askback.Question{{Text: text, Options: askback.Options(text, "b")}},
	})
	for choice := range 2 {
		page := h.send(http.MethodGet, h.path(a, choice), nil).Body.String()
		if strings.Contains(page, "<script>") || strings.Contains(page, "<img src=https") ||
			!strings.Contains(page, "&lt;script&gt;") {
			t.Errorf("choice %d: got %s", choice, page)
		}
	}
}

// On a phone without a log-in, the pages of links fit, load nothing from other hosts, and answer with one
// press.
func TestChromiumLinkAnswersOnAPhone(t *testing.T) {
	c := newChromium(t)
	h := newLinkServer(t)
	c.server = h.server
	w := c.window(phone)
	open := func(path string) { // the page is loaded again in the zone of the browser
		w.open(path)
		w.waitUntil(`location.search !== "" && document.readyState === "complete"`)
	}
	for name, l := range map[string]struct {
		request askback.Request
		choice  int
		click   string // scrolls to the button
		button  string
		want    string
	}{
		"form":   {database(), 0, "#q1-0", "button.primary", "PostgreSQL"},
		"choice": {database(), 2, "", "button.primary", "SQLite"},
		"call":   {deployment(false), 0, "", "button.deny", "did not approve"},
	} {
		a := h.ask(l.request)
		open(h.path(a, l.choice))
		w.checkWidth()
		if l.click != "" {
			w.Click(l.click)
		}
		w.Press(l.button)
		w.wantText("You", l.want)
		w.checkWidth()
		if o := h.get(a.ID).Outcome; o == nil || o.Actor.Name != "ana" {
			t.Errorf("%s: got outcome %+v", name, o)
		}
	}
	open(h.path(h.ask(deployment(true)), 0))
	w.wantText("Log in to decide")
	w.checkWidth()
	w.open("/a/AAAA")
	w.wantText("This link does not work")
	c.Check(t)
}
