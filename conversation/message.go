package conversation

import "encoding/json"

// A Message is one entry of the history that the model of a run reads. Messages are only added and never
// changed, because they are stored as events of the session's history. Their form is the same for every
// provider of models.
type Message struct {
	Role Role   `json:"role"`
	Text string `json:"text,omitempty"`
	By   string `json:"by,omitempty"` // the person who wrote the message, or ""

	Calls  []Call      `json:"calls,omitempty"`  // if Role is RoleAssistant: the tool calls, in order
	Result *ToolResult `json:"result,omitempty"` // if Role is RoleTool: the result of one call

	// Provider is data, as JSON, that the provider of the model needs back unchanged, such as signed
	// thoughts. Other providers ignore it.
	Provider json.RawMessage `json:"provider,omitempty"`
}

// Messages returns the messages that the model reads, from the history of a run. Events of
// other types are ignored.
func Messages(history []Event) []Message {
	var all []Message
	for _, e := range history {
		switch e.Type {
		case EventMessage:
			all = append(all, Message{Role: e.Role, Text: e.Text, By: e.By, Provider: e.Provider})
		case EventToolInput: // this event follows the message of its call
			if last := len(all) - 1; last >= 0 {
				all[last].Calls = append(all[last].Calls, Call{N: e.Call, ID: e.ID, Tool: e.Tool, Input: e.Input})
			}
		case EventToolComplete:
			all = append(all,
				Message{Role: RoleTool, Result: &ToolResult{N: e.Call, ID: e.ID, Text: e.Text, IsError: e.IsError}})
		}
	}
	return all
}

// A Role is the author of a [Message].
type Role string

// The roles. Each call of an assistant message is followed by exactly one tool message, in the order of the
// calls. These tool messages come before the next message of another role.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// A Call is a tool call in a message of the model.
type Call struct {
	N     int             `json:"n"`  // 1, 2, … in the run; set by [State.Step]
	ID    string          `json:"id"` // the model's id of the call; not always unique
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"`

	Plan
}

// A Plan determines how a call is made. It follows from the definition of the agent and the input of the
// call. So the machine needs neither the definition nor the input.
type Plan struct {
	Kind    Kind   `json:"kind"`
	Reads   bool   `json:"reads,omitempty"`   // for KindTool: the tool only reads, so it may run again after a crash
	Confirm bool   `json:"confirm,omitempty"` // for KindTool: a person must approve the call
	Tasks   int    `json:"tasks,omitempty"`   // for KindDelegate: the number of its children
	Error   string `json:"error,omitempty"`   // for KindRejected: the result
}

// A Kind is the way in which a call is handled.
type Kind string

// The kinds of calls.
const (
	KindTool     Kind = "tool"     // run a tool
	KindAsk      Kind = "ask"      // ask people
	KindDelegate Kind = "delegate" // start children, which are separate runs
	KindRejected Kind = "rejected" // return an error to the model

	// KindConfirm is the kind of a tool call that a person must approve. Only events have it.
	KindConfirm Kind = "confirm"
)

// kind returns the kind of the call for its events.
func (p Plan) kind() Kind {
	if p.Kind == KindTool && p.Confirm {
		return KindConfirm
	}
	return p.Kind
}

// Asks reports whether a call of this kind asks people.
func (k Kind) Asks() bool { return k == KindAsk || k == KindConfirm }

// A ToolResult is the result of a call, for the model.
type ToolResult struct {
	N       int    `json:"n"`  // of the call
	ID      string `json:"id"` // the model's id of the call
	Text    string `json:"text"`
	IsError bool   `json:"error,omitempty"`
}

// Usage counts the tokens of requests to a model, and their cost.
type Usage struct {
	InputTokens  int64   `json:"input,omitempty"`
	CachedTokens int64   `json:"cached,omitempty"` // the input tokens that the provider had in its cache
	OutputTokens int64   `json:"output,omitempty"`
	CostUSD      float64 `json:"usd,omitempty"` // in US dollars; 0 if the prices are not known
}

// Add returns the sum of u and v.
func (u Usage) Add(v Usage) Usage {
	u.InputTokens += v.InputTokens
	u.CachedTokens += v.CachedTokens
	u.OutputTokens += v.OutputTokens
	u.CostUSD += v.CostUSD
	return u
}
