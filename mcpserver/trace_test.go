package mcpserver_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The position in a trace of a call is in its _meta, and is stored with the ask. An invalid position is
// ignored.
func TestTraceParentOfCallIsStored(t *testing.T) {
	const valid = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for sent, want := range map[any]string{valid: valid, "00-x": "", 7: ""} {
		eachTransport(t, func(t *testing.T, f *fixture, connect func() *mcp.ClientSession) {
			done := make(chan error, 1)
			go func() {
				_, err := connect().CallTool(t.Context(), &mcp.CallToolParams{
					Meta: mcp.Meta{"traceparent": sent}, Name: "ask_user_question",
					Arguments: json.RawMessage(database),
				})
				done <- err
			}()
			synctest.Wait()
			a := f.pendingAsk()
			if a.TraceParent != want {
				t.Errorf("%v: got %q, want %q", sent, a.TraceParent, want)
			}
			if _, err := f.engine.As(ana).Decline(t.Context(), a.ID, ""); err != nil {
				t.Error(err)
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}
