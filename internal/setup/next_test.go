package setup_test

import (
	"testing"

	"github.com/askback/askback/internal/setup"
)

// No client works after a file was written alone.
func TestEachClientHasSomethingLeftToDo(t *testing.T) {
	for _, client := range setup.Clients() {
		for _, scope := range []setup.Scope{setup.Project, setup.User} {
			if len(setup.Next(client, scope, setup.Wish{})) == 0 {
				t.Errorf("%s, %s: nothing is said", client, scope)
			}
		}
	}
}
