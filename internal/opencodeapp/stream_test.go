package opencodeapp

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/hook/hooktest"
)

// A redirect to another address does not take the password there.
func TestRedirectGetsNoPassword(t *testing.T) {
	t.Parallel()
	var stolen atomic.Bool
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if _, given, _ := r.BasicAuth(); given == password {
			stolen.Store(true)
		}
	}))
	defer thief.Close()
	s := httptest.NewServer(http.RedirectHandler(thief.URL+"/global/event", http.StatusTemporaryRedirect))
	defer s.Close()
	err := newServer(&Follower{URL: s.URL, User: "opencode", Password: password}).events(t.Context(), func(event) {})
	if err == nil || !strings.Contains(err.Error(), "307") || stolen.Load() {
		t.Errorf("got %v; the other address got the password: %t", err, stolen.Load())
	}
}

// A stream is a transport that has one stream of events, which ends with its request.
type stream struct{ lines *io.PipeReader }

func (s stream) RoundTrip(r *http.Request) (*http.Response, error) {
	context.AfterFunc(r.Context(), func() { _ = s.lines.CloseWithError(r.Context().Err()) })
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: s.lines}, nil
}

// A connection lasts as long as there are events, and is given up after a silence.
func TestSilentStreamIsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		lines, events := io.Pipe()
		s := newServer(&Follower{URL: "http://opencode"})
		s.client.Transport = stream{lines}
		go func() {
			for range 3 {
				<-time.After(idleTime - time.Second)
				_, _ = io.WriteString(events, connectedEvent+"\n")
			}
		}()
		begun, n := time.Now(), 0
		err := s.events(t.Context(), func(event) { n++ })
		if took, want := time.Since(begun), 3*(idleTime-time.Second)+idleTime; n != 3 || took != want || err == nil {
			t.Errorf("got %d events in %s, %v; want 3 in %s", n, took, err, want)
		}
	})
}

// newRecorded returns a follower of a server that sends nothing, and its record. All requests are
// denied.
func newRecorded(t *testing.T) (*Follower, *recording) {
	r := &recording{}
	f := &Follower{
		Asks: &hooktest.Client{Outcome: askback.Outcome{Status: askback.Answered, Decision: askback.Deny}},
		Note: func(text string) { t.Log(text) }, dialogs: map[string]*dialog{}, folders: []string{""},
	}
	f.server = newServer(f)
	f.server.client.Transport = r
	return f, r
}

// eventOf returns the event of a line.
func eventOf(t *testing.T, line string) (ev event) {
	t.Helper()
	s := newServer(&Follower{URL: "http://opencode"})
	s.client.Transport = &recording{events: line}
	if err := s.events(t.Context(), func(e event) { ev = e }); err != nil || ev.Payload.Type == "" {
		t.Fatalf("%s: %v", line, err)
	}
	return ev
}

// Programs such as opencode run reply to a request at once. People are not asked about it.
func TestRequestThatEndsAtOnceIsNotAsked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		open    time.Duration
		replies int
	}{"at once": {grace - time.Millisecond, 0}, "later": {grace + time.Millisecond, 1}} {
		synctest.Test(t, func(t *testing.T) {
			f, r := newRecorded(t)
			f.handle(t.Context(), eventOf(t, permissionEvent))
			<-time.After(c.open)
			synctest.Wait()
			f.handle(t.Context(), eventOf(t, repliedEvent))
			f.asking.Wait()
			if got := len(r.replies); got != c.replies {
				t.Errorf("%s: got %d replies, want %d", name, got, c.replies)
			}
		})
	}
}

// A request that is found just when the connection ends is asked about in the next one.
func TestRequestAtTheEndOfAConnectionIsAskedInTheNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, r := newRecorded(t)
		asked, _ := readEvent("permission.asked", "/srv/app", eventOf(t, permissionEvent).Payload.Properties)
		if err := f.follow(t.Context(), func() {}); err != nil {
			t.Fatal(err)
		}
		f.begin(t.Context(), asked)
		f.asking.Wait()
		if len(r.replies) != 0 {
			t.Errorf("between the connections, got the replies %q", r.replies)
		}
		f.setEnded(false)
		f.begin(t.Context(), asked)
		f.asking.Wait()
		if len(r.replies) != 1 {
			t.Errorf("in the next connection, got %d replies, want 1", len(r.replies))
		}
	})
}
