// Package agent defines hosted agents and performs the steps of their runs: it requests models, calls tools
// and prepares questions for people.
//
// A [Runner] has the agents, each a [Definition] with a [Model] and a [Toolset] for each server. The packages
// below have models of providers, and a model that follows a script.
package agent

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/askback/askback/conversation"
)

// A Model is a language model that replies to the messages of a run. Several runs may use it concurrently. It
// stores no state of a run.
type Model interface {
	// Reply sends the request once, and returns the whole reply. If text is not nil, Reply calls text with
	// each piece of the reply's text as the piece arrives. The pieces of a failed request are not part of the
	// conversation. The error is a [*ModelError].
	Reply(ctx context.Context, r ModelRequest, text func(piece string)) (ModelReply, error)
}

// A ModelRequest is the input of a model.
type ModelRequest struct {
	System string
	// Messages are in the order that [conversation.Role] requires. The last message is not a message of the
	// assistant.
	Messages []conversation.Message
	Tools    []Tool
	// MaxTokens is the maximum length of the reply. If it is 0, the maximum is the default of the model.
	MaxTokens int
	// Attempt is the Attempt of [conversation.RequestModel]. Only scripted models use Attempt.
	Attempt int
}

// A Tool is a tool that a model may call.
type Tool struct {
	Name        string          // at most 64 letters, digits, underscores and hyphens
	Description string          // for the model
	Schema      json.RawMessage // JSON schema of the input, whose type is object; empty for an object with any members
}

// InputSchema returns Schema, or a schema for any object if Schema is empty. It returns an error if Schema is
// not a JSON object.
func (t Tool) InputSchema() (json.RawMessage, error) {
	if len(t.Schema) == 0 {
		return json.RawMessage(`{"type":"object"}`), nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(t.Schema, &object); err != nil || object == nil {
		return nil, fmt.Errorf("the schema of the tool %s is not a JSON object", t.Name)
	}
	return t.Schema, nil
}

// A ModelReply is the whole reply of a model.
type ModelReply struct {
	Text string
	// Calls have an ID, a Tool and an Input, which is a JSON object. The caller of Reply plans the calls. A
	// call that the model did not write correctly has the kind [conversation.KindRejected] already, with an
	// error for the model.
	Calls    []conversation.Call
	Provider json.RawMessage // as in [conversation.Message]
	Usage    conversation.Usage
	Cut      bool // the reply reached its maximum length and is incomplete
}
