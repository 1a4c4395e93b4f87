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

// pollTargets is sent by a server child: its address, and an ask, a session and
// a token for each request that will wait.
type pollTargets struct {
	Address  string   `json:"address"`
	Asks     []string `json:"asks"`
	Sessions []string `json:"sessions"`
	Tokens   []string `json:"tokens"` // each for the next waitersPerAgent asks
}

// A waiting is a kind of request that waits at a server.
type waiting struct {
	path func(p pollTargets, i int) string
	// begun returns when the server has sent its first response data.
	begun func(net.Conn) error
}

// longPoll waits for an ask, and oneStream follows its session.
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

// measureConnections starts a server in a child process and measures its memory
// without requests and with the given number of waiting requests, each on its
// own connection and for its own ask.
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

// request sends all requests and reads the first data of their responses. It is
// a minimal client.
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

// activeRequests counts the requests that a server is handling, without the
// rejected ones.
type activeRequests struct{ atomic.Int64 }

func (u *activeRequests) note(_ net.Conn, now http.ConnState) {
	switch now {
	case http.StateActive:
		u.Add(1)
	case http.StateIdle:
		u.Add(-1)
	}
}

// goroutinesPerRequest is how many goroutines block for one long poll or
// stream: its handler, and one of net/http that detects closed connections.
const goroutinesPerRequest = 2

// serveChild runs a server, and reports its memory before and while the given
// number of requests waits.
func serveChild(ctx context.Context, out *json.Encoder, path string, numbers []int) error {
	var busy activeRequests
	p, address, err := openServer(ctx, path, busy.note)
	if err != nil {
		return err
	}
	defer p.close()
	n := numbers[0]
	if err := p.holdPolls(ctx, out, address, n); err != nil {
		return err
	}
	if err := out.Encode(footprint{"connections", n, 0, settledMemory()}); err != nil {
		return err
	}
	err = waitIdle(ctx, func() bool { return busy.Load() == int64(n) && blockedGoroutines() >= uint64(goroutinesPerRequest*n) })
	if err != nil {
		return err
	}
	return out.Encode(footprint{"connections", n, n, settledMemory()})
}

// holdPolls prepares n long polls, sends their targets to the parent and waits
// for them.
func (p *product) holdPolls(ctx context.Context, out *json.Encoder, address string, n int) error {
	at, err := p.prepare(ctx, address, n)
	if err != nil {
		return err
	}
	if err := p.readAsks(ctx, at.Asks); err != nil {
		return err
	}
	return out.Encode(at)
}

// prepare makes the asks to wait for, of as many agents as waitersPerAgent
// requires.
func (p *product) prepare(ctx context.Context, address string, n int) (pollTargets, error) {
	at := pollTargets{Address: address}
	for len(at.Asks) < n {
		who := askback.Principal{Kind: askback.Agent, Name: fmt.Sprint("agent ", len(at.Tokens)), Channel: askback.ChannelAPI}
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
