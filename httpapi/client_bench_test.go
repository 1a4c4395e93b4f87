package httpapi_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/store/memstore"
)

// BenchmarkClient compares the calls of a client with the same requests sent by net/http alone,
// without decoding of the replies. The server sends recorded replies and allocates nothing, so
// the difference is the cost of the client.
func BenchmarkClient(b *testing.B) {
	request := askback.Request{
		Questions: []askback.Question{
			{Text: "Deploy build 4711 to production?", Options: askback.Options("yes", "no", "later")},
		},
		Context: json.RawMessage(`"` + strings.Repeat("x", 160) + `"`),
		Key:     "4711",
	}
	normal, err := request.Normalize()
	if err != nil {
		b.Fatal(err)
	}
	answer := askback.Answer{
		Answers: []askback.QuestionAnswer{{ID: "q1", Selected: []string{"yes"}, Notes: "checked the dashboards"}},
	}
	asked, answered := recordReplies(b, request, answer)
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	for _, call := range []struct {
		name  string
		reply []byte
		do    func(*httpapi.Client) (askback.Ask, error)
		// method, path and key belong to the request that the call sends.
		method, path, key string
		body              func() ([]byte, error)
	}{
		{
			"ask", asked, func(c *httpapi.Client) (askback.Ask, error) { return c.Ask(ctx, request) },
			"POST", "/api/v1/asks", request.Key, func() ([]byte, error) { return httpapi.Body(normal) },
		},
		{
			"wait", answered, func(c *httpapi.Client) (askback.Ask, error) { return c.Wait(ctx, askID) },
			"GET", "/api/v1/asks/" + askID + "?wait=50", "", nil,
		},
		{
			"answer", answered, func(c *httpapi.Client) (askback.Ask, error) { return c.Answer(ctx, askID, answer) },
			"POST", "/api/v1/asks/" + askID + "/answer", "", func() ([]byte, error) { return httpapi.Body(answer) },
		},
	} {
		url := serveReply(b, call.reply)
		transport := &http.Transport{}
		defer transport.CloseIdleConnections()
		b.Run(call.name+"/client", func(b *testing.B) {
			c := httpapi.NewClient(url, benchToken, &http.Client{Transport: transport})
			b.ReportAllocs()
			for b.Loop() {
				if _, err := call.do(c); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(call.name+"/plain", func(b *testing.B) {
			c := &http.Client{Transport: transport}
			b.ReportAllocs()
			for b.Loop() {
				if err := sendPlain(ctx, c, call.method, url+call.path, call.key, call.body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

const (
	askID      = "ask_01k00000000000000000000000"
	benchToken = "ab_0123456789abcdefghijklmnopqrstuvwxyz"
)

// sendPlain sends a request with net/http alone, and reads the reply.
func sendPlain(ctx context.Context, c *http.Client, method, url, key string, body func() ([]byte, error)) error {
	var sent io.Reader
	if body != nil {
		raw, err := body()
		if err != nil {
			return err
		}
		sent = bytes.NewReader(raw)
	}
	r, err := http.NewRequestWithContext(ctx, method, url, sent)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+benchToken)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	res, err := c.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, err = io.ReadAll(res.Body)
	return err
}

// recordReplies sends a request and its answer to a handler. It returns both replies with their headers.
func recordReplies(b *testing.B, r askback.Request, a askback.Answer) (asked, answered []byte) {
	b.Helper()
	e := engine.New(memstore.New(), nil)
	h := httpapi.NewHandler(e, nil)
	server := httptest.NewServer(h)
	defer server.Close() // Close also closes the connections of the default transport
	defer h.Stop()
	recorder := &recordingTransport{}
	agent, person := benchClient(b, e, server, bot, recorder), benchClient(b, e, server, ana, recorder)
	ask, err := agent.Ask(b.Context(), r)
	if err != nil {
		b.Fatal(err)
	}
	asked = recorder.last
	if _, err := person.Answer(b.Context(), ask.ID, a); err != nil {
		b.Fatal(err)
	}
	return asked, recorder.last
}

// A recordingTransport keeps the last response as the server sent it.
type recordingTransport struct{ last []byte }

func (r *recordingTransport) RoundTrip(in *http.Request) (*http.Response, error) {
	res, err := http.DefaultTransport.RoundTrip(in)
	if err == nil {
		r.last, err = httputil.DumpResponse(res, true)
	}
	return res, err
}

// serveReply starts a server that answers every request with the same bytes. It returns the
// URL of the server.
func serveReply(b *testing.B, reply []byte) string {
	b.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go replyAll(conn, reply)
		}
	}()
	return fmt.Sprint("http://", ln.Addr())
}

// replyAll replies to all requests of a connection.
func replyAll(conn net.Conn, reply []byte) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for {
		length := 0
		for {
			line, err := in.ReadSlice('\n')
			if err != nil {
				return
			}
			if line = bytes.TrimSpace(line); len(line) == 0 {
				break
			}
			if digits, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
				for _, d := range digits {
					length = length*10 + int(d-'0')
				}
			}
		}
		if _, err := in.Discard(length); err != nil {
			return
		}
		if _, err := conn.Write(reply); err != nil {
			return
		}
	}
}
