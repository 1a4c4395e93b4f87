//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/askback/askback/internal/instance"
)

// here is a command that runs in this process, on a database of its own.
type here struct {
	t      *testing.T
	place  instance.Place
	said   *syncBuffer
	in     *os.File // what is written here, the command reads
	exited chan int
}

func runHere(t *testing.T, args ...string) *here {
	t.Helper()
	dir := t.TempDir()
	for name, value := range map[string]string{"HOME": dir, "XDG_STATE_HOME": dir, "ASKBACK_DB": "", "ASKBACK_URL": "", "ASKBACK_TOKEN": "", "ASKBACK_CONFIG": ""} {
		t.Setenv(name, value)
	}
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	h := &here{t, instance.Place{Database: filepath.Join(dir, "askback", "askback.db")}, &syncBuffer{}, out, make(chan int, 1)}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		h.exited <- run(ctx, args, streams{in, io.Discard, h.said})
	}()
	t.Cleanup(func() {
		stop()
		<-ended
		in.Close()
		out.Close()
	})
	return h
}

// server returns what serves the database, once it does.
func (h *here) server() instance.Server {
	h.t.Helper()
	end := time.Now().Add(time.Minute)
	for time.Now().Before(end) {
		if s, ok := h.place.Last(); ok && s.Proves(h.t.Context()) == nil {
			return s
		}
		<-time.After(10 * time.Millisecond)
	}
	h.t.Fatalf("nothing serves:\n%s", h.said)
	return instance.Server{}
}

// send asks a question over the wire.
func (h *here) send(s instance.Server) (status int, body string) {
	h.t.Helper()
	token, err := os.ReadFile(filepath.Join(filepath.Dir(h.place.Database), "agent.token"))
	if err != nil {
		h.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(h.t.Context(), "POST", s.URL+"/api/v1/asks", strings.NewReader(`{"questions":[{"question":"Which?"}]}`))
	if err != nil {
		h.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	return res.StatusCode, fmt.Sprint(string(raw), err)
}

// breakDisk makes writes to the write-ahead log fail, as on a broken disk, until
// restore is called.
func (h *here) breakDisk() (restore func()) {
	h.t.Helper()
	wal, err := os.Stat(h.place.Database + "-wal")
	if err != nil {
		h.t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		h.t.Fatal(err)
	}
	limit := old
	limit.Cur = uint64(wal.Size() + 5000)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		h.t.Fatal(err)
	}
	return func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
			h.t.Fatal(err)
		}
		signal.Reset(syscall.SIGXFSZ)
	}
}

// firstCall is what a client of MCP sends until it called a tool.
const firstCall = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_open_questions","arguments":{}}}
`

// After the disk failed, a server and a command that serves while it waits finish what
// is under way, say why, and end: whatever supervises them starts them again. The client
// of askback mcp does that.
func TestProcessEndsWhenItsDatabaseFails(t *testing.T) {
	for name, args := range map[string][]string{
		"serve": {"serve", "--listen", "127.0.0.1:0"},
		"ask":   {"ask", "Go on?", "yes", "no"},
		"mcp":   {"mcp"},
	} {
		t.Run(name, func(t *testing.T) {
			h := runHere(t, args...)
			if name == "mcp" { // it opens the database for the first call
				if _, err := h.in.WriteString(firstCall); err != nil {
					t.Fatal(err)
				}
			}
			s := h.server()
			if status, body := h.send(s); status != http.StatusCreated {
				t.Fatalf("got %d %s, want an ask", status, body)
			}
			restore := h.breakDisk()
			defer restore()
			if status, body := h.send(s); status != http.StatusServiceUnavailable || !strings.Contains(body, ":unknown") && !strings.Contains(body, ":stopping") {
				t.Errorf("on a broken disk: got %d %s, want 503", status, body)
			}
			select {
			case code := <-h.exited:
				if said := h.said.String(); code != exitRefused || !strings.Contains(said, "askback: the database failed; restart Askback") {
					t.Errorf("got exit code %d and\n%s\nwant %d and the reason", code, said, exitRefused)
				}
			case <-time.After(time.Minute):
				t.Fatalf("it goes on:\n%s", h.said)
			}
			if _, there := h.place.Last(); there {
				t.Error("server.json is still there")
			}
			lock, err := instance.Hold(h.place.Database)
			if err != nil {
				t.Fatalf("the lock: %v", err)
			}
			if err := lock.Release(); err != nil {
				t.Error(err)
			}
		})
	}
}
