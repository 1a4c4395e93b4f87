package main

import (
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/askback/askback/internal/local/instance"
)

// startImpostor starts a server that replies 200 to everything and records the requests.
func startImpostor(t *testing.T) (url string, received *syncBuffer) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	received = &syncBuffer{}
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				buf := make([]byte, 4096)
				for {
					n, err := conn.Read(buf)
					if err != nil {
						return
					}
					_, _ = received.Write(buf[:n])
					_, _ = conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{\"proof\":\"yes\"}"))
				}
			}()
		}
	}()
	t.Cleanup(func() { ln.Close() })
	return "http://" + ln.Addr().String(), received
}

var challenge = regexp.MustCompile(`^GET /healthz\?nonce=[A-Z2-7]{26} HTTP/1\.1\r\nHost: 127\.0\.0\.1:\d+\r\n\r\n`)

// A command sends no token to a server that has not proved its identity. Until then
// it sends only the challenge (T28).
func TestImpostorReceivesOnlyTheChallenge(t *testing.T) {
	t.Parallel()
	env, database := sandbox(t)
	mustRun(t, env, "list") // creates the tokens
	url, received := startImpostor(t)
	place := instance.Place{Database: database}
	lock, err := instance.Hold(database) // another process holds the database and does not serve
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lock.Release() })
	if err := place.Announce(instance.Server{
		Instance: "stale", URL: url, PID: 1, Kind: instance.KindAsk, Secret: "secret of the process before",
	}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ env, args []string }{
		{env, []string{"list"}},
		{env, []string{"ask", "Which?", "a", "b"}},
		{env, []string{"serve", "--listen", "127.0.0.1:0"}},
		{append(env[:len(env):len(env)], "ASKBACK_URL="+url), []string{"list"}},
		{append(env[:len(env):len(env)], "ASKBACK_URL="+url, "ASKBACK_TOKEN=askback_token"), []string{"list"}},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			t.Parallel()
			p := launch(t, c.env, c.args...)
			if !p.wait() || exitCode(p.result) != exitRefused {
				t.Errorf("exit code %d, want %d\n%s", exitCode(p.result), exitRefused, p.err.String())
			}
			if p.out.String() != "" {
				t.Errorf("standard output is %q, want nothing", p.out.String())
			}
		})
	}
	t.Cleanup(func() {
		rest := received.String()
		if rest == "" {
			t.Error("the impostor received nothing, so the test checked nothing")
		}
		for rest != "" {
			c := challenge.FindString(rest)
			if c == "" {
				t.Fatalf("the impostor received more than challenges: %q", rest)
			}
			rest = rest[len(c):]
		}
	})
}

// If another program takes the port of a killed server, a command that waits does not
// send its token there, and still gets its answer.
func TestImpostorAtPortOfKilledServerGetsNoToken(t *testing.T) {
	t.Parallel()
	env, database := sandbox(t)
	server := launch(t, env, "serve", "--listen", "127.0.0.1:0")
	server.waitForStderr(t, "msg=serving")
	waiting := launch(t, env, "ask", "Which?", "a", "b")
	waiting.waitForStderr(t, "Type one")
	s, _ := instance.Place{Database: database}.Last()
	_ = server.cmd.Process.Kill()
	<-server.ended
	ln, err := net.Listen("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Skipf("LEFT OUT: an impostor at the port, because the waiting command took the port first: %v", err)
	}
	var headers syncBuffer
	impostor := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_ = r.Header.Write(&headers)
	})}
	go func() { _ = impostor.Serve(ln) }()
	defer impostor.Close()
	id := askID.FindString(waiting.err.String())
	mustRun(t, env, "answer", id, "b")
	if !waiting.wait() || waiting.out.String() != "b\n" {
		t.Errorf("the waiting command printed %q, want b\n%s", waiting.out.String(), waiting.err.String())
	}
	if got := headers.String(); strings.Contains(got, "Authorization") {
		t.Errorf("the impostor received a token: %s", got)
	}
}
