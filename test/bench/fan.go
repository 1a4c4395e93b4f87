package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/askback/askback"
)

// A productStreamServer is Askback, with followers over HTTP and asks in this process.
type productStreamServer struct {
	*product
	address, token string
}

func openProductStreamServer(ctx context.Context, path string) (streamServer, error) {
	p, address, err := openServer(ctx, path, nil)
	if err != nil {
		return nil, err
	}
	token, err := p.createToken(ctx, answerer)
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	return &productStreamServer{p, address, token}, nil
}

func (p *productStreamServer) stream() (address, path, token string) {
	return p.address, "/api/v1/events", p.token
}

// A bareStreamServer is a minimal server of events about durable asks: the bare cycle, a channel for each
// follower, and net/http. It has no tokens, cursors or history, and encodes the frame once.
type bareStreamServer struct {
	*bare
	address string
	stop    func() error
	frame   []byte

	mu        sync.Mutex
	followers map[chan []byte]struct{}
}

func openBareStreamServer(ctx context.Context, path string) (streamServer, error) {
	s, err := openBare(ctx, path)
	if err != nil {
		return nil, err
	}
	ln, address, err := listenLoopback()
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	b := &bareStreamServer{bare: s.(*bare), address: address, followers: map[chan []byte]struct{}{}}
	if b.frame, err = newBareFrame(); err != nil {
		return nil, errors.Join(err, s.close(), ln.Close())
	}
	b.stop = serve(ln, b, nil)
	return b, nil
}

// newBareFrame returns a frame with an event about an ask, about as long as a frame of Askback.
func newBareFrame() ([]byte, error) {
	r := request()
	a := askback.Ask{
		ID: "ask_01k000000000000000000000000", SessionID: "ses_01k000000000000000000000000", Agent: asker.Name,
		Kind: askback.Questions, Questions: r.Questions, Context: r.Context, Status: askback.Pending,
	}
	data, err := json.Marshal(map[string]any{
		"question_id": a.ID, "session_id": a.SessionID, "questions": a.Form(), "ask": a,
	})
	if err != nil {
		return nil, err
	}
	line, err := askback.Event{
		Seq: 1, SessionID: a.SessionID, Type: askback.EventQuestionPending, Data: data,
	}.MarshalJSON()
	return fmt.Appendf(nil, "id: MTAuMQ\n%s\ndata: %s\n\n", askEventLine, line), err
}

// ServeHTTP streams a snapshot, and then an event for each ask.
func (b *bareStreamServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	queue := make(chan []byte, eventsPerRound+warmEvents)
	b.mu.Lock()
	b.followers[queue] = struct{}{}
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.followers, queue)
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	out, frame := http.NewResponseController(w), []byte("event: snapshot\ndata: {}\n\n")
	for {
		if _, err := w.Write(frame); err != nil || out.Flush() != nil {
			return
		}
		select {
		case frame = <-queue:
		case <-r.Context().Done():
			return
		}
	}
}

// ask makes an ask, and sends the event to all followers when the ask is
// durable.
func (b *bareStreamServer) ask(ctx context.Context) (string, error) {
	id, err := b.bare.ask(ctx)
	if err != nil {
		return id, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for queue := range b.followers {
		queue <- b.frame
	}
	return id, nil
}

func (b *bareStreamServer) stream() (address, path, token string) {
	return b.address, "/events", "none"
}

func (b *bareStreamServer) close() error { return errors.Join(b.stop(), b.bare.close()) }
