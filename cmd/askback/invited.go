package main

import (
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/askback/askback/internal/loopback"
)

// invited refuses requests that name a host which is not this server, when it
// listens on loopback. A page of a stranger can point its own name at 127.0.0.1
// and would then be of one origin with us (T28, DNS rebinding); the
// browser still says that name.
func invited(at net.Addr, public string, next http.Handler) http.Handler {
	if !loopback.IsHost(at.String()) {
		return next
	}
	var known string
	if u, err := url.Parse(public); err == nil {
		known = u.Hostname()
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if loopback.IsHost(r.Host) || known != "" && strings.EqualFold(hostname(r.Host), known) {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusMisdirectedRequest)
		_, _ = io.WriteString(w, misdirected)
	})
}

const misdirected = `{"type":"urn:askback:problem:misdirected","title":"Misdirected Request","status":421,` +
	`"detail":"this server goes by another name; say it with askback serve --public-url"}` + "\n"

// hostname is a Host without its port.
func hostname(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.Trim(host, "[]")
}

// connections are those on which nothing was asked yet. Browsers open some in
// advance, and a server that shuts down would wait seconds for each.
type connections struct {
	mu   sync.Mutex
	open map[net.Conn]struct{}
}

func (c *connections) note(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if state != http.StateNew {
		delete(c.open, conn)
		return
	}
	if c.open == nil {
		c.open = map[net.Conn]struct{}{}
	}
	c.open[conn] = struct{}{}
}

func (c *connections) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.open {
		_ = conn.Close()
	}
}
