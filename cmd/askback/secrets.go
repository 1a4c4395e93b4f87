package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/local"
)

// localAgent is the name commands ask under.
const localAgent = "local"

// secrets are the tokens a command may use: those of the state directory, which
// are for the local server alone, and the one it was given.
type secrets struct {
	dir   string
	agent string
	user  string
	given string // ASKBACK_TOKEN; it wins
}

func findSecrets() (secrets, error) {
	dir, err := stateDir()
	if err != nil {
		return secrets{}, err
	}
	s := secrets{dir: dir, given: os.Getenv("ASKBACK_TOKEN")}
	s.agent, err = readSecret(s.agentFile())
	if err != nil {
		return s, err
	}
	s.user, err = readSecret(s.userFile())
	return s, err
}

func (s secrets) agentFile() string { return filepath.Join(s.dir, "agent.token") }
func (s secrets) userFile() string  { return filepath.Join(s.dir, "user.token") }

func readSecret(path string) (string, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(raw)), err
}

// fill makes the tokens that are missing, and tells the database of all of
// them. Only who holds the lock may.
func (s *secrets) fill(ctx context.Context, e *engine.Engine) error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	for _, t := range []struct {
		secret *string
		path   string
		is     askback.TokenRequest
	}{
		{&s.agent, s.agentFile(), askback.TokenRequest{Kind: askback.Agent, Name: localAgent, Via: askback.ViaTerminal}},
		{&s.user, s.userFile(), askback.TokenRequest{Kind: askback.Admin, Name: userName(), Via: askback.ViaTerminal}},
	} {
		if *t.secret == "" {
			made, err := makeSecret(t.path, e)
			if err != nil {
				return err
			}
			*t.secret = made
		}
		if err := e.Adopt(ctx, t.is, *t.secret); err != nil {
			return fmt.Errorf("make %s known: %w", t.path, err)
		}
	}
	return nil
}

func makeSecret(path string, e *engine.Engine) (string, error) {
	if made, err := readSecret(path); err != nil || made != "" {
		return made, err // another database's holder was quicker
	}
	made, err := e.NewSecret()
	if err != nil {
		return "", err
	}
	return made, local.WriteFile(path, []byte(made+"\n"))
}
