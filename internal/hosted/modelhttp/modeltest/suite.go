package modeltest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback/agent"
	"github.com/askback/askback/conversation"
)

// A Provider is a provider of models: its client and its fake server.
type Provider struct {
	Server func(testing.TB) *Server
	Model  func(t testing.TB, baseURL, key string, idle time.Duration) agent.Model
	Stream string           // a complete reply, with calls
	Want   agent.ModelReply // the reply that the client must return for Stream
	// Errors maps errors in the middle of a stream, as the provider sends them, to a part of the error that
	// the client must return. A part that begins with "retry: " marks a temporary error.
	Errors map[string]string
}

// Request is a request that every model accepts.
var Request = agent.ModelRequest{
	System: "Be brief.", Messages: []conversation.Message{{Role: conversation.RoleUser, Text: "Hello"}},
}

// Run tests a client, except for truncated replies.
func Run(t *testing.T, p Provider) {
	t.Run("StatusesAreErrorsInWords", func(t *testing.T) { testStatuses(t, p) })
	t.Run("ErrorsInTheStreamAreErrors", func(t *testing.T) { testStreamErrors(t, p) })
	t.Run("CancelledRequestEndsAtOnce", func(t *testing.T) { testCancel(t, p) })
	t.Run("SilentProviderIsTriedAgain", func(t *testing.T) { testIdle(t, p) })
	t.Run("SlowReplyIsNotSilence", func(t *testing.T) { testSlow(t, p) })
	t.Run("RedirectGetsNoKey", func(t *testing.T) { testRedirect(t, p) })
	t.Run("KeyIsInNoError", func(t *testing.T) { testKey(t, p) })
	t.Run("PageIsNoReply", func(t *testing.T) {
		p.fails(t, Reply{Header: map[string]string{"Content-Type": "text/html"}, Body: "<p>Log in</p>"}, false,
			"base_url")
	})
}

// ask sends a request. It returns the reply, and the streamed text of the reply.
func (p Provider) ask(t *testing.T, s *Server) (agent.ModelReply, string, error) {
	t.Helper()
	var pieces strings.Builder
	got, err := p.Model(t, s.URL, Key, 0).Reply(t.Context(), Request, func(piece string) { pieces.WriteString(piece) })
	return got, pieces.String(), err
}

// fails requires that the client returns an error for a reply, with want in its text and retry in its field
// Retry. It returns the error.
func (p Provider) fails(t *testing.T, r Reply, retry bool, want string) *agent.ModelError {
	t.Helper()
	s := p.Server(t)
	s.Add(r, Reply{Body: p.Stream}) // the client would succeed if it sent a second request
	got, _, err := p.ask(t, s)
	failed, ok := errors.AsType[*agent.ModelError](err)
	if !ok || failed.Retry != retry || !strings.Contains(err.Error(), want) {
		t.Fatalf("%d %.80s: got %+v, %v, want %q, retry %v", r.Status, r.Body, got, err, want, retry)
	}
	if n := len(s.Bodies()); n != 1 {
		t.Fatalf("%d: sent %d requests", r.Status, n)
	}
	return failed
}

// Cuts tests replies that are cut off after each number of bytes. The client must return an error or the
// complete reply. The test sends some thousand requests.
func Cuts(t *testing.T, p Provider) {
	t.Helper()
	s := p.Server(t)
	m := p.Model(t, s.URL, Key, 0)
	whole, retried := 0, 0
	for cut := range len(p.Stream) + 1 {
		for _, clean := range []bool{false, true} {
			s.Add(Reply{Body: p.Stream, Cut: &cut, Clean: clean})
			var pieces strings.Builder
			got, err := m.Reply(t.Context(), Request, func(piece string) { pieces.WriteString(piece) })
			failed, ok := errors.AsType[*agent.ModelError](err)
			switch {
			case err == nil:
				whole++
				if diff := cmp.Diff(p.Want, got); diff != "" {
					t.Fatalf("cut at %d: half a reply:\n%s", cut, diff)
				}
				if pieces.String() != got.Text {
					t.Fatalf("cut at %d: pieces %q, text %q", cut, pieces.String(), got.Text)
				}
			case ok && failed.Retry:
				retried++
				if !strings.HasPrefix(p.Want.Text, pieces.String()) {
					t.Fatalf("cut at %d: pieces %q", cut, pieces.String())
				}
			default:
				t.Fatalf("cut at %d of %d: got %v", cut, len(p.Stream), err)
			}
		}
	}
	if whole == 0 || retried < 2*len(p.Stream)*9/10 {
		t.Errorf("%d whole replies and %d errors, of %d bytes", whole, retried, len(p.Stream))
	}
}

