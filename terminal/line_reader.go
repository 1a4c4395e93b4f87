package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"github.com/askback/askback/internal/limits"
)

// maxLine is the maximum length of a line in bytes. No text that is accepted is longer.
const maxLine = 4*limits.MaxText + 1024

// errLineTooLong is the error for a line longer than maxLine. The next line can still be read.
var errLineTooLong = errors.New("that line is too long")

// A lineReader reads single lines from a reader.
//
// For each line, next starts a goroutine that reads the line and ends. If the context of next ends first, the
// goroutine remains blocked in Read, and the following call of next receives its line. There is never more
// than one such goroutine, and it does not read beyond the end of its line.
type lineReader struct {
	in      io.Reader
	result  chan line     // has a buffer for one line
	reading bool          // a goroutine is reading, or its line is in result
	started atomic.Bool   // the goroutine has read a part of its line
	typed   chan struct{} // has one element if a key was typed
	stale   bool          // whether the line was started for an earlier ask
}

type line struct {
	text string
	err  error
}

func newLineReader(in io.Reader) *lineReader {
	l := &lineReader{in: in, result: make(chan line, 1), typed: make(chan struct{}, 1)}
	if keys, ok := in.(interface{ OnTyping(func()) }); ok {
		keys.OnTyping(l.notifyTyped)
	}
	return l
}

// discardStarted makes next skip a line that was read, or partly read, for an earlier ask.
func (l *lineReader) discardStarted() {
	l.stale = l.reading && l.started.Load()
	l.drainTyped()
}

// next returns the next line without its end. The error is errLineTooLong, [ErrNoInput], or the error of ctx.
// While next waits, it calls typing when a part of the line has been typed or read.
func (l *lineReader) next(ctx context.Context, typing func()) (string, error) {
	for {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		if !l.reading {
			l.reading = true
			l.started.Store(false)
			go l.read()
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-l.typed:
			if !l.stale {
				typing()
			}
		case line := <-l.result:
			l.reading = false
			if typed := l.drainTyped(); typed && !l.stale {
				typing()
			}
			if !l.stale {
				return line.text, line.err
			}
			l.stale = false
		}
	}
}

// drainTyped reports whether a key was typed since the last call.
func (l *lineReader) drainTyped() bool {
	select {
	case <-l.typed:
		return true
	default:
		return false
	}
}

// notifyTyped records that a key was typed.
func (l *lineReader) notifyTyped() {
	select {
	case l.typed <- struct{}{}:
	default:
	}
}

// read reads one line, byte by byte. Programs that run after this one can read the same pipe, so read must
// not read ahead.
func (l *lineReader) read() {
	var text strings.Builder
	buf := make([]byte, 1)
	for idle := 0; ; {
		n, err := l.in.Read(buf)
		if n == 1 {
			l.started.Store(true)
			l.notifyTyped()
		}
		switch {
		case n == 1 && buf[0] == '\n':
			l.result <- completeLine(text.String())
			return
		case n == 1:
			idle = 0
			if text.Len() <= maxLine {
				text.WriteByte(buf[0])
			}
		case err == nil:
			if idle++; idle == 100 {
				err = io.ErrNoProgress
			}
		}
		if err != nil {
			l.result <- line{err: endOfInputError(err)}
			return
		}
	}
}

// completeLine returns the result for a line that was read up to its newline, without a
// carriage return at its end. A line longer than maxLine is an error.
func completeLine(text string) line {
	if len(text) > maxLine {
		return line{err: errLineTooLong}
	}
	return line{text: strings.TrimSuffix(text, "\r")}
}

// endOfInputError returns the error for an input without more lines.
func endOfInputError(err error) error {
	if errors.Is(err, io.EOF) {
		return ErrNoInput
	}
	return fmt.Errorf("%w: %v", ErrNoInput, err)
}
