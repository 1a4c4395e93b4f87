package web_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/web"
)

// A panickyEngine is an engine whose clients cannot list asks.
type panickyEngine struct{ *engine.Engine }

func (e panickyEngine) As(p askback.Principal) askback.Client { return panickyClient{e.Engine.As(p)} }

type panickyClient struct{ askback.Client }

func (panickyClient) List(context.Context, askback.Query) (askback.Page, error) {
	panic("this ask cannot be shown")
}

// A panic while a live list renders an ask ends the stream, and not the server.
func TestPanicEndsOnlyTheLiveList(t *testing.T) {
	for _, path := range []string{"/live", "/live?age=1h&shown=1"} {
		h := newServer(t)
		h.handler = web.New(panickyEngine{h.engine}, h.engine, h.engine, nil)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			h.handler.ServeHTTP(&lockedRecorder{response: httptest.NewRecorder()},
				h.browser("ana").request(http.MethodGet, path, nil))
		}()
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Fatalf("%s has not ended", path)
		}
	}
}
