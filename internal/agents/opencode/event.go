// Package opencode asks people about the requests that OpenCode shows at its terminal, its desktop program or
// its pages. The plugin of Askback sends the events, or [Follower] is a second client of a server of
// OpenCode. The package makes the ask for an event, and returns the reply for its outcome.
//
// OpenCode asks with its own dialog at the same time, and the first reply counts. So without a decision there
// is no reply. Only the event of the gate, [ToolCall], has no dialog: the plugin stops the call unless the
// reply approves it.
package opencode

import (
	"encoding/json"
	"errors"

	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/wire/jcs"
)

// The events that make an ask. Other events are ignored.
const (
	QuestionAsked   = "question.asked"      // the tool question asks the user
	PermissionAsked = "permission.asked"    // a tool call needs a permission
	ToolCall        = "tool.execute.before" // a tool is about to run in a session without a terminal
)

// The events that end a question or a permission.
const (
	QuestionReplied   = "question.replied"
	QuestionRejected  = "question.rejected"
	PermissionReplied = "permission.replied"
)

// An Event is a request of OpenCode to its user.
type Event struct {
	Name      string // [QuestionAsked], [PermissionAsked] or [ToolCall]
	ID        string // the id of the request; for [ToolCall] the id of the call
	SessionID string
	Folder    string // the folder of the session

	Questions  json.RawMessage // the questions of [QuestionAsked]
	Permission string          // the permission; for [ToolCall] the tool
	Patterns   []string        // the patterns that the permission covers
	Metadata   json.RawMessage // the details of the permission
	Args       json.RawMessage // the arguments of the tool call, if they are known
	MessageID  string          // the message with the tool call, if it is known
	CallID     string          // the tool call, if it is known
}

// Properties are the properties of an event, or an element of a list of open requests.
type Properties struct {
	ID         string          `json:"id"`
	RequestID  string          `json:"requestID"` // set in an event that ends a request
	SessionID  string          `json:"sessionID"`
	Questions  json.RawMessage `json:"questions"`
	Permission string          `json:"permission"`
	Patterns   []string        `json:"patterns"`
	Metadata   json.RawMessage `json:"metadata"`
	Tool       json.RawMessage `json:"tool"` // an object, or the name of the tool for [ToolCall]
	CallID     string          `json:"callID"`
	Args       json.RawMessage `json:"args"`
}

var errForm = errors.New("the event does not have the form of an OpenCode event")

// Read reads an event that the plugin wrote. The error is [hook.ErrForeign] for other events.
func Read(raw []byte) (Event, error) {
	var in struct {
		Type       string          `json:"type"`
		Directory  string          `json:"directory"`
		Properties Properties      `json:"properties"`
		Args       json.RawMessage `json:"args"`
	}
	// Parse rejects JSON that two programs could read differently, for example because of repeated names.
	if _, err := jcs.Parse(raw); err != nil {
		return Event{}, err
	}
	if json.Unmarshal(raw, &in) != nil {
		return Event{}, errForm
	}
	ev, err := NewEvent(in.Type, in.Properties)
	ev.Folder = in.Directory
	if ev.Args == nil {
		ev.Args = in.Args
	}
	return ev, err
}

// NewEvent returns the event with the given name and properties. The error is [hook.ErrForeign] if the event
// makes no ask.
func NewEvent(name string, p Properties) (Event, error) {
	ev := Event{Name: name, ID: p.ID, SessionID: p.SessionID}
	var call struct {
		MessageID string `json:"messageID"`
		CallID    string `json:"callID"`
	}
	switch name {
	case QuestionAsked:
		ev.Questions = p.Questions
	case PermissionAsked:
		ev.Permission, ev.Patterns, ev.Metadata = p.Permission, p.Patterns, p.Metadata
		if json.Unmarshal(p.Tool, &call) == nil {
			ev.MessageID, ev.CallID = call.MessageID, call.CallID
		}
	case ToolCall:
		ev.ID, ev.CallID, ev.Args = p.CallID, p.CallID, p.Args
		if json.Unmarshal(p.Tool, &ev.Permission) != nil {
			return Event{}, errForm
		}
	default:
		return Event{}, hook.ErrForeign
	}
	if ev.ID == "" || ev.SessionID == "" {
		return Event{}, errors.New("the event has no id or no session")
	}
	return ev, nil
}

// An origin is the context of an ask. Its first fields are the fields of [hook.Origin].
type origin struct {
	hook.Origin
	Request string `json:"request"` // the id of the request in OpenCode
}

func (ev Event) origin() json.RawMessage {
	b, _ := json.Marshal(origin{
		hook.Origin{Hook: ev.Name, Session: ev.SessionID, CWD: ev.Folder, Seated: true}, ev.ID,
	}) // strings can always be encoded
	return b
}
