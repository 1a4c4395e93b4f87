package engine

import (
	"errors"
	"fmt"

	"github.com/askback/askback"
)

// checkHosted returns an [askback.Invalid] if a request is for a hosted agent that this engine
// does not have.
func (e *Engine) checkHosted(r askback.SessionRequest) error {
	if !r.Hosted() {
		return nil
	}
	if e.runner == nil {
		return askback.Invalid{{Pointer: "/agent", Detail: "this server hosts no agents", Fix: "start it with --agents, or send \"external\": true without a prompt"}}
	}
	_, err := e.runner.Limits(r.Agent)
	if errors.Is(err, askback.ErrNotFound) {
		return askback.Invalid{{Pointer: "/agent", Detail: fmt.Sprintf("there is no agent %q here", r.Agent), Fix: "name one of the hosted agents"}}
	}
	return err
}
