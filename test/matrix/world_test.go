package matrix

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/agent"
	"github.com/askback/askback/conversation"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/message/answerlink"
	"github.com/askback/askback/internal/server/login"
	"github.com/askback/askback/mcpserver"
	"github.com/askback/askback/store/memstore"
	"github.com/askback/askback/web"
)

// The texts of the records. Every question and answer begins with hush, and a held answer begins with unsent.
// answerer is the name of the person who answers.
const (
	hush     = "hush-"
	unsent   = "unsent-"
	answerer = "quinn-the-answerer"
	last     = "the-last-message"
)

// A world is a server with records, and with callers of each kind.
type world struct {
	t       *testing.T
	engine  *engine.Engine
	url     string // the URL of the server
	signer  *answerlink.Signer
	clock   atomic.Int64 // added to the time of the server
	secrets map[string]string
	ids     map[string]string // the ids of the records, by name
	link    string            // the path of a link for the ask
	other   string            // the path of a link for another ask
	tokens  []string          // a revoked token and an expired token
	close   func()
}

// The names of the callers. A name with the prefix "web-" is a browser, and another name is a token.
var callers = []string{
	"none", "bad", "owner", "agent", "asked", "person", "op", "admin", "web-asked", "web-person", "web-op", "web-admin",
}

var principals = map[string]askback.Principal{
	"owner": {Kind: askback.Agent, Name: "bot"}, "agent": {Kind: askback.Agent, Name: "robot"},
	"asked": {Kind: askback.Responder, Name: answerer}, "person": {Kind: askback.Responder, Name: "ana"},
	"op": {Kind: askback.Operator, Name: "olga"}, "admin": {Kind: askback.Admin, Name: "root"},
}

// newWorld starts a server and returns its world. The records belong to the caller owner, and are addressed
// to the caller asked.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, secrets: map[string]string{}, ids: map[string]string{}}
	runner, err := agent.NewRunner(agent.Definition{
		Name: "worker", Model: script{}, Tools: []string{agent.AskUserQuestion, "files"}, To: []string{answerer},
		AsyncQuestions: true,
		Toolsets: []agent.Toolset{agent.Functions("files", agent.Func("write", "Writes.", func(context.Context, struct {
			Text string `json:"text"`
		},
		) (string, error) {
			return "written", nil
		}))},
	})
	if err != nil {
		t.Fatal(err)
	}
	now := func() time.Time { return time.Now().Add(time.Duration(w.clock.Load())) }
	w.engine = engine.New(memstore.New(),
		&engine.Options{Runner: runner, Now: now, Channels: map[string]engine.Channel{"webhook": receiver{}}})
	w.engine.Set(engine.Settings{Undo: limits.MaxUndo})
	w.makeCallers()
	w.serve()
	w.makeRecords()
	return w
}

// serve starts the server with its frontends.
func (w *world) serve() {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = w.engine.Run(ctx) }()
	signer := answerlink.New(func() ([]byte, error) { return make([]byte, 32), nil }, answerlink.Page)
	api := httpapi.NewHandler(w.engine,
		&httpapi.Options{Hooks: hooks{}, Metrics: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})})
	tools := mcpserver.New(&mcpserver.Options{Secret: make([]byte, 32)})
	mux := http.NewServeMux()
	for _, path := range []string{"/api/", "/conversations/", "/agent/", "/hooks/", "/metrics", "/healthz", "/readyz"} {
		mux.Handle(path, api)
	}
	mux.Handle(login.ResourcePath, tools.Handler(w.engine))
	mux.Handle("/",
		web.New(w.engine, w.engine, w.engine, &web.Options{Links: &web.Links{Signer: signer, Person: w.engine.Person}}))
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	w.must(err)
	w.url = "http://" + listener.Addr().String()
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	w.close = sync.OnceFunc(func() {
		api.Stop()
		tools.Stop()
		_ = server.Close()
		<-served
		stop()
	})
	w.t.Cleanup(func() { w.close(); <-done }) // the engines end in parallel
	w.signer = signer
}

// linkTo returns the path of a link for an ask.
func (w *world) linkTo(ask string) string {
	token, err := w.signer.Sign(answerlink.Link{AskID: ask, Person: answerer, Channel: askback.ChannelEmail})
	w.must(err)
	return answerlink.Path + token
}

func (w *world) as(caller string) askback.Client { return w.engine.As(principals[caller]) }

// must fails the test if there is an error.
func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// makeCallers makes a token and a browser for each principal, and tokens that are not valid.
func (w *world) makeCallers() {
	ctx := context.Background()
	for name, p := range principals {
		_, secret, err := w.as("admin").CreateToken(ctx, askback.TokenRequest{Kind: p.Kind, Name: p.Name})
		w.must(err)
		w.secrets[name] = secret
		p.Channel = askback.ChannelWeb
		browser, err := w.engine.NewSecret()
		w.must(err)
		w.must(w.engine.Adopt(ctx, p, browser))
		w.secrets["web-"+name] = browser
	}
	revoked, secret, err := w.as("admin").CreateToken(ctx,
		askback.TokenRequest{Kind: askback.Responder, Name: answerer})
	w.must(err)
	_, err = w.as("admin").RevokeToken(ctx, revoked.ID)
	w.must(err)
	_, expired, err := w.as("admin").CreateToken(ctx,
		askback.TokenRequest{Kind: askback.Responder, Name: answerer, ExpiresIn: time.Minute})
	w.must(err)
	w.clock.Store(int64(2 * time.Minute))
	w.tokens = []string{"garbage", secret, expired}
}

