package httpapi_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/httpapi"
)

// On each route, a body that exceeds the read timeout of the server gets an error and changes
// nothing (T25).
func TestBodyThatArrivesTooSlowlyChangesNothing(t *testing.T) {
	s := newRouteFixture(t)
	slow := httptest.NewUnstartedServer(s.handler)
	slow.Config.ReadTimeout = 50 * time.Millisecond
	s.handler.SetBodyTime(50 * time.Millisecond)
	slow.Start()
	t.Cleanup(slow.Close)
	before := s.contents()
	tried := 0
	t.Run("routes", func(t *testing.T) {
		for i, rt := range httpapi.Table() {
			if !rt.Body {
				continue
			}
			tried++
			t.Run(fmt.Sprint(i, rt.Method), func(t *testing.T) {
				t.Parallel()
				for _, who := range principals {
					status := sendHalf(t, slow.Listener.Addr().String(), rt.Method, s.path(rt.Path), s.token(who))
					if status != 0 && (status < 400 || status >= 500) {
						t.Errorf("%s %s by %s: got %d for half a body, want an error", rt.Method, rt.Path, who.Name,
							status)
					}
				}
			})
		}
	})
	if tried == 0 || s.contents() != before {
		t.Errorf("%d routes were tried with half a body, and the store changed: %v", tried, s.contents() != before)
	}
}

// sendHalf sends half of the announced body. It returns the status of the reply, or 0 if the connection was
// closed without a reply.
func sendHalf(t *testing.T, address, method, path, secret string) int {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Error(err)
		return 0
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Error(err)
	}
	fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
		"Content-Length: 40\r\n\r\n", method, path, secret)
	fmt.Fprint(conn, `{"question": "A?"}`)
	reply, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		if late, ok := err.(net.Error); ok && late.Timeout() {
			t.Errorf("%s %s: it still waits for the body", method, path)
		}
		return 0
	}
	defer reply.Body.Close()
	return reply.StatusCode
}

// A request changes nothing if its token is revoked while a slow body is sent, on any
// route.
func TestRevocationStopsRequestsInProgress(t *testing.T) {
	tried := 0
	for _, rt := range httpapi.Table() {
		if !rt.Body {
			continue
		}
		tried++
		for _, who := range principals {
			s := newRouteFixture(t)
			s.handler.SetSlowBody(0) // every body counts as slow
			root := s.engine.As(askback.Principal{Kind: askback.Admin, Name: "root2"})
			before := ""
			revoke := func() {
				tokens, err := root.Tokens(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				for _, token := range tokens {
					if token.Name != who.Name {
						continue
					}
					if _, err := root.RevokeToken(t.Context(), token.ID); err != nil {
						t.Fatal(err)
					}
				}
				before = s.contents()
			}
			r := httptest.NewRequest(rt.Method, s.path(rt.Path), callingReader{strings.NewReader(s.body(rt)), revoke})
			r.Header.Set("Authorization", "Bearer "+s.token(who))
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			s.handler.ServeHTTP(w, r)
			if before == "" { // the request was rejected before its body was read
				continue
			}
			if w.Code != http.StatusUnauthorized || s.contents() != before {
				t.Errorf("%s %s by %s: got %d %s", rt.Method, rt.Path, who.Name, w.Code, w.Body)
			}
		}
	}
	if tried == 0 {
		t.Error("no route was tried")
	}
}

// A callingReader is a body that calls a function when it is read.
type callingReader struct {
	*strings.Reader
	during func()
}

func (m callingReader) Read(p []byte) (int, error) { m.during(); return m.Reader.Read(p) }
