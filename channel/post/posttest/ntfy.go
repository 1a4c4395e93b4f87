package posttest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// An Ntfy is a server of ntfy with its cache of messages. It publishes JSON and plain text, and streams
// topics (docs.ntfy.sh/publish, docs.ntfy.sh/subscribe/api).
type Ntfy struct {
	Service           // URL is the address of the topic "questions", and Messages returns the messages of that topic
	Server     string // address without a topic
	Disconnect func() // closes all connections
	Token      string // token that is required to read and to publish JSON; "" for no token

	published chan struct{} // closed when the next message arrives
	cached    []cachedMessage
	streams   int    // connections that read a topic now
	reads     int    // requests to read a topic so far
	since     string // parameter since of the last request to read a topic
}

// A cachedMessage is a message as subscribers get it.
type cachedMessage struct {
	ID      string `json:"id"`
	Time    int64  `json:"time"`
	Event   string `json:"event"`
	Topic   string `json:"topic"`
	Message string `json:"message,omitempty"`
}

// NewNtfy starts a server, which ends with the test.
func NewNtfy(t testing.TB) *Ntfy {
	t.Helper()
	n := &Ntfy{published: make(chan struct{})}
	server := httptest.NewServer(n)
	n.Disconnect = server.CloseClientConnections
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	n.Server, n.URL = server.URL, server.URL+"/questions"
	return n
}

// ServeHTTP implements [http.Handler].
func (n *Ntfy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch topic, rest, _ := strings.Cut(strings.Trim(r.URL.Path, "/"), "/"); {
	case r.Method == http.MethodGet && rest == "json":
		n.subscribe(w, r, topic)
	case topic == "":
		n.serve(w, r, n.publishJSON)
	case rest == "":
		n.publishText(w, r, topic)
	default:
		http.NotFound(w, r)
	}
}

var (
	topicName  = regexp.MustCompile(`^[-_A-Za-z0-9]{1,64}$`)
	sequenceID = topicName
)

type ntfyAction struct {
	Action, Label, URL, Method, Body string
	Clear                            bool
}

func (n *Ntfy) publishJSON(r *http.Request, body []byte) (Message, error) {
	var in struct {
		Topic, Title, Message, Click string
		Priority                     int
		Tags                         []string
		SequenceID                   string `json:"sequence_id"`
		Markdown                     bool
		Actions                      []ntfyAction
	}
	if n.Token != "" && r.Header.Get("Authorization") != "Bearer "+n.Token {
		return Message{}, problem{http.StatusUnauthorized, "unauthorized"}
	}
	if len(body) > 2*4096 {
		return Message{}, problem{http.StatusRequestEntityTooLarge, "JSON body too large"}
	}
	if err := decode(body, false, &in); err != nil {
		return Message{}, err
	}
	switch {
	case !topicName.MatchString(in.Topic):
		return Message{}, errors.New("invalid request: topic invalid")
	case in.Priority < 0 || in.Priority > 5:
		return Message{}, errors.New("invalid request: priority invalid")
	case in.SequenceID != "" && !sequenceID.MatchString(in.SequenceID):
		return Message{}, errors.New("invalid request: sequence ID invalid")
	case len(in.Title) > 200:
		return Message{}, errors.New("invalid request: title too long")
	case len(in.Actions) > 3:
		return Message{}, errors.New("invalid request: actions invalid; only 3 actions allowed")
	}
	m := Message{
		ID: n.cache(in.Topic, in.Message), Topic: in.Topic, Tag: in.SequenceID, Title: in.Title,
		Text: strings.TrimSpace(in.Message), Link: in.Click, Quiet: in.Priority == 1 || in.Priority == 2,
		Password: n.Token,
	}
	if len(in.Message) >= 4096 {
		m.Damage = append(m.Damage, "a file instead of a text")
	}
	if in.Markdown {
		m.Markup = append(m.Markup, "Markdown")
	}
	for _, a := range in.Actions {
		if a.Label == "" || a.URL == "" || a.Action != "http" && a.Action != "view" {
			return Message{}, errors.New("invalid request: actions invalid; a parameter is required")
		}
		m.Buttons = append(m.Buttons, Button{a.Label, a.URL, a.Body, a.Action == "view"})
	}
	return m, nil
}

