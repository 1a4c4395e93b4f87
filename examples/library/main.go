// Library runs a hosted agent inside a Go program, with a model and a tool of the program. The
// agent asks you a question here, waits for the answer, and uses it.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/askback/askback"
	"github.com/askback/askback/agent"
	"github.com/askback/askback/conversation"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
)

// A guide is a model: any type with this method. It asks, looks something up, and replies.
type guide struct{}

func (guide) Reply(_ context.Context, r agent.ModelRequest, _ func(string)) (agent.ModelReply, error) {
	call := func(tool, input string) (agent.ModelReply, error) {
		return agent.ModelReply{Stop: agent.StopCalls, Calls: []conversation.Call{{ID: tool, Tool: tool, Input: json.RawMessage(input)}}}, nil
	}
	switch last := r.Messages[len(r.Messages)-1]; {
	case last.Result == nil:
		return call("ask_user_question", `{"question": "Where do you go?", "options": ["Berlin", "Rome"]}`)
	case last.Result.ID == "ask_user_question":
		return call("weather__today", `{"answer": `+fmt.Sprintf("%q", last.Result.Text)+`}`)
	default:
		return agent.ModelReply{Text: last.Result.Text, Stop: agent.StopEnd}, nil
	}
}

func today(_ context.Context, input json.RawMessage) (string, error) {
	return "It is sunny there. The tool got " + string(input), nil
}

func run(ctx context.Context, in io.Reader, out io.Writer) error {
	weather := agent.Functions("weather", agent.Func("today", "Look up the weather.", "", true, today))
	runner, err := agent.NewRunner(agent.Definition{
		Name: "guide", Model: guide{}, Tools: []string{"ask_user_question", "weather"}, Toolsets: []agent.Toolset{weather},
	})
	if err != nil {
		return err
	}
	e := engine.New(memstore.New(), &engine.Options{Runner: runner}) // a store from sqlite.Open survives a restart
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go e.Run(ctx)

	you := e.As(askback.Principal{Kind: askback.Responder, Name: "you"})
	session, err := you.Start(ctx, askback.SessionRequest{Agent: "guide", Prompt: "Plan my day."})
	if err != nil {
		return err
	}
	for event, err := range you.Events(ctx, session.ID, askback.Beginning) {
		switch {
		case err != nil:
			return err
		case event.Type == askback.EventQuestionPending:
			open, err := you.List(ctx, askback.Query{SessionID: session.ID})
			if err != nil {
				return err
			}
			fmt.Fprintln(out, open.Items[0].Questions[0].Text, open.Items[0].Questions[0].Options)
			line, err := bufio.NewReader(in).ReadString('\n')
			if err != nil {
				return err // the question stays open
			}
			if _, err := you.Answer(ctx, open.Items[0].ID, askback.Choose(line[:len(line)-1])); err != nil {
				return err
			}
		case event.Type.EndsSession():
			ended, err := you.Session(ctx, session.ID)
			fmt.Fprintln(out, string(ended.Result), ended.Error)
			return err
		}
	}
	return nil
}

func main() {
	if err := run(context.Background(), os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}
