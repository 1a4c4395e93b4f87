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
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/agent"
	"github.com/askback/askback/conversation"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
)

// A guide is a model: any type with this method. It asks, looks something up, and replies.
type guide struct{}

func (guide) Reply(_ context.Context, r agent.ModelRequest, _ func(string)) (agent.ModelReply, error) {
	switch last := r.Messages[len(r.Messages)-1]; {
	case last.Result == nil:
		return call("ask_user_question", `{"question": "Where do you go?", "options": ["Berlin", "Rome"]}`), nil
	case last.Result.ID == "ask_user_question":
		_, result, _ := strings.Cut(last.Result.Text, "\n") // the second line is for programs
		var got struct{ Answers map[string]string }
		err := json.Unmarshal([]byte(result), &got)
		return call("weather__today", fmt.Sprintf(`{"city": %q}`, got.Answers["Where do you go?"])), err
	default:
		return agent.ModelReply{Text: last.Result.Text}, nil
	}
}

// call returns the reply of a model that calls one tool.
func call(tool, input string) agent.ModelReply {
	return agent.ModelReply{Calls: []conversation.Call{{ID: tool, Tool: tool, Input: json.RawMessage(input)}}}
}

func today(_ context.Context, input json.RawMessage) (string, error) {
	var where struct{ City string }
	err := json.Unmarshal(input, &where)
	return "It is sunny in " + where.City + ".", err
}

func run(ctx context.Context, in *bufio.Reader, out io.Writer) error {
	weather := agent.Functions("weather", agent.ReadOnlyFunc("today", "Look up the weather.", "", today))
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
			if err := answer(ctx, you, session.ID, in, out); err != nil {
				return err // the question stays open
			}
		case event.Type.EndsSession():
			ended, err := you.Session(ctx, session.ID)
			var result string
			_ = json.Unmarshal(ended.Result, &result) // a run that failed has none
			fmt.Fprintln(out, result+ended.Error)
			return err
		}
	}
	return nil
}

// answer prints the open question of a session, and answers it with the next line.
func answer(ctx context.Context, you askback.Client, session string, in *bufio.Reader, out io.Writer) error {
	open, err := you.List(ctx, askback.Query{SessionID: session})
	if err != nil || len(open.Items) == 0 {
		return err
	}
	question := open.Items[0].Questions[0]
	fmt.Fprintln(out, question.Text)
	for _, o := range question.Options {
		fmt.Fprintln(out, "-", o.Label)
	}
	line, err := in.ReadString('\n')
	if err == nil {
		_, err = you.Answer(ctx, open.Items[0].ID, askback.Choose(strings.TrimSpace(line)))
	}
	return err
}

func main() {
	if err := run(context.Background(), bufio.NewReader(os.Stdin), os.Stdout); err != nil {
		log.Fatal(err)
	}
}