// publishText publishes the body of a request, as a button does.
func (n *Ntfy) publishText(w http.ResponseWriter, r *http.Request, topic string) {
	body, _ := io.ReadAll(io.LimitReader(r.Body, 4096))
	switch {
	case r.Method != http.MethodPost && r.Method != http.MethodPut:
		http.NotFound(w, r)
	case !topicName.MatchString(topic):
		http.Error(w, "topic invalid", http.StatusBadRequest)
	case len(body) >= 4096:
		http.Error(w, "attachments not allowed", http.StatusBadRequest)
	default:
		n.cache(topic, string(body))
	}
}

// cache stores a message, wakes subscribers, and returns the id of the message.
func (n *Ntfy) cache(topic, text string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	id := fmt.Sprintf("m%011d", len(n.cached)+1)
	n.cached = append(n.cached, cachedMessage{id, time.Now().Unix(), "message", topic, text})
	close(n.published)
	n.published = make(chan struct{})
	return id
}

// Forget empties the cache, as a restart does for a server without a disk.
func (n *Ntfy) Forget() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range n.cached {
		n.cached[i].Topic = ""
	}
}

// Publish publishes a text to a topic.
func (n *Ntfy) Publish(topic, text string) { n.cache(topic, text) }

// Streams returns the number of connections that read a topic now, and the number of requests to read a topic
// so far.
func (n *Ntfy) Streams() (now, total int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.streams, n.reads
}

// Since returns the parameter since of the last request to read a topic.
func (n *Ntfy) Since() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.since
}

// subscribe streams the messages of a topic after the query parameter since, which is all, a time, a duration
// or the id of a message.
func (n *Ntfy) subscribe(w http.ResponseWriter, r *http.Request, topic string) {
	n.count(1)
	defer n.count(-1)
	n.mu.Lock()
	n.since = r.URL.Query().Get("since")
	n.mu.Unlock()
	if status := n.nextFailure(); status > 0 {
		http.Error(w, "the service is not well", status)
		return
	}
	if n.Token != "" && r.Header.Get("Authorization") != "Bearer "+n.Token {
		http.Error(w, "unauthorized", http.StatusUnauthorized)
		return
	}
	w.Header().Set("Content-Type", "application/x-ndjson; charset=utf-8")
	e := json.NewEncoder(w)
	_ = e.Encode(cachedMessage{"open00000000", time.Now().Unix(), "open", topic, ""})
	next := n.position(r.URL.Query().Get("since"))
	for {
		n.mu.Lock()
		waiting, found := n.published, slices.Clone(n.cached[next:])
		next = len(n.cached)
		n.mu.Unlock()
		for _, m := range found {
			if m.Topic == topic {
				_ = e.Encode(m)
			}
		}
		_ = http.NewResponseController(w).Flush()
		if r.URL.Query().Get("poll") == "1" {
			return
		}
		select {
		case <-waiting:
		case <-r.Context().Done():
			return
		case <-time.After(time.Second):
			_ = e.Encode(cachedMessage{"keepalive000", time.Now().Unix(), "keepalive", topic, ""})
		}
	}
}

// position returns the index of the first message after since. If since is an unknown id, the index is 0.
func (n *Ntfy) position(since string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	if since == "" {
		return len(n.cached)
	}
	at, err := strconv.ParseInt(since, 10, 64)
	if d, wrong := time.ParseDuration(since); err != nil && wrong == nil {
		at, err = time.Now().Add(-d).Unix(), nil
	}
	if err == nil {
		i := slices.IndexFunc(n.cached, func(m cachedMessage) bool { return m.Time >= at })
		if i < 0 {
			return len(n.cached)
		}
		return i
	}
	return 1 + slices.IndexFunc(n.cached, func(m cachedMessage) bool { return m.ID == since })
}

func (n *Ntfy) count(d int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.streams += d
	if d > 0 {
		n.reads++
	}
}
