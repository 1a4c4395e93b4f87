package mcpserver_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
)

// The approval of a person who is not an approver of the route is rejected, and the call continues to wait
// for an approver (F12).
func TestCallWaitsForAnApprover(t *testing.T) {
	eachTransport(t, func(t *testing.T, f *fixture, connect func() *mcp.ClientSession) {
		f.engine.Set(engine.Settings{
			People: []askback.Person{{Name: "ana"}, {Name: "ben"}},
			Routes: []askback.Route{{To: []string{"ana", "ben"}, Approvers: []string{"ben"}}},
		})
		call := startCall(t.Context(), connect(), "confirm_action", pay)
		id := f.pendingAsk().ID
		_, err := f.engine.As(ana).Answer(t.Context(), id, askback.Decide(askback.Approve, ""))
		if other, ok := errors.AsType[askback.NotApproverError](err); !ok || strings.Join(other.Who, " ") != "ben" {
			t.Errorf("ana: got %v, want that ben decides", err)
		}
		synctest.Wait()
		select {
		case r := <-call:
			t.Fatalf("the call ended: %q", r.text(t))
		default:
		}
		ben := askback.Principal{Kind: askback.Responder, Name: "ben", Channel: askback.ChannelWeb}
		if _, err := f.engine.As(ben).Answer(t.Context(), id, askback.Decide(askback.Approve, "")); err != nil {
			t.Fatal(err)
		}
		if r := <-call; !isApproved(t, r) || !strings.Contains(r.text(t), `Approved by "ben"`) {
			t.Errorf("got %q", r.text(t))
		}
	})
}
