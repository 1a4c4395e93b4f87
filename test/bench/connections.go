package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/askback/askback"
)

// A pollTargets is the message of a child process that runs a server. It contains the address, the tokens,
// and an ask and a session for each request that will wait.
type pollTargets struct {
	Address  string   `json:"address"`
	Asks     []string `json:"asks"`
	Sessions []string `json:"sessions"`
	Tokens   []string `json:"tokens"` // each for the next waitersPerAgent asks
}

// waiting is a kind of request that stays open at a server. path returns the path of request i.
type waiting struct {
	path func(p pollTargets, i int) string
	// begun waits for the first data, if the server sends any before the request ends.
	begun func(net.Conn) error
}

// longPoll is a long poll for an ask. oneStream is an event stream of the session of an ask.
var (
	longPoll = waiting{
		func(p pollTargets, i int) string { return "/api/v1/asks/" + p.Asks[i] + "?wait=60s" },
		func(net.Conn) error { return nil },
	}
	oneStream = waiting{
		func(p pollTargets, i int) string { return "/api/v1/sessions/" + p.Sessions[i] + "/events" },
		readSnapshot,
	}
)

// readSnapshot reads the first frame of a stream.
func readSnapshot(conn net.Conn) error {
	in := bufio.NewReader(conn)
	for begun := false; ; {
		line, err := in.ReadString('\n')
		if err != nil {
			return fmt.Errorf("the stream ended before its first frame: %w", err)
		}
		switch {
		case strings.HasPrefix(line, "event: snapshot"):
			begun = true
		case begun && line == "\n":
			return nil
		}
	}
}

// measureConnections measures the memory of a server in a child process, first
// without requests and then with p.connected waiting requests. Each request has
// a separate connection and ask.
func measureConnections(ctx context.Context, p plan, of waiting) (all []footprint, err error) {
	dir, err := os.MkdirTemp(p.dir, ".bench-connections-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	c, err := start(ctx, "serve", filepath.Join(dir, "connections.db"), p.connected)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.kill()) }()
	var (
		before, then footprint
		at           pollTargets
	)
	if err := errors.Join(c.read(&at), c.read(&before)); err != nil {
		return nil, err
	}
	connections, err := at.request(ctx, of)
	defer func() {
		for _, conn := range connections {
			_ = conn.Close()
		}
	}()
	if err == nil {
		err = c.read(&then)
	}
	return []footprint{before, then}, err
}

// request sends a request for each ask on a new connection, and calls of.begun for each connection. The
// caller closes the connections, even after an error.
func (p pollTargets) request(ctx context.Context, of waiting) (all []net.Conn, err error) {
	server, err := url.Parse(p.Address)
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	for i := range p.Asks {
		conn, err := d.DialContext(ctx, "tcp", server.Host)
		if err != nil {
			return all, fmt.Errorf("connection %d: %w", i, err)
		}
		all = append(all, conn)
		if err := get(conn, server.Host, of.path(p, i), p.Tokens[i/waitersPerAgent]); err != nil {
			return all, fmt.Errorf("request %d: %w", i, err)
		}
		if err := of.begun(conn); err != nil {
			return all, fmt.Errorf("request %d: %w", i, err)
		}
	}
	return all, nil
}

func get(conn net.Conn, host, path, token string) error {
	_, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", path, host, token)
	return err
}

// activeRequests counts the requests that a server has received but not yet answered. A request stays counted
// if its connection closes before the reply.
type activeRequests struct{ atomic.Int64 }

func (u *activeRequests) note(_ net.Conn, now http.ConnState) {
	switch now {
	case http.StateActive:
		u.Add(1)
	case http.StateIdle:
		u.Add(-1)
	}
}

// goroutinesPerRequest is the number of goroutines that block for one long poll or stream: its handler, and a
// goroutine of net/http that detects closed connections.
const goroutinesPerRequest = 2

// serveChild runs a server, and reports its memory before requests wait and while numbers[0] requests wait.
func serveChild(ctx context.Context, out *json.Encoder, path string, numbers []int) error {
	var busy activeRequests
	p, address, err := openServer(ctx, path, busy.note)
	if err != nil {
		return err
	}
	defer p.close()
	n := numbers[0]
	if err := p.sendTargets(ctx, out, address, n); err != nil {
		return err
	}
	if err := out.Encode(footprint{"connections", n, 0, settledMemory()}); err != nil {
		return err
	}
	err = waitIdle(ctx,
		func() bool { return busy.Load() == int64(n) && blockedGoroutines() >= uint64(goroutinesPerRequest*n) })
	if err != nil {
		return err
	}
	return out.Encode(footprint{"connections", n, n, settledMemory()})
}

// sendTargets makes and reads the asks for n requests, and sends the targets of
// the requests to the parent.
func (p *product) sendTargets(ctx context.Context, out *json.Encoder, address string, n int) error {
	at, err := p.prepare(ctx, address, n)
	if err != nil {
		return err
	}
	if err := p.readAsks(ctx, at.Asks); err != nil {
		return err
	}
	return out.Encode(at)
}

// prepare makes n asks to wait for. Each agent makes at most waitersPerAgent asks, and has a token.
func (p *product) prepare(ctx context.Context, address string, n int) (pollTargets, error) {
	at := pollTargets{Address: address}
	for len(at.Asks) < n {
		who := askback.Principal{
			Kind: askback.Agent, Name: fmt.Sprint("agent ", len(at.Tokens)), Channel: askback.ChannelAPI,
		}
		secret, err := p.createToken(ctx, who)
		if err != nil {
			return at, err
		}
		at.Tokens = append(at.Tokens, secret)
		client := p.engine.As(who)
		for range min(waitersPerAgent, n-len(at.Asks)) {
			a, err := client.Ask(ctx, request())
			if err != nil {
				return at, err
			}
			at.Asks, at.Sessions = append(at.Asks, a.ID), append(at.Sessions, a.SessionID)
		}
	}
	return at, nil
}
