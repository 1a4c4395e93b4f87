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

	"github.com/askback/askback/internal/local/instance"
)

// A localCommand is a command that runs in the test process with its own database.
type localCommand struct {
	t      *testing.T
	place  instance.Place
	stderr *syncBuffer
	stdin  *os.File // the write end of the pipe
	exited chan int
}

func startLocal(t *testing.T, args ...string) *localCommand {
	t.Helper()
	dir := t.TempDir()
	for name, value := range map[string]string{
		"HOME": dir, "XDG_STATE_HOME": dir, "ASKBACK_DB": "", "ASKBACK_URL": "", "ASKBACK_TOKEN": "",
		"ASKBACK_CONFIG": "",
	} {
		t.Setenv(name, value)
	}
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := &localCommand{
		t: t, place: instance.Place{Database: filepath.Join(dir, "askback", "askback.db")}, stderr: &syncBuffer{},
		stdin: out, exited: make(chan int, 1),
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.exited <- run(ctx, args, streams{in, io.Discard, c.stderr})
	}()
	t.Cleanup(func() {
		stop()
		<-ended
		in.Close()
		out.Close()
	})
	return c
}

// server waits until the command serves its database, and returns the server.
func (c *localCommand) server() instance.Server {
	c.t.Helper()
	end := time.Now().Add(time.Minute)
	for time.Now().Before(end) {
		if s, ok := c.place.Last(); ok && s.Proves(c.t.Context()) == nil {
			return s
		}
		<-time.After(10 * time.Millisecond)
	}
	c.t.Fatalf("the command does not serve:\n%s", c.stderr)
	return instance.Server{}
}

// ask asks a question over the API. It returns the status and the body of the reply, or 0 and the error of
// the request.
func (c *localCommand) ask(s instance.Server) (status int, body string) {
	c.t.Helper()
	token, err := os.ReadFile(filepath.Join(filepath.Dir(c.place.Database), "agent.token"))
	if err != nil {
		c.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(c.t.Context(), "POST", s.URL+"/api/v1/asks",
		strings.NewReader(`{"questions":[{"question":"Which?"}]}`))
	if err != nil {
		c.t.Fatal(err)
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

// breakDisk limits the size of files until restore is called. Writes to the write-ahead log fail once it has
// grown by 5000 bytes, as on a broken disk.
func (c *localCommand) breakDisk() (restore func()) {
	c.t.Helper()
	wal, err := os.Stat(c.place.Database + "-wal")
	if err != nil {
		c.t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		c.t.Fatal(err)
	}
	limit := old
	limit.Cur = uint64(wal.Size() + 5000)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		c.t.Fatal(err)
	}
	return func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
			c.t.Fatal(err)
		}
		signal.Reset(syscall.SIGXFSZ)
	}
}

// firstCall is the input of askback mcp up to the first tool call.
const firstCall = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_open_questions","arguments":{}}}
`

// When its database fails, a process that serves others rejects requests with 503, prints
// the reason and exits. A supervisor, or the client of askback mcp, can start it again.
func TestProcessEndsWhenItsDatabaseFails(t *testing.T) {
	for name, args := range map[string][]string{
		"serve": {"serve", "--listen", "127.0.0.1:0"},
		"ask":   {"ask", "Go on?", "yes", "no"},
		"mcp":   {"mcp"},
	} {
		t.Run(name, func(t *testing.T) {
			c := startLocal(t, args...)
			if name == "mcp" { // the first call opens the database
				if _, err := c.stdin.WriteString(firstCall); err != nil {
					t.Fatal(err)
				}
			}
			s := c.server()
			if status, body := c.ask(s); status != http.StatusCreated {
				t.Fatalf("got %d %s, want an ask", status, body)
			}
			restore := c.breakDisk()
			defer restore()
			if status, body := c.ask(s); status != http.StatusServiceUnavailable ||
				!strings.Contains(body, ":unknown") && !strings.Contains(body, ":stopping") {
				t.Errorf("on a broken disk: got %d %s, want 503", status, body)
			}
			select {
			case code := <-c.exited:
				if stderr := c.stderr.String(); code != exitRefused ||
					!strings.Contains(stderr, "askback: the database failed; restart Askback") {
					t.Errorf("got exit code %d and\n%s\nwant %d and the reason", code, stderr, exitRefused)
				}
			case <-time.After(time.Minute):
				t.Fatalf("the command has not exited:\n%s", c.stderr)
			}
			if _, ok := c.place.Last(); ok {
				t.Error("server.json is still there")
			}
			lock, err := instance.Hold(c.place.Database)
			if err != nil {
				t.Fatalf("the lock: %v", err)
			}
			if err := lock.Release(); err != nil {
				t.Error(err)
			}
		})
	}
}
