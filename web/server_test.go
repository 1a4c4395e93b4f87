package web_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/channels/kinds"
	"github.com/askback/askback/store/memstore"
	"github.com/askback/askback/web"
)

// A server is an engine with the pages, and a clock that the test sets.
type server struct {
	t       *testing.T
	engine  *engine.Engine
	handler http.Handler
	now     time.Time
}

var evening = time.Date(2026, 11, 3, 18, 30, 0, 0, time.UTC)

func newServer(t *testing.T) *server {
	t.Helper()
	h := &server{t: t, now: evening}
	h.reset()
	return h
}

// reset replaces the engine by an empty engine.
func (h *server) reset() {
	h.engine = engine.New(memstore.New(),
		&engine.Options{Now: func() time.Time { return h.now }, RouteChannels: kinds.Routed()})
	h.handler = web.New(h.engine, h.engine, h.engine, &web.Options{Now: func() time.Time { return h.now }})
}

func (h *server) client(kind askback.Kind, name string) askback.Client {
	return h.engine.As(askback.Principal{Kind: kind, Name: name, Channel: askback.ChannelWeb})
}

func (h *server) ask(r askback.Request) askback.Ask {
	h.t.Helper()
	if r.Agent == "" {
		r.Agent = "deploy-bot"
	}
	a, err := h.client(askback.Agent, "bot").Ask(context.Background(), r)
	if err != nil {
		h.t.Fatal(err)
	}
	return a
}

func (h *server) get(id string) askback.Ask {
	h.t.Helper()
	a, err := h.client(askback.Responder, "ana").Get(context.Background(), id)
	if err != nil {
		h.t.Fatal(err)
	}
	return a
}

// secret returns the value of a browser's cookie.
func (h *server) secret(kind askback.Kind, name string) string {
	h.t.Helper()
	secret, err := h.engine.NewSecret()
	if err == nil {
		err = h.engine.Adopt(context.Background(),
			askback.Principal{Kind: kind, Name: name, Channel: askback.ChannelWeb}, secret)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return secret
}

func (h *server) link(name string) string {
	h.t.Helper()
	secret, err := h.client(askback.Responder, name).LoginSecret(context.Background())
	if err != nil {
		h.t.Fatal(err)
	}
	return secret
}

// browser sends requests as a browser does from a page of Askback on loopback.
type browser struct {
	*server
	secret string
}

func (h *server) browser(name string) browser { return browser{h, h.secret(askback.Responder, name)} }

// request returns a request with a form. A form that approves has the word for a dangerous call, unless the
// test sets another word.
func (b browser) request(method, path string, form url.Values) *http.Request {
	if strings.HasPrefix(form.Get("action"), "approve") && !form.Has("word") {
		form.Set("word", "approve")
	}
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r := httptest.NewRequest(method, "http://127.0.0.1:7575"+path, body)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	if b.secret != "" {
		r.AddCookie(&http.Cookie{Name: "askback", Value: b.secret})
	}
	return r
}

func (h *server) do(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, r)
	return w
}

// open gets a page and checks its status.
func (b browser) open(path string, status int) *node {
	b.t.Helper()
	return b.page(b.do(b.request(http.MethodGet, path, nil)), status)
}

// send posts a form and returns the page of the reply.
func (b browser) send(path string, form url.Values, status int) *node {
	b.t.Helper()
	return b.page(b.do(b.request(http.MethodPost, path, form)), status)
}

func (b browser) page(w *httptest.ResponseRecorder, status int) *node {
	b.t.Helper()
	if w.Code != status {
		b.t.Fatalf("got status %d, want %d:\n%s", w.Code, status, w.Body)
	}
	if w.Code == http.StatusSeeOther {
		return nil
	}
	return parse(b.t, w.Body.String())
}

// settle posts a form that must be accepted, and returns the outcome.
func (b browser) settle(a askback.Ask, form url.Values) *askback.Outcome {
	b.t.Helper()
	w := b.do(b.request(http.MethodPost, "/asks/"+a.ID, form))
	if got, want := w.Header().Get("Location"), "/asks/"+a.ID; w.Code != http.StatusSeeOther || got != want {
		b.t.Fatalf("got status %d to %q, want 303 to %q:\n%s", w.Code, got, want, w.Body)
	}
	return b.get(a.ID).Outcome
}

// The requests have every kind of question, and confirmations.
var (
	single = askback.Request{Questions: []askback.Question{{
		Text: "Which database should we use?", Header: "Database", Default: []string{"PostgreSQL"},
		Options: []askback.Option{
			{Label: "PostgreSQL", Description: "A server of its own.", Preview: "postgres://db/askback"},
			{Label: "SQLite", Description: "One file beside the program."},
			{Label: "None", Description: "Keep everything in memory."},
		},
	}}}
	multi = askback.Request{Questions: []askback.Question{{
		Text: "Which channels?", MultiSelect: true, Options: askback.Options("Slack", "E-mail", "Webhook"),
	}}}
	free = askback.Request{Questions: []askback.Question{{Text: "What should it be called?"}}}
	form = askback.Request{
		Title: "Release 2.4", Tags: []string{"prod"}, Context: json.RawMessage(`"The build is green."`),
		Questions: []askback.Question{
			single.Questions[0],
			multi.Questions[0],
			{Text: "Anything to add?", Optional: true},
			{Text: "Now or later?", Options: askback.Options("Now", "Later"), NoOther: true, Optional: true},
		},
	}
	call = askback.Request{Confirmation: &askback.Confirmation{
		ToolName: "db.migrate", Server: "warehouse", Dangerous: true,
		Description: "A harmless little change.", Context: "Nothing to see here.",
		Input: json.RawMessage(`{"database":"prod","sql":"drop table orders;\nvacuum"}`),
	}}
	harmless = askback.Request{
		Confirmation: &askback.Confirmation{ToolName: "mail.send", Input: json.RawMessage(`{"to":"ben"}`)},
	}
)
