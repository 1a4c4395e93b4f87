package claudecode

import (
	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/text/plan"
)

// requiresInput reports whether an approval of the event's tool must contain the arguments. Claude Code ignores
// an approval without arguments if the tool requires a person, and keeps its dialog open. Its plan tools do. A
// tool of an MCP server may declare it, which an event does not contain.
func requiresInput(ev Event) bool {
	server, tool := hook.SplitToolName(ev.Tool)
	return server != "" || plan.IsTool(tool) || tool == "EnterPlanMode"
}

// readPlan adds a plan that is only in a file to a call that asks about it. Only an answer of a person about
// the text that was shown then results in a decision: no standing approval, and no answer after the file
// changed.
func readPlan(call *hook.Call, folders ...string) {
	text := hook.ReadPlan(call.Request.Confirmation, folders...)
	if text == "" {
		return
	}
	call.Request.Key = hook.Key(Name, call.Request.Key, text)
	decide, asked := call.Decide, *call.Request.Confirmation
	call.Decide = func(ask askback.Ask) ([]byte, bool) {
		now := asked
		if ask.Outcome.Approved() &&
			(ask.Outcome.Actor.Kind == askback.ActorPolicy || hook.ReadPlan(&now, folders...) != text) {
			return nil, false
		}
		return decide(ask)
	}
}
