package slack

import (
	"testing"

	"github.com/askback/askback"
)

// A member of the workspace is the person with the same member id, and no other member is a person.
func TestMemberIsThePersonWithTheID(t *testing.T) {
	people := []askback.Person{{Name: "ben"}, {Name: "ana", Slack: "U1"}}
	for member, want := range map[string]string{"U1": "ana", "U2": "", "": "", "channel": ""} {
		if name, ok := memberOf(people, member); name != want || ok != (want != "") {
			t.Errorf("%q: got %q, %v, want %q", member, name, ok, want)
		}
	}
}
