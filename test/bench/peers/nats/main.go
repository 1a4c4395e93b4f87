// Nats runs the cycle on NATS JetStream. The server runs in this process, and its clients are connected by
// TCP. A question is a message that is acknowledged after it was stored. An answer is also a message. The
// server rejects an answer if the question already has an answer. With SyncAlways the server syncs every
// message.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/askback/askback/test/bench/peers/cycle"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// The streams of questions and answers.
const (
	asks    = "ASK"
	answers = "ANS"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "nats:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true,
		StoreDir: filepath.Join(cycle.Folder(), "nats"), SyncAlways: true, NoSigs: true,
	})
	if err != nil {
		return err
	}
	go s.Start()
	defer s.Shutdown()
	if !s.ReadyForConnections(30 * time.Second) {
		return errors.New("the server does not accept connections")
	}
	js, err := connect(s.ClientURL())
	if err != nil {
		return err
	}
	for _, name := range []string{asks, answers} {
		if _, err := js.CreateStream(ctx, jetstream.StreamConfig{
			Name: name, Subjects: []string{name + ".>"}, Storage: jetstream.FileStorage,
		}); err != nil {
			return err
		}
	}
	a := &agents{js: js}
	if err := a.consume(ctx, s.ClientURL()); err != nil {
		return err
	}
	return cycle.Serve(cycle.Peer{
		Version: server.VERSION,
		Ask:     func(id string) (<-chan time.Time, error) { return a.ask(ctx, id) },
		Answer:  func(id string) error { return a.answer(ctx, id) },
	})
}

func connect(url string) (jetstream.JetStream, error) {
	conn, err := nats.Connect(url)
	if err != nil {
		return nil, err
	}
	return jetstream.New(conn)
}

// agents sends questions and answers. waiting has a channel for each run that waits, keyed by the id of the
// run.
type agents struct {
	js      jetstream.JetStream
	waiting sync.Map
}

// consume resumes the waiting runs with the answers that one consumer receives.
func (a *agents) consume(ctx context.Context, url string) error {
	js, err := connect(url)
	if err != nil {
		return err
	}
	c, err := js.OrderedConsumer(ctx, answers, jetstream.OrderedConsumerConfig{})
	if err != nil {
		return err
	}
	_, err = c.Consume(func(m jetstream.Msg) {
		if has, ok := a.waiting.LoadAndDelete(m.Subject()[len(answers)+1:]); ok {
			has.(chan time.Time) <- time.Now()
		}
	})
	return err
}

func (a *agents) ask(ctx context.Context, id string) (<-chan time.Time, error) {
	has := make(chan time.Time, 1)
	a.waiting.Store(id, has)
	_, err := a.js.Publish(ctx, asks+"."+id, cycle.Question)
	return has, err
}

func (a *agents) answer(ctx context.Context, id string) error {
	_, err := a.js.Publish(ctx, answers+"."+id, cycle.Answer, jetstream.WithExpectLastSequencePerSubject(0))
	return err
}
