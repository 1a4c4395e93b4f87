// Package slacktest has a fake Slack for tests: the Web API, interactivity over HTTP with signatures, and
// Socket Mode. It rejects requests that Slack is documented to reject.
package slacktest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// Secrets and ids of the app on a [Server].
const (
	BotToken      = "xoxb-1-test"
	AppToken      = "xapp-1-test"
	SigningSecret = "8f742231b10e8888abcd99yyyzzz85a5"
	Team          = "T0000001"
	Room          = "C0000001" // a channel with the app
	RoomName      = "#agents"
	AppID         = "A0000001"
)

// A User is a member of a workspace. Team is the workspace of the account.
type User struct{ ID, Team, Name string }

// Users of the workspace. Outsider is a user of another workspace in a shared channel.
var (
	Ana      = User{"U0000ANA", Team, "ana"}
	Ben      = User{"U0000BEN", Team, "ben"}
	Stranger = User{"U0000STR", Team, "stranger"}
	Outsider = User{"U0000OUT", "T0000009", "ana"}
)

// A Message is a message of the app.
type Message struct {
	Channel, TS, Thread string
	Broadcast           bool
	Text                string
	Blocks              []Block
	Edits               int
	Unfurl              bool     // Slack would fetch pages to which the message links
	Live                []string // mentions and links in the markup
}

// Shown returns the text of the message as Slack shows it.
func (m Message) Shown() string {
	var w strings.Builder
	for _, b := range m.Blocks {
		w.WriteString(b.Shown())
	}
	return w.String()
}

// An Ephemeral is a message that Slack shows to only one person.
type Ephemeral struct {
	User, Channel, Thread, Text string
}

// A Fault makes the next call of a method fail or wait.
type Fault struct {
	Method     string
	Status     int           // status of the reply; 0 means 200
	Error      string        // error code of a reply with the status 200
	RetryAfter int           // seconds of a Retry-After, with the status 429
	Lost       bool          // the call takes effect, but its reply is lost
	Hold       chan struct{} // the call waits until the channel is closed
}

// A Server is a fake Slack with one workspace and one app. It is safe for concurrent use.
type Server struct {
	URL string // URL of the Web API for the settings, with a slash at the end
	// AckTime is how long the server waits for the acknowledgement of an action. TriggerTime is how long a
	// modal can be opened after an action. The three seconds of Slack may be too few for a busy machine, so
	// New sets two minutes.
	AckTime, TriggerTime time.Duration

	Now func() time.Time // clock for timestamps and triggers; may be set before the first call
	// Fault returns the fault of the next call, unless Fail has added a fault. The function may be nil.
	Fault func(method string) (Fault, bool)

	t        testing.TB
	web      *httptest.Server
	mu       sync.Mutex
	clock    int64 // last timestamp of a message
	messages map[string]*Message
	order    []string
	private  []Ephemeral
	views    map[string]*View
	triggers map[string]trigger
	faults   []Fault
	calls    []string
	problems []string
	tickets  map[string]bool
	sockets  []*socket
	opened   int                    // number of sockets so far
	pending  map[string]chan []byte // replies to envelopes
	changed  chan struct{}
	next     int
	request  string // address for interactivity
}

type trigger struct {
	until time.Time
	used  bool
	user  string
}

// New starts a fake Slack. It ends with the test.
func New(t testing.TB) *Server {
	s := &Server{
		AckTime: 2 * time.Minute, TriggerTime: 2 * time.Minute, Now: time.Now, t: t, clock: 1_700_000_000,
		messages: map[string]*Message{}, views: map[string]*View{}, triggers: map[string]trigger{},
		tickets: map[string]bool{}, pending: map[string]chan []byte{}, changed: make(chan struct{}),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /link", s.link)
	mux.HandleFunc("POST /api/{method}", s.api)
	s.web = httptest.NewServer(mux)
	s.URL = s.web.URL + "/api/"
	t.Cleanup(func() {
		s.Disconnect("link_disabled")
		s.web.Close()
	})
	return s
}

// SendTo sets the address that receives actions over HTTP. Without an address, actions go to a socket.
func (s *Server) SendTo(address string) { s.request = address }

// Fail adds faults to the next calls of their methods.
func (s *Server) Fail(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, faults...)
}

// notify wakes [Server.Wait]. The caller holds the lock.
func (s *Server) notify() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Wait waits until holds returns true. After a minute the test fails.
func (s *Server) Wait(what string, holds func() bool) {
	s.t.Helper()
	limit := time.After(time.Minute)
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if holds() {
			return
		}
		select {
		case <-changed:
		case <-limit:
			s.t.Fatalf("Slack waited in vain for: %s", what)
		}
	}
}

