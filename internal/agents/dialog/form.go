package dialog

import (
	"encoding/json"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/hook"
)

// Form makes the request r ask for the input of a form. message is the title of the form. result returns the
// reply that accepts the form, or false if the form cannot contain the answer. Form returns false if people
// cannot be asked for the input.
func Form(r *askback.Request, message string, schema json.RawMessage) (result func(askback.Ask) (any, bool), ok bool) {
	form, ok := hook.ReadForm(schema)
	if !ok {
		return nil, false
	}
	form.SetTitle(r, message)
	return func(ask askback.Ask) (any, bool) {
		content, ok := form.Accepted(ask)
		return map[string]any{"action": "accept", "content": content}, ok
	}, true
}