func testStatuses(t *testing.T, p Provider) {
	for status, want := range map[int]string{
		429: "rate", 500: "overloaded", 502: "overloaded", 503: "overloaded", 529: "overloaded", 408: "overloaded",
	} {
		got := p.fails(t, Reply{
			Status: status, Header: map[string]string{"Retry-After": "7"}, Body: `{"error":{"message":"secret words"}}`,
		}, true, want)
		if got.After != 7*time.Second {
			t.Errorf("%d: after %v", status, got.After)
		}
		if strings.Contains(got.Error(), "secret words") {
			t.Errorf("%d: %v", status, got)
		}
	}
	for _, c := range []struct {
		status     int
		body, want string
	}{
		{401, `{"error":{"type":"authentication_error","message":"invalid x-api-key"}}`, "API key"},
		{403, "{}", "may not use"},
		{404, "not JSON", "no such model"},
		{
			400, `{"error":{"type":"invalid_request_error","message":"tools.0: bad\nname"}}`,
			"rejected the request (status 400): tools.0: bad name",
		},
		{413, "", "too large"},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"}}`, "longer than the model can read"},
		{400, `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}`, "longer than the model can read"},
		{400, `{"object":"error","message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","code":400}`, "longer than the model can read"},
		{400, `[{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`, "longer than the model can read"},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API."}}`, "no credit"},
		{429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`, "no credit"},
		{400, `{"error":{"message":"filtered","code":"content_filter"}}`, "refused"},
	} {
		p.fails(t, Reply{Status: c.status, Body: c.body}, false, c.want)
	}
}

func testStreamErrors(t *testing.T, p Provider) {
	for event, want := range p.Errors {
		want, retry := strings.CutPrefix(want, "retry: ")
		for _, before := range []string{"", p.Stream[:strings.Index(p.Stream, "\n\n")+2]} {
			p.fails(t, Reply{Body: before + event}, retry, want)
		}
	}
}

func testCancel(t *testing.T, p Provider) {
	for _, body := range []string{"", p.Stream[:len(p.Stream)/2]} {
		s := p.Server(t)
		s.Add(Reply{Body: body, Stall: true})
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error, 1)
		m := p.Model(t, s.URL, Key, 0)
		begun := make(chan struct{}, 1000)
		if body == "" {
			begun <- struct{}{}
		}
		go func() {
			_, err := m.Reply(ctx, Request, func(string) { begun <- struct{}{} })
			failed <- err
		}()
		<-begun
		cancel()
		at := time.Now()
		if err := <-failed; err == nil || !strings.Contains(err.Error(), "cancelled") {
			t.Errorf("got %v", err)
		}
		if d := time.Since(at); d > time.Second {
			t.Errorf("took %v", d)
		}
		if body != "" {
			<-s.Gone
		}
	}
}

func testIdle(t *testing.T, p Provider) {
	for _, body := range []string{"", p.Stream[:len(p.Stream)/2]} {
		s := p.Server(t)
		s.Add(Reply{Body: body, Stall: true})
		_, err := p.Model(t, s.URL, Key, 100*time.Millisecond).Reply(t.Context(), Request, nil)
		failed, ok := errors.AsType[*agent.ModelError](err)
		if !ok || !failed.Retry || !strings.Contains(err.Error(), "sent nothing") {
			t.Errorf("got %v", err)
		}
		<-s.Gone
	}
}

// testSlow checks that only the time without an event counts.
func testSlow(t *testing.T, p Provider) {
	t.Parallel()
	s := p.Server(t)
	idle := time.Second
	pause := 2 * idle / time.Duration(strings.Count(p.Stream, "\n\n"))
	s.Add(Reply{Body: p.Stream, Pause: pause})
	if _, err := p.Model(t, s.URL, Key, idle).Reply(t.Context(), Request, nil); err != nil {
		t.Error(err)
	}
}

func testRedirect(t *testing.T, p Provider) {
	other := New(t, func(r *http.Request, _ []byte) *Reply {
		t.Errorf("the other address got %v", r.Header)
		return nil
	})
	p.fails(t, Reply{Status: 307, Header: map[string]string{"Location": other.URL}}, false, "redirects")
}

func testKey(t *testing.T, p Provider) {
	s := p.Server(t)
	const wrong = "sk-wrong-77aa"
	body, _ := json.Marshal(map[string]any{"error": map[string]string{"message": "bad key " + Key + " here"}})
	for name, c := range map[string]struct {
		url, key string
		reply    Reply
	}{
		"rejected key":      {s.URL, wrong, Reply{}},
		"quoted by the 400": {s.URL, Key, Reply{Status: 400, Body: string(body)}},
		"no server":         {"http://127.0.0.1:1", Key, Reply{}},
	} {
		s.Add(c.reply)
		_, err := p.Model(t, c.url, c.key, 0).Reply(t.Context(), Request, nil)
		if err == nil || strings.Contains(err.Error(), c.key) {
			t.Errorf("%s: got %v", name, err)
		}
		for e := err; e != nil; e = errors.Unwrap(e) { // the log has the whole chain of errors
			if strings.Contains(e.Error(), c.key) {
				t.Errorf("%s: got %v in the chain", name, e)
			}
		}
	}
}
