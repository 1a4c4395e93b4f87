package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/askback/askback"
)

// Polls are what a server tells those who are going to wait there: where it is,
// and for each of them the ask and the token.
type polls struct {
	Address string   `json:"address"`
	Asks    []string `json:"asks"`
	Tokens  []string `json:"tokens"` // each good for the next waitersEach asks
}

// measureConnections lets a server in a process of its own hold so many long
// polls, each on its own connection and for an ask of its own, and looks at its
// size before and then.
func measureConnections(ctx context.Context, p plan) (all []footprint, err error) {
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
	connections, err := at.poll(ctx)
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

// poll sends all the requests and reads nothing: the least that a client can be.
func (p polls) poll(ctx context.Context) (all []net.Conn, err error) {
	server, err := url.Parse(p.Address)
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	for i, id := range p.Asks {
		conn, err := d.DialContext(ctx, "tcp", server.Host)
		if err != nil {
			return all, fmt.Errorf("connection %d: %w", i, err)
		}
		all = append(all, conn)
		_, err = fmt.Fprintf(conn, "GET /api/v1/asks/%s?wait=60s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n",
			id, server.Host, p.Tokens[i/waitersEach])
		if err != nil {
			return all, fmt.Errorf("request %d: %w", i, err)
		}
	}
	return all, nil
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

// sleepersEach is how many goroutines wait for one long poll: its handler, and
// one of net/http that looks whether the client is gone.
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
		who := askback.Principal{Kind: askback.Agent, Name: fmt.Sprint("agent ", len(at.Tokens)), Via: askback.ViaAPI}
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
			at.Asks = append(at.Asks, a.ID)
		}
	}
	return at, nil
}
