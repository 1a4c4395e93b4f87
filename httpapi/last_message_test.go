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

// wrappingAuthenticator is an Authenticator that wraps its clients.
type wrappingAuthenticator struct{ *engine.Engine }

func (g wrappingAuthenticator) As(p askback.Principal) askback.Client { return wrapped{g.Engine.As(p)} }

type wrapped struct{ askback.Client }

func (w wrapped) Unwrap() askback.Client { return w.Client }

// GET /agent/session returns the last message of a session without a result as its result,
// even if there are more messages than in one page.
func TestAgentSessionReturnsLastMessage(t *testing.T) {
	e := engine.New(memstore.New(), nil)
	w := newFixture(t, nil)
	w.engine = e
	w.server.Config.Handler = checkTraffic(t, httpapi.NewHandler(wrappingAuthenticator{e}, nil))
	run := w.startSession("run")
	for i := range 250 {
		text := "still at it"
		if i == 249 {
			text = "the very last"
		}
		if _, err := e.As(bot).Send(context.Background(), run.ID, askback.Report{Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.send("GET", "/agent/session/"+run.ID, w.token(ana), ""); got.status != 200 || !strings.Contains(got.body, "the very last") {
		t.Errorf("got %d %s, want the last message", got.status, got.body)
	}
}
