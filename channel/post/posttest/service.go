// Package posttest has fake services for tests: ntfy, Pushover, Gotify, Discord, Teams, Mattermost and Home
// Assistant. They reject the requests that the real services reject, and show messages in the same way, as
// the services document.
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
	"strings"
	"sync"
	"testing"

	"github.com/askback/askback/channel/channeltest"
)

// A Message is a message as the service shows it.
type Message struct {
	ID       string // id that the service gave
	Topic    string // topic of ntfy
	Tag      string // messages with the same tag replace each other
	Title    string
	Text     string
	Link     string   // address that a tap opens
	Links    []string // links in the text of a chat
	Buttons  []Button
	Quiet    bool     // without a sound
	Damage   []string // differences from the text as sent, such as files instead of text, and truncated text
	Markup   []string // text that the service would act on, such as mentions, formats and pictures
	Password string   // token that the request contained
}

// A Button is a button of a message. A tap sends Body to URL by a POST or, if View is set,
// opens the URL.
type Button struct {
	Label, URL, Body string
	View             bool
}

// A Service is a fake service.
type Service struct {
	URL string // address for the settings of a receiver

	mu       sync.Mutex
	messages []Message
	failures []int // statuses of the next replies
	failing  channeltest.Failing
	rejected []string
}

// A parser parses a request as a service does. The error is sent with the status 400, unless it is a
// [problem].
type parser func(r *http.Request, body []byte) (Message, error)

// A problem is an error with a status.
type problem struct {
	status int
	text   string
}

func (p problem) Error() string { return p.text }

// NewService starts the fake of the service with this name. The fake ends with the test. [NewNtfy] supports
// more of ntfy.
func NewService(t testing.TB, name string) *Service {
	t.Helper()
	if name == "ntfy" {
		return &NewNtfy(t).Service
	}
	parts, ok := map[string]struct {
		path  string
		parse parser
	}{
		"pushover":       {"/1/messages.json", parsePushover},
		"gotify":         {"", parseGotify},
		"discord":        {"/api/webhooks/1234/secret", parseDiscord},
		"teams":          {"/workflows/secret/triggers/manual/paths/invoke", parseTeams},
		"mattermost":     {"/hooks/secret", parseMattermost},
		"home-assistant": {"/api/services/notify/mobile_app_phone", parseHomeAssistant},
	}[name]
	if !ok {
		t.Fatalf("there is no service %q", name)
	}
	s := &Service{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.serve(w, r, parts.parse)
	}))
	t.Cleanup(server.Close)
	s.URL = server.URL + parts.path
	return s
}

// maxBody is more than each of the services accepts.
const maxBody = 4 << 20

func (s *Service) serve(w http.ResponseWriter, r *http.Request, parse parser) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, "too large", http.StatusRequestEntityTooLarge)
		return
	}
	how := s.failing.Next()
	if channeltest.Refuse(w, r, how, RetryAfter) || s.fail(w) {
		return
	}
	m, err := parse(r, body)
	if err == nil && r.Method != http.MethodPost {
		err = problem{http.StatusMethodNotAllowed, "use POST"}
	}
	if err != nil {
		var p problem
		if !errors.As(err, &p) {
			p = problem{http.StatusBadRequest, err.Error()}
		}
		s.mu.Lock()
		s.rejected = append(s.rejected, p.text)
		s.mu.Unlock()
		http.Error(w, p.text, p.status)
		return
	}
	s.add(m)
	if how == channeltest.LostReply {
		panic(http.ErrAbortHandler)
	}
	_, _ = io.WriteString(w, "{}")
}

func (s *Service) add(m Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages = append(s.messages, m)
}

// Fail makes the next requests fail with these statuses, in this order.
func (s *Service) Fail(statuses ...int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures = append(s.failures, statuses...)
}

func (s *Service) nextFailure() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.failures) == 0 {
		return 0
	}
	status := s.failures[0]
	s.failures = s.failures[1:]
	return status
}

// Messages returns the messages that the service accepted, in order.
func (s *Service) Messages() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.messages)
}

// Shown returns the messages that a phone shows now. If several messages have the same tag, the phone shows
// the last of them.
func (s *Service) Shown() []Message {
	var shown []Message
	for _, m := range s.Messages() {
		if m.Tag != "" {
			shown = slices.DeleteFunc(shown, func(old Message) bool { return old.Tag == m.Tag })
		}
		shown = append(shown, m)
	}
	return shown
}

// Rejected returns the reasons why the service rejected requests.
func (s *Service) Rejected() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.rejected)
}

// address matches the addresses in a text that services turn into links.
var address = regexp.MustCompile(`(?i)\b(https?://|www\.)[^\s>)\]\x00\x{200b}]+`)

// Links returns the addresses in a text.
func Links(text string) []string { return address.FindAllString(text, -1) }

// decode decodes the only JSON value in body into v. Unknown members are an error if strict is true.
func decode(body []byte, strict bool, v any) error {
	d := json.NewDecoder(strings.NewReader(string(body)))
	if strict {
		d.DisallowUnknownFields()
	}
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("the body is not the JSON of a message: %v", err)
	}
	if d.More() {
		return errors.New("the body has more than one value")
	}
	return nil
}

func requireJSON(r *http.Request) error {
	if got := r.Header.Get("Content-Type"); got != "application/json" {
		return fmt.Errorf("the content type is %q", got)
	}
	return nil
}
