package connection

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/store/sqlite"
)

func remote(url string) *Connector {
	return New(Options{Remote: url, Tokens: &Tokens{Given: "askback_x"}, Kind: instance.KindAsk})
}

// All attempts to create an ask have the same Idempotency-Key, so only one ask is created
// (wire.md §3).
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
	_, err := remote(s.URL).Agent.Ask(t.Context(), askback.Request{Questions: []askback.Question{{Text: "Which?"}}})
	if err != nil {
		t.Fatal(err)
	}
	if len(keys) != 3 || keys[0] == "" || keys[0] != keys[1] || keys[1] != keys[2] {
		t.Errorf("got the keys %q, want one key three times", keys)
	}
}

func TestOnlyLostCallsAreRetried(t *testing.T) {
	t.Parallel()
	now, long := time.Now(), time.Now().Add(-time.Hour)
	toServer := Options{Remote: "x"}
	whileWaiting := Options{Kind: instance.KindAsk}
	for name, c := range map[string]struct {
		connector *Connector
		err       error
		start     time.Time
		want      bool
	}{
		"remote server, first attempts": {&Connector{options: toServer}, askback.ErrUnreachable, now, true},
		"remote server, never reached":  {&Connector{options: toServer}, askback.ErrUnreachable, long, false},
		"remote server, reached before": {
			&Connector{options: toServer, reached: true}, askback.ErrUnreachable, long, true,
		},
		"local server stops": {&Connector{}, askback.ErrStopping, long, true},
		"silent local server, command waits": {
			&Connector{reached: true, options: whileWaiting}, instance.ErrNoReply, long, true,
		},
		"migrated database, command waits": {
			&Connector{reached: true, options: whileWaiting}, sqlite.ErrNewer, long, true,
		},
		"migrated database, never reached":   {&Connector{options: whileWaiting}, sqlite.ErrNewer, now, false},
		"migrated database, short command":   {&Connector{reached: true}, sqlite.ErrNewer, long, false},
		"silent local server, short command": {&Connector{reached: true}, instance.ErrNoReply, long, false},
		"silent local server, never reached": {&Connector{options: whileWaiting}, instance.ErrNoReply, now, false},
		"no database opened": {
			&Connector{options: Options{ServerOnly: true}}, askback.ErrUnreachable, now, false,
		},
		"rejected call":           {&Connector{reached: true}, askback.ErrForbidden, now, false},
		"cancelled by the caller": {&Connector{reached: true}, context.Canceled, now, false},
		"no error":                {&Connector{}, nil, now, false},
	} {
		if got := c.connector.retries(c.err, c.start); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

// A call that ends because its connection closes returns ErrStopping, so that it is
// repeated.
func TestEndOfConnectionIsNotACancelledCall(t *testing.T) {
	t.Parallel()
	conn := newConn(nil, nil, nil, "")
	conn.end()
	_, err := callOn(t.Context(), conn, nil, func(ctx context.Context, _ askback.Client) (int, error) {
		<-ctx.Done()
		return 0, ctx.Err()
	})
	if !errors.Is(err, askback.ErrStopping) {
		t.Errorf("got %v, want %v", err, askback.ErrStopping)
	}
}

// eventClient yields some events and then an error.
type eventClient struct {
	askback.Client
	events []askback.Cursor
	err    error
	after  *[]askback.Cursor // the cursors of the calls
}

func (c eventClient) Events(_ context.Context, _ string, after askback.Cursor) iter.Seq2[askback.Event, error] {
	return func(yield func(askback.Event, error) bool) {
		*c.after = append(*c.after, after)
		for _, cursor := range c.events {
			if !yield(askback.Event{Cursor: cursor}, nil) {
				return
			}
		}
		yield(askback.Event{}, c.err)
	}
}

// After a lost connection, the stream continues after its last event. It ends if the server returns an error
// or the loop over it ends.
func TestEventsContinueAfterLastCursor(t *testing.T) {
	t.Parallel()
	var after []askback.Cursor
	clients := []askback.Client{
		eventClient{events: []askback.Cursor{"a", "b"}, err: askback.ErrUnreachable, after: &after},
		eventClient{err: askback.ErrStopping, after: &after},
		eventClient{events: []askback.Cursor{"c"}, err: askback.ErrForbidden, after: &after},
	}
	c := client{remote("http://127.0.0.1:1"), func(*conn) askback.Client {
		next := clients[0]
		clients = clients[1:]
		return next
	}}
	got := ""
	for ev, err := range c.Events(t.Context(), "", "z") {
		got += string(ev.Cursor)
		if err != nil {
			got += "!"
			if !errors.Is(err, askback.ErrForbidden) {
				t.Error(err)
			}
		}
	}
	if want := "[z b b]"; got != "abc!" || fmt.Sprint(after) != want {
		t.Errorf("got %s after %v, want abc! after %s", got, after, want)
	}
	clients = []askback.Client{eventClient{events: []askback.Cursor{"a", "b"}, after: &after}}
	for ev := range c.Events(t.Context(), "", "") {
		if ev.Cursor != "a" {
			t.Errorf("got %s after the loop ended", ev.Cursor)
		}
		break
	}
}
