package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback/httpapi"
)

// A client whose stream was rejected does not reconnect before the Retry-After time.
func TestStreamReconnectsAfterRetryAfter(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var mu sync.Mutex
	var requests []time.Time
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if requests = append(requests, time.Now()); len(requests) == 2 {
			cancel()
		}
		w.Header().Set("Retry-After", "1")
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = w.Write([]byte(`{"type": "urn:askback:problem:too-many", "status": 429, "detail": "too many"}`))
	}))
	defer s.Close()
	for range httpapi.NewClient(s.URL, "token", nil).Events(ctx, "", "") {
		// The only event is the error of the context.
	}
	mu.Lock()
	defer mu.Unlock()
	if len(requests) != 2 || requests[1].Sub(requests[0]) < time.Second {
		t.Errorf("got requests at %v, want two that are at least a second apart", requests)
	}
}
