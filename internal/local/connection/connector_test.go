package connection

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/internal/local/instance"
)

// newConnector returns a connector of this kind for the database in a folder.
func newConnector(t *testing.T, dir, kind string) *Connector {
	t.Helper()
	place, err := instance.At(filepath.Join(dir, "askback.db"))
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := ReadTokens(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	return New(Options{
		Place: place, Tokens: tokens, Engine: &engine.Options{}, Kind: kind, Listen: "127.0.0.1:0",
		Handler: func(i *Instance) Handler {
			return handler{httpapi.NewHandler(i.Engine(), &httpapi.Options{Proof: i.Proof, Yield: i.Yield})}
		},
	})
}

type handler struct{ *httpapi.Handler }

func (handler) Finish() {}

// connected returns a connector whose instance serves the database in a folder.
func connected(t *testing.T, dir string) *Connector {
	t.Helper()
	c := newConnector(t, dir, instance.KindAsk)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := c.connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCancelledCallDoesNotWaitForAConnection(t *testing.T) {
	t.Parallel()
	c := newConnector(t, t.TempDir(), "")
	place := c.options.Place
	ln, err := net.Listen("tcp", "127.0.0.1:0") // accepts and never replies
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	lock, err := instance.Hold(place.Database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lock.Release() })
	if err := place.Announce(
		instance.Server{URL: "http://" + ln.Addr().String(), PID: 1, Kind: instance.KindAsk, Secret: "secret"},
	); err != nil {
		t.Fatal(err)
	}
	connecting, stop := context.WithCancel(context.Background())
	connected := make(chan error, 1)
	go func() {
		_, err := c.connect(connecting)
		connected <- err
	}()
	conn, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()

	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := c.connect(cancelled); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if page := c.PageURL(askback.Ask{ID: "ask_1"}); page != "" {
		t.Errorf("got page %q without a server", page)
	}
	c.setReached()
	select {
	case err := <-connected:
		t.Errorf("the first call ended before the others: %v", err)
	default:
	}
	stop()
	if err := <-connected; err == nil {
		t.Error("connected to a server that does not reply")
	}
}

// The command continues with a new instance. Close of the first instance returns the error of its listener.
func TestInstanceIsReplacedAfterItsListenerFails(t *testing.T) {
	t.Parallel()
	c := connected(t, t.TempDir())
	first := c.instance
	if err := first.listener.Close(); err != nil {
		t.Fatal(err)
	}
	<-first.conn.closing.Done()
	if err := first.Close(); err == nil || !strings.Contains(err.Error(), "use of closed network connection") {
		t.Errorf("close of the first instance: got %v, want the error of its listener", err)
	}
	if _, err := c.User.List(t.Context(), askback.Query{}); err != nil {
		t.Errorf("next call: got error %v, want none", err)
	}
	if s, ok := c.options.Place.Last(); !ok || s.Proves(t.Context()) != nil {
		t.Errorf("got the server %+v, want a server that proves its identity", s)
	}
}

func TestFailedListenerIsReported(t *testing.T) {
	t.Parallel()
	c := newConnector(t, t.TempDir(), instance.KindServe)
	failed := make(chan error, 1)
	c.options.OnFailure = func(err error) { failed <- err }
	i, err := c.TakeOver(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := i.listener.Close(); err != nil {
		t.Fatal(err)
	}
	want := <-failed
	if err := i.Close(); want == nil || !errors.Is(err, want) {
		t.Errorf("Close: got %v, want the reported %v", err, want)
	}
}
