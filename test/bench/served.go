package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// maxIdle is the maximum number of idle connections of a client. A client uses fewer connections, so that no
// connection is opened during a measurement.
const maxIdle = 512

// newHTTPClient returns an HTTP client with the same settings for every
// contender.
func newHTTPClient() *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConns: maxIdle, MaxIdleConnsPerHost: maxIdle}}
}

// listenLoopback listens on a free loopback port. It returns the listener and
// its URL.
func listenLoopback() (net.Listener, string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	return ln, "http://" + ln.Addr().String(), nil
}

// serve runs an HTTP server with the limits of askback serve until stop is
// called.
func serve(ln net.Listener, h http.Handler, note func(net.Conn, http.ConnState)) (stop func() error) {
	s := &http.Server{
		Handler: h, ConnState: note,
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 64 << 10,
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ln) }()
	return func() error {
		err := s.Close()
		if serving := <-ended; !errors.Is(serving, http.ErrServerClosed) {
			err = errors.Join(err, serving)
		}
		return err
	}
}

// httpAnswered is a subject in this process with answers over HTTP. The requests have no token, and their
// JSON is not parsed.
type httpAnswered struct {
	subject
	address string
	http    *http.Client
	stop    func() error
}

func withHTTPAnswers(
	open func(context.Context, string) (subject, error),
) func(context.Context, string) (subject, error) {
	return func(ctx context.Context, path string) (subject, error) { return openHTTPAnswered(ctx, path, open) }
}

func openHTTPAnswered(
	ctx context.Context, path string, open func(context.Context, string) (subject, error),
) (*httpAnswered, error) {
	s, err := open(ctx, path)
	if err != nil {
		return nil, err
	}
	ln, address, err := listenLoopback()
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return &httpAnswered{s, address, newHTTPClient(), serve(ln, newHandler(s), nil)}, nil
}

// newHandler returns a handler that calls the methods of a subject.
func newHandler(s subject) http.Handler {
	reply := func(w http.ResponseWriter, with string, err error) {
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_, _ = io.WriteString(w, with)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /ask", func(w http.ResponseWriter, r *http.Request) {
		_, readErr := io.Copy(io.Discard, r.Body) // the content is ignored: every ask writes the same record
		id, err := s.ask(r.Context())
		reply(w, id, errors.Join(readErr, err))
	})
	mux.HandleFunc("GET /wait", func(w http.ResponseWriter, r *http.Request) {
		reply(w, string(bareAnswer), s.wait(r.Context(), r.URL.Query().Get("id")))
	})
	mux.HandleFunc("POST /answer", func(w http.ResponseWriter, r *http.Request) {
		_, readErr := io.Copy(io.Discard, r.Body)
		reply(w, `{"ok":true}`, errors.Join(readErr, s.answer(r.Context(), r.URL.Query().Get("id"))))
	})
	return mux
}

func (p *httpAnswered) answer(ctx context.Context, id string) error {
	_, err := p.do(ctx, http.MethodPost, "/answer?id="+id, bareAnswer)
	return err
}

func (p *httpAnswered) do(ctx context.Context, method, path string, body []byte) (string, error) {
	r, err := http.NewRequestWithContext(ctx, method, p.address+path, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	if len(body) > 0 {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := p.http.Do(r)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %s: %s", method, path, res.Status, raw)
	}
	return string(raw), err
}

func (p *httpAnswered) close() error {
	p.http.CloseIdleConnections()
	return errors.Join(p.stop(), p.subject.close())
}

// A remoteSubject is a subject with all calls over HTTP.
type remoteSubject struct{ *httpAnswered }

func overHTTP(open func(context.Context, string) (subject, error)) func(context.Context, string) (subject, error) {
	return func(ctx context.Context, path string) (subject, error) {
		p, err := openHTTPAnswered(ctx, path, open)
		return remoteSubject{p}, err
	}
}

func (d remoteSubject) ask(ctx context.Context) (string, error) {
	return d.do(ctx, http.MethodPost, "/ask", bareQuestion)
}

func (d remoteSubject) wait(ctx context.Context, id string) error {
	got, err := d.do(ctx, http.MethodGet, "/wait?id="+id, nil)
	if err == nil && got != string(bareAnswer) {
		err = errors.New("the answer differs from the sent answer")
	}
	return err
}
