package web_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
	"github.com/askback/askback/web"
)

// The page of a late answer shows the first answer and its author, and keeps the filled-in form (E10, F6).
func TestLateAnswerShowsTheFirstAnswer(t *testing.T) {
	h := newServer(t)
	a := h.ask(single)
	ana, ben := h.browser("ana"), h.browser("ben")
	ana.settle(a, url.Values{"action": {"answer"}, "q1": {"1"}})
	page := ben.send("/asks/"+a.ID, url.Values{
		"action": {"answer"}, "q1-other": {"MariaDB"}, "q1-notes": {"we know it"}, "comment": {"really"},
	}, http.StatusConflict)
	if got, want := page.one(t, ".winner").visibleText(), "ana answered first: SQLite"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	yours := page.one(t, ".draft").visibleText()
	for _, want := range []string{"MariaDB", "we know it", "really"} {
		if !strings.Contains(yours, want) {
			t.Errorf("%q is lost: %s", want, yours)
		}
	}
	if n := len(page.all("#detail form")) + len(page.all("textarea")); n != 0 {
		t.Error("there is still something to fill in")
	}
	// the person who answered first may repeat the same answer, but not send another
	ana.settle(a, url.Values{"action": {"answer"}, "q1": {"1"}})
	page = ana.send("/asks/"+a.ID, url.Values{"action": {"decline"}}, http.StatusConflict)
	if got := page.one(t, ".winner").visibleText(); got != "You answered this in another window: SQLite" {
		t.Errorf("got %q", got)
	}
	// a form that is also invalid gets the same page
	page = ben.send("/asks/"+a.ID, url.Values{"action": {"answer"}}, http.StatusConflict)
	if len(page.all(".draft")) != 0 {
		t.Error("an empty form is shown")
	}
}

