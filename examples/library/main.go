// Library runs a hosted agent inside a Go program, with a model and a tool of the program. The
// agent asks you a question at the terminal, waits for the answer, and uses it.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"strings"

	"github.com/askback/askback/agent"
	"github.com/askback/askback/agent/host"
	"github.com/askback/askback/terminal"
)

// A guide is a model, which is any type with the method Reply. It asks, looks something up, and replies.
type guide struct{}

func (guide) Reply(_ context.Context, r agent.ModelRequest, _ func(string)) (agent.ModelReply, error) {
	switch last := r.Messages[len(r.Messages)-1].Result; {
	case last == nil:
		return agent.CallTool("ask_user_question",
			map[string]any{"question": "Where do you go?", "options": []string{"Berlin", "Rome"}})
	case last.ID == "ask_user_question":
		_, line, _ := strings.Cut(last.Text, "\n") // the second line is for programs
		var got struct{ Answers map[string]string }
		_ = json.Unmarshal([]byte(line), &got) // if there is no answer, the city stays empty
		return agent.CallTool("weather__today", place{got.Answers["Where do you go?"]})
	default:
		return agent.ModelReply{Text: last.Text}, nil
	}
}

type place struct {
	City string `json:"city" jsonschema:"where, in English"`
}

func today(_ context.Context, p place) (string, error) { return "It is sunny in " + p.City + ".", nil }

func run(ctx context.Context, answer host.Answerer) (string, error) {
	weather := agent.Functions("weather", agent.ReadOnlyFunc("today", "Look up the weather.", today))
	h, err := host.Open("", agent.Definition{ // with a file instead of "", runs survive a restart
		Name: "guide", Model: guide{}, Tools: []string{"ask_user_question", "weather"},
		Toolsets: []agent.Toolset{weather},
	})
	if err != nil {
		return "", err
	}
	defer h.Close()
	return h.Run(ctx, "guide", "Plan my day.", answer)
}

func main() {
	result, err := run(context.Background(), terminal.Answer)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result)
}
