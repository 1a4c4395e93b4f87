package httpapi_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/store/memstore"
)

// A waiting request has a stack of 4 KB. Its connection has another stack of 2 KB, on which net/http detects
// that the client disconnects. Making an ask needs a larger stack. Each garbage collection halves this stack
// if a quarter of the stack is enough for the wait. The limits are a quarter higher, because another release
// of Go may need more.
func TestWaitingRequestsHaveSmallStacks(t *testing.T) {
	if underRace() {
		t.Skip("the race detector enlarges stacks")
	}
	const n = 100
	head := " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"
	get := func(path string) string { return "GET " + path + head + "\r\n" }
	post := func(path, body string) string {
		return "POST " + path + head + "Content-Type: application/json\r\nContent-Length: " +
			strconv.Itoa(len(body)) + "\r\n\r\n" + body
	}
	for _, in := range []struct {
		name    string
		limit   int // bytes for each request
		request func(a askback.Ask) string
	}{
		{"long poll", 8000, func(a askback.Ask) string { return get("/api/v1/asks/" + a.ID + "?wait=60s") }},
		{"event stream", 8000, func(a askback.Ask) string {
			return get("/api/v1/sessions/" + a.SessionID + "/events")
		}},
		{"ask with wait", 13_000, func(askback.Ask) string { return post("/api/v1/asks?wait=60s", databases) }},
	} {
		t.Run(in.name, func(t *testing.T) {
			db := memstore.New()
			w := newFixtureOn(t, engine.New(db, &engine.Options{MaxOpen: 1000, MaxWaiters: n}), db, &httpapi.Options{})
			server := httptest.NewServer(w.handler)
			t.Cleanup(server.Close)
			t.Cleanup(w.handler.Stop)
			ask := w.ask(databases)
			secret := w.token(bot)
			defer startSmallStacks()()
			before, others := stackBytes(), blocked()
			for range n {
				conn, err := net.Dial("tcp", server.Listener.Addr().String())
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				fmt.Fprintf(conn, in.request(ask), secret)
				if in.name == "event stream" {
					readSnapshot(t, conn)
				}
			}
			waitForBlocked(t, others+2*n)
			for range collections {
				runtime.GC()
			}
			if got := (stackBytes() - before) / n; got > in.limit {
				t.Errorf("got %d bytes of stack for each request, want at most %d", got, in.limit)
			}
		})
	}
}

// readSnapshot reads until the end of the first event of a stream.
func readSnapshot(t *testing.T, conn net.Conn) {
	t.Helper()
	for in := bufio.NewScanner(conn); in.Scan(); {
		if strings.HasPrefix(in.Text(), "data: ") {
			return
		}
	}
	t.Fatal("the stream ended before its first event")
}

// waitForBlocked waits until at least the given number of goroutines are blocked.
func waitForBlocked(t *testing.T, goroutines uint64) {
	t.Helper()
	for limit := limitedContext(t); blocked() < goroutines; runtime.Gosched() {
		if limit.Err() != nil {
			t.Fatalf("%d goroutines block, want %d", blocked(), goroutines)
		}
	}
}

// blocked returns the number of blocked goroutines.
func blocked() uint64 {
	s := []metrics.Sample{{Name: "/sched/goroutines/waiting:goroutines"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// startSmallStacks makes new goroutines start with the smallest stack, until end is called. Each garbage
// collection sets the initial size to the average stack size of all goroutines.
func startSmallStacks() (end func()) {
	stop := make(chan struct{})
	for range 1000 {
		go func() { <-stop }()
	}
	for range collections {
		runtime.GC()
	}
	return func() { close(stop) }
}

// collections is the number of garbage collections after which all stacks are small. One collection at most
// halves a stack.
const collections = 4

func stackBytes() int {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.StackInuse)
}

// underRace reports whether the test was built with -race, which needs more memory.
func underRace() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}
