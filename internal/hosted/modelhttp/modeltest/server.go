// Package modeltest has fakes of model providers, and the tests that each client of a provider passes.
package modeltest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// Key is the API key that the fakes accept.
const Key = "sk-test-5d9c1e"

// A Reply is the reply of a fake to a request.
type Reply struct {
	Status int // 0 means 200 with a stream of events
	Header map[string]string
	Body   string
	// If Cut is not nil, the server closes the connection after this number of bytes of Body. If Clean is
	// set, the end of the connection is also the end of the body, as with some proxies. Otherwise the body is
	// chunked.
	Cut   *int
	Clean bool
	// Stall keeps the connection open after Body, until the client closes it.
	Stall bool
	Pause time.Duration // pause after each event of Body
}

// A Server is a fake provider.
type Server struct {
	URL string
	// Check returns the reply to a request that the provider rejects, or nil.
	Check func(r *http.Request, body []byte) *Reply
	// Gone receives a value when the client has closed the connection of a stalled reply.
	Gone chan struct{}

	mu      sync.Mutex
	replies []Reply
	bodies  [][]byte
}

// New starts a fake provider, which ends with the test.
func New(t testing.TB, check func(r *http.Request, body []byte) *Reply) *Server {
	s := &Server{Check: check, Gone: make(chan struct{}, 100)}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	s.URL = h.URL
	return s
}

// Add adds replies for the next requests, in this order.
func (s *Server) Add(replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replies = append(s.replies, replies...)
}

// Bodies returns the bodies of the requests.
func (s *Server) Bodies() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bodies
}

// next returns the reply to a request.
func (s *Server) next(r *http.Request) Reply {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return Reply{Status: 400, Body: err.Error()}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bodies = append(s.bodies, body)
	if rejected := s.Check(r, body); rejected != nil {
		return *rejected
	}
	if len(s.replies) == 0 {
		return Reply{Status: 418, Body: "the test has no reply for this request"}
	}
	next := s.replies[0]
	s.replies = s.replies[1:]
	return next
}

// ServeHTTP replies to a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	reply := s.next(r)
	if reply.Status == 0 {
		reply.Status = http.StatusOK
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	} else {
		w.Header().Set("Content-Type", "application/json")
	}
	for k, v := range reply.Header {
		w.Header().Set(k, v)
	}
	switch {
	case reply.Cut != nil && reply.Clean:
		closeCleanly(w, reply)
	case reply.Cut != nil:
		w.WriteHeader(reply.Status)
		io.WriteString(w, reply.Body[:*reply.Cut])
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	default:
		w.WriteHeader(reply.Status)
		for part := range strings.SplitAfterSeq(reply.Body, "\n\n") {
			io.WriteString(w, part)
			http.NewResponseController(w).Flush()
			<-time.After(reply.Pause)
		}
		if reply.Stall {
			<-r.Context().Done()
			s.Gone <- struct{}{}
		}
	}
}

func closeCleanly(w http.ResponseWriter, reply Reply) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n%s",
		reply.Body[:*reply.Cut])
}
