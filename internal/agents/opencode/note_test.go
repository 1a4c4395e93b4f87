package opencode

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/askbacktest"
	"github.com/askback/askback/internal/agents/hook"
)

// unreachable is a client whose server cannot be reached.
type unreachable struct{ hook.Client }

func (unreachable) Ack(context.Context, string) (askback.Ask, error) {
	return askback.Ask{}, askback.ErrUnreachable
}

// notesOf follows the server at an address, and requires that its first notes are want. In want, URL stands
// for the address.
func notesOf(t *testing.T, asks hook.Client, address string, want ...string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	notes, ended := make(chan string, 9), make(chan error)
	f := &Follower{Asks: asks, URL: address, User: "opencode", Password: password, Note: func(text string) {
		select {
		case notes <- text:
		default: // further notes are not read
		}
	}, Retry: time.Millisecond}
	go func() { ended <- f.Run(ctx) }()
	for _, want := range want {
		if got := strings.ReplaceAll(wait(t, notes, want), address, "URL"); got != want {
			t.Errorf("got the note %q, want %q", got, want)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

const attachedNote = "Attached to OpenCode at URL. Its requests are in the inbox as well."

// The notes describe each problem once, and report when the connection is restored.
func TestNotesDescribeTheConnection(t *testing.T) {
	t.Parallel()
	asks := askbacktest.New(t).Agent("local")
	html := func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "<html>") }
	for want, handler := range map[string]http.Handler{
		"The program at URL is not a server of OpenCode: /global/event: 404 Not Found. Waiting " +
			"for one …": http.NotFoundHandler(),
		"The program at URL is not a server of OpenCode: /global/event: 302 Found. Waiting " +
			"for one …": http.RedirectHandler("/login", http.StatusFound),
		"The program at URL is not a server of OpenCode: it sends no events. Waiting for one …": http.HandlerFunc(html),
		"No connection to OpenCode at URL: /global/event: 502 Bad Gateway. Trying again …": http.HandlerFunc(func(
			w http.ResponseWriter, _ *http.Request,
		) {
			w.WriteHeader(http.StatusBadGateway)
		}),
	} {
		var calls atomic.Int32
		opencode := newFake(t)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/global/event" {
				if n := calls.Add(1); n <= 3 || n == 5 {
					handler.ServeHTTP(w, r)
					return
				}
				opencode.events <- "" // the stream ends immediately
			}
			opencode.serve(w, r)
		}))
		defer server.Close()
		const ended = "The connection to OpenCode at URL has ended. Waiting for it …"
		notesOf(t, asks, server.URL, want, attachedNote, ended, want, attachedNote, ended)
	}
}

func TestMissingServerIsNoted(t *testing.T) {
	t.Parallel()
	asks := askbacktest.New(t).Agent("local")
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		panic(http.ErrAbortHandler) // closes the connection
	}))
	notesOf(t, asks, server.URL, "No connection to OpenCode at URL: EOF. Trying again …")
	server.Close()
	notesOf(t, asks, server.URL, "No program listens at URL. Start opencode serve. Waiting for it …")
}

// While Askback cannot be reached, the notes do not claim that its inbox has the requests.
func TestNotesOmitTheInboxWithoutAskback(t *testing.T) {
	t.Parallel()
	notesOf(t, unreachable{}, newFake(t).URL,
		"Askback cannot be reached, so only OpenCode asks: the server cannot be reached",
		"Attached to OpenCode at URL.")
}

// silence is a transport that never replies.
type silence struct{}

func (silence) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestSilentServerIsNoted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &Follower{URL: "http://opencode"}
		f.prepare()
		f.server.client.Transport = silence{}
		err := f.server.events(t.Context(), func(event) {})
		problem, details := f.noConnection(err)
		if want := "No connection to OpenCode at http://opencode: it does not reply. Trying again …"; problem+
			details != want {
			t.Errorf("got the note %q, want %q", problem+details, want)
		}
	})
}

func TestNumberOfFoldersIsLimited(t *testing.T) {
	t.Parallel()
	f := &Follower{Folders: []string{"/given", "/0"}}
	for i := range 2 * maxFolders {
		f.remember(fmt.Sprint("/", i))
		f.remember("/often")
	}
	all := f.openFolders()
	if len(all) != maxFolders+3 || !slices.Contains(all, "") || !slices.Contains(all, "/given") ||
		!slices.Contains(all, "/0") ||
		!slices.Contains(all, "/often") || !slices.Contains(all, fmt.Sprint("/", 2*maxFolders-1)) ||
		slices.Contains(all, "/1") {
		t.Errorf("got %d folders: %q", len(all), all)
	}
}
