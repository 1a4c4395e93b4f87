package terminal

import (
	"context"
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// openTerminal opens the input and the screen of the console of this process.
func openTerminal() (input, screen *os.File, err error) {
	if input, err = os.OpenFile("CONIN$", os.O_RDWR, 0); err != nil {
		return nil, nil, err
	}
	if screen, err = os.OpenFile("CONOUT$", os.O_RDWR, 0); err != nil {
		return nil, nil, errors.Join(err, input.Close())
	}
	var mode uint32
	handle := windows.Handle(screen.Fd())
	if windows.GetConsoleMode(handle, &mode) == nil {
		_ = windows.SetConsoleMode(handle, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) // or escapes are shown
	}
	return input, screen, nil
}

// readLine waits for a line of the console. It returns when the terminal is closed.
func (t *TTY) readLine(p []byte) (int, error) {
	for {
		r := typedLines.start()
		select {
		case <-r.ended:
		case <-t.ended:
			return 0, os.ErrClosed
		}
		if !typedLines.take(r) {
			continue
		}
		if r.err != nil {
			return 0, r.err
		}
		n := copy(p, r.line)
		t.pending = r.line[n:]
		return n, nil
	}
}

// setCbreak returns an error, so the console delivers whole lines: single keys are not supported on this system.
func setCbreak(int) error { return errors.ErrUnsupported }

// foreground returns true: a console has no process groups.
func foreground(int) bool { return true }

// discard discards what was typed and not read yet.
func discard(fd int) error { return typedLines.discard(windows.Handle(fd)) }

// page returns an error, so the text is written below the prompt: a pager is not supported on this system.
func (t *TTY) page(context.Context, string) error { return errors.ErrUnsupported }

// edit returns an error: the editor is not supported on this system.
func (t *TTY) edit(context.Context, string, string) (string, error) { return "", errors.ErrUnsupported }