// Messages returns the messages in the order of their posts.
func (s *Server) Messages() (all []Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range s.order {
		if m := s.messages[key]; m != nil {
			all = append(all, *m)
		}
	}
	return all
}

// Ephemerals returns the messages that Slack showed to single people.
func (s *Server) Ephemerals() []Ephemeral {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.private)
}

// Calls returns the methods of the calls so far, in order.
func (s *Server) Calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// Problems returns the mistakes that the server found in calls.
func (s *Server) Problems() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.problems)
}

// Delete deletes a message, as a person can.
func (s *Server) Delete(m Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.messages, m.Channel+":"+m.TS)
}

// A failure is the code of an error of the Web API.
type failure string

func (f failure) Error() string { return string(f) }

// api serves the Web API.
func (s *Server) api(w http.ResponseWriter, r *http.Request) {
	method := r.PathValue("method")
	args, token := arguments(r)
	s.mu.Lock()
	s.calls = append(s.calls, method)
	s.notify()
	var fault Fault
	if i := slices.IndexFunc(s.faults, func(f Fault) bool { return f.Method == method }); i >= 0 {
		fault = s.faults[i]
		s.faults = slices.Delete(s.faults, i, i+1)
	} else if s.Fault != nil {
		fault, _ = s.Fault(method)
	}
	s.mu.Unlock()
	if fault.Hold != nil {
		select {
		case <-fault.Hold:
		case <-r.Context().Done():
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	if fault.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(fault.RetryAfter))
		w.WriteHeader(http.StatusTooManyRequests)
		fmt.Fprint(w, `{"ok":false,"error":"ratelimited"}`)
		return
	}
	if fault.Status > 0 {
		w.WriteHeader(fault.Status)
		return
	}
	reply, err := map[string]any(nil), error(failure(fault.Error))
	if fault.Error == "" {
		s.mu.Lock()
		reply, err = s.call(method, args, token)
		s.notify()
		s.mu.Unlock()
	}
	if fault.Lost {
		panic(http.ErrAbortHandler)
	}
	s.reply(w, method, reply, err)
}

// reply sends the result of a call.
func (s *Server) reply(w http.ResponseWriter, method string, reply map[string]any, err error) {
	var code failure
	switch {
	case err == nil:
		reply["ok"] = true
	case errors.As(err, &code) && code == "ratelimited":
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusTooManyRequests)
		fallthrough
	case errors.As(err, &code):
		reply = map[string]any{"ok": false, "error": string(code)}
	case errors.Is(err, errTooLong):
		reply = map[string]any{"ok": false, "error": err.Error()}
	default:
		s.mu.Lock()
		s.problems = append(s.problems, method+": "+err.Error())
		s.mu.Unlock()
		reply = map[string]any{"ok": false, "error": "invalid_blocks", "response_metadata": map[string]any{
			"messages": []string{"[ERROR] " + err.Error()},
		}}
	}
	json.NewEncoder(w).Encode(reply)
}

// arguments returns the arguments of a call, which are a form or JSON, and its token.
func arguments(r *http.Request) (args map[string]string, token string) {
	args = map[string]string{}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		var raw map[string]json.RawMessage
		json.NewDecoder(r.Body).Decode(&raw)
		for name, value := range raw {
			var text string
			if json.Unmarshal(value, &text) != nil {
				text = string(value)
			}
			args[name] = text
		}
	} else {
		r.ParseForm()
		for name := range r.PostForm {
			args[name] = r.PostForm.Get(name)
		}
	}
	token = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if token == "" {
		token = args["token"]
	}
	return args, token
}

// call performs a method.
func (s *Server) call(method string, args map[string]string, token string) (map[string]any, error) {
	want := BotToken
	if method == "apps.connections.open" {
		want = AppToken
	}
	switch {
	case token == "":
		return nil, failure("not_authed")
	case token != want:
		return nil, failure("invalid_auth")
	}
	switch method {
	case "auth.test":
		return map[string]any{
			"url": "https://example.slack.com/", "team": "Example", "user": "askback", "team_id": Team,
			"user_id": "U0000BOT", "bot_id": "B0000001",
		}, nil
	case "chat.postMessage":
		return s.post(args)
	case "chat.update":
		return s.update(args)
	case "chat.postEphemeral":
		return s.ephemeral(args)
	case "views.open":
		return s.open(args)
	case "apps.connections.open":
		ticket := s.id("ticket")
		s.tickets[ticket] = true
		return map[string]any{"url": "ws" + strings.TrimPrefix(s.web.URL, "http") + "/link?ticket=" + ticket}, nil
	}
	return nil, failure("unknown_method")
}

// id returns a new id.
func (s *Server) id(prefix string) string {
	s.next++
	return fmt.Sprintf("%s.%d", prefix, s.next)
}

var upgrader = websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
