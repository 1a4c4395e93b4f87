package runs

import (
	"context"

	"github.com/askback/askback"
	"github.com/askback/askback/conversation"
)

// A Runner starts hosted agents and does the work of their runs outside of the store. Package agent has a
// Runner. Its methods may be called by several goroutines concurrently, and may be called again after a
// crash. A runner may also be a [PartialRunner], a [Scheduler], a [CallbackRunner], a [RestrictedRunner] or
// an [AddressingRunner].
type Runner interface {
	// Agents returns the agents, sorted by name.
	Agents() []askback.HostedAgent
	// Limits returns the limits of a new run of an agent. The error is [askback.ErrNotFound] if
	// there is no such agent.
	Limits(agent string) (conversation.Limits, error)
	// Reply sends one request to the model of the run. It returns a [conversation.ModelReplied] whose calls
	// have a plan, or a [conversation.ModelFailed]. If the agent was removed, it returns a
	// [conversation.RunFailed]. It calls piece with each piece of the text as the piece arrives. The engine
	// sets the numbers and the time.
	Reply(
		ctx context.Context, run conversation.Run, r conversation.RequestModel, messages []conversation.Message,
		piece func(string),
	) conversation.Input
	// Execute runs the tool of a call. The Input of the call has the arguments of the tool.
	Execute(ctx context.Context, run conversation.Run, call conversation.Call) conversation.Executed
	// Question returns the question for a call, or a confirmation whether the call may be made. The engine
	// sets the agent, the session and the key. The model gets the error.
	Question(run conversation.Run, call conversation.Call) (askback.Request, error)
	// Outcome returns the input of the run for the outcome of that ask. The engine sets the numbers and the
	// time.
	Outcome(run conversation.Run, call conversation.Call, a askback.Ask) conversation.AskSettled
	// Asks returns the people and groups that the asks of a run name, and whether the run may ask people.
	// Without names, the routes decide. The error is [askback.ErrNotFound] if there is no such agent.
	Asks(run conversation.Run) (to []string, asks bool, err error)
	// Task returns the agent and the prompt of a child that a call starts.
	Task(run conversation.Run, call conversation.Call, child int) (agent, prompt string)
}

// A PartialRunner is a [Runner] that has only some of the agents. Runs of other agents wait until another
// process continues them. With a runner that is not partial, these runs fail.
type PartialRunner interface {
	Runner
	// Hosts reports whether the runner has the agent.
	Hosts(agent string) bool
}

// An AddressingRunner is a [Runner] whose agents may name the recipients of their asks.
type AddressingRunner interface {
	Runner
	// Recipients returns the people and groups that the asks of each agent name, keyed by the name of the
	// agent. It omits agents that name no people.
	Recipients() map[string][]string
}

// Recipients returns the people and groups that the asks of each hosted agent name, keyed by the name of the
// agent.
func (e *Service) Recipients() map[string][]string {
	if r, ok := e.Runner.(AddressingRunner); ok {
		return r.Recipients()
	}
	return nil
}
