package askbacktest

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback"
)

// ReceiverSecret is the secret of a [Receiver] whose options have none.
const ReceiverSecret = "whsec_dGhlIHNlY3JldCBvZiBhIHJlY2VpdmVyIGluIGEgdGVzdA=="

// A Protocol is the protocol of a [Receiver].
type Protocol int

// The protocols of a receiver.
const (
	HTTP Protocol = iota
	// HTTPS has a certificate that only clients with [Receiver.Certificate] trust, as with a receiver whose
	// certificate is not valid.
	HTTPS
	// NotTLS has an address that begins with https://, but its server uses HTTP.
	NotTLS
)

// ReceiverOptions configure a [Receiver]. The zero value is usable.
type ReceiverOptions struct {
	// Secrets verify messages. A secret is "whsec_" followed by base64. A message must have a signature by a
	// secret in the list. During a rotation, there are two secrets. If the list is empty, [ReceiverSecret] is
	// used.
	Secrets []string
	// Now returns the current time, which determines the age of messages. If it is nil, time.Now is used.
	Now      func() time.Time
	Protocol Protocol
}

// A Receiver is a program that receives webhooks (docs/wire.md §8), as a server on loopback. It accepts a
// message if its signature, its age and its id are valid. Otherwise it replies 401. If the reply to a message
// was lost, the message arrives again. It is then accepted and not recorded again.
//
// A test can make a receiver fail with [Receiver.Next] for the next messages, [Receiver.Always] for all other
// messages, and [Receiver.Down] for all connections. A Receiver is safe for concurrent use.
type Receiver struct {
	t       testing.TB
	secrets [][]byte
	now     func() time.Time
	proto   Protocol
	address string

	mu       sync.Mutex
	server   *httptest.Server // nil while it is down
	stopping chan struct{}    // closed when the present server stops
	script   []Fault
	always   Fault
	messages []Message
	attempts []Attempt
	changed  chan struct{} // closed and replaced when there is a new attempt
}

// A Message is a message that a [Receiver] has accepted. A message about an ask has Question, Questions and,
// when the ask has ended, Outcome. A message about a session has Session.
type Message struct {
	ID        string          `json:"-"` // the header webhook-id, the same in each attempt
	At        time.Time       `json:"-"` // the header webhook-timestamp, the time of the attempt
	Header    http.Header     `json:"-"`
	Body      json.RawMessage `json:"-"` // the unchanged body
	Event     askback.EventType
	SessionID string `json:"session_id"`
	AgentName string `json:"agent_name"`
	Title     string // of the ask
	Question  struct {
		ID      string // of the ask
		Text    string
		Options []string
		Context json.RawMessage
	}
	Questions []askback.Question
	Outcome   *askback.Outcome
	Session   *askback.Session
	AnswerURL string `json:"answer_url"`
	PageURL   string `json:"page_url"`
}

// An Attempt is a request to a [Receiver].
type Attempt struct {
	Message
	// Result is "accepted", "repeated", the name of a fault such as "status 503", or "rejected" if Err is
	// set.
	Result string
	Err    error // the reason why the message is not valid, or nil
}

// NewReceiver starts a receiver. It runs until the test ends. The options may be nil.
func NewReceiver(t testing.TB, o *ReceiverOptions) *Receiver {
	t.Helper()
	if o == nil {
		o = &ReceiverOptions{}
	}
	r := &Receiver{t: t, now: o.Now, proto: o.Protocol, changed: make(chan struct{})}
	if r.now == nil {
		r.now = time.Now
	}
	secrets := o.Secrets
	if len(secrets) == 0 {
		secrets = []string{ReceiverSecret}
	}
	r.SetSecrets(secrets...)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("askbacktest: start a receiver: %v", err)
	}
	r.address = l.Addr().String()
	r.serve(l)
	t.Cleanup(r.Down)
	return r
}

