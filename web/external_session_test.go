package web_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/askback/askback"
)

// externalSession starts a session of an agent that runs elsewhere.
func (h *server) externalSession(key string) (bot askback.Client, s askback.Session) {
	h.t.Helper()
	bot = h.client(askback.Agent, "bot")
	s, err := bot.Start(h.t.Context(), askback.SessionRequest{Key: key, Agent: "deploy-bot"})
	if err != nil {
		h.t.Fatal(err)
	}
	return bot, s
}

// askIn asks in a session.
func (h *server) askIn(s askback.Session, r askback.Request) askback.Ask {
	h.t.Helper()
	r.SessionID = s.ID
	return h.ask(r)
}

// main returns the text of a page, without its head and its navigation.
func (b browser) main(path string) string {
	b.t.Helper()
	return strings.Join(strings.Fields(b.open(path, http.StatusOK).one(b.t, "#main").visibleText()), " ")
}

// A person writes to the agent of an external session only after the agent has read messages there. Otherwise the
// page says so.
func TestExternalSessionIsWrittenToIfItsAgentReads(t *testing.T) {
	h := newServer(t)
	bot, s := h.externalSession("run")
	b, path := h.browser("ana"), "/sessions/"+s.ID
	if got := b.main(path); !strings.Contains(got, "has not read any messages here") ||
		strings.Contains(got, "Message to the agent") {
		t.Errorf("before the agent reads messages: %s", got)
	}
	if _, err := bot.Messages(t.Context(), s.ID, "", 0); err != nil {
		t.Fatal(err)
	}
	got := b.main(path)
	for _, want := range []string{"Message to the agent", "The agent gets it when it reads its messages again"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing: %s", want, got)
		}
	}
	b.send(path+"/message", url.Values{"text": {"Use the second one."}}, http.StatusSeeOther)
	page, err := bot.Messages(t.Context(), s.ID, "", 0)
	if err != nil || len(page.Items) != 1 || page.Items[0].Text != "Use the second one." || page.Items[0].By != "ana" {
		t.Errorf("the agent reads %+v, %v", page.Items, err)
	}
}

// A person cancels the turn of an external session, resumes it, and cancels the session. While an ask is open, it
// is not resumed.
func TestExternalSessionIsCancelledAndResumed(t *testing.T) {
	h := newServer(t)
	bot, s := h.externalSession("run")
	a := h.askIn(s, single)
	b, path := h.browser("ana"), "/sessions/"+s.ID
	page := b.open(path, http.StatusOK)
	if !page.one(t, "#cancel-run [value=turn]").inside("details") || len(page.all("#resume-run")) != 0 {
		t.Error("one press cancels, or a session with an open ask can be resumed")
	}
	if got := b.send(path+"/resume", url.Values{},
		http.StatusUnprocessableEntity).visibleText(); !strings.Contains(got, "Answer the open asks") {
		t.Errorf("resumed with an open ask: %s", got)
	}
	b.send(path+"/cancel", url.Values{"what": {"turn"}}, http.StatusSeeOther)
	if got := h.get(a.ID); got.Status != askback.Cancelled || got.Outcome.Actor.Name != "ana" {
		t.Errorf("the ask is %s", got.Status)
	}
	if got := b.main(path); !strings.Contains(got, "turn ended") || strings.Contains(got, "Cancel turn") ||
		!strings.Contains(got, "The next one starts") {
		t.Errorf("after the turn: %s", got)
	}
	b.send(path+"/resume", url.Values{}, http.StatusSeeOther)
	now, err := bot.Session(t.Context(), s.ID)
	if err != nil || now.Status != askback.SessionRunning || now.ResumedAt.IsZero() {
		t.Errorf("resumed: %+v, %v", now, err)
	}
	b.send(path+"/cancel", url.Values{"what": {"session"}}, http.StatusSeeOther)
	if got := b.main(path); !strings.Contains(got, "This session has ended for good.") {
		t.Errorf("after the session: %s", got)
	}
	operator := browser{h, h.secret(askback.Operator, "olga")}
	operator.send(path+"/resume", url.Values{}, http.StatusForbidden)
}

