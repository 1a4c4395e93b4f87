package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/askback/askback/internal/agents/claudecode"
	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/mcpserver"
)

type mcpCommand struct {
	Wait time.Duration `help:"Reply that a question is pending after a call has waited this long. The default is shorter than the client's own timeout."`
}

// qwenSession is the environment variable with the id of the session in Qwen Code.
const qwenSession = "QWEN_CODE_SESSION_ID"

// maxWait is the maximum of --wait.
const maxWait = 24 * time.Hour

// Validate checks --wait. kong calls it.
func (c *mcpCommand) Validate() error {
	if c.Wait < 0 || c.Wait > maxWait {
		return fmt.Errorf("--wait must be from 0s to %s", maxWait)
	}
	return nil
}

// Run serves one agent on standard input and output until the input or ctx ends, or the
// database fails. Open asks of the agent then stay open. Only MCP messages are written to
// standard output.
func (c *mcpCommand) Run(ctx context.Context, io streams, all *commands) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	_, o, err := all.clientOptions(ctx, io.err, instance.KindAsk)
	if err != nil {
		return err
	}
	o.OnDatabaseFailure = end // every further call would fail; the MCP client starts the command again
	conn, err := connector(o)
	if err != nil {
		return err
	}
	directory, _ := os.Getwd() // unknown folders look alike
	server := mcpserver.New(&mcpserver.Options{
		Version: version(), Secret: o.Tokens.Key(), Folder: projectFolder(), Wait: c.Wait,
		ClaudeSession: os.Getenv(claudecode.SessionVariable),
		Conversation:  cmp.Or(os.Getenv(claudecode.SessionVariable), os.Getenv(qwenSession)),
		Directory:     directory, Waiting: o.Place.Waiting(),
	})
	return thenClose(io, conn, server.ServeStdio(ctx, conn.Agent, io.in, io.out))
}

// projectFolder returns the name of the working directory. Codex, OpenCode, Gemini CLI and
// Copilot start this program in the folder of the project. For the root and the home
// directory it returns "".
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
