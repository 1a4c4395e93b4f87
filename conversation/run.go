package conversation

import "github.com/askback/askback"

// A Run describes a hosted run for the packages that perform its effects.
type Run struct {
	ID    string `json:"id,omitempty"`    // the id of its session
	Agent string `json:"agent,omitempty"` // the name of its definition
	// Path lists the agents of the runs that led to this run, the first run first. It is empty if no run
	// started this run.
	Path []string `json:"path,omitempty"`
	// Unattended is set if a program started the run, such as a webhook or a schedule. The run then asks
	// people only if the definition allows it.
	Unattended bool `json:"unattended,omitempty"`
}

// Executed is the result of a tool.
type Executed struct {
	Text    string
	IsError bool
	Todos   []askback.Todo // the new todo list of the session; nil: it is unchanged
}
