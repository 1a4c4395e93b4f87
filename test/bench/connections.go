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

// Polls are what a server tells those who are going to wait there: where it is,
// and for each of them the ask, its session and the token.
type polls struct {
	Address  string   `json:"address"`
	Asks     []string `json:"asks"`
	Sessions []string `json:"sessions"`
	Tokens   []string `json:"tokens"` // each good for the next waitersEach asks
}

// A waiting is a kind of request that waits.
type waiting struct {
	path func(p polls, i int) string
	// begun returns when the server has sent all that it has to say now.
	begun func(net.Conn) error
}

// longPoll waits for an ask; oneStream follows its session.
var (
	longPoll = waiting{
		func(p polls, i int) string { return "/api/v1/asks/" + p.Asks[i] + "?wait=60s" },
		func(net.Conn) error { return nil },
	}
	oneStream = waiting{
		func(p polls, i int) string { return "/api/v1/sessions/" + p.Sessions[i] + "/events" },
		readSnapshot,
	}
)

// readSnapshot reads the first frame of a stream.
func readSnapshot(conn net.Conn) error {
	in := bufio.NewReader(conn)
	for begun := false; ; {
		line, err := in.ReadString('\n')
		if err != nil {
			return fmt.Errorf("a stream ended before it began: %w", err)
		}
		switch {
		case strings.HasPrefix(line, "event: snapshot"):
			begun = true
		case begun && line == "\n":
			return nil
		}
	}
}

// measureConnections lets a server in a process of its own hold so many requests,
// each on its own connection and about an ask of its own, and looks at its size
// before and then.
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
		at           polls
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

// request sends all the requests and reads what comes at once: the least that a
// client can be.
func (p polls) request(ctx context.Context, of waiting) (all []net.Conn, err error) {
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
		if err := get(conn, server.Host, of.path(p, i), p.Tokens[i/waitersEach]); err != nil {
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

// underWay counts the requests a server is busy with. One that was refused is
// under way no more.
type underWay struct{ atomic.Int64 }

func (u *underWay) note(_ net.Conn, now http.ConnState) {
	switch now {
	case http.StateActive:
		u.Add(1)
	case http.StateIdle:
		u.Add(-1)
	}
}

// sleepersEach is how many goroutines wait for one long poll, or one stream: its
// handler, and one of net/http that looks whether the client is gone.
const sleepersEach = 2

// serveChild serves Askback, and says how much memory it takes before and while
// so many calls wait.
func serveChild(ctx context.Context, out *json.Encoder, path string, numbers []int) error {
	var busy underWay
	p, address, err := openServer(ctx, path, busy.note)
	if err != nil {
		return err
	}
	defer p.close()
	n := numbers[0]
	if err := p.invite(ctx, out, address, n); err != nil {
		return err
	}
	if err := out.Encode(footprint{"connections", n, 0, settledMemory()}); err != nil {
		return err
	}
	err = rest(ctx, func() bool { return busy.Load() == int64(n) && sleepers() >= uint64(sleepersEach*n) })
	if err != nil {
		return err
	}
	return out.Encode(footprint{"connections", n, n, settledMemory()})
}

// invite prepares for so many long polls, and says where they go.
func (p *product) invite(ctx context.Context, out *json.Encoder, address string, n int) error {
	at, err := p.prepare(ctx, address, n)
	if err != nil {
		return err
	}
	if err := p.look(ctx, at.Asks); err != nil {
		return err
	}
	return out.Encode(at)
}

// prepare makes the asks that are waited for, of as many agents as the bound on
// the waiters of each requires.
func (p *product) prepare(ctx context.Context, address string, n int) (polls, error) {
	at := polls{Address: address}
	for len(at.Asks) < n {
		who := askback.Principal{Kind: askback.Agent, Name: fmt.Sprint("agent ", len(at.Tokens)), Channel: askback.ChannelAPI}
		secret, err := p.admit(ctx, who)
		if err != nil {
			return at, err
		}
		at.Tokens = append(at.Tokens, secret)
		seat := p.engine.As(who)
		for range min(waitersEach, n-len(at.Asks)) {
			a, err := seat.Ask(ctx, request())
			if err != nil {
				return at, err
			}
			at.Asks, at.Sessions = append(at.Asks, a.ID), append(at.Sessions, a.SessionID)
		}
	}
	return at, nil
}
