package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/askback/askback"
)

// A serverProcess runs the server on one database, isolated from the state of
// the current user.
type serverProcess struct {
	program string
	path    string
	env     []string
	tokens  string // folder of the tokens of the current user
}

func newServerProcess(dir, program, file string) serverProcess {
	return serverProcess{program, filepath.Join(dir, file), isolatedEnv(dir), filepath.Join(stateDir(dir), "askback")}
}

// token creates a token with "askback token add", and returns the account of the token.
func (p serverProcess) token(ctx context.Context, kind askback.Kind, name string) (account, error) {
	cmd := exec.CommandContext(ctx, p.program, "token", "add", "--kind", string(kind), "--name", name, "--db", p.path)
	cmd.Env = p.env
	var notes bytes.Buffer
	cmd.Stderr = &notes
	secret, err := cmd.Output()
	if err != nil {
		return account{}, fmt.Errorf("create a token: %w: %s", err, notes.String())
	}
	return account{name, strings.TrimSpace(string(secret))}, nil
}

// start starts the server on a free port of the loopback interface, and returns the process.
func (p serverProcess) start(ctx context.Context) (*child, error) {
	return startChild(ctx, p.env, p.program, "serve", "--listen", "127.0.0.1:0", "--db", p.path)
}

// stateDir returns the XDG_STATE_HOME of the programs of a test.
func stateDir(dir string) string { return filepath.Join(dir, "state") }

// isolatedEnv returns an environment without the state and settings of the current user. The environment has
// no GOGC, because a server with GOGC would not tune its collector.
func isolatedEnv(dir string) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "ASKBACK_") || strings.HasPrefix(v, "XDG_STATE_HOME=") ||
			strings.HasPrefix(v, "GOGC=")
	})
	return append(env, "XDG_STATE_HOME="+stateDir(dir))
}
