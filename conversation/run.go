package conversation

import "github.com/askback/askback"

// A Run is a hosted run, as the packages see it that perform its effects.
type Run struct {
	ID    string   `json:"id,omitempty"`    // of its session
	Agent string   `json:"agent,omitempty"` // the name of its definition
	Path  []string `json:"path,omitempty"`  // the agents of the runs that started it, the first one first; empty: no run started it
	// Unattended is set if a program started it, such as a webhook or a schedule. It asks people
	// only if the definition allows that.
	Unattended bool `json:"unattended,omitempty"`
}

// Executed is what a tool returned.
type Executed struct {
	Text    string
	IsError bool
	Todos   []askback.Todo // the new todo list of the session; nil: it is unchanged
}
