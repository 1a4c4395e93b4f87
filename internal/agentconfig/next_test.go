package agentconfig_test

import (
	"testing"

	"github.com/askback/askback/internal/agentconfig"
)

// No client works after a file was written alone.
func TestEachClientHasSomethingLeftToDo(t *testing.T) {
	for _, client := range agentconfig.Clients() {
		for _, scope := range []agentconfig.Scope{agentconfig.Project, agentconfig.User} {
			if len(agentconfig.Next(client, scope, agentconfig.Wish{})) == 0 {
				t.Errorf("%s, %s: nothing is said", client, scope)
			}
		}
	}
}
