package web_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/conversation"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/hosted/demo"
	"github.com/askback/askback/store/memstore"
	"github.com/askback/askback/web"
)

// hostileText contains markup, a script, a character that reverses text, and a control sequence.
const hostileText = "<img src=x onerror=alert(1)> <script>alert(2)</script> \u202e\x1b[2J"

// The page of a hosted run has its messages, calls with input and output, asks, children, todos, tokens and
// cost, in order. All text of the agent and its tools is escaped (A5, T10).
func TestRunPageShowsATimeline(t *testing.T) {
	h, host := newHost(t)
	b := h.browser("ana")
	s := h.runPoem("Write a poem.")
	go func() {
		host.says("I **look** "+hostileText, toolCall("files__list", `{"path": "`+"<i>x</i>"+`"}`),
			toolCall("files__write", `{"path": "poem.txt"}`), askCall(), spawnCall())
		host.tools <- conversation.Executed{Text: "a\n" + hostileText, Todos: []askback.Todo{
			{Content: "Read <u>it</u>", Status: askback.TodoCompleted},
		}}
		host.tools <- conversation.Executed{Text: "the disk is full " + hostileText, IsError: true}
	}()
	h.waitForEvents(s.ID, askback.EventToolComplete, askback.EventToolComplete, askback.EventQuestionPending)
	page := b.open("/sessions/"+s.ID, http.StatusOK)
	text := page.one(t, "#main").visibleText()
	at := -1
	for _, want := range []string{
		"waiting for an answer", "1,234 tokens, $0.01", "Read <u>it</u>", "The session began", "Message of ana",
		"Write a poem.", "look", "<img src=x", "done", "list", "files", "<i>x</i>", "failed", "write", "files",
		"the disk is full", "Which style?", "Send answer", "Message to the agent", "Cancel turn",
	} {
		i := strings.Index(text[at+1:], want)
		if i < 0 {
			t.Fatalf("%q is missing, or not in order:\n%s", want, text)
		}
		at += i + 1
	}
	if len(page.all("#main img")) > 0 || len(page.all("#main script")) > 0 || strings.ContainsAny(text, "\u202e\x1b") {
		t.Errorf("text of the agent is not escaped:\n%s", page.one(t, "#main").raw())
	}
	if len(page.all("details.call-line")) != 2 || len(page.all("details.call-line[open]")) != 0 {
		t.Error("want two calls, and both closed")
	}
	if got := b.open("/sessions",
		http.StatusOK).one(t, ".session-row").visibleText(); !strings.Contains(got, "1,234 tokens, $0.01") {
		t.Errorf("the list has no tokens and cost: %s", got)
	}
	asks, err := h.client(askback.Responder, "ana").List(context.Background(), askback.Query{})
	if err != nil || len(asks.Items) != 1 {
		t.Fatal(err, len(asks.Items))
	}
	if _, err := h.client(askback.Responder,
		"ana").Answer(context.Background(), asks.Items[0].ID, askback.Choose("haiku")); err != nil {
		t.Fatal(err)
	}
	host.says("Old pond.")
	h.waitForEvents(s.ID, askback.EventSessionCompleted)
	page = b.open("/sessions/"+s.ID, http.StatusOK)
	text = page.one(t, "#main").visibleText()
	for _, want := range []string{
		"waiting for a message", "2,468 tokens, $0.02", "Answered by ana", "haiku", "Started helper", "Old pond.",
		"It starts the next turn.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
	if raw := strings.Join(strings.Fields(page.one(t, "#timeline").raw()),
		" "); !strings.Contains(raw, "Started helper completed") {
		t.Errorf("no space separates the child and its status:\n%s", raw)
	}
	if strings.Contains(text, "Cancel turn") {
		t.Error("a turn that has ended can be cancelled")
	}
	children, err := h.engine.Reports(askback.Principal{Kind: askback.Responder, Name: "ana"}).Children(
		context.Background(), s.ID,
	)
	if err != nil || len(children) != 1 || !strings.Contains(linksOf(page), "/sessions/"+children[0].ID) {
		t.Fatalf("the child is not linked: %v, %v, %s", children, err, linksOf(page))
	}
	if got := linksOf(b.open("/sessions/"+children[0].ID, http.StatusOK)); !strings.Contains(got, "/sessions/"+s.ID) {
		t.Errorf("the child has no link to its parent: %s", got)
	}
}

// A message that is sent while calls run waits until the calls have ended. The page explains this. The
// message is shown once, at the place where the agent gets it.
func TestMessageToARunWaitsForItsCalls(t *testing.T) {
	h, host := newHost(t)
	b := h.browser("ana")
	s := h.runPoem("Go.")
	host.says("", toolCall("wait", `{}`))
	h.waitForEvents(s.ID, askback.EventToolStart)
	if text := b.open("/sessions/"+s.ID, http.StatusOK).one(t, ".message-form").visibleText(); !strings.Contains(text,
		"when the calls that it makes now have ended") {
		t.Errorf("the form says: %s", text)
	}
	if w := b.post(
		"/sessions/"+s.ID+"/message", url.Values{"text": {"Keep <b>a</b>."}},
	); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/sessions/"+s.ID {
		t.Fatalf("got %d", w.Code)
	}
	text := b.open("/sessions/"+s.ID, http.StatusOK).one(t, "#timeline").visibleText()
	if strings.Count(text, "Keep <b>a</b>.") != 1 ||
		!strings.Contains(text, "The agent gets the message when its calls have ended.") {
		t.Errorf("the message does not wait:\n%s", text)
	}
	host.tools <- conversation.Executed{Text: "ok"}
	h.waitForEvents(s.ID, askback.EventToolComplete, askback.EventMessage)
	text = b.open("/sessions/"+s.ID, http.StatusOK).one(t, "#timeline").visibleText()
	if strings.Count(text, "Keep <b>a</b>.") != 1 || strings.Contains(text, "The agent gets it when") ||
		strings.Index(text, "Keep") < strings.Index(text, "wait") {
		t.Errorf("the message is not once where the agent got it:\n%s", text)
	}
	if w := b.post("/sessions/"+s.ID+"/message", url.Values{"text": {" "}}); w.Code != http.StatusUnprocessableEntity ||
		!strings.Contains(w.Body.String(), `role="alert"`) {
		t.Errorf("a blank message: got %d", w.Code)
	}
}

