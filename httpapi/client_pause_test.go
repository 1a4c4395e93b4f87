package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/store/memstore"
)

// localTransport calls a handler directly, because a synctest bubble has no network. It
// removes the wait parameter, as a proxy may.
type localTransport struct {
	http.Handler
	requests atomic.Int64
}

func (a *localTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	a.requests.Add(1)
	q := r.URL.Query()
	q.Del("wait")
	r = r.Clone(r.Context())
	r.URL.RawQuery = q.Encode()
	w := httptest.NewRecorder()
	a.ServeHTTP(w, r)
	return w.Result(), nil
}

// If a proxy replies immediately, Wait pauses between its polls.
func TestWaitBacksOffWhenPollsDoNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(memstore.New(), nil)
		secret, err := e.NewSecret()
		if err == nil {
			err = e.Adopt(t.Context(), bot, secret)
		}
		if err != nil {
			t.Fatal(err)
		}
		h := httpapi.NewHandler(e, nil)
		defer h.Stop()
		server := &localTransport{Handler: h}
		agent := httpapi.NewClient("http://askback", secret, &http.Client{Transport: server})
		a, err := agent.Ask(t.Context(), question("Go on?"))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		ended := make(chan askback.Ask, 1)
		go func() {
			got, _ := agent.Wait(ctx, a.ID) // an error means that the ask is still open
			ended <- got
		}()
		<-time.After(time.Minute)
		if n := server.requests.Load(); n > 50 {
			t.Errorf("sent %d requests in a minute, want at most 50", n)
		}
		if _, err := e.As(ana).Answer(t.Context(), a.ID, askback.Choose("yes")); err != nil {
			t.Fatal(err)
		}
		answered := time.Now()
		if got := <-ended; !got.Settled() || time.Since(answered) > 2*time.Second {
			t.Errorf("got %s after %v, want it answered within 2s", got.Status, time.Since(answered))
		}
	})
}
