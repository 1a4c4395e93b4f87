// Package webpushtest has a push service for tests, and browsers that decrypt the messages. The service
// behaves as the push services of browsers are documented (RFC 8030, RFC 8188, RFC 8291 and RFC 8292). Where
// real services differ, its replies are the replies of Google, Mozilla and Apple.
package webpushtest

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback/channel/channeltest"
	"github.com/askback/askback/internal/egress"
)

// maxBody is the maximum size of a message in bytes.
const maxBody = 4096

// A Service is a push service with the browsers that have subscribed.
type Service struct {
	URL   string         // address of the service, without a slash at the end
	Roots *x509.CertPool // authority of the service's certificate
	PEM   []byte         // the service's certificate
	Now   func() time.Time

	mu       sync.Mutex
	browsers map[string]*Browser // keyed by the last part of the endpoint
	failing  channeltest.Failing
	problems []string // reasons why messages were rejected
}

// NewService starts a service, which ends with the test.
func NewService(t testing.TB) *Service {
	s := &Service{browsers: map[string]*Browser{}, Now: time.Now}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /push/{id}", s.receive)
	server := httptest.NewTLSServer(mux)
	server.Config.ErrorLog = nil
	s.URL, s.Roots = server.URL, x509.NewCertPool()
	s.Roots.AddCert(server.Certificate())
	s.PEM = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return s
}

// Allow returns the address of the service, which must be allowed because it is not public.
func (s *Service) Allow(t testing.TB) []egress.Allowed {
	t.Helper()
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	a, err := egress.ParseAllowed(netip.MustParseAddrPort(u.Host).String())
	if err != nil {
		t.Fatal(err)
	}
	return []egress.Allowed{a}
}

// Problems returns the reasons why the service has rejected messages.
func (s *Service) Problems() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.problems...)
}

// A rejection is a reply with an error.
type rejection struct {
	status int
	why    string
}

var topicForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)

// receive receives a message for a browser.
func (s *Service) receive(w http.ResponseWriter, r *http.Request) {
	how := s.failing.Next()
	if channeltest.Refuse(w, r, how, RetryAfter) {
		return
	}
	b, no := s.check(r)
	if no != nil {
		s.reject(w, r, *no)
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	switch {
	case err != nil:
		return
	case len(body) > maxBody:
		s.reject(w, r, rejection{http.StatusRequestEntityTooLarge, "the message has more than 4096 bytes"})
		return
	}
	if no := b.take(r.Header.Get("Topic"), r.Header, body); no != nil {
		s.reject(w, r, *no)
		return
	}
	if how == channeltest.LostReply {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Location", s.URL+"/message/1")
	w.Header().Set("TTL", r.Header.Get("TTL"))
	w.WriteHeader(http.StatusCreated)
}

// reject replies with an error. The sender must not repeat the text of the reply.
func (s *Service) reject(w http.ResponseWriter, r *http.Request, no rejection) {
	s.mu.Lock()
	s.problems = append(s.problems, fmt.Sprintf("%d %s", no.status, no.why))
	s.mu.Unlock()
	http.Error(w, "text of the service: "+r.URL.Path, no.status)
}

// check returns the browser to which a request is addressed, or the rejection of the request.
func (s *Service) check(r *http.Request) (*Browser, *rejection) {
	s.mu.Lock()
	b := s.browsers[r.PathValue("id")]
	s.mu.Unlock()
	h := r.Header
	ttl, err := strconv.Atoi(h.Get("TTL"))
	switch {
	case b == nil:
		return nil, &rejection{http.StatusNotFound, "there is no such subscription"}
	case b.ended():
		return nil, &rejection{http.StatusGone, "the person has turned notifications off"}
	case err != nil || ttl < 0:
		return nil, &rejection{http.StatusBadRequest, "TTL is missing or no number of seconds"}
	case ttl > 28*24*3600:
		return nil, &rejection{http.StatusBadRequest, "TTL is more than four weeks"}
	case h.Get("Content-Encoding") != "aes128gcm":
		return nil, &rejection{http.StatusUnsupportedMediaType, "the encoding is not aes128gcm"}
	case h.Get("Topic") != "" && !topicForm.MatchString(h.Get("Topic")):
		return nil, &rejection{http.StatusBadRequest, "the topic has more than 32 characters, or others than base64url"}
	}
	switch h.Get("Urgency") {
	case "", "very-low", "low", "normal", "high":
	default:
		return nil, &rejection{http.StatusBadRequest, "the urgency is not one of the four"}
	}
	return b, checkSender(h.Get("Authorization"), s.URL, b.serverKey, s.Now())
}

// RetryAfter is the delay that the service requests when it is busy.
const RetryAfter = 9 * time.Second

// FailAs lets skip requests succeed and makes the next count requests fail, as [channeltest.Failing.Fail]
// does.
func (s *Service) FailAs(how channeltest.Failure, skip, count int) (failed func() int) {
	return s.failing.Fail(how, skip, count)
}

func decode(s string) ([]byte, error) { return base64.RawURLEncoding.DecodeString(s) }
