package agent

import (
	"fmt"

	"github.com/askback/askback"
	"github.com/askback/askback/asktool"
	"github.com/askback/askback/conversation"
)

// notCalled ends the result of a tool call that was not approved.
const notCalled = " The tool was not called."

// Outcome returns the input for the run from ask, the settled ask of a call. Call and At of the input are not
// set. The text and the JSON in its next line are the same as in the MCP tools (docs/wire.md §5). If a tool
// was not approved, the text ends with notCalled before the JSON.
func (r *Runner) Outcome(_ conversation.Run, call conversation.Call, ask askback.Ask) conversation.AskSettled {
	if call.Kind == conversation.KindTool && ask.Outcome.Approved() {
		return conversation.AskSettled{Approved: true, AskID: ask.ID, Input: ask.Outcome.Input}
	}
	text, structured, isError := asktool.Result(ask)
	if call.Kind == conversation.KindTool {
		text += notCalled
	}
	if len(structured) > 0 {
		text += "\n" + string(structured)
	}
	in := conversation.AskSettled{Text: text, IsError: isError}
	if o := ask.Outcome; o != nil && o.Status == askback.Expired && !o.Defaulted &&
		ask.OnTimeout == askback.OnTimeoutFail {
		in.Fails = fmt.Sprintf("%s was not answered in time, and its on_timeout is fail", ask.ID)
	}
	return in
}
