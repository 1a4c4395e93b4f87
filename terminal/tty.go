package terminal

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/term"
)

// ErrNoTerminal says that this process has no terminal.
var ErrNoTerminal = errors.New("there is no terminal")

// A TTY is the terminal of this process, /dev/tty, whatever stdin and stdout are. It is
// in and out of a [Prompt].
type TTY struct {
	file     *os.File
	keyboard keyboard
	rest     string // of a line that was read

	mu     sync.Mutex
	state  *term.State // to go back to; nil as long as nothing was changed
	closed bool
}

// Open opens the terminal. The error is [ErrNoTerminal] where there is none.
func Open() (*TTY, error) {
	file, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrNoTerminal, err)
	}
	t := &TTY{file: file}
	if err := t.control(func(fd int) error { _, err := term.GetState(fd); return err }); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %v", ErrNoTerminal, err), file.Close())
	}
	return t, nil
}

// control calls do with the descriptor. File.Fd would make reads block Close.
func (t *TTY) control(do func(fd int) error) error {
	raw, err := t.file.SyscallConn()
	if err != nil {
		return err
	}
	var done error
	if err := raw.Control(func(fd uintptr) { done = do(int(fd)) }); err != nil {
		return err
	}
	return done
}

// Read reads what is typed, once Enter is pressed.
func (t *TTY) Read(p []byte) (int, error) {
	if t.rest == "" {
		if t.control(t.single) != nil {
			return t.file.Read(p)
		}
		line, err := t.keyboard.read(t.file)
		if err != nil {
			return 0, err
		}
		t.rest = line
	}
	n := copy(p, t.rest)
	t.rest = t.rest[n:]
	return n, nil
}

// single asks for single keys, before each line: a shell that stopped this program has set
// the terminal back. What it goes back to is read here and not earlier: before our turn,
// another program of ours may have had the terminal.
func (t *TTY) single(fd int) error {
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
	return single(fd)
}

// Foreground reports whether this process is in the foreground of the terminal. In the
// background it gets no input, and must leave the screen alone.
func (t *TTY) Foreground() bool {
	front := true
	_ = t.control(func(fd int) error { front = foreground(fd); return nil })
	return front
}

// Prepare makes ready for keys before the prompt is drawn: what is typed at once counts.
func (t *TTY) Prepare() { _ = t.control(t.single) } // Read tries again, and does without

// OnTyping has a function called whenever a key is pressed that is text.
func (t *TTY) OnTyping(heard func()) { t.keyboard.listen(heard) }

// Write writes on the screen.
func (t *TTY) Write(p []byte) (int, error) { return t.file.Write(p) }

// Width returns how many columns there are now, 80 where the terminal does not say.
func (t *TTY) Width() int {
	width := 0
	err := t.control(func(fd int) (err error) { width, _, err = term.GetSize(fd); return err })
	if err != nil || width <= 0 {
		return 80
	}
	return width
}

// Style says whether to use colours: not where NO_COLOR is set, and not on a terminal
// that is dumb.
func (t *TTY) Style() bool { return style() }

func style() bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && os.Getenv("TERM") != ""
}

// Discard throws away what was typed and not read yet, half a line too.
func (t *TTY) Discard() error {
	t.keyboard.forget()
	return t.control(discard)
}

// Options are those of a person at this terminal.
func (t *TTY) Options() *Options {
	return &Options{Human: true, Width: t.Width, Style: t.Style(), Page: t.page}
}

// Close puts the terminal back into the state it was in before the first Read, and ends a
// Read.
func (t *TTY) Close() error {
	err := t.control(t.restore)
	return errors.Join(err, t.file.Close())
}

func (t *TTY) restore(fd int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	if t.state == nil {
		return nil
	}
	return term.Restore(fd, t.state)
}