// URL returns the address for callback_url.
func (r *Receiver) URL() string {
	if r.proto == HTTP {
		return "http://" + r.address
	}
	return "https://" + r.address
}

// Address returns the host and port of the receiver, for the setting channels.webhook.allow. Without this
// setting, a server refuses to send to loopback.
func (r *Receiver) Address() string { return r.address }

// Certificate returns the certificate of a receiver with the protocol [HTTPS]. It returns nil for other
// protocols, and while the receiver is down.
func (r *Receiver) Certificate() *x509.Certificate {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.server == nil {
		return nil
	}
	return r.server.Certificate()
}

// SetSecrets replaces the secrets by which messages are verified.
func (r *Receiver) SetSecrets(secrets ...string) {
	r.t.Helper()
	var keys [][]byte
	for _, s := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(s, "whsec_"))
		if err != nil {
			r.t.Fatalf(`askbacktest: a secret of a receiver is "whsec_" and base64: %v`, err)
		}
		keys = append(keys, key)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secrets = keys
}

// Down stops the server, so that connections are refused. Attempts without a reply end.
func (r *Receiver) Down() {
	r.mu.Lock()
	server := r.server
	if server != nil {
		close(r.stopping)
		r.server = nil
	}
	r.mu.Unlock()
	if server != nil {
		server.Close()
	}
}

// Up starts the server again, on the same address. If the server is running, Up does nothing.
func (r *Receiver) Up() {
	r.t.Helper()
	r.mu.Lock()
	up := r.server != nil
	r.mu.Unlock()
	if up {
		return
	}
	for limit := time.Now().Add(waitTimeout); ; {
		l, err := net.Listen("tcp", r.address)
		if err == nil {
			r.serve(l)
			return
		}
		if time.Now().After(limit) {
			r.t.Fatalf("askbacktest: start a receiver again: %v", err)
		}
	}
}

// serve starts a server on the listener l.
func (r *Receiver) serve(l net.Listener) {
	s := httptest.NewUnstartedServer(r)
	_ = s.Listener.Close()
	s.Listener = l
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // hides the errors of handshakes that fail on purpose
	r.mu.Lock()
	r.server, r.stopping = s, make(chan struct{})
	r.mu.Unlock()
	if r.proto == HTTPS {
		s.StartTLS()
	} else {
		s.Start()
	}
}

// Next sets how the next valid messages fail, in this order. Each fault is used once. [Accept] in the list
// accepts a message.
func (r *Receiver) Next(faults ...Fault) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.script = append(r.script, faults...)
}

// Always sets the fault of each valid message for which [Receiver.Next] has no fault. Without a call of
// Always, this fault is [Accept].
func (r *Receiver) Always(f Fault) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.always = f
}

// Messages returns the messages that were accepted so far, each once, in the order of their arrival. It
// includes messages whose reply was lost.
func (r *Receiver) Messages() []Message {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.messages)
}

// Attempts returns all requests so far, in the order of their arrival.
func (r *Receiver) Attempts() []Attempt {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.attempts)
}

// waitTimeout is how long a receiver waits for messages. It is long, because a busy machine may be slow.
const waitTimeout = 2 * time.Minute

// Wait waits until n messages were accepted, and returns all accepted messages. If that takes more than two
// minutes, the test fails.
func (r *Receiver) Wait(n int) []Message {
	r.t.Helper()
	r.wait(fmt.Sprintf("%d messages", n), func() bool { return len(r.messages) >= n })
	return r.Messages()
}

// WaitAttempts waits until there were n requests, and returns all requests. If that takes more than two
// minutes, the test fails.
func (r *Receiver) WaitAttempts(n int) []Attempt {
	r.t.Helper()
	r.wait(fmt.Sprintf("%d requests", n), func() bool { return len(r.attempts) >= n })
	return r.Attempts()
}

