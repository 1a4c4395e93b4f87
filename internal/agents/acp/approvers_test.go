package acp_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/askbacktest"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
)

// An approval by a person who is not an approver of the route is rejected. The agent gets the decision of an
// approver (F12).
func TestAgentWaitsForAnApprover(t *testing.T) {
	t.Parallel()
	f := newFixtureOn(t, askbacktest.On(t, memstore.New(), &engine.Options{Settings: engine.Settings{
		People: []askback.Person{{Name: "ana"}, {Name: "ben"}},
		Routes: []askback.Route{{To: []string{"ana", "ben"}, Approvers: []string{"ben"}}},
	}}))
	ben := f.instance.Person("ben")
	f.opens()
	ask := f.next()
	_, err := f.person.Answer(f.bounded(), ask.ID, askback.Decide(askback.Approve, ""))
	if other, ok := errors.AsType[askback.NotApproverError](err); !ok || strings.Join(other.Who, " ") != "ben" {
		t.Errorf("ana: got %v, want that ben decides", err)
	}
	if _, err := ben.Answer(f.bounded(), ask.ID, askback.Decide(askback.Deny, "")); err != nil {
		t.Fatal(err)
	}
	f.agent.expects(denied) // the earlier approval is not sent
	f.editor.expects(closed)
}
