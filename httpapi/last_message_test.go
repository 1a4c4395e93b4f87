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

// A wrappingAuthenticator is an Authenticator that wraps its clients.
type wrappingAuthenticator struct{ *engine.Engine }

func (g wrappingAuthenticator) As(p askback.Principal) askback.Client { return wrapped{g.Engine.As(p)} }

type wrapped struct{ askback.Client }

func (w wrapped) Unwrap() askback.Client { return w.Client }

// GET /agent/session returns the last message of a session without a result as its result, even if the
// messages fill more than one page.
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
	if got := w.send("GET", "/agent/session/"+run.ID, w.token(ana), ""); got.status != 200 ||
		!strings.Contains(got.body, "the very last") {
		t.Errorf("got %d %s, want the last message", got.status, got.body)
	}
}

// A settledAuthenticator is an Authenticator whose clients return [askback.ErrSettled] without an ask, as a
// [httpapi.Client] does if the reply of another server has no ask.
type settledAuthenticator struct{ *engine.Engine }

func (g settledAuthenticator) As(p askback.Principal) askback.Client {
	return settledClient{g.Engine.As(p)}
}

type settledClient struct{ askback.Client }

func (settledClient) Answer(context.Context, string, askback.Answer) (askback.Ask, error) {
	return askback.Ask{}, askback.ErrSettled
}

func (settledClient) Decline(context.Context, string, string) (askback.Ask, error) {
	return askback.Ask{}, askback.ErrSettled
}

// If a client returns ErrSettled without an ask, the problem has no ask.
func TestSettledProblemWithoutAskIsReturned(t *testing.T) {
	w := newFixture(t, nil)
	w.server.Config.Handler = checkTraffic(t, httpapi.NewHandler(settledAuthenticator{w.engine}, nil))
	for path, body := range map[string]string{"answer": `{"answer": "yes"}`, "decline": `{}`} {
		got := w.send("POST", "/api/v1/asks/ask_1/"+path, w.token(ana), body)
		if got.status != 409 || !strings.Contains(got.body, `"urn:askback:problem:settled"`) {
			t.Errorf("%s: got %d %s, want the problem", path, got.status, got.body)
		}
	}
}