func TestLateAnswerNamesTheReason(t *testing.T) {
	for name, c := range map[string]struct {
		ask    askback.Request
		settle func(h *server, id string) error
		want   string
	}{
		"withdrawn": {single, func(h *server, id string) error {
			return errorOf(h.client(askback.Agent, "bot").Cancel(context.Background(), id, "found out"))
		}, "The agent withdrew this before your answer arrived"},
		"declined": {single, func(h *server, id string) error {
			return errorOf(h.client(askback.Responder, "ana").Decline(context.Background(), id, ""))
		}, "ana declined first"},
		"approved": {call, func(h *server, id string) error {
			return errorOf(h.client(askback.Responder, "ana").Answer(context.Background(), id,
				askback.Decide(askback.Approve, "")))
		}, "ana approved first"},
		"denied": {call, func(h *server, id string) error {
			return errorOf(
				h.client(askback.Responder, "ana").Answer(context.Background(), id, askback.Decide(askback.Deny, "")),
			)
		}, "ana denied first"},
		"expired": {askback.Request{Questions: free.Questions, Timeout: time.Minute}, func(h *server, _ string) error {
			h.now = h.now.Add(time.Hour)
			return nil
		}, "The deadline passed before your answer arrived"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newServer(t)
			a := h.ask(c.ask)
			if err := c.settle(h, a.ID); err != nil {
				t.Fatal(err)
			}
			action := "answer"
			if a.Confirmation != nil {
				action = "approve"
			}
			page := h.browser("ben").send("/asks/"+a.ID, url.Values{"action": {action}, "q1-other": {"x"}},
				http.StatusConflict)
			if got := page.one(t, ".winner").visibleText(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// The page of an approval shows when the agent used it, or that the agent has not used it (F7).
func TestApprovalShowsItsUse(t *testing.T) {
	h := newServer(t)
	a := h.ask(harmless)
	ana := h.browser("ana")
	ana.settle(a, url.Values{"action": {"approve"}})
	const not, used = "Not used by the agent yet", "Used by the agent 3 November 2026, 18:35 UTC"
	if got := ana.open("/asks/"+a.ID, http.StatusOK).one(t, ".result").visibleText(); !strings.Contains(got, not) {
		t.Errorf("%q is not in %s", not, got)
	}
	h.now = h.now.Add(5 * time.Minute)
	if _, err := h.client(askback.Agent, "bot").Consume(t.Context(), a.ID, a.Confirmation.Digest); err != nil {
		t.Fatal(err)
	}
	if got := ana.open("/asks/"+a.ID, http.StatusOK).one(t, ".result").visibleText(); !strings.Contains(got, used) ||
		strings.Contains(got, not) {
		t.Errorf("want %q in %s", used, got)
	}
}

// A settled page has no form. It shows who settled the ask, how, when and through which channel, and when the
// agent got the answer (F4).
func TestSettledPagesAreReadOnly(t *testing.T) {
	h := newServer(t)
	a := h.ask(form)
	ana := h.browser("ana")
	ana.settle(a, url.Values{
		"action": {"answer"}, "q1": {"1"}, "q2": {"0"}, "q2-other": {"fax"}, "q1-notes": {"a note"},
		"comment": {"a remark"},
	})
	page := ana.open("/asks/"+a.ID, http.StatusOK)
	result := page.one(t, ".result").visibleText()
	for _, want := range []string{
		"Answered by ana in the browser", "3 November 2026, 18:30 UTC", "Which database should we use?", "SQLite",
		"Note a note", "Slack", "fax", "No answer.", "Comment a remark",
	} {
		if !strings.Contains(result, want) {
			t.Errorf("%q is not in %s", want, result)
		}
	}
	if got := page.one(t, ".original").visibleText(); !strings.Contains(got, "postgres://db/askback") ||
		!strings.Contains(got, "The build is green.") {
		t.Errorf("what was asked is gone: %s", got)
	}
	for _, selector := range []string{"#detail form", "#detail button", "#detail input", "textarea"} {
		if n := len(page.all(selector)); n != 0 {
			t.Errorf("%d %s on a settled page", n, selector)
		}
	}
	const has = "Delivered to the agent 3 November 2026, 18:35 UTC"
	if strings.Contains(result, "Delivered") {
		t.Errorf("the agent has it already: %s", result)
	}
	h.now = h.now.Add(5 * time.Minute)
	if _, err := h.client(askback.Agent, "bot").Ack(t.Context(), a.ID); err != nil {
		t.Fatal(err)
	}
	if result := ana.open("/asks/"+a.ID,
		http.StatusOK).one(t, ".result").visibleText(); !strings.Contains(result, has) {
		t.Errorf("%q is not in %s", has, result)
	}
	denied := h.ask(call)
	ana.settle(denied, url.Values{"action": {"deny"}, "reason": {"no"}})
	if got := ana.open("/asks/"+denied.ID, http.StatusOK).one(t, "h1").visibleText(); got != "Denied" {
		t.Errorf("the heading is %q", got)
	}
}

// failingEngine is an engine that fails every answer with err.
type failingEngine struct {
	*engine.Engine
	err error
}

type failingClient struct {
	askback.Client
	err error
}

func (g failingEngine) As(p askback.Principal) askback.Client {
	return failingClient{g.Engine.As(p), g.err}
}

func (s failingClient) Hold(context.Context, string, askback.Answer) (askback.Ask, error) {
	return askback.Ask{}, s.err
}

// If the server cannot save an answer, the page shows the form as it was filled in. It does not show errors
// that belong in the log.
func TestFailedAnswerReturnsTheForm(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
	}{
		{askback.ErrStopping, http.StatusServiceUnavailable},
		{askback.ErrFull, http.StatusServiceUnavailable},
		{askback.ErrBusy, http.StatusServiceUnavailable},
		{askback.ErrDiskFull, http.StatusInsufficientStorage},
		{errors.New("disk on fire at /dev/sda"), http.StatusInternalServerError},
	} {
		h := newServer(t)
		h.engine = engine.New(memstore.New(), nil)
		h.handler = web.New(failingEngine{h.engine, c.err}, h.engine, h.engine, nil)
		a := h.ask(single)
		w := h.do(h.browser("ana").request(http.MethodPost, "/asks/"+a.ID,
			url.Values{"action": {"answer"}, "q1-other": {"MariaDB"}}))
		page := h.browser("ana").page(w, c.status)
		if got := page.one(t, "#q1-other").raw(); got != "\nMariaDB" {
			t.Errorf("%v: the field holds %q", c.err, got)
		}
		if w.Header().Get("Retry-After") == "" && c.status != http.StatusInsufficientStorage {
			t.Errorf("%v: no Retry-After", c.err)
		}
		if full := strings.Contains(w.Body.String(), "disk is full"); full != errors.Is(c.err, askback.ErrDiskFull) {
			t.Errorf("%v: the page says that the disk is full: %v", c.err, full)
		}
		if strings.Contains(w.Body.String(), "/dev/sda") {
			t.Error("the page shows what belongs in the log")
		}
	}
}

// The pages after an answer lead back to the inbox.
func TestSettledPagesLinkToTheInbox(t *testing.T) {
	h := newServer(t)
	a := h.ask(free)
	ana, ben := h.browser("ana"), h.browser("ben")
	answer := url.Values{"action": {"answer"}, "q1-other": {"askback"}}
	ana.settle(a, answer)
	pages := map[string]*node{
		"settled": ana.open("/asks/"+a.ID, http.StatusOK),
		"late": ben.send("/asks/"+a.ID, url.Values{"action": {"answer"}, "q1-other": {"other"}},
			http.StatusConflict),
	}
	for name, page := range pages {
		if got := page.one(t, ".back a"); got.attr["href"] != "/" {
			t.Errorf("%s: the link leads to %q", name, got.attr["href"])
		}
	}
}
