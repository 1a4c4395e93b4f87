package agents_test

import (
	"strings"
	"testing"

	"github.com/askback/askback/internal/agents/config"
)

// Each client has next steps, because the files alone do not complete the setup.
func TestEachClientHasNextSteps(t *testing.T) {
	for _, client := range allNames() {
		for _, scope := range []config.Scope{config.Project, config.User} {
			if len(clientOf(client).NextSteps(scope, config.Options{})) == 0 {
				t.Errorf("%s, %s: no steps", client, scope)
			}
		}
	}
}

// The steps refer to no pages of Askback, because a user's project does not contain these pages.
func TestNextStepsMentionNoDocument(t *testing.T) {
	gate := true
	for _, client := range allNames() {
		for _, scope := range []config.Scope{config.Project, config.User} {
			for _, step := range clientOf(client).NextSteps(scope, config.Options{Gate: &gate, HookURL: "http://x"}) {
				if strings.Contains(step, ".md") || strings.Contains(step, "docs/") {
					t.Errorf("%s, %s: %s", client, scope, step)
				}
			}
		}
	}
	for o, want := range map[config.Options]string{
		{}:                        `"plugin": [["./.askback/opencode.js", {"gate": true}]]`,
		{Command: "/opt/askback"}: `"plugin": [["./.askback/opencode.js", {"command": "/opt/askback", "gate": true}]]`,
	} {
		if steps := strings.Join(clientOf("opencode").NextSteps(config.Project, o), "\n"); !strings.Contains(steps,
			want) {
			t.Errorf("got %s, want %s", steps, want)
		}
	}
}
