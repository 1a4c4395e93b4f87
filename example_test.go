package askback_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
)

// An agent and a person use Askback in one process, without a server (D4).
func Example() {
	ctx := context.Background()
	e := engine.New(memstore.New(), nil)
	agent := e.As(askback.Principal{Kind: askback.Agent, Name: "deploy-bot"})
	ana := e.As(askback.Principal{Kind: askback.Responder, Name: "ana"})

	ask, _ := agent.Ask(ctx, askback.Request{Questions: []askback.Question{{
		Text: "Which database should we use?", Options: askback.Options("PostgreSQL", "SQLite"),
	}}})
	go ana.Answer(ctx, ask.ID, askback.Choose("SQLite"))
	ask, _ = agent.Wait(ctx, ask.ID)
	fmt.Println(ask.Outcome.Actor, "says", ask.Outcome.Answers[0])
	// Output: ana says SQLite
}

// The context limits how long the program waits. It does not limit how long the ask is open.
func ExampleAsker_Wait() {
	ctx := context.Background()
	e := engine.New(memstore.New(), nil)
	agent := e.As(askback.Principal{Kind: askback.Agent, Name: "deploy-bot"})
	ana := e.As(askback.Principal{Kind: askback.Responder, Name: "ana"})
	ask, err := agent.Ask(ctx, askback.Request{
		Questions: []askback.Question{{Text: "What shall the release be called?"}},
		Key:       "release-name", // after a crash, the same key finds the same ask
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	short, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	ask, err = agent.Wait(short, ask.ID)
	fmt.Println(ask.Status, "-", err)

	if _, err := ana.Answer(ctx, ask.ID, askback.Choose("Ada")); err != nil {
		fmt.Println(err)
		return
	}
	ask, err = agent.Wait(ctx, ask.ID) // tomorrow, perhaps in another process
	fmt.Println(ask.Status, ask.Outcome.Answers[0], err)
	// Output:
	// pending - context deadline exceeded
	// answered Ada <nil>
}

// An approval covers exactly the arguments that were shown, and is spent once (F7).
func ExampleAsker_Consume() {
	ctx := context.Background()
	e := engine.New(memstore.New(), nil)
	agent := e.As(askback.Principal{Kind: askback.Agent, Name: "deploy-bot"})
	ana := e.As(askback.Principal{Kind: askback.Responder, Name: "ana"})
	ask, err := agent.Ask(ctx, askback.Request{Confirmation: &askback.Confirmation{
		ToolName: "delete_files", Input: json.RawMessage(`{"path": "/var/builds"}`),
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	digest := ask.Confirmation.Digest
	fmt.Println(digest[:18])
	_, err = agent.Consume(ctx, ask.ID, digest)
	fmt.Println("too early:", errors.Is(err, askback.ErrNotApproved))

	if _, err := ana.Answer(ctx, ask.ID, askback.Decide(askback.Approve, "")); err != nil {
		fmt.Println(err)
		return
	}
	_, err = agent.Consume(ctx, ask.ID, "sha256:0123456789a")
	fmt.Println("other arguments:", errors.Is(err, askback.ErrDigest))
	_, err = agent.Consume(ctx, ask.ID, digest)
	fmt.Println("now it may run:", err == nil)
	_, err = agent.Consume(ctx, ask.ID, digest)
	fmt.Println("and not again:", errors.Is(err, askback.ErrConsumed))
	// Output:
	// sha256:2fe0fb78802
	// too early: true
	// other arguments: true
	// now it may run: true
	// and not again: true
}

// If the deadline passes, the asker's defaults apply. The outcome names the timer,
// not a person (F4, F5).
func ExampleAsker_Ask_deadline() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	e := engine.New(memstore.New(), nil)
	go e.Run(ctx) // expires asks at their deadlines
	agent := e.As(askback.Principal{Kind: askback.Agent, Name: "deploy-bot"})

	ask, err := agent.Ask(ctx, askback.Request{
		Questions: []askback.Question{{
			Text: "Which region?", Options: askback.Options("eu", "us"), Default: []string{"eu"},
		}},
		Timeout: 10 * time.Millisecond, OnTimeout: askback.OnTimeoutDefault,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ask, err = agent.Wait(ctx, ask.ID)
	fmt.Println(ask.Status, "by", ask.Outcome.Actor, "with", ask.Outcome.Answers[0], err)
	// Output: expired by a timer with eu <nil>
}
