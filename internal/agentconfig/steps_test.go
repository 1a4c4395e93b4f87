package agentconfig_test

import (
	"testing"

	"github.com/askback/askback/internal/agentconfig"
)

// No client is set up by its files alone, so each has next steps.
func TestEachClientHasNextSteps(t *testing.T) {
	for _, client := range agentconfig.Clients() {
		for _, scope := range []agentconfig.Scope{agentconfig.Project, agentconfig.User} {
			if len(agentconfig.NextSteps(client, scope, agentconfig.Options{})) == 0 {
				t.Errorf("%s, %s: no steps", client, scope)
			}
		}
	}
}
