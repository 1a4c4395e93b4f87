package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/askback/askback/internal/instance"
	"github.com/askback/askback/internal/pause"
)

// turnPause is the time between two looks at whether a terminal is free.
const turnPause = 100 * time.Millisecond

// terminalPlace is the file whose lock is held by whoever asks in a terminal, or "" where
// terminals cannot be told apart.
func terminalPlace(in *os.File) (string, error) {
	number, ok := device(in)
	if !ok {
		return "", nil
	}
	dir, err := stateDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "terminal-"+number), os.MkdirAll(dir, 0o700)
}

// turn waits until no other askback asks in this terminal: two that read the same
// keyboard would share out what is typed, and a y meant for one could approve the other.
// It says once that it waits.
func (p *prompt) turn(ctx context.Context) error {
	if p.tty == nil {
		return nil
	}
	path, err := terminalPlace(p.io.in)
	if err != nil || path == "" {
		return err
	}
	for waited := false; ; waited = true {
		p.lock, err = instance.Hold(path)
		switch {
		case err == nil && waited:
			return p.tty.Discard() // what was typed meanwhile was for the other one
		case !errors.Is(err, instance.ErrHeld):
			return err
		case !waited:
			say(p.io.err, "another question is open in this terminal; "+p.id+" waits for its turn")
		}
		if err := pause.For(ctx, turnPause); err != nil {
			return err
		}
	}
}
