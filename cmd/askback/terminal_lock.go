package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/internal/pause"
)

// lockPause is the time between two attempts to lock a terminal.
const lockPause = 100 * time.Millisecond

// terminalLockFile returns the file to lock while a prompt uses a terminal. It returns ""
// if terminals cannot be distinguished.
func terminalLockFile(in *os.File) (string, error) {
	number, ok := deviceNumber(in)
	if !ok {
		return "", nil
	}
	dir, err := stateDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "terminal-"+number), os.MkdirAll(dir, 0o700)
}

// lockTerminal locks the terminal if the prompt uses a terminal. While another askback prompts at this
// terminal, lockTerminal writes a note and waits. Two prompts would both read the keyboard, and a y for one
// prompt could approve the ask of the other prompt.
func (p *prompt) lockTerminal(ctx context.Context) error {
	if p.tty == nil {
		return nil
	}
	path, err := terminalLockFile(p.io.in)
	if err != nil || path == "" {
		return err
	}
	for waited := false; ; waited = true {
		p.lock, err = instance.Hold(path)
		switch {
		case err == nil && waited:
			return p.tty.Discard() // earlier input was for the other prompt
		case !errors.Is(err, instance.ErrHeld):
			return err
		case !waited:
			note(p.io.err, "another question is open in this terminal; "+p.id+" waits for its turn")
		}
		if err := pause.For(ctx, lockPause); err != nil {
			return err
		}
	}
}
