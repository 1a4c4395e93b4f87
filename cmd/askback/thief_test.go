package main

import (
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/askback/askback/internal/instance"
)

// thief listens where a server was, says yes to everything and keeps what it hears.
func thief(t *testing.T, at string) (url string, heard *syncBuffer) {
	t.Helper()
	ln, err := net.Listen("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	heard = &syncBuffer{}
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
					_, _ = heard.Write(buf[:n])
					_, _ = conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{\"proof\":\"yes\"}"))
				}
			}()
		}
	}()
	t.Cleanup(func() { ln.Close() })
	return "http://" + ln.Addr().String(), heard
}

var challenge = regexp.MustCompile(`^GET /healthz\?nonce=[A-Z2-7]{26} HTTP/1\.1\r\nHost: 127\.0\.0\.1:\d+\r\n\r\n`)

// No token is ever sent to a port that has not proved itself: of a thief's whole
// catch, every byte belongs to the challenge (T28).
func TestThiefHearsTheChallengeAndNothingElse(t *testing.T) {
	t.Parallel()
	env, database := sandbox(t)
	mustRun(t, env, "list") // makes the tokens
	url, heard := thief(t, "127.0.0.1:0")
	place := instance.Place{Database: database}
	lock, err := instance.Hold(database) // somebody holds the database and does not serve
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lock.Release() })
	if err := place.Announce(instance.Server{Instance: "stale", URL: url, PID: 1, Kind: instance.KindAsk, Secret: "what only the dead one knew"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ env, args []string }{
		{env, []string{"list"}},
		{env, []string{"ask", "Which?", "a", "b"}},
		{env, []string{"serve", "--listen", "127.0.0.1:0"}},
		{append(env[:len(env):len(env)], "ASKBACK_URL="+url), []string{"list"}},
		{append(env[:len(env):len(env)], "ASKBACK_URL="+url, "ASKBACK_TOKEN=askback_mine"), []string{"list"}},
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
		rest := heard.String()
		if rest == "" {
			t.Error("the thief heard nothing, so nothing was tried")
		}
		for rest != "" {
			asked := challenge.FindString(rest)
			if asked == "" {
				t.Fatalf("the thief heard more than challenges: %q", rest)
			}
			rest = rest[len(asked):]
		}
	})
}

// A server that yields its place to a stranger in the middle of things is not
// missed: the same is tried with a real one that is killed.
func TestThiefTakesThePortOfAKilledServer(t *testing.T) {
	t.Parallel()
	env, database := sandbox(t)
	server := launch(t, env, "serve", "--listen", "127.0.0.1:0")
	server.waitForStderr(t, "msg=serving")
	waits := launch(t, env, "ask", "Which?", "a", "b")
	waits.waitForStderr(t, "Type one")
	s, _ := instance.Place{Database: database}.Last()
	_ = server.cmd.Process.Kill()
	<-server.ended
	ln, err := net.Listen("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Skipf("LEFT OUT: a thief of the port: who waited was quicker and took the port: %v", err)
	}
	var caught syncBuffer
	thief := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_ = r.Header.Write(&caught)
	})}
	go func() { _ = thief.Serve(ln) }()
	defer thief.Close()
	id := askID.FindString(waits.err.String())
	mustRun(t, env, "answer", id, "b")
	if !waits.wait() || waits.out.String() != "b\n" {
		t.Errorf("who waited got %q, want b\n%s", waits.out.String(), waits.err.String())
	}
	if got := caught.String(); strings.Contains(got, "Authorization") {
		t.Errorf("the thief heard a token: %s", got)
	}
}
