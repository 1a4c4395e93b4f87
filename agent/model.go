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

// A Model replies to the messages of a run. Several runs may use it concurrently, and it keeps no state of
// them.
type Model interface {
	// Reply sends the request once, and returns the whole reply. It calls text, if it is not nil, with each
	// piece of the reply's text as it arrives. The pieces of a failed request are not part of the
	// conversation. The error is a [*ModelError].
	Reply(ctx context.Context, r ModelRequest, text func(piece string)) (ModelReply, error)
}

// A ModelRequest is the input of a model.
type ModelRequest struct {
	System string
	// as [conversation.Role] requires; the role of the last message is not RoleAssistant
	Messages []conversation.Message
	Tools    []Tool
	// MaxTokens is the maximum length of the reply; 0: the default of the model.
	MaxTokens int
	// Attempt is the Attempt of [conversation.RequestModel]. Only a script depends on it.
	Attempt int
}

// A Tool is a tool that a model may call.
type Tool struct {
	Name        string          // at most 64 letters, digits, underscores and hyphens
	Description string          // for the model
	Schema      json.RawMessage // JSON schema of the input, whose type is object; empty: an object with any members
}

// InputSchema returns the schema, or an error if it is not a JSON object.
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
	// Calls have ID, Tool and Input, which is a JSON object. The caller plans them. A call that the model did
	// not write correctly has the kind [conversation.KindRejected] already, with an error for the model.
	Calls    []conversation.Call
	Provider json.RawMessage // as in [conversation.Message]
	Usage    conversation.Usage
	Cut      bool // it reached MaxTokens, so it is not complete
}
