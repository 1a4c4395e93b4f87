package terminal

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// ErrNoTerminal is the error of [Open] for a process without a terminal.
var ErrNoTerminal = errors.New("this process has no terminal")

// A TTY is the terminal of this process, /dev/tty, independent of stdin and stdout. It is the input and the
// output of a [Prompt]. On Windows it is the console.
type TTY struct {
	file    *os.File
	screen  *os.File      // the output: file, except on Windows
	ended   chan struct{} // closed by Close
	editor  lineEditor
	pending string // the rest of the last line, which Read has not returned yet

	mu     sync.Mutex
	state  *term.State // state to restore; nil before the first change
	closed bool
}

// Open opens the terminal of the process. If the process has no terminal, the error wraps [ErrNoTerminal].
func Open() (*TTY, error) {
	file, screen, err := openTerminal()
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrNoTerminal, err)
	}
	t := &TTY{file: file, screen: screen, ended: make(chan struct{})}
	if err := t.control(func(fd int) error { _, err := term.GetState(fd); return err }); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %v", ErrNoTerminal, err), t.closeFiles())
	}
	return t, nil
}

func (t *TTY) closeFiles() error {
	if t.screen == t.file {
		return t.file.Close()
	}
	return errors.Join(t.file.Close(), t.screen.Close())
}

// control calls do with the terminal's file descriptor.
func (t *TTY) control(do func(fd int) error) error { return control(t.file, do) }

// control calls do with the descriptor of a file. It does not use File.Fd, because Close could then not end a
// blocked Read.
func control(file *os.File, do func(fd int) error) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var done error
	err = raw.Control(func(fd uintptr) { done = do(int(fd)) })
	return cmp.Or(err, done)
}

// Read implements [io.Reader]. It returns when the person presses Enter. Ctrl+D on an empty line ends the
// input.
func (t *TTY) Read(p []byte) (int, error) {
	if t.pending == "" {
		if t.control(t.setCbreak) != nil {
			return t.readLine(p)
		}
		line, err := t.editor.read(t.file, t.goesOn)
		if err != nil {
			return 0, err
		}
		t.pending = line
	}
	n := copy(p, t.pending)
	t.pending = t.pending[n:]
	return n, nil
}

// setCbreak switches the terminal to single keys. It is called before each line, because a
// shell that stopped this program has reset the terminal. The state to restore is read here
// and not earlier, when another askback may still have used the terminal.
func (t *TTY) setCbreak(fd int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return os.ErrClosed
	}
	if t.state == nil {
		state, err := term.GetState(fd)
		if err != nil {
			return err
		}
		t.state = state
	}
	return setCbreak(fd)
}

// Foreground reports whether this process is in the foreground of the terminal. In the
// background it has no input, and must not draw.
func (t *TTY) Foreground() bool {
	inForeground := true
	_ = t.control(func(fd int) error { inForeground = foreground(fd); return nil })
	return inForeground
}

// Prepare switches the terminal to single keys before the prompt is drawn, so that early keys are echoed
// correctly.
func (t *TTY) Prepare() { _ = t.control(t.setCbreak) } // on an error, Read tries again, or reads whole lines

// pause restores the state of the terminal until the next [TTY.Prepare] or Read.
func (t *TTY) pause() {
	_ = t.control(func(fd int) error {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.state == nil {
			return nil
		}
		return term.Restore(fd, t.state)
	})
}

// OnTyping sets the function that is called whenever text is typed.
func (t *TTY) OnTyping(typed func()) { t.editor.onTyping(typed) }

// Write implements [io.Writer].
func (t *TTY) Write(p []byte) (int, error) { return t.screen.Write(p) }

// Width returns the current number of columns, or 80 if it is unknown.
func (t *TTY) Width() int {
	width := defaultWidth
	_ = control(t.screen, func(fd int) error { width = columns(fd); return nil })
	return width
}

// Height returns the current number of rows, or 24 if it is unknown.
func (t *TTY) Height() int {
	height := defaultHeight
	_ = control(t.screen, func(fd int) error { _, height = size(fd); return nil })
	return height
}

// Style reports whether to use styles. It returns false if NO_COLOR is set, or if TERM is empty or dumb.
func (t *TTY) Style() bool { return style() }

func style() bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && os.Getenv("TERM") != ""
}

// linesTime is the time that the end of a line waits for the next line of the same paste.
const linesTime = 50 * time.Millisecond

// goesOn reports whether more keys follow immediately.
func (t *TTY) goesOn() (more bool) {
	_ = t.control(func(fd int) error { more = readable(fd, linesTime); return nil })
	return more
}

// typedAhead reports whether keys were typed that were not read yet.
func (t *TTY) typedAhead() (ahead bool) {
	t.Prepare() // an unfinished line is not available otherwise
	_ = t.control(func(fd int) error { ahead = readable(fd, 0); return nil })
	return ahead
}

// Discard discards text that was typed and not read yet, including an unfinished line.
func (t *TTY) Discard() error {
	t.editor.clear()
	return t.control(discard)
}

// Options returns the options for a person at this terminal.
func (t *TTY) Options() *Options {
	return &Options{Human: true, Width: t.Width, Style: t.Style(), Page: t.page, Height: t.Height, Edit: t.edit}
}

// Close restores the state that the terminal had before the first [TTY.Prepare] or Read. It
// ends a blocked Read.
func (t *TTY) Close() error {
	err := t.control(t.restore)
	return errors.Join(err, t.closeFiles())
}

func (t *TTY) restore(fd int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		close(t.ended)
	}
	t.closed = true
	if t.state == nil || !foreground(fd) { // in the background, the terminal belongs to the shell
		return nil
	}
	return term.Restore(fd, t.state)
}
