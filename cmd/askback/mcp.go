package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"os"
	"path/filepath"

	"github.com/askback/askback/internal/claudehook"
	"github.com/askback/askback/mcpserver"
)

type mcpCommand struct{}

// Run serves one agent on standard input and output, until its input ends. What
// it asked stays asked. Nothing else is written on standard output.
func (c *mcpCommand) Run(ctx context.Context, io streams, all *commands) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	s := waiting
	s.failed = end // its client starts it again; every further call would fail
	return all.with(io, s, func(d *desk) error {
		server := mcpserver.New(&mcpserver.Options{
			Version: version(), Secret: d.tokens.seal(), Folder: projectFolder(), ClaudeSession: os.Getenv(claudehook.SessionVariable),
		})
		return server.ServeStdio(ctx, d.agent, io.in, io.out)
	})
}

// projectFolder returns the name of the folder that the client started this program
// in, which is the project's with Codex, OpenCode, Gemini CLI and Copilot. The root and the home folder are
// no projects: then it is "".
func projectFolder() string {
	dir, err := os.Getwd()
	if err != nil || dir == filepath.Dir(dir) {
		return ""
	}
	if home, err := os.UserHomeDir(); err == nil && filepath.Clean(home) == dir {
		return ""
	}
	return filepath.Base(dir)
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
