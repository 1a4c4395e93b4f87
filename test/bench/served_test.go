package main

import (
	"bufio"
	"cmp"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/askback/askback/httpapi"
)

// The place of each contender matches the clients with which it asks and answers.
func TestPlaceOfAContenderMatchesItsClients(t *testing.T) {
	for _, c := range contenders {
		s, err := c.open(t.Context(), filepath.Join(t.TempDir(), "place.db"))
		if err != nil {
			t.Fatal(err)
		}
		var got string
		switch s := s.(type) {
		case remoteSubject, *mcpProduct:
			got = remote
		case *httpAnswered:
			got = byPost
		case *product:
			_, agentAway := s.agent.(*httpapi.Client)
			_, personAway := s.person.(*httpapi.Client)
			got = map[[2]bool]string{
				{false, false}: inProcess, {false, true}: byPost, {true, true}: remote,
			}[[2]bool{agentAway, personAway}]
		default:
			got = inProcess
		}
		if got != c.place {
			t.Errorf("%s: got place %q, want %q", c.name, got, c.place)
		}
		if err := s.close(); err != nil {
			t.Errorf("%s, %s: %v", c.name, c.place, err)
		}
	}
}

func TestContendersOfEveryGoalExist(t *testing.T) {
	for _, g := range goals {
		for _, name := range []string{cmp.Or(g.of, "askback"), g.by} {
			if !slices.ContainsFunc(contenders,
				func(c contender) bool { return c.name == name && c.place == g.place }) {
				t.Errorf("%s against %s: there is no contender %s, %s", g.what, g.by, name, g.place)
			}
		}
	}
}

// A poll that the server has rejected does not count as waiting.
func TestRejectedPollIsNotActive(t *testing.T) {
	var busy activeRequests
	p, address, err := openServer(t.Context(), filepath.Join(t.TempDir(), "polls.db"), busy.note)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	at, err := p.prepare(t.Context(), address, 1)
	if err != nil {
		t.Fatal(err)
	}
	waiting := poll(t, at)
	until(t, "one active poll", func() bool { return busy.Load() == 1 })
	at.Tokens = []string{"invalid"}
	res, err := http.ReadResponse(bufio.NewReader(poll(t, at)), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != http.StatusUnauthorized {
		t.Errorf("got %s, %v; want 401", res.Status, err)
	}
	until(t, "the rejected poll has ended", func() bool { return busy.Load() == 1 })
	if err := p.answer(t.Context(), at.Asks[0]); err != nil {
		t.Fatal(err)
	}
	if res, err = http.ReadResponse(bufio.NewReader(waiting), nil); err != nil || res.StatusCode != http.StatusOK {
		t.Errorf("the waiting poll got %v, %v", res, err)
	}
	until(t, "no active polls", func() bool { return busy.Load() == 0 })
}

func poll(t *testing.T, at pollTargets) net.Conn {
	t.Helper()
	all, err := at.request(t.Context(), longPoll)
	if err != nil || len(all) != 1 {
		t.Fatalf("got %d connections, %v", len(all), err)
	}
	t.Cleanup(func() { _ = all[0].Close() })
	return all[0]
}

func until(t *testing.T, what string, so func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(time.Minute); !so(); <-tick.C {
		if time.Now().After(limit) {
			t.Fatalf("timeout: %s", what)
		}
	}
}