// A person cancels the turn of a run, and then the whole session (A6).
func TestRunIsCancelledFromItsPage(t *testing.T) {
	h, _ := newHost(t)
	b := h.browser("ana")
	s := h.runPoem("Go.")
	cancel := func(what string, want int) {
		t.Helper()
		if w := b.post("/sessions/"+s.ID+"/cancel", url.Values{"what": {what}}); w.Code != want {
			t.Fatalf("cancel %q: got %d, want %d", what, w.Code, want)
		}
	}
	cancel("everything", http.StatusBadRequest)
	cancel("turn", http.StatusSeeOther)
	if text := b.open("/sessions/"+s.ID,
		http.StatusOK).one(t, "#main").visibleText(); !strings.Contains(text, "waiting for a message") {
		t.Errorf("after the turn was cancelled:\n%s", text)
	}
	cancel("session", http.StatusSeeOther)
	page := b.open("/sessions/"+s.ID, http.StatusOK)
	if text := page.one(t, "#main").visibleText(); !strings.Contains(text, "cancelled") ||
		!strings.Contains(text, "This session has ended for good.") || len(page.all("#main form")) > 0 {
		t.Errorf("after the session was cancelled:\n%s", text)
	}
	if w := b.post("/sessions/"+s.ID+"/message", url.Values{"text": {"Hello?"}}); w.Code !=
		http.StatusUnprocessableEntity ||
		!strings.Contains(w.Body.String(), "ended for good. The message was not sent.") {
		t.Errorf("a message after the end: got %d", w.Code)
	}
}

// An operator may not start agents, so the page does not list them.
func TestOperatorsDoNotSeeTheAgents(t *testing.T) {
	h, _ := newHost(t)
	b := browser{h, h.secret(askback.Operator, "olga")}
	if text := b.open("/run", http.StatusForbidden).visibleText(); strings.Contains(text, "poem") {
		t.Errorf("an operator sees:\n%s", text)
	}
	for _, prompt := range []string{"", "Go."} {
		w := b.post("/run", url.Values{"agent": {"poem"}, "prompt": {prompt}})
		if w.Code != http.StatusForbidden || strings.Contains(w.Body.String(), "Writes poems.") {
			t.Errorf("the prompt %q: got %d\n%s", prompt, w.Code, w.Body)
		}
	}
}

