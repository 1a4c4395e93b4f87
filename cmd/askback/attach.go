package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/askback/askback/internal/agents/codex/appserver"
	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/local/connection"
	"github.com/askback/askback/internal/local/instance"
)

type attachCommand struct {
	Codex    attachCodex    `cmd:"" help:"Ask people what Codex asks at its terminal. The first answer counts."`
	OpenCode attachOpenCode `cmd:"" name:"opencode" help:"Ask people what the sessions of opencode serve ask. The first answer counts."`
}

type attachCodex struct {
	Socket string `complete:"file" placeholder:"FILE" help:"Connect to Codex's daemon at this socket. The default is its socket in CODEX_HOME or ~/.codex."`
}

// Run asks people about the requests of Codex's app-server until ctx ends. It then withdraws the asks that
// are still open, because Codex asks at its terminal as well.
func (c *attachCodex) Run(ctx context.Context, io streams, all *commands) error {
	socket := c.Socket
	var err error
	if socket == "" {
		socket, err = appserver.Socket(os.Getenv("CODEX_HOME"))
	} else {
		socket, err = filepath.Abs(socket)
	}
	if err != nil {
		return err
	}
	release, err := attachOnce(socket, instance.Hold)
	if err != nil {
		return err
	}
	defer release()
	conn, err := all.connector(ctx, io.err, instance.KindAsk)
	if err != nil {
		return err
	}
	f := &appserver.Follower{
		Asks: attending(conn), Socket: socket, Version: version(), Following: recordFollowed,
		Note: func(text string) { note(io.err, text) },
	}
	return thenClose(io, conn, f.Run(ctx))
}

// attachOnce locks a socket until release is called, so that only one process asks about its requests. It
// returns an error if another process has the lock. On a system without locks it does nothing.
func attachOnce(socket string, hold func(string) (*instance.Lock, error)) (release func(), err error) {
	dir, err := stateDir()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(socket))
	lock, err := hold(filepath.Join(dir, "attached-"+hex.EncodeToString(sum[:8])))
	switch {
	case errors.Is(err, instance.ErrHeld):
		return nil, fmt.Errorf("another askback attach is already attached to %s", socket)
	case errors.Is(err, errors.ErrUnsupported):
		return func() {}, nil
	case err != nil:
		return nil, err
	}
	return func() { _ = lock.Release() }, nil
}

// attending returns the client for a process that waits for the answers to its asks. If the database is on
// this machine, the client records each ask for which the process waits.
func attending(conn *connection.Connector) hook.Client {
	if conn.IsLocal() {
		return attendingClient{conn.Agent, conn.Place()}
	}
	return conn.Agent
}