func (r *Receiver) wait(what string, enough func() bool) {
	r.t.Helper()
	timeout := time.NewTimer(waitTimeout)
	defer timeout.Stop()
	for {
		r.mu.Lock()
		ok, changed, attempts := enough(), r.changed, r.attempts
		r.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-timeout.C:
			var results []string
			for _, a := range attempts {
				results = append(results, fmt.Sprintf("%s %s: %s", a.ID, a.Event, a.Result))
			}
			r.t.Fatalf("askbacktest: the receiver did not get %s in time; it got the requests %q", what, results)
		}
	}
}

// ServeHTTP receives a message. The server of the receiver calls it, and a test can use the receiver as the
// handler of another server.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, in *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, in.Body, maxReceived))
	a := Attempt{
		Message: Message{ID: in.Header.Get("Webhook-Id"), Header: in.Header.Clone(), Body: body}, Result: "rejected",
		Err: err,
	}
	_ = json.Unmarshal(body, &a.Message) // a message that is not an object has no event
	if a.Err == nil {
		a.At, a.Err = r.verify(in.Header, body)
	}
	if a.Err != nil {
		r.record(a)
		http.Error(w, a.Err.Error(), http.StatusUnauthorized)
		return
	}
	fault := r.fault()
	stopping := r.take(&a, fault)
	if fault.serve == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	fault.serve(w, in, stopping)
}

// maxReceived is the maximum length of a message in bytes. The largest ask has 2 MiB, and its
// arguments may be in the message twice.
const maxReceived = 16 << 20

// fault returns the fault for the next message. It removes the fault from the script, or returns the fault of
// [Receiver.Always] if the script is empty.
func (r *Receiver) fault() Fault {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.script) == 0 {
		return r.always
	}
	f := r.script[0]
	r.script = r.script[1:]
	return f
}

// take records a valid message and the result of its attempt. It returns a channel that is closed when the
// server stops.
func (r *Receiver) take(a *Attempt, f Fault) <-chan struct{} {
	r.mu.Lock()
	repeated := slices.ContainsFunc(r.messages, func(m Message) bool { return m.ID == a.ID })
	if f.accepts() && !repeated {
		r.messages = append(r.messages, a.Message)
	}
	switch {
	case f.name != "":
		a.Result = f.name
	case repeated:
		a.Result = "repeated"
	default:
		a.Result = "accepted"
	}
	stopping := r.stopping
	r.mu.Unlock()
	r.record(*a)
	return stopping
}

func (r *Receiver) record(a Attempt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.attempts = append(r.attempts, a)
	close(r.changed)
	r.changed = make(chan struct{})
}

// tolerance is the maximum difference between the time of a message and the present time, as
// in the libraries of Standard Webhooks.
const tolerance = 5 * time.Minute

// verify checks the headers of Standard Webhooks 1.0. It returns the time in the headers.
func (r *Receiver) verify(h http.Header, body []byte) (at time.Time, err error) {
	id, sent := h.Get("Webhook-Id"), h.Get("Webhook-Timestamp")
	seconds, err := strconv.ParseInt(sent, 10, 64)
	if at = time.Unix(seconds, 0); err != nil {
		return time.Time{}, errors.New("webhook-timestamp is not a number of seconds")
	}
	switch age := r.now().Sub(at); {
	case id == "":
		return at, errors.New("webhook-id is missing")
	case age > tolerance:
		return at, fmt.Errorf("the message is too old: %v", age)
	case age < -tolerance:
		return at, fmt.Errorf("the message is from the future: %v", -age)
	}
	r.mu.Lock()
	secrets := r.secrets
	r.mu.Unlock()
	for _, key := range secrets {
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.%s", id, sent, body)
		want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
		for _, got := range strings.Fields(h.Get("Webhook-Signature")) {
			if hmac.Equal([]byte(want), []byte(got)) {
				return at, nil
			}
		}
	}
	if h.Get("Webhook-Signature") == "" {
		return at, errors.New("webhook-signature is missing")
	}
	return at, errors.New("webhook-signature does not match")
}
