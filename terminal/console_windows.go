package terminal

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"

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

// consoleLines returns the lines that are typed. Reading a console cannot be ended, so one goroutine reads for all
// prompts of this process. The channel is closed at the end of the input.
var consoleLines = sync.OnceValue(func() <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		input, err := os.OpenFile("CONIN$", os.O_RDWR, 0)
		if err != nil {
			return
		}
		buffer := make([]byte, 4096)
		for {
			n, err := input.Read(buffer)
			if err != nil || n == 0 {
				return
			}
			lines <- strings.ReplaceAll(string(buffer[:n]), "\r\n", "\n")
		}
	}()
	return lines
})

// readLine waits for a line of the console. It returns when the terminal is closed.
func (t *TTY) readLine(p []byte) (int, error) {
	select {
	case line, ok := <-consoleLines():
		if !ok {
			return 0, io.EOF
		}
		n := copy(p, line)
		t.pending = line[n:]
		return n, nil
	case <-t.ended:
		return 0, os.ErrClosed
	}
}

// setCbreak returns an error, so the console delivers whole lines: single keys are not supported on this system.
func setCbreak(int) error { return errors.ErrUnsupported }

// foreground returns true: a console has no process groups.
func foreground(int) bool { return true }

// discard discards what was typed and not read yet.
func discard(fd int) error {
	for {
		select {
		case _, ok := <-consoleLines():
			if !ok {
				return nil
			}
		default:
			return windows.FlushConsoleInputBuffer(windows.Handle(fd))
		}
	}
}

// page returns an error, so the text is written below the prompt: a pager is not supported on this system.
func (t *TTY) page(context.Context, string) error { return errors.ErrUnsupported }

// edit returns an error: the editor is not supported on this system.
func (t *TTY) edit(context.Context, string, string) (string, error) { return "", errors.ErrUnsupported }