// If an agent started a run, the title of the run is text of that agent. If a person started the run, the
// title is not text of an agent.
func TestRunTitleOfAnAgentIsAgentText(t *testing.T) {
	h, _ := newHost(t)
	b := h.browser("ana")
	for _, kind := range []askback.Kind{askback.Agent, askback.Responder} {
		s, err := h.client(kind, "ana").Start(context.Background(),
			askback.SessionRequest{Agent: "poem", Prompt: "Go.", Title: "Your password has expired"})
		if err != nil {
			t.Fatal(err)
		}
		head := b.open("/sessions/"+s.ID, http.StatusOK).one(t, ".session-head")
		labelled := strings.Contains(head.visibleText(), "Title, by the agent")
		marked := head.one(t, ".session-name").inside(".agent-text")
		if marked != (kind == askback.Agent) || labelled != marked {
			t.Errorf("started by %s: the title is marked as text of an agent: %v; labelled: %v", kind, marked, labelled)
		}
	}
}

// A person chooses an agent, writes a task, and gets to the page of its session. A server without agents
// explains how to add one, and its navigation has no link.
func TestRunIsStartedFromItsPage(t *testing.T) {
	h, _ := newHost(t)
	b := h.browser("ana")
	page := b.open("/run", http.StatusOK)
	if text := page.one(t, "form.start-run").visibleText(); !strings.Contains(text, "Helps with <b>one</b> task.") ||
		!strings.Contains(text, "Writes poems.") {
		t.Errorf("the form has: %s", text)
	}
	for _, path := range []string{"/", "/sessions"} {
		if !strings.Contains(linksOf(b.open(path, http.StatusOK)), "/run") {
			t.Errorf("%s has no link to /run", path)
		}
	}
	w := b.post("/run", url.Values{"agent": {"poem"}, "prompt": {"Write about the sea."}})
	at := w.Header().Get("Location")
	if w.Code != http.StatusSeeOther || !strings.HasPrefix(at, "/sessions/ses_") {
		t.Fatalf("got %d to %q", w.Code, at)
	}
	if text := b.open(at,
		http.StatusOK).one(t, "#main").visibleText(); !strings.Contains(text, "Write about the sea.") {
		t.Errorf("the page of the run has:\n%s", text)
	}
	for _, form := range []url.Values{
		{"agent": {"poem"}, "prompt": {""}}, {"agent": {"<none>"}, "prompt": {"Keep this <b>text</b>"}},
	} {
		w := b.post("/run", form)
		if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), `role="alert"`) ||
			form.Get("prompt") != "" && !strings.Contains(w.Body.String(), "Keep this &lt;b&gt;text") {
			t.Errorf("%v: got %d\n%s", form, w.Code, w.Body)
		}
	}
	without := newServer(t).browser("ana")
	if text := without.open("/run",
		http.StatusOK).one(t, "#main").visibleText(); !strings.Contains(text, "askback serve --agents") {
		t.Errorf("without agents the page says: %s", text)
	}
	if strings.Contains(linksOf(without.open("/", http.StatusOK)), "/run") {
		t.Error("a server without agents has a link to /run")
	}
}

// A demoHost lists agents that it cannot run.
type demoHost struct {
	*scriptedHost
	agents []askback.HostedAgent
}

func (d demoHost) Agents() []askback.HostedAgent { return d.agents }

// If a server has only the demo, the form contains the task of the demo. With other agents, the form contains
// no task.
func TestStartFormContainsTheTaskOfTheDemo(t *testing.T) {
	for want, agents := range map[string][]askback.HostedAgent{
		demo.Prompt: {{Name: demo.Name}},
		"":          {{Name: demo.Name}, {Name: "poem"}},
		" ":         {{Name: "poem"}},
	} {
		h := newServer(t)
		h.engine = engine.New(memstore.New(), &engine.Options{Runner: demoHost{agents: agents}})
		h.handler = web.New(h.engine, h.engine, h.engine, nil)
		if got := h.browser("ana").open("/run",
			http.StatusOK).one(t, "#prompt").visibleText(); got != strings.TrimSpace(want) {
			t.Errorf("agents %v: the field has %q", agents, got)
		}
	}
}
