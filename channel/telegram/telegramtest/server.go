// Package telegramtest has a Bot API server for tests. The server behaves as Telegram's server is documented
// (core.telegram.org/bots/api), and rejects the same requests. Its users act as people do in the app.
package telegramtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Token is the token of the bot, and Username the name of the bot.
const (
	Token    = "1234567890:AAHfake-Token_of-the-fake-Bot-API-1"
	Username = "askback_test_bot"
	botID    = 1234567890
)

// A Server is a Bot API server with one bot.
type Server struct {
	URL string // address for the settings

	http *httptest.Server
	stop chan struct{}

	mu       sync.Mutex
	chats    map[int64]*chat
	updates  []update // updates that are not confirmed
	nextID   int64    // id of the next update
	confirms []int64  // offsets that the bot has confirmed
	poll     chan struct{}
	polling  int           // number of polls; each poll ends the previous poll
	changed  chan struct{} // closed at each change
	queries  map[string]*query
	failure  failure
	limit    *limit
	webhook  bool
	commands []string
	rejected []string
	calls    map[string]int
}

// An update is an event that the bot can poll.
type update struct {
	id   int64
	kind string
	body map[string]any
}

// A query is a press of a button, which the bot has to answer.
type query struct {
	answered chan struct{}
	done     bool
	text     string
	alert    bool
}

// A failure describes how the next requests that send or change messages fail.
type failure struct {
	how         Failure
	skip, count int
	failed      int
	until       chan struct{} // closed to end a slow reply
}

// A Failure is a way in which the server fails a request.
type Failure string

// The failures.
const (
	TooMany   Failure = "too many" // status 429, with RetryAfter
	Broken    Failure = "broken"   // status 502 of a proxy, without JSON
	LostReply Failure = "lost reply"
	Slow      Failure = "slow"
)

// RetryAfter is the delay that the server requests after [TooMany].
const RetryAfter = 3 * time.Second

// NewServer starts a server, which ends with the test.
func NewServer(t testing.TB) *Server {
	s := &Server{
		chats: map[int64]*chat{}, nextID: 730_000_001, changed: make(chan struct{}), queries: map[string]*query{},
		stop: make(chan struct{}), calls: map[string]int{},
	}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = s.http.URL
	t.Cleanup(func() {
		close(s.stop)
		s.Fail("", 0, 0)
		s.http.Close()
	})
	return s
}

// An apiError is a reply that is not ok.
type apiError struct {
	code        int
	description string
	retryAfter  time.Duration
	movedTo     int64
}

// Error implements error.
func (e *apiError) Error() string { return e.description }

func bad(format string, args ...any) error {
	return &apiError{code: http.StatusBadRequest, description: "Bad Request: " + fmt.Sprintf(format, args...)}
}

func forbidden(why string) error {
	return &apiError{code: http.StatusForbidden, description: "Forbidden: " + why}
}

// errHidden ends a request without a reply.
var errHidden = errors.New("no reply")

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	token, method, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/bot"), "/")
	var result any
	var err error
	switch {
	case !ok || !strings.HasPrefix(r.URL.Path, "/bot"):
		err = &apiError{code: http.StatusNotFound, description: "Not Found"}
	case token != Token:
		err = &apiError{code: http.StatusUnauthorized, description: "Unauthorized"}
	default:
		result, err = s.call(r, method)
	}
	s.reply(w, method, result, err)
}

