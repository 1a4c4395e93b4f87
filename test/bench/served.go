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

// maxIdle is how many connections a client keeps: more than are ever in use, so
// that nobody connects in the middle of a measurement.
const maxIdle = 512

// dialer returns a client of one server, the same for every contender.
func dialer() *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConns: maxIdle, MaxIdleConnsPerHost: maxIdle}}
}

// port returns a free port of this machine, and its address.
func port() (net.Listener, string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	return ln, "http://" + ln.Addr().String(), nil
}

// serve serves on a port until stop is called, with the limits of askback serve.
func serve(ln net.Listener, h http.Handler, note func(net.Conn, http.ConnState)) (stop func() error) {
	s := &http.Server{
		Handler: h, ConnState: note,
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
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

// posted is a subject in this process whose answers come over HTTP, by the
// least that this takes: a path, an id and bytes; no token, no JSON.
type posted struct {
	subject
	address string
	http    *http.Client
	stop    func() error
}

func post(open func(context.Context, string) (subject, error)) func(context.Context, string) (subject, error) {
	return func(ctx context.Context, path string) (subject, error) { return openPosted(ctx, path, open) }
}

func openPosted(ctx context.Context, path string, open func(context.Context, string) (subject, error)) (*posted, error) {
	s, err := open(ctx, path)
	if err != nil {
		return nil, err
	}
	ln, address, err := port()
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return &posted{s, address, dialer(), serve(ln, plain(s), nil)}, nil
}

// plain serves a subject.
func plain(s subject) http.Handler {
	reply := func(w http.ResponseWriter, with string, err error) {
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_, _ = io.WriteString(w, with)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /ask", func(w http.ResponseWriter, r *http.Request) {
		_, readErr := io.Copy(io.Discard, r.Body) // what is written is the same whatever was sent
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

func (p *posted) answer(ctx context.Context, id string) error {
	_, err := p.do(ctx, http.MethodPost, "/answer?id="+id, bareAnswer)
	return err
}

func (p *posted) do(ctx context.Context, method, path string, body []byte) (string, error) {
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

func (p *posted) close() error {
	p.http.CloseIdleConnections()
	return errors.Join(p.stop(), p.subject.close())
}

// distant is a subject all of whose calls come over HTTP.
type distant struct{ *posted }

func far(open func(context.Context, string) (subject, error)) func(context.Context, string) (subject, error) {
	return func(ctx context.Context, path string) (subject, error) {
		p, err := openPosted(ctx, path, open)
		return distant{p}, err
	}
}

func (d distant) ask(ctx context.Context) (string, error) {
	return d.do(ctx, http.MethodPost, "/ask", bareQuestion)
}

func (d distant) wait(ctx context.Context, id string) error {
	got, err := d.do(ctx, http.MethodGet, "/wait?id="+id, nil)
	if err == nil && got != string(bareAnswer) {
		err = errors.New("another answer than the one that was given")
	}
	return err
}
