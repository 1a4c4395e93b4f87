package agent

import (
	"context"
	"encoding/json"

	"github.com/askback/askback/conversation"
)

// A Toolset has the tools of one server, or of a Go program. Several runs may use it concurrently.
type Toolset interface {
	// Name returns the name of the toolset, which has at most 32 letters, digits, hyphens and underscores.
	// People see it as the server of a tool.
	Name() string
	// Tools returns the tools. It is called for each request to a model and for each call, so it should cache
	// a list that takes long to make. An error is temporary: the run tries again.
	Tools(ctx context.Context) ([]ToolInfo, error)
	// Call runs a tool. When ctx ends, it must end within a second.
	Call(ctx context.Context, tool string, input json.RawMessage) conversation.Executed
}

// A ToolInfo describes a tool of a [Toolset].
type ToolInfo struct {
	Tool // the name may have any characters
	// Title is the name of the tool for people, or "".
	Title string
	// ReadOnly is set if the tool changes nothing. It then needs no approval, unless the definition requires
	// an approval. A call that a crash interrupted is repeated (D5). A call that was approved is not
	// repeated.
	ReadOnly bool
	// Destructive is set if the tool may destroy something. People who approve a call see this.
	Destructive bool
}
