package sqlite

import (
	"context"
	"errors"
	"sync"

	sqlite3 "zombiezen.com/go/sqlite"
)

// A pool opens and keeps the connections that read. Each connection keeps its prepared statements. It has at
// most one statement for each set of filters, a few hundred in all.
type pool struct {
	path  string
	slots chan struct{} // has an element for each connection in use

	mu   sync.Mutex
	idle []*sqlite3.Conn
}

// newPool returns a pool with one open connection.
func newPool(path string) (*pool, error) {
	conn, err := connect(path, true)
	if err != nil {
		return nil, err
	}
	return &pool{path: path, slots: make(chan struct{}, readers), idle: []*sqlite3.Conn{conn}}, nil
}

// get returns a connection, which the caller must return with put. If all connections are in use, get waits
// until one is returned or ctx ends.
func (p *pool) get(ctx context.Context) (*sqlite3.Conn, error) {
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	p.mu.Lock()
	if last := len(p.idle) - 1; last >= 0 { // the pages of this connection are the most likely to be in memory
		conn := p.idle[last]
		p.idle = p.idle[:last]
		p.mu.Unlock()
		return conn, nil
	}
	p.mu.Unlock()
	conn, err := connect(p.path, true)
	if err != nil {
		<-p.slots
	}
	return conn, err
}

func (p *pool) put(conn *sqlite3.Conn) {
	p.mu.Lock()
	p.idle = append(p.idle, conn)
	p.mu.Unlock()
	<-p.slots
}

// close closes the connections. No connection may be in use.
func (p *pool) close() error {
	var errs []error
	for _, conn := range p.idle {
		errs = append(errs, conn.Close())
	}
	return errors.Join(errs...)
}
