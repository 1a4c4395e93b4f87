package agent

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/askback/askback/conversation"
)

// A Toolset is the tools of one server, or of a Go program. It may be used by several runs at
// a time.
type Toolset interface {
	// Name returns its name, which is at most 32 letters, digits, hyphens and underscores. People
	// see it as the server of a tool.
	Name() string
	// Tools returns the tools. It is called for each request to a model and for each call, so it
	// should keep a list that takes time. An error is temporary: the run tries again.
	Tools(ctx context.Context) ([]ToolInfo, error)
	// Call runs a tool. When ctx ends, it must end within a second.
	Call(ctx context.Context, tool string, input json.RawMessage) conversation.Executed
}

// A ToolInfo describes a tool of a [Toolset].
type ToolInfo struct {
	Tool // its name may have any characters
	// Title is the name of the tool for people, or "".
	Title string
	// ReadOnly is set if the tool changes nothing. Then it needs no approval, unless the
	// definition demands one, and it is run again if a crash interrupts it (D5). If it was
	// approved, it is not run again.
	ReadOnly bool
	// Destructive is set if the tool may destroy something. People who approve a call see it.
	Destructive bool
}

// A Function is a tool that is a Go function.
type Function struct {
	ToolInfo
	Call func(ctx context.Context, input json.RawMessage) (string, error)
}

// Func returns a tool that calls a function with its input, which is a JSON object. The schema
// may be ""; see [Tool]. The text of an error is the result that the model reads. The tool counts
// as destructive; [ReadOnlyFunc] returns one that changes nothing.
func Func(name, description, schema string, call func(ctx context.Context, input json.RawMessage) (string, error)) Function {
	return Function{ToolInfo{Tool: Tool{name, description, json.RawMessage(schema)}, Destructive: true}, call}
}

// ReadOnlyFunc is [Func] for a tool that changes nothing, so that it needs no approval.
func ReadOnlyFunc(name, description, schema string, call func(ctx context.Context, input json.RawMessage) (string, error)) Function {
	return Function{ToolInfo{Tool: Tool{name, description, json.RawMessage(schema)}, ReadOnly: true}, call}
}

// Functions returns a toolset of Go functions.
func Functions(name string, tools ...Function) Toolset { return functions{name, tools} }

type functions struct {
	name  string
	tools []Function
}

func (f functions) Name() string { return f.name }

func (f functions) Tools(context.Context) ([]ToolInfo, error) {
	all := make([]ToolInfo, len(f.tools))
	for i, t := range f.tools {
		all[i] = t.ToolInfo
	}
	return all, nil
}

func (f functions) Call(ctx context.Context, tool string, input json.RawMessage) conversation.Executed {
	for _, t := range f.tools {
		if t.Name != tool {
			continue
		}
		text, err := t.Call(ctx, input)
		if err != nil {
			return conversation.Executed{Text: err.Error(), IsError: true}
		}
		return conversation.Executed{Text: text}
	}
	return conversation.Executed{Text: fmt.Sprintf("%s has no tool %s.", f.name, tool), IsError: true}
}
