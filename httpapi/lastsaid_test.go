package httpapi_test

import (
	"context"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/store/memstore"
)

// wrapping gives seats that are wrapped, as those are whose acts are recorded.
type wrapping struct{ *engine.Engine }

func (g wrapping) As(p askback.Principal) askback.Seat { return wrapped{g.Engine.As(p)} }

type wrapped struct{ askback.Seat }

func (w wrapped) Unwrap() askback.Seat { return w.Seat }

// What a run said last is its result in the words of the agent dialect, however much it
// said before.
func TestAgentSessionHasTheLastMessage(t *testing.T) {
	e := engine.New(memstore.New(), nil)
	w := newWire(t, nil)
	w.engine = e
	w.server.Config.Handler = witnessed(t, httpapi.NewHandler(wrapping{e}, nil))
	run := w.start("run")
	for i := range 250 {
		text := "still at it"
		if i == 249 {
			text = "the very last"
		}
		if _, err := e.As(bot).Tell(context.Background(), run.ID, askback.Report{Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.send("GET", "/agent/session/"+run.ID, w.token(ana), ""); got.status != 200 || !strings.Contains(got.body, "the very last") {
		t.Errorf("got %d %s, want the last message", got.status, got.body)
	}
}
