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

// A post is the real server on one database, which shares nothing with the user
// who proves it.
type post struct {
	program string
	path    string
	env     []string
	tokens  string // where the program keeps those of its user
}

func newPost(dir, program, file string) post {
	return post{program, filepath.Join(dir, file), alone(dir), filepath.Join(stateOf(dir), "askback")}
}

// token makes a token for somebody, with the program itself.
func (p post) token(ctx context.Context, kind askback.Kind, name string) (holder, error) {
	cmd := exec.CommandContext(ctx, p.program, "token", "create", "--kind", string(kind), "--name", name, "--db", p.path)
	cmd.Env = p.env
	var notes bytes.Buffer
	cmd.Stderr = &notes
	secret, err := cmd.Output()
	if err != nil {
		return holder{}, fmt.Errorf("make a token: %w: %s", err, notes.String())
	}
	return holder{name, strings.TrimSpace(string(secret))}, nil
}

// start starts the server.
func (p post) start(ctx context.Context) (*child, error) {
	return startChild(ctx, p.env, p.program, "serve", "--listen", "127.0.0.1:0", "--db", p.path)
}

// stateOf is the XDG_STATE_HOME of the programs of one proof.
func stateOf(dir string) string { return filepath.Join(dir, "state") }

// alone is the environment of a program that shares nothing with the user who
// proves it.
func alone(dir string) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "ASKBACK_") || strings.HasPrefix(v, "XDG_STATE_HOME=")
	})
	return append(env, "XDG_STATE_HOME="+stateOf(dir))
}
