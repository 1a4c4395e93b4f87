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
	"github.com/askback/askback/internal/instance"
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
	return s, s.read()
}

// read reads the tokens of the state directory that are not known yet.
func (s *secrets) read() error {
	for path, secret := range map[string]*string{s.agentFile(): &s.agent, s.userFile(): &s.user} {
		if *secret != "" {
			continue
		}
		var err error
		if *secret, err = readSecret(path); err != nil {
			return err
		}
	}
	return nil
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
		is     askback.Principal
	}{
		{&s.agent, s.agentFile(), askback.Principal{Kind: askback.Agent, Name: localAgent, Channel: askback.ChannelTerminal}},
		{&s.user, s.userFile(), askback.Principal{Kind: askback.Admin, Name: userName(), Channel: askback.ChannelTerminal}},
	} {
		if *t.secret == "" {
			made, err := makeSecret(t.path, e)
			if err != nil {
				return err
			}
			*t.secret = made
		}
		err := e.Adopt(ctx, t.is, *t.secret)
		if errors.Is(err, askback.ErrDiskFull) || errors.Is(err, askback.ErrDamaged) {
			err = nil // the other tokens can still be read; using this one fails with the reason
		}
		if err != nil {
			return fmt.Errorf("make %s known: %w", t.path, err)
		}
	}
	return nil
}

// makeSecret makes a token, unless the holder of another database was quicker:
// all databases share the tokens of one state directory.
func makeSecret(path string, e *engine.Engine) (string, error) {
	made, err := e.NewSecret()
	if err != nil {
		return "", err
	}
	err = instance.CreateFile(path, []byte(made+"\n"))
	if !errors.Is(err, os.ErrExist) {
		return made, err
	}
	made, err = readSecret(path)
	if made == "" && err == nil {
		err = fmt.Errorf("%s is empty: delete it, and a new one is made", path)
	}
	return made, err
}
