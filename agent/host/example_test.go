package host_test

import (
	"context"
	"fmt"

	"github.com/askback/askback"
	"github.com/askback/askback/agent"
	"github.com/askback/askback/agent/host"
)

// A greeter is a model without a provider. It greets in the language that a person chooses.
type greeter struct{}

func (greeter) Reply(_ context.Context, r agent.ModelRequest, _ func(string)) (agent.ModelReply, error) {
	if last := r.Messages[len(r.Messages)-1]; last.Result != nil {
		return agent.ModelReply{Text: last.Result.Text}, nil
	}
	return agent.CallTool("words__hello", language{"it"})
}

type language struct {
	Code string `json:"code" jsonschema:"as in ISO 639"`
}

// A person must approve the tool, because it is not made with ReadOnlyFunc. At a terminal,
// terminal.Answer asks the person; here a function approves.
func ExampleHost_Run() {
	words := agent.Functions("words",
		agent.Func("hello", "Says hello.", func(_ context.Context, l language) (string, error) {
			return map[string]string{"it": "Ciao!"}[l.Code], nil
		}))
	h, err := host.Open("", agent.Definition{
		Name: "greeter", Prompt: "You greet people.", Model: greeter{}, Tools: []string{"words"},
		Toolsets: []agent.Toolset{words},
	})
	if err != nil {
		panic(err)
	}
	defer h.Close()
	result, err := h.Run(context.Background(),
		"greeter", "Greet me.", func(ctx context.Context, inbox askback.Inbox, a askback.Ask) error {
			fmt.Println(a.Confirmation.ToolName, string(a.Confirmation.Input))
			_, err := inbox.Answer(ctx, a.ID, askback.Decide(askback.Approve, ""))
			return err
		})
	fmt.Println(result, err)
	// Output:
	// hello {"code":"it"}
	// Ciao! <nil>
}
