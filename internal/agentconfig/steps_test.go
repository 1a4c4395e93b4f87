package agentconfig_test

import (
	"strings"
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

// The steps say what to do by themselves: a project of a user has no pages of Askback.
func TestNextStepsReferToNoPage(t *testing.T) {
	gate := true
	for _, client := range agentconfig.Clients() {
		for _, scope := range []agentconfig.Scope{agentconfig.Project, agentconfig.User} {
			for _, step := range agentconfig.NextSteps(client, scope, agentconfig.Options{Gate: &gate, HookURL: "http://x"}) {
				if strings.Contains(step, ".md") || strings.Contains(step, "docs/") {
					t.Errorf("%s, %s: %s", client, scope, step)
				}
			}
		}
	}
	for o, want := range map[agentconfig.Options]string{
		{}:                        `"plugin": [["./.askback/opencode.js", {"gate": true}]]`,
		{Command: "/opt/askback"}: `"plugin": [["./.askback/opencode.js", {"command": "/opt/askback", "gate": true}]]`,
	} {
		if steps := strings.Join(agentconfig.NextSteps("opencode", agentconfig.Project, o), "\n"); !strings.Contains(steps, want) {
			t.Errorf("got %s, want %s", steps, want)
		}
	}
}
