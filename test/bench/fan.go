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

// productFan is Askback, followed over HTTP and asked in this process.
type productFan struct {
	*product
	address, token string
}

func openProductFan(ctx context.Context, path string) (fan, error) {
	p, address, err := openServer(ctx, path, nil)
	if err != nil {
		return nil, err
	}
	token, err := p.admit(ctx, answerer)
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	return &productFan{p, address, token}, nil
}

func (p *productFan) stream() (address, path, token string) {
	return p.address, "/api/v1/events", p.token
}

// bareFan is the least that tells many of a durable ask: the bare cycle, a
// channel for each who follows, and net/http. There is no token, no cursor that
// could be gone back to and no history; the frame is made once.
type bareFan struct {
	*bare
	address string
	stop    func() error
	frame   []byte

	mu        sync.Mutex
	followers map[chan []byte]struct{}
}

func openBareFan(ctx context.Context, path string) (fan, error) {
	s, err := openBare(ctx, path)
	if err != nil {
		return nil, err
	}
	ln, address, err := port()
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	b := &bareFan{bare: s.(*bare), address: address, followers: map[chan []byte]struct{}{}}
	if b.frame, err = bareFrame(); err != nil {
		return nil, errors.Join(err, s.close(), ln.Close())
	}
	b.stop = serve(ln, b, nil)
	return b, nil
}

// bareFrame is as long as the frame that Askback sends of an ask.
func bareFrame() ([]byte, error) {
	r := request()
	a := askback.Ask{
		ID: "ask_01k000000000000000000000000", SessionID: "ses_01k000000000000000000000000", Agent: asker.Name,
		Kind: askback.Questions, Questions: r.Questions, Context: r.Context, Status: askback.Pending,
	}
	data, err := json.Marshal(map[string]any{"question_id": a.ID, "session_id": a.SessionID, "questions": a.Form(), "ask": a})
	if err != nil {
		return nil, err
	}
	line, err := askback.Event{Seq: 1, SessionID: a.SessionID, Type: askback.EventQuestionPending, Data: data}.MarshalJSON()
	return fmt.Appendf(nil, "id: MTAuMQ\n%s\ndata: %s\n\n", toldLine, line), err
}

// ServeHTTP streams what is asked.
func (b *bareFan) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	told := make(chan []byte, eventsEach+warmEvents)
	b.mu.Lock()
	b.followers[told] = struct{}{}
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.followers, told)
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	out, frame := http.NewResponseController(w), []byte("event: snapshot\ndata: {}\n\n")
	for {
		if _, err := w.Write(frame); err != nil || out.Flush() != nil {
			return
		}
		select {
		case frame = <-told:
		case <-r.Context().Done():
			return
		}
	}
}

// ask tells all who follow, once the ask is durable.
func (b *bareFan) ask(ctx context.Context) (string, error) {
	id, err := b.bare.ask(ctx)
	if err != nil {
		return id, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for told := range b.followers {
		told <- b.frame
	}
	return id, nil
}

func (b *bareFan) stream() (address, path, token string) { return b.address, "/events", "none" }

func (b *bareFan) close() error { return errors.Join(b.stop(), b.bare.close()) }
