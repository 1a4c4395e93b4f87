package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"net"
	"net/http"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/store/sqlite"
)

// contextLength is the length of a question's context in bytes. It makes each
// question about 250 bytes long.
const contextLength = 160

// A product is Askback as a Go program uses it: an engine on SQLite, a client for the agent and a client for
// the person. The clients use the engine directly or over HTTP.
type product struct {
	agent  askback.Asker
	person askback.Inbox
	engine *engine.Engine
	shut   func() error
}

// The agent that asks and the person who answers.
var (
	asker    = askback.Principal{Kind: askback.Agent, Name: "deploy-bot", Channel: askback.ChannelAPI}
	answerer = askback.Principal{Kind: askback.Responder, Name: "ann@example.com", Channel: askback.ChannelAPI}
)

// openProduct opens an engine in this process. The agent and the person use the engine directly.
func openProduct(ctx context.Context, path string) (subject, error) {
	return openEngine(ctx, path, nil)
}

func openEngine(ctx context.Context, path string, o *engine.Options) (*product, error) {
	db, err := sqlite.Open(path, nil)
	if err != nil {
		return nil, err
	}
	var used engine.Store = db
	if ctx.Value(withoutIndex{}) != nil {
		used = restingIndex{db}
	}
	e := engine.New(used, o)
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- e.Run(running) }()
	return &product{
		agent: e.As(asker), person: e.As(answerer), engine: e,
		shut: func() error {
			stop()
			return errors.Join(<-ended, db.Close())
		},
	}, nil
}

// withoutIndex is the key of a context value. Engines with this value do not fill the search index, so that
// only the changes themselves write to the database.
type withoutIndex struct{}

// A restingIndex is a store whose search index seems to have all documents.
type restingIndex struct{ *sqlite.Store }

// Indexed returns a position after every event.
func (restingIndex) Indexed(context.Context) (int64, error) { return math.MaxInt64, nil }

// openProductWithHTTPAnswers opens an engine in this process. The agent uses the engine directly, and the
// person answers over HTTP.
func openProductWithHTTPAnswers(ctx context.Context, path string) (subject, error) {
	p, address, err := openServer(ctx, path, nil)
	if err != nil {
		return nil, err
	}
	secret, err := p.createToken(ctx, answerer)
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	p.person = httpapi.NewClient(address, secret, newHTTPClient())
	return p, nil
}

// openRemoteProduct opens a server, with the agent and the person as HTTP
// clients.
func openRemoteProduct(ctx context.Context, path string) (subject, error) {
	p, address, err := openServer(ctx, path, nil)
	if err != nil {
		return nil, err
	}
	agent, err := p.createToken(ctx, asker)
	person, personErr := p.createToken(ctx, answerer)
	if err := errors.Join(err, personErr); err != nil {
		return nil, errors.Join(err, p.close())
	}
	client := newHTTPClient()
	p.agent, p.person = httpapi.NewClient(address, agent, client), httpapi.NewClient(address, person, client)
	return p, nil
}

// waitersPerAgent is the maximum number of waiting calls of one agent at a server.
const waitersPerAgent = 200

// serverOptions returns the engine options of askback serve, with a higher
// limit of open asks per agent.
func serverOptions() *engine.Options {
	return &engine.Options{Log: slog.New(slog.DiscardHandler), MaxOpen: 1 << 30, MaxWaiters: waitersPerAgent}
}

// openServer starts a server on a free port. HTTP requests need a token. The clients of the product use the
// engine directly. note is called for each change of the state of a connection, and may be nil.
func openServer(
	ctx context.Context, path string, note func(net.Conn, http.ConnState),
) (p *product, address string, err error) {
	if p, err = openEngine(ctx, path, serverOptions()); err != nil {
		return nil, "", err
	}
	ln, address, err := listenLoopback()
	if err != nil {
		return nil, "", errors.Join(err, p.close())
	}
	stop, shut := serve(ln, httpapi.NewHandler(p.engine, &httpapi.Options{
		PublicURL: address, Log: slog.New(slog.DiscardHandler), Proof: func(nonce string) string { return nonce },
	}), note), p.shut
	p.shut = func() error { return errors.Join(stop(), shut()) }
	return p, address, nil
}

// createToken creates a token and returns its secret.
func (p *product) createToken(ctx context.Context, who askback.Principal) (string, error) {
	secret, err := p.engine.NewSecret()
	if err != nil {
		return "", err
	}
	return secret, p.engine.Adopt(ctx, who, secret)
}

// request returns the question of the bare cycle as a request.
func request() askback.Request {
	return askback.Request{
		Questions: []askback.Question{{
			Text: "Deploy build 4711 to production?", Options: askback.Options("yes", "no", "later"),
		}},
		Context: json.RawMessage(`"` + strings.Repeat("x", contextLength) + `"`),
	}
}

func reply() askback.Answer {
	return askback.Answer{Answers: []askback.QuestionAnswer{{
		ID: "q1", Selected: []string{"yes"}, Notes: "checked the dashboards",
	}}}
}

func (p *product) ask(ctx context.Context) (string, error) {
	a, err := p.agent.Ask(ctx, request())
	return a.ID, err
}

func (p *product) wait(ctx context.Context, id string) error { return waitForReply(ctx, p.agent, id) }

// waitForReply waits for the answer to an ask, and returns an error if the ask has another answer than reply.
func waitForReply(ctx context.Context, agent askback.Asker, id string) error {
	a, err := agent.Wait(ctx, id)
	if err != nil {
		return err
	}
	if a.Outcome == nil || len(a.Outcome.Answers) == 0 || a.Outcome.Answers[0].String() != "yes" {
		return errors.New("the answer differs from the sent answer")
	}
	return nil
}

func (p *product) answer(ctx context.Context, id string) error {
	_, err := p.person.Answer(ctx, id, reply())
	return err
}

func (p *product) close() error { return p.shut() }