// The heading of a session is its title, or its agent and first words. Each open ask shows what is needed to
// choose, and an ask that people looked at is not repeated.
func TestSessionPageShowsWhatToChoose(t *testing.T) {
	h := newServer(t)
	bot, s := h.externalSession("run")
	first := h.askIn(s, single)
	if _, err := h.client(askback.Responder, "ben").Claim(t.Context(), first.ID); err != nil {
		t.Fatal(err)
	}
	b := h.browser("ana")
	page := b.open("/sessions/"+s.ID, http.StatusOK)
	heading := page.one(t, ".session-name")
	if got := heading.visibleText(); got != "deploy-bot: Which database should we use?" {
		t.Errorf("the heading is %q", got)
	}
	if !heading.inside(".agent-text") {
		t.Error("words of the agent are not marked")
	}
	if n := strings.Count(page.one(t, "#timeline").visibleText(), "Which database should we use?"); n != 1 {
		t.Errorf("the question is shown %d times", n)
	}
	h.askIn(s, askback.Request{Confirmation: &askback.Confirmation{
		ToolName: "deploy", Input: json.RawMessage(`{"target":"production-eu"}`),
	}})
	report := askback.Report{Text: "**Halfway**\n\n```json\n{\"a\": 1}\n```"}
	if _, err := bot.Send(t.Context(), s.ID, report); err != nil {
		t.Fatal(err)
	}
	page = b.open("/sessions/"+s.ID, http.StatusOK)
	got := page.one(t, "#timeline").visibleText()
	for _, want := range []string{"PostgreSQL", "SQLite", "deploy", "production-eu", "Halfway"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing: %s", want, got)
		}
	}
	if strings.Contains(got, "```") || strings.Contains(got, "**") {
		t.Errorf("Markdown is not rendered: %s", got)
	}
	titled, err := bot.Start(t.Context(),
		askback.SessionRequest{Key: "other", Agent: "deploy-bot", Title: "Release 4.2"})
	if err != nil {
		t.Fatal(err)
	}
	page = b.open("/sessions/"+titled.ID, http.StatusOK)
	if got := page.one(t, ".session-name").visibleText(); got != "Release 4.2" ||
		strings.Count(page.one(t, "#main").visibleText(), "Release 4.2") != 1 {
		t.Errorf("the heading is %q, or the title is repeated", got)
	}
}

// The page of a settled ask offers to tell the agent and to cancel its turn, if the session is going on and the
// agent reads messages.
func TestSettledPageTellsTheAgent(t *testing.T) {
	h := newServer(t)
	bot, s := h.externalSession("run")
	a := h.askIn(s, single)
	alone := h.ask(single)
	b := h.browser("ana")
	for _, one := range []askback.Ask{a, alone} {
		b.settle(one, url.Values{"action": {"answer"}, "q1": {"1"}})
	}
	path := "/asks/" + a.ID
	if n := len(b.open(path, http.StatusOK).all("#tell")); n != 0 {
		t.Error("an agent that reads nothing can be told")
	}
	if _, err := bot.Messages(t.Context(), s.ID, "", 0); err != nil {
		t.Fatal(err)
	}
	page := b.open(path, http.StatusOK)
	tell := page.one(t, "#tell")
	if !page.one(t, "#tell textarea").inside("details") || !strings.Contains(tell.visibleText(), "Cancel its turn") {
		t.Errorf("the page offers %s", tell.visibleText())
	}
	if !strings.Contains(page.visibleText(), "tell the agent below") {
		t.Errorf("the page advises: %s", page.visibleText())
	}
	if n := len(b.open("/history/"+a.ID, http.StatusOK).all("#tell")); n != 1 {
		t.Error("the page in the history does not offer it")
	}
	if n := len(b.open("/asks/"+alone.ID, http.StatusOK).all("#tell")); n != 0 {
		t.Error("the session of a single ask has ended, and its agent can be told")
	}
	b.send(tell.one(t, ".message-form").attr["action"], url.Values{"text": {"I was wrong."}}, http.StatusSeeOther)
	b.send(tell.one(t, ".cancel-turn").attr["action"], url.Values{"what": {"turn"}}, http.StatusSeeOther)
	now, err := bot.Session(t.Context(), s.ID)
	if err != nil || now.Phase != "idle" {
		t.Errorf("the session is %+v, %v", now, err)
	}
	if text := b.open(path, http.StatusOK).one(t, "#tell").visibleText(); strings.Contains(text, "Cancel its turn") {
		t.Errorf("the turn has ended, and can be cancelled: %s", text)
	}
}

// The payload of a run is shown once, formatted.
func TestPayloadOfARunIsShownOnce(t *testing.T) {
	h, host := newHost(t)
	bot := h.client(askback.Agent, "bot")
	s, err := bot.Start(t.Context(),
		askback.SessionRequest{Agent: "poem", Payload: json.RawMessage(`{"ticket": "T-4711"}`)})
	if err != nil {
		t.Fatal(err)
	}
	go host.says("", askCall())
	h.waitForEvents(s.ID, askback.EventQuestionPending)
	got := h.browser("ana").main("/sessions/" + s.ID)
	if n := strings.Count(got, "T-4711"); n != 1 || strings.Contains(got, "```") {
		t.Errorf("the payload is shown %d times, or with its fence: %s", n, got)
	}
}
