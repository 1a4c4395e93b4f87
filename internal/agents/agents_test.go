package agents_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/askback/askback/internal/agents"
)

// The agents are sorted by name, because commands print them in this order. Each agent has a title and a
// configuration. Each agent with a hook also has canaries for askback doctor.
func TestListOfAgentsIsSortedAndComplete(t *testing.T) {
	all := agents.All()
	if !slices.IsSortedFunc(all, func(a, b agents.Agent) int { return strings.Compare(a.Name, b.Name) }) {
		t.Errorf("the list is not sorted: %v", allNames())
	}
	for i, a := range all {
		if a.Title == "" || a.Config == nil || (a.Hook == nil) != (a.Canaries == nil) ||
			i > 0 && a.Name == all[i-1].Name {
			t.Errorf("the row of %q is not complete, or is there twice", a.Name)
		}
	}
}
