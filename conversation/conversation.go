// Package conversation has the state machine of a hosted run, as a pure function.
//
// A run is a conversation of an agent with its model. The model replies with text and tool calls. The calls
// are made one at a time, in their order: a tool runs, people are asked, or children are started. When all
// calls have a result, the model is requested again. When the model replies without calls, the turn has
// ended, and a message of a person starts the next turn. Nothing of a run is in memory while it waits:
// [State] is stored with each step.
//
// Everything outside of the machine is an [Effect]. Effects are performed at least once, after the commit,
// and end in an [Input]. An input that repeats or comes too late changes nothing. The transcripts in testdata
// specify the machine.
package conversation

import (
	"encoding/json"
	"time"

	"github.com/askback/askback"
)

// A Result is the result of [State.Step]. It is committed as a whole.
type Result struct {
	State     State
	Unchanged bool     // the input changed nothing: there is nothing to commit
	History   []Event  // the events of the step; [Messages] returns the messages that the model reads
	Effects   []Effect // the effects to perform after the commit
}

// An Input is an input to the machine.
type Input interface{ input() }

// Started is the first input of a run.
type Started struct {
	Prompt Message // the first message, of RoleUser
	Limits Limits
	At     time.Time
}

// ModelReplied is the reply of the model to a request.
type ModelReplied struct {
	Request int    // the number in [RequestModel]
	Text    string // the text of the model
	Calls   []Call // the calls of the model; N is ignored
	// Provider is [Message.Provider].
	Provider json.RawMessage
	Usage    Usage
	At       time.Time
}

// ModelFailed is a failed request to the model.
type ModelFailed struct {
	Request, Attempt int           // the numbers in [RequestModel]
	Error            string        // for people
	Retry            bool          // another attempt may succeed
	After            time.Duration // the minimum pause before the next attempt, as the provider requires
	Usage            Usage         // the usage of the failed request
	At               time.Time
}

// ToolStarted is the input before each attempt to run a tool. The tool must not run unless [State.Runs]
// reports true after the step.
type ToolStarted struct {
	Call int // its N
	At   time.Time
}

// ToolFinished is the result of a tool.
type ToolFinished struct {
	Call    int // its N
	Text    string
	IsError bool
	At      time.Time
}

// AskSettled is the outcome of an ask that a call opened.
type AskSettled struct {
	Call    int    // its N
	Text    string // the result for the model; not used if the call is approved
	IsError bool
	// Approved is set if the call may be made. AskID is then the ask whose approval the call uses. If Input
	// is not empty, it replaces the arguments.
	Approved bool
	AskID    string
	Input    json.RawMessage
	// Fails is the error of the run if this outcome fails it, and "" otherwise.
	Fails string
	At    time.Time
}

// ChildFinished is the result of a child.
type ChildFinished struct {
	Call, Child int // the numbers in [StartChild]
	Text        string
	IsError     bool
	At          time.Time
}

// PersonWrote is a message of a person to the run.
type PersonWrote struct {
	By   string
	Text string
	At   time.Time
}

// Due is the input at the time of [State.Due].
type Due struct{ At time.Time }

// TurnCancelled is the input that ends the present turn. A message of a person starts the next turn.
type TurnCancelled struct{ At time.Time }

// RunCancelled is the input that ends the run for good.
type RunCancelled struct{ At time.Time }

// RunFailed is the input that ends the run for good because the run cannot go on. Its definition was removed,
// or its stored data is damaged.
type RunFailed struct {
	Error string // for people
	At    time.Time
}

func (Started) input()       {}
func (ModelReplied) input()  {}
func (ModelFailed) input()   {}
func (ToolStarted) input()   {}
func (ToolFinished) input()  {}
func (AskSettled) input()    {}
func (ChildFinished) input() {}
func (PersonWrote) input()   {}
func (Due) input()           {}
func (TurnCancelled) input() {}
func (RunCancelled) input()  {}
func (RunFailed) input()     {}

// An Effect is work that a step requires after its commit. It may be performed more than once. Its numbers
// are the same each time, so that the asks, calls and children with these numbers are made once.
type Effect interface{ effect() }

// RequestModel is the effect that sends all messages to the model. It ends in [ModelReplied] or
// [ModelFailed].
type RequestModel struct{ Request, Attempt int }

// ExecuteTool is the effect that runs the tool of a call, after [ToolStarted]. If AskID is not empty, it
// first consumes the approval of that ask. If Input is not empty, it replaces the arguments of the call. The
// effect ends in [ToolFinished].
type ExecuteTool struct {
	Call  int // its N
	AskID string
	Input json.RawMessage
}

// OpenAsk is the effect that asks people the question of a call, or whether the call may be made. It ends in
// [AskSettled].
type OpenAsk struct{ Call int }

// WithdrawAsk is the effect that withdraws the ask of a call.
type WithdrawAsk struct{ Call int }

// StartChild is the effect that starts a child: the task of a call with this index. It ends in
// [ChildFinished].
type StartChild struct{ Call, Child int }

// CancelChild is the effect that cancels a child.
type CancelChild struct{ Call, Child int }

// UpdateSession is the effect that changes the session of the run. It is committed with the step.
type UpdateSession struct {
	Status askback.SessionStatus
	Idle   bool   // the turn has ended, and a message starts the next turn
	Result string // the last text of the model, when a turn ends
	Error  string // the reason of a failure
	Usage  Usage  // the usage of the whole run
}

func (RequestModel) effect()  {}
func (ExecuteTool) effect()   {}
func (OpenAsk) effect()       {}
func (WithdrawAsk) effect()   {}
func (StartChild) effect()    {}
func (CancelChild) effect()   {}
func (UpdateSession) effect() {}

// An Event is one record of the history of the session. Its type determines which fields it has (docs/wire.md
// §4).
type Event struct {
	Type  EventType
	Phase Phase // the new phase, in an EventStateChange
	Final bool  // whether the turn ends with the message, in an EventMessage

	// The other fields belong to the message or the call.
	Role     Role
	Text     string
	By       string
	Provider json.RawMessage
	Call     int    // its N
	ID       string // the model's id of the call
	Tool     string
	Input    json.RawMessage
	IsError  bool
	Kind     Kind // how the call is handled
}

// An EventType is the type of an [Event].
type EventType string

// The types of events.
const (
	EventStateChange EventType = "state_change"
	EventMessage     EventType = "message"
	// a person's message, which waits for the results of the calls before it
	EventMessageQueued EventType = "message_queued"
	EventToolStart     EventType = "tool_start"
	EventToolInput     EventType = "tool_input_ready"
	EventToolComplete  EventType = "tool_complete"
	EventAgentComplete EventType = "agent_complete" // the turn has ended
)
