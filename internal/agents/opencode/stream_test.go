package opencode

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
	"github.com/askback/askback/internal/agents/hook/hooktest"
)

// The client does not follow a redirect, which would send the password to another address.
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

// A stream is a transport whose response is a stream of events. The stream ends with the context of the
// request.
type stream struct{ lines *io.PipeReader }

func (s stream) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	context.AfterFunc(r.Context(), func() { _ = s.lines.CloseWithError(r.Context().Err()) })
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: s.lines,
	}, nil
}

// A connection lasts as long as events arrive, and is closed after a silence.
func TestSilentStreamIsClosed(t *testing.T) {
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

// newRecorded returns a connection to a server that sends nothing, and the record of the server. All requests
// are denied.
func newRecorded(t *testing.T) (*connection, *recording) {
	r := &recording{}
	f := &Follower{
		Asks: &hooktest.Client{Outcome: askback.Outcome{Status: askback.Answered, Decision: askback.Deny}},
		Note: func(text string) { t.Log(text) },
	}
	f.prepare()
	f.server.client.Transport = r
	return &connection{f: f}, r
}

// eventOf returns the event in a line.
func eventOf(t *testing.T, line string) (ev event) {
	t.Helper()
	s := newServer(&Follower{URL: "http://opencode"})
	s.client.Transport = &recording{events: line}
	if err := s.events(t.Context(), func(e event) { ev = e }); err != nil || ev.Payload.Type == "" {
		t.Fatalf("%s: %v", line, err)
	}
	return ev
}

// permissionWithoutCall is an event that has no tool call, so no arguments are read for it.
var permissionWithoutCall = strings.Replace(permissionEvent, `,"tool":{"messageID":"msg_1","callID":"call_1"}`, "", 1)

// People are not asked about a request that a program such as opencode run answers immediately.
func TestQuicklyAnsweredRequestIsNotAsked(t *testing.T) {
	t.Parallel()
	for name, when := range map[string]struct {
		open    time.Duration
		replies int
	}{"early": {grace - time.Millisecond, 0}, "later": {grace + time.Millisecond, 1}} {
		synctest.Test(t, func(t *testing.T) {
			c, r := newRecorded(t)
			c.handle(t.Context(), eventOf(t, permissionEvent))
			<-time.After(when.open)
			synctest.Wait()
			c.handle(t.Context(), eventOf(t, repliedEvent))
			c.dialogs.Wait()
			if got := len(r.replies); got != when.replies {
				t.Errorf("%s: got %d replies, want %d", name, got, when.replies)
			}
		})
	}
}

// A consumer is a client whose Consume calls during.
type consumer struct {
	hooktest.Client
	during func()
}

func (c *consumer) Consume(context.Context, string, string) (askback.Ask, error) {
	c.during()
	return askback.Ask{}, nil
}

// If OpenCode gets an answer before the answer of Askback is sent, the answer of Askback is dropped.
func TestAnswerAfterTheEndOfItsRequestIsNotSent(t *testing.T) {
	t.Parallel()
	for ends, want := range map[bool]int{true: 0, false: 1} {
		synctest.Test(t, func(t *testing.T) {
			c, r := newRecorded(t)
			client := &consumer{during: func() {
				if ends {
					c.handle(t.Context(), eventOf(t, repliedEvent))
				}
			}}
			client.Outcome = askback.Outcome{Status: askback.Answered, Decision: askback.Approve}
			c.f.asker.Client = client
			c.handle(t.Context(), eventOf(t, permissionEvent))
			c.dialogs.Wait()
			if got := len(r.replies); got != want {
				t.Errorf("ended %t: got %d replies, want %d", ends, got, want)
			}
		})
	}
}

// When the connection ends, an answer that was not sent is dropped.
func TestNothingIsSentAfterTheConnectionEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		lines, events := io.Pipe()
		client := &consumer{during: func() {
			_ = events.Close()
			synctest.Wait() // until follow waits for this dialog
		}}
		client.Outcome = askback.Outcome{Status: askback.Answered, Decision: askback.Approve}
		f := &Follower{
			Asks: client, URL: "http://opencode", Note: func(text string) { t.Errorf("got the note %q", text) },
		}
		f.prepare()
		f.server.client.Transport = stream{lines}
		go func() { _, _ = io.WriteString(events, permissionWithoutCall+"\n") }()
		if err := f.follow(t.Context(), func() {}); err != nil {
			t.Error(err)
		}
	})
}
