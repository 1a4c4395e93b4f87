package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/store/sqlite"
)

// contextLength makes the question of each subject about 250 bytes.
const contextLength = 160

// product is Askback as a Go program uses it: an engine on SQLite, with a seat
// for the agent and one for the person. Only the seats are used, so that the
// client of a server can take their place.
type product struct {
	agent  askback.Asker
	person askback.Inbox
	engine *engine.Engine
	shut   func() error
}

// Who asks and who answers.
var (
	asker    = askback.Principal{Kind: askback.Agent, Name: "deploy-bot", Channel: askback.ChannelAPI}
	answerer = askback.Principal{Kind: askback.Responder, Name: "ann@example.com", Channel: askback.ChannelAPI}
)

// openProduct opens Askback in this process.
func openProduct(ctx context.Context, path string) (subject, error) {
	return openEngine(ctx, path, nil)
}

func openEngine(ctx context.Context, path string, o *engine.Options) (*product, error) {
	db, err := sqlite.Open(path, nil)
	if err != nil {
		return nil, err
	}
	e := engine.New(db, o)
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

// openPostedProduct opens Askback in this process, with a person who answers
// over HTTP.
func openPostedProduct(ctx context.Context, path string) (subject, error) {
	p, address, err := openServer(ctx, path, nil)
	if err != nil {
		return nil, err
	}
	secret, err := p.admit(ctx, answerer)
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	p.person = httpapi.NewClient(address, secret, dialer())
	return p, nil
}

// openDistantProduct opens Askback with everybody at the other end of HTTP.
func openDistantProduct(ctx context.Context, path string) (subject, error) {
	p, address, err := openServer(ctx, path, nil)
	if err != nil {
		return nil, err
	}
	agent, err := p.admit(ctx, asker)
	person, personErr := p.admit(ctx, answerer)
	if err := errors.Join(err, personErr); err != nil {
		return nil, errors.Join(err, p.close())
	}
	client := dialer()
	p.agent, p.person = httpapi.NewClient(address, agent, client), httpapi.NewClient(address, person, client)
	return p, nil
}

// waitersEach is how many calls of one agent may wait at a server.
const waitersEach = 200

// served are the options of askback serve. How many asks an agent may have open
// is bounded, as there, but by more than anybody measures.
func served() *engine.Options {
	return &engine.Options{Log: slog.New(slog.DiscardHandler), MaxOpen: 1 << 30, MaxWaiters: waitersEach}
}

// openServer serves Askback on a free port, with its own handler and tokens on.
// Those in this process go on without them.
func openServer(ctx context.Context, path string, note func(net.Conn, http.ConnState)) (p *product, address string, err error) {
	if p, err = openEngine(ctx, path, served()); err != nil {
		return nil, "", err
	}
	ln, address, err := port()
	if err != nil {
		return nil, "", errors.Join(err, p.close())
	}
	stop, shut := serve(ln, httpapi.NewHandler(p.engine, &httpapi.Options{
		PublicURL: address, Log: slog.New(slog.DiscardHandler), Proof: func(nonce string) string { return nonce },
	}), note), p.shut
	p.shut = func() error { return errors.Join(stop(), shut()) }
	return p, address, nil
}

// admit makes a token for somebody and returns its secret.
func (p *product) admit(ctx context.Context, who askback.Principal) (string, error) {
	secret, err := p.engine.NewSecret()
	if err != nil {
		return "", err
	}
	return secret, p.engine.Adopt(ctx, who, secret)
}

// request is what the bare cycle asks, in our words.
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

func (p *product) wait(ctx context.Context, id string) error {
	a, err := p.agent.Wait(ctx, id)
	if err == nil && a.Outcome.Answers[0].String() != "yes" {
		err = errors.New("another answer than the one that was given")
	}
	return err
}

func (p *product) answer(ctx context.Context, id string) error {
	_, err := p.person.Answer(ctx, id, reply())
	return err
}

func (p *product) close() error { return p.shut() }