// makeRecords makes the records. At the end, there are an ask for everyone and a message to the run.
func (w *world) makeRecords() {
	ctx, owner, asked := context.Background(), w.as("owner"), w.as("asked")
	question := []askback.Question{{Text: hush + "question?"}}
	one, err := owner.Ask(ctx, askback.Request{Questions: question, To: []string{answerer}})
	w.must(err)
	w.ids["ask"], w.ids["ask-session"] = one.ID, one.SessionID
	done, err := owner.Ask(ctx, askback.Request{Questions: question, To: []string{answerer}, SessionKey: "job"})
	w.must(err)
	w.ids["done"], w.ids["session"] = done.ID, done.SessionID
	_, err = asked.Answer(ctx, done.ID,
		askback.Answer{Answers: []askback.QuestionAnswer{{ID: "q1", Other: hush + "answer"}}})
	w.must(err)
	approved, err := owner.Ask(ctx, askback.Request{
		To:           []string{answerer},
		Confirmation: &askback.Confirmation{ToolName: "deploy", Input: json.RawMessage(`{"n":"` + hush + `argument"}`)},
	})
	w.must(err)
	settled, err := asked.Answer(ctx, approved.ID, askback.Answer{Decision: askback.ApproveAll})
	w.must(err)
	w.ids["approved"], w.ids["grant"] = approved.ID, settled.Outcome.GrantID
	held, err := owner.Ask(ctx,
		askback.Request{Questions: []askback.Question{{Text: "Sure?"}}, To: []string{answerer}, SessionKey: "held"})
	w.must(err)
	w.ids["held"], w.ids["held-session"] = held.ID, held.SessionID
	_, err = asked.Hold(ctx, held.ID,
		askback.Answer{Answers: []askback.QuestionAnswer{{ID: "q1", Other: unsent + "answer"}}})
	w.must(err)
	w.makeRun()
	public, err := owner.Ask(ctx, askback.Request{Questions: []askback.Question{{Text: "For everyone?"}}})
	w.must(err)
	w.ids["public"] = public.ID
	_, err = w.as("person").Send(ctx, w.ids["run"], askback.SendMessage{Text: last})
	w.must(err)
	w.link, w.other = w.linkTo(w.ids["ask"]), w.linkTo(w.ids["public"])
	tokens, err := w.as("admin").Tokens(ctx)
	w.must(err)
	w.ids["token"] = tokens[slices.IndexFunc(tokens, func(t askback.Token) bool { return t.Name == "robot" })].ID
	endpoint, _, err := owner.CreateEndpoint(ctx, askback.EndpointRequest{URL: "https://bot.example.com"})
	w.must(err)
	w.ids["endpoint"] = endpoint.ID
}

// makeRun starts a run. Its question is answered, and its call then waits for approval.
func (w *world) makeRun() {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	run, err := w.as("owner").Start(ctx, askback.SessionRequest{Agent: "worker", Prompt: "Go."})
	w.must(err)
	w.ids["run"] = run.ID
	for ev, err := range w.as("asked").Events(ctx, run.ID, askback.Beginning) {
		w.must(err)
		if ev.Type != askback.EventQuestionPending {
			continue
		}
		page, err := w.as("asked").List(ctx, askback.Query{SessionID: run.ID})
		w.must(err)
		a := page.Items[0]
		if a.Kind == askback.Confirm {
			w.ids["run-ask"] = a.ID
			return
		}
		w.ids["run-done"] = a.ID
		_, err = w.as("asked").Answer(ctx, a.ID,
			askback.Answer{Answers: []askback.QuestionAnswer{{ID: "q1", Other: hush + "answer"}}})
		w.must(err)
	}
}

// A script is a model that asks a question, and then makes a call that needs approval.
type script struct{}

func (script) Reply(_ context.Context, r agent.ModelRequest, _ func(string)) (agent.ModelReply, error) {
	replies := 0
	for _, m := range r.Messages {
		if m.Role == conversation.RoleAssistant {
			replies++
		}
	}
	switch replies {
	case 0:
		return agent.ModelReply{Text: hush + "text", Calls: []conversation.Call{
			agent.NewCall("a", agent.AskUserQuestion, `{"questions":[{"question":"`+hush+`question?"}]}`, false),
		}}, nil
	case 1:
		return agent.ModelReply{
			Calls: []conversation.Call{agent.NewCall("b", "files__write", `{"text":"`+hush+`argument"}`, false)},
		}, nil
	}
	return agent.ModelReply{Text: "Done."}, nil
}

// A receiver is a channel that accepts everything.
type receiver struct{}

func (receiver) Send(context.Context, askback.Notification) (string, error) { return "", nil }

func (receiver) SendTest(context.Context, string, string, string, []string) (int, error) {
	return http.StatusOK, nil
}

// hooks accepts webhooks with one signature.
type hooks struct{}

const signature = "v1,good"

func (hooks) CheckHeader(h http.Header) error {
	if h.Get("Webhook-Signature") != signature {
		return errors.New("no signature")
	}
	return nil
}

func (h hooks) Verify(name string, header http.Header, _ []byte) error {
	if name != "worker" {
		return fmt.Errorf("no agent %s", name)
	}
	return h.CheckHeader(header)
}
