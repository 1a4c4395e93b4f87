package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
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
	shut   func() error
}

// openProduct opens Askback in this process.
func openProduct(ctx context.Context, path string) (subject, error) {
	return openEngine(ctx, path)
}

func openEngine(ctx context.Context, path string) (*product, error) {
	db, err := sqlite.Open(path, nil)
	if err != nil {
		return nil, err
	}
	e := engine.New(db, nil)
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- e.Run(running) }()
	return &product{
		agent:  e.As(askback.Principal{Kind: askback.Agent, Name: "deploy-bot", Via: askback.ViaAPI}),
		person: e.As(askback.Principal{Kind: askback.Responder, Name: "ann@example.com", Via: askback.ViaAPI}),
		shut: func() error {
			stop()
			return errors.Join(<-ended, db.Close())
		},
	}, nil
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