func (s *Server) reply(w http.ResponseWriter, method string, result any, err error) {
	var failed *apiError
	out := map[string]any{"ok": err == nil}
	status := http.StatusOK
	switch {
	case errors.Is(err, errHidden):
		panic(http.ErrAbortHandler)
	case errors.As(err, &failed):
		if failed.code == http.StatusBadGateway {
			http.Error(w, "<html>502 Bad Gateway</html>", failed.code)
			return
		}
		status = failed.code
		out["error_code"], out["description"] = failed.code, failed.description
		parameters := map[string]any{}
		if failed.retryAfter > 0 {
			parameters["retry_after"] = int(failed.retryAfter.Seconds())
		}
		if failed.movedTo != 0 {
			parameters["migrate_to_chat_id"] = failed.movedTo
		}
		if len(parameters) > 0 {
			out["parameters"] = parameters
		}
		s.mu.Lock()
		s.rejected = append(s.rejected, method+": "+failed.description)
		s.mu.Unlock()
	case err != nil:
		status = http.StatusInternalServerError
		out["error_code"], out["description"] = status, "Internal Server Error: "+err.Error()
	default:
		out["result"] = result
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(out)
}

// call calls a method, or fails the call as [Server.Fail] requires.
func (s *Server) call(r *http.Request, method string) (any, error) {
	s.mu.Lock()
	s.calls[method]++
	s.mu.Unlock()
	run := map[string]func([]byte) (any, error){
		"getMe": s.getMe, "setMyCommands": s.setMyCommands, "sendMessage": s.sendMessage,
		"editMessageText":     s.editMessageText,
		"answerCallbackQuery": s.answerCallbackQuery,
	}[method]
	switch {
	case method == "getUpdates":
		return s.getUpdates(r)
	case method == "sendDocument":
		return s.fail(r, func() (any, error) { return s.sendDocument(r) })
	case run == nil:
		return nil, &apiError{code: http.StatusNotFound, description: "Not Found: method not found"}
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if r.Header.Get("Content-Type") != "application/json" {
		return nil, bad("this server takes only JSON")
	}
	if method == "sendMessage" || method == "editMessageText" {
		return s.fail(r, func() (any, error) { return run(body) })
	}
	return run(body)
}

// fail calls run, or fails the request as [Server.Fail] requires.
func (s *Server) fail(r *http.Request, run func() (any, error)) (any, error) {
	s.mu.Lock()
	how, until := Failure(""), s.failure.until
	if s.failure.skip > 0 {
		s.failure.skip--
	} else if s.failure.count > 0 {
		s.failure.count--
		s.failure.failed++
		how = s.failure.how
	}
	s.mu.Unlock()
	switch how {
	case TooMany:
		_, _ = io.Copy(io.Discard, r.Body)
		return nil, tooMany(RetryAfter)
	case Broken:
		return nil, &apiError{code: http.StatusBadGateway}
	case LostReply:
		_, err := run()
		return nil, errors.Join(errHidden, err)
	case Slow:
		select {
		case <-until:
		case <-s.stop:
		case <-r.Context().Done():
		}
		return nil, errHidden
	}
	return run()
}

func tooMany(after time.Duration) error {
	return &apiError{
		code: http.StatusTooManyRequests, retryAfter: after,
		description: fmt.Sprintf("Too Many Requests: retry after %d", int(after.Seconds())),
	}
}

// Fail lets skip requests that send or change messages succeed, and makes the next count requests fail. The
// function failed returns the number of failures so far.
func (s *Server) Fail(how Failure, skip, count int) (failed func() int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure.until != nil {
		close(s.failure.until)
	}
	s.failure = failure{how: how, skip: skip, count: count, until: make(chan struct{})}
	return func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.failure.failed
	}
}

// Limit makes the server enforce the limits of Telegram. The server accepts thirty messages a second in all.
// Each chat accepts a burst of messages, and then one message a second.
func (s *Server) Limit(burst int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = &limit{burst: float64(burst), chats: map[int64]*ahead{}}
}

// SetWebhook sets a webhook for the bot. The updates of such a bot cannot be polled.
func (s *Server) SetWebhook() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.webhook = true
}

// Rejected returns the rejected calls as "method: description".
func (s *Server) Rejected() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.rejected...)
}

// Calls returns the number of calls of a method.
func (s *Server) Calls(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[method]
}

// notify wakes the goroutines that wait for a change. The caller holds the lock.
func (s *Server) notify() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// A limit counts the messages of the last second. For each chat, it also counts the messages above one
// message a second.
type limit struct {
	burst float64
	all   []time.Time
	chats map[int64]*ahead
}

type ahead struct {
	by float64
	at time.Time
}

// take counts a message to a chat. If the bot must wait, take returns the wait and does not count the
// message.
func (l *limit) take(chatID int64, now time.Time) time.Duration {
	if l == nil {
		return 0
	}
	c := l.chats[chatID]
	if c == nil {
		c = &ahead{at: now}
		l.chats[chatID] = c
	}
	c.by, c.at = max(0, c.by-now.Sub(c.at).Seconds()), now
	l.all = slices.DeleteFunc(l.all, func(at time.Time) bool { return now.Sub(at) >= time.Second })
	if c.by > l.burst || len(l.all) >= 30 {
		return time.Second
	}
	c.by++
	l.all = append(l.all, now)
	return 0
}
