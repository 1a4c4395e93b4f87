package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"os"

	"github.com/askback/askback/internal/hook"
	"github.com/askback/askback/mcpserver"
)

type mcpCommand struct{}

// Run serves one agent on standard input and output, until its input ends. What
// it asked stays asked. Nothing else is written on standard output.
func (c *mcpCommand) Run(ctx context.Context, io streams, all *commands) error {
	return all.with(io, waiting, func(d *desk) error {
		return mcpserver.New(&mcpserver.Options{Version: version(), Secret: d.tokens.seal(), ClaudeSession: os.Getenv(hook.SessionVariable)}).ServeStdio(ctx, d.agent, io.in, io.out)
	})
}

// seal signs what MCP clients keep for a server. It follows from a token of this
// state directory, so that it outlives a restart and needs no file of its own.
func (s secrets) seal() []byte {
	if s.user == "" {
		return nil
	}
	sum := hmac.New(sha256.New, []byte(s.user))
	sum.Write([]byte("askback mcp"))
	return sum.Sum(nil)
}
