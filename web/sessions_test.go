package web_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/test/kit/browsertest"
)

// runningSession starts a session with a settled ask, an open ask, an ask for another person, and two
// messages.
func (h *server) runningSession() (s askback.Session, settled, open, private askback.Ask) {
	h.t.Helper()
	ctx, bot, ana := context.Background(), h.client(askback.Agent, "bot"), h.client(askback.Responder, "ana")
	check := func(err error) {
		h.t.Helper()
		if err != nil {
			h.t.Fatal(err)
		}
	}
	s, err := bot.Start(ctx, askback.SessionRequest{Key: "run", Title: "Nightly <b>release</b>", Agent: "deploy-bot"})
	check(err)
	in := func(r askback.Request) askback.Ask {
		r.SessionID = s.ID
		return h.ask(r)
	}
	settled = in(single)
	settled, err = ana.Answer(ctx, settled.ID, askback.Choose("SQLite"))
	check(err)
	_, err = bot.Send(ctx, s.ID, askback.Report{Text: "Halfway <i>done</i>"})
	check(err)
	_, err = ana.Send(ctx, s.ID, askback.SendMessage{Text: "Take your time."})
	check(err)
	_, err = bot.Send(ctx, s.ID, askback.SetTodos{Todos: []askback.Todo{
		{Content: "Build <u>it</u>", Status: askback.TodoCompleted}, {Content: "Ship it", Status: askback.TodoPending},
	}})
	check(err)
	h.now = h.now.Add(time.Minute)
	forBen := free
	forBen.To = []string{"ben"}
	return s, settled, in(harmless), in(forBen)
}

// The page of a session has its asks with their outcomes and its messages in order. Text of the agent is in
// its blocks, and asks for others are not there (E6, T10, T20).
func TestSessionPageShowsATimeline(t *testing.T) {
	h := newServer(t)
	s, settled, open, private := h.runningSession()
	b := h.browser("ana")
	h.now = h.now.Add(time.Minute)
	if _, err := h.client(askback.Responder, "ben").Claim(context.Background(), open.ID); err != nil {
		t.Fatal(err)
	}
	page := b.open("/sessions/"+s.ID, http.StatusOK)
	text := page.one(t, "#main").visibleText()
	at := -1
	for _, want := range []string{
		"Build <u>it</u>", "Ship it", "The session began", "Which database should we use?",
		"Answered by ana in the browser", "SQLite", "Halfway", "Message of ana", "Take your time.", "mail.send",
		"Decide", "ben looked at this ask",
	} {
		i := strings.Index(text[at+1:], want)
		if i < 0 {
			t.Fatalf("%q is missing, or not in order:\n%s", want, text)
		}
		at += i + 1
	}
	if strings.Contains(linksOf(page), private.ID) || strings.Contains(text, "What should it be called?") {
		t.Error("the page has an ask for another person")
	}
	for _, path := range []string{"/history/" + settled.ID, "/asks/" + open.ID} {
		if !strings.Contains(linksOf(page), path) {
			t.Errorf("no link to %s", path)
		}
	}
	for _, n := range page.all(".plain-text") {
		if strings.Contains(n.raw(), "Halfway") && !n.inside(".agent-text") {
			t.Error("the message of the agent is not in its block")
		}
	}
	list := b.open("/sessions", http.StatusOK).one(t, ".session-row").visibleText()
	for _, want := range []string{"deploy-bot", "waiting for an answer", "Nightly <b>release</b>", "3 asks, 2 open"} {
		if !strings.Contains(list, want) {
			t.Errorf("the list does not contain %q:\n%s", want, list)
		}
	}
	if got := linksOf(b.open("/asks/"+open.ID, http.StatusOK)); !strings.Contains(got, "/sessions/"+s.ID) {
		t.Errorf("the page of an ask has no link to its session: %s", got)
	}
	b.open("/sessions/ses_00000000000000000000000001", http.StatusNotFound)
	if len(b.open("/sessions?status=failed", http.StatusOK).all(".session-row")) != 0 {
		t.Error("the filter by status selects a session that has not failed")
	}
}

// An agent cannot make the page of its session larger than a few megabytes. The page states that it does not
// have all messages.
func TestTimelineOmitsMessagesOfALargeSession(t *testing.T) {
	h := newServer(t)
	ctx, bot := context.Background(), h.client(askback.Agent, "bot")
	s, err := bot.Start(ctx, askback.SessionRequest{Key: "run"})
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		if _, err := bot.Send(ctx, s.ID,
			askback.Report{Text: strings.Repeat("\U0001F600", limits.MaxMessage)}); err != nil {
			t.Fatal(err)
		}
	}
	page := h.browser("ana").open("/sessions/"+s.ID, http.StatusOK)
	text := page.one(t, "#main").visibleText()
	if got := strings.Count(text, "Message of the agent"); got != 2 ||
		!strings.Contains(text, "Newer messages of this session are not shown here.") {
		t.Errorf("the page has %d of 4 messages, want 2 and a note", got)
	}
}

// linksOf returns the addresses of all links of a page.
func linksOf(page *node) string {
	var all []string
	for _, a := range page.all("a") {
		all = append(all, a.attr["href"])
	}
	return strings.Join(all, " ")
}

// The page of a session shows the first thousand messages, and notes that more messages exist.
func TestTimelineShowsAtMostAThousandMessages(t *testing.T) {
	h := newServer(t)
	ctx, bot, b := context.Background(), h.client(askback.Agent, "bot"), h.browser("ana")
	s, err := bot.Start(ctx, askback.SessionRequest{Key: "run"})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 1001 {
		if n == 1000 && strings.Contains(b.open("/sessions/"+s.ID, http.StatusOK).visibleText(), "Newer messages") {
			t.Error("a page with all messages says that there are more")
		}
		if _, err := bot.Send(ctx, s.ID, askback.Report{Text: "step"}); err != nil {
			t.Fatal(err)
		}
	}
	text := b.open("/sessions/"+s.ID, http.StatusOK).one(t, "#main").visibleText()
	if got := strings.Count(text, "Message of the agent"); got != 1000 ||
		!strings.Contains(text, "Newer messages of this session are not shown here.") {
		t.Errorf("the page has %d of 1001 messages, want 1000 and a note", got)
	}
}

// An open page of a session shows new events without a reload (A5, E6).
func TestChromiumSessionPageUpdatesWithoutReload(t *testing.T) {
	c := newChromium(t)
	s, _, open, _ := c.runningSession()
	w := c.window(browsertest.Viewport{Width: 1400, Height: 900})
	w.login("ana")
	w.open("/sessions/" + s.ID)
	w.waitText("waiting for an answer")
	if _, err := c.client(askback.Responder,
		"ben").Answer(context.Background(), open.ID, askback.Answer{Decision: askback.Deny}); err != nil {
		t.Fatal(err)
	}
	w.waitText("Denied by ben in the browser")
	if _, err := c.client(askback.Agent,
		"bot").Send(context.Background(), s.ID, askback.Report{Text: "Nearly there"}); err != nil {
		t.Fatal(err)
	}
	w.waitText("Nearly there")
	w.checkAccessibility("session")
	w.open("/sessions")
	w.checkAccessibility("sessions")
	c.Check(t)
}
