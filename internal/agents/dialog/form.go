package dialog

import (
	"encoding/json"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/hook"
)

// Form makes r ask for the input of a form with the title message. result returns the reply that accepts the
// form. It returns false if there is no answer that the form can contain. Form returns false if people cannot
// be asked for the input.
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
