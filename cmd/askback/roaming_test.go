package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/instance"
)

func deskAt(url string) *desk {
	d := &desk{finding: make(chan struct{}, 1), remote: url, tokens: secrets{given: "askback_x"}, serve: waiting}
	d.agent = roaming{d, func(c *connection) askback.Client { return c.agent }}
	return d
}

// An ask that got lost on the way is put again under the same key, so that there
// is one of it (wire.md §3).
func TestLostAskIsRepeatedWithItsKey(t *testing.T) {
	t.Parallel()
	var keys []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		if len(keys) < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, `{"type": "urn:askback:problem:stopping"}`)
			return
		}
		_ = json.NewEncoder(w).Encode(askback.Ask{ID: "ask_1", Status: askback.Pending})
	}))
	defer s.Close()
	d := deskAt(s.URL)
	_, err := d.agent.Ask(t.Context(), askback.Request{Questions: []askback.Question{{Text: "Which?"}}})
	if err != nil {
		t.Fatal(err)
	}
	if len(keys) != 3 || keys[0] == "" || keys[0] != keys[1] || keys[1] != keys[2] {
		t.Errorf("the ask came under the keys %q, want one key three times", keys)
	}
}

// A server that was there is waited for; one that never was, for a while only.
func TestPatience(t *testing.T) {
	t.Parallel()
	now, long := time.Now(), time.Now().Add(-time.Hour)
	for name, c := range map[string]struct {
		desk  *desk
		err   error
		begun time.Time
		want  bool
	}{
		"a remote server at first":               {&desk{remote: "x"}, askback.ErrUnreachable, now, true},
		"a remote server that never came":        {&desk{remote: "x"}, askback.ErrUnreachable, long, false},
		"a remote server that was there":         {&desk{remote: "x", reached: true}, askback.ErrUnreachable, long, true},
		"the local server went":                  {&desk{}, askback.ErrStopping, long, true},
		"a stuck holder, for who waits":          {&desk{reached: true, serve: waiting}, instance.ErrNobody, long, true},
		"a stuck holder, for an errand":          {&desk{reached: true}, instance.ErrNobody, long, false},
		"a stuck holder at first":                {&desk{serve: waiting}, instance.ErrNobody, now, false},
		"what was refused is not repeated":       {&desk{reached: true}, askback.ErrForbidden, now, false},
		"neither is what the caller gave up on":  {&desk{reached: true}, context.Canceled, now, false},
		"nor anything when nothing is wrong now": {&desk{}, nil, now, false},
	} {
		if got := c.desk.patient(c.err, c.begun); got != c.want {
			t.Errorf("%s: patient is %v, want %v", name, got, c.want)
		}
	}
}

// A holder that ends sends its own callers elsewhere; it is not they who gave up.
func TestEndOfAHolderIsNoInterrupt(t *testing.T) {
	t.Parallel()
	at := newConnection(nil, nil, nil, "")
	at.end()
	_, err := once(t.Context(), at, nil, func(ctx context.Context, _ askback.Client) (int, error) {
		<-ctx.Done()
		return 0, ctx.Err()
	})
	if !errors.Is(err, askback.ErrStopping) {
		t.Errorf("got %v, want %v", err, askback.ErrStopping)
	}
}
