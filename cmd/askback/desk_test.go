package main

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/instance"
)

// While one call looks for a server that does not answer, another one whose caller would
// not wait returns at once, and so does what needs no server.
func TestCallDoesNotWaitForAnotherThatLooksForAServer(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("ASKBACK_URL", "")
	d, err := (&commands{}).desk(serving{})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0") // accepts, and never answers
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	lock, err := instance.Hold(d.place.Database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lock.Release() })
	if err := d.place.Announce(instance.Server{URL: "http://" + ln.Addr().String(), PID: 1, Kind: instance.KindAsk, Secret: "secret"}); err != nil {
		t.Fatal(err)
	}
	looking, stop := context.WithCancel(context.Background())
	found := make(chan error, 1)
	go func() {
		_, err := d.connect(looking)
		found <- err
	}()
	conn, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()

	over, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := d.connect(over); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if page := d.page(askback.Ask{ID: "ask_1"}); page != "" {
		t.Errorf("got the page %q of no server", page)
	}
	d.reach()
	select {
	case err := <-found:
		t.Errorf("the first call ended before the others, with %v", err)
	default:
	}
	stop()
	if err := <-found; err == nil {
		t.Error("a server that does not answer was found")
	}
}
