package terminal

import (
	"bytes"
	"errors"
	"os"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// typedLines reads the lines of the console of this process.
var typedLines consoleLines

// consoleLines reads lines of a console, for all prompts of this process. Text that is typed while a read waits is held
// by that read, and the read cannot be cancelled. If its prompt is gone, the read goes on for the next prompt, or
// ends by discard.
type consoleLines struct {
	mu      sync.Mutex
	current *lineRead // nil if no read waits, and no line waits to be taken
}

// A lineRead is a read of one line. Its line, with a newline, and err are set when ended is closed.
type lineRead struct {
	ended chan struct{}
	line  string
	err   error
}

// start returns the current read, or starts a read.
func (l *consoleLines) start() *lineRead {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.current == nil {
		l.current = &lineRead{ended: make(chan struct{})}
		go l.current.read()
	}
	return l.current
}

// take takes the line of a read that has ended. It returns false if the line was discarded.
func (l *consoleLines) take(r *lineRead) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.current != r {
		return false
	}
	l.current = nil
	return true
}

// read reads one line. The file is opened for each line, so that nothing is kept that the console returned after it.
func (r *lineRead) read() {
	defer close(r.ended)
	input, err := os.OpenFile("CONIN$", os.O_RDWR, 0)
	if err != nil {
		r.err = err
		return
	}
	defer func() { _ = input.Close() }()
	var text []byte
	for buffer := make([]byte, 4096); ; {
		n, err := input.Read(buffer)
		if err != nil {
			r.err = err // an unfinished line is not an answer
			return
		}
		text = append(text, buffer[:n]...)
		if end := bytes.IndexAny(text, "\r\n"); end >= 0 {
			r.line = string(text[:end]) + "\n"
			return
		}
	}
}

// Times of a discard. A person who selects text in the console may stop its input for a while.
const (
	pressAgain  = time.Second
	discardTime = time.Minute
)

var errNotDiscarded = errors.New("the console did not discard the text that was typed before")

// discard discards what was typed before, including the text that a waiting read holds. That read ends by keys
// that are written to the console: Esc, which also closes a list of earlier lines, and Enter. No read begins until
// everything is discarded. If the read does not end, its text may still be there, and discard returns an error.
func (l *consoleLines) discard(console windows.Handle) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.current; r != nil {
		if err := r.end(console); err != nil {
			return err
		}
		l.current = nil
	}
	return windows.FlushConsoleInputBuffer(console)
}

// end ends a read, if it still waits.
func (r *lineRead) end(console windows.Handle) error {
	limit := time.After(discardTime)
	for {
		select {
		case <-r.ended:
			return nil
		default:
		}
		if err := pressKeys(console, keyPress{windows.VK_ESCAPE, 0x1b}, keyPress{windows.VK_RETURN, '\r'}); err != nil {
			return err
		}
		select {
		case <-r.ended:
			return nil
		case <-limit:
			return errNotDiscarded
		case <-time.After(pressAgain):
		}
	}
}

// A keyPress is a key, with the character that it types.
type keyPress struct{ key, char uint16 }

// An inputRecord is an INPUT_RECORD of Windows with a KEY_EVENT_RECORD.
type inputRecord struct {
	event   uint32
	down    int32
	repeat  uint16
	key     uint16
	scan    uint16
	char    uint16
	control uint32
}

var writeConsoleInput = windows.NewLazySystemDLL("kernel32.dll").NewProc("WriteConsoleInputW")

// pressKeys writes keys to the input of a console, as if a person pressed them.
func pressKeys(console windows.Handle, keys ...keyPress) error {
	var records []inputRecord
	for _, k := range keys {
		r := inputRecord{event: windows.KEY_EVENT, repeat: 1, key: k.key, char: k.char}
		up := r
		r.down = 1
		records = append(records, r, up)
	}
	var written uint32
	ok, _, err := writeConsoleInput.Call(uintptr(console), uintptr(unsafe.Pointer(&records[0])), uintptr(len(records)),
		uintptr(unsafe.Pointer(&written)))
	if ok == 0 {
		return err
	}
	return nil
}
