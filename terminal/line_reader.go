package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"github.com/askback/askback"
)

// maxLine is how many bytes of a line are kept: no text that is taken is longer.
const maxLine = 4*askback.MaxText + 1024

// errLong is a line beyond that. The next one can be read.
var errLong = errors.New("that line is too long")

// lines hands out the lines of one reader, one at a time.
//
// A goroutine owns the reader while it reads one line; it is started when a line is
// wanted and ends with it. When nobody waits for the line any more, the goroutine stays
// in Read, and whoever wants the next line takes that one over. There is never a second
// goroutine at the reader, and none reads beyond the end of the line it was started for.
type lines struct {
	in      io.Reader
	got     chan line     // room for one
	reading bool          // a goroutine is at work, or its line is in got
	begun   atomic.Bool   // the goroutine has read something of its line
	typed   chan struct{} // room for one: it has read something just now
	stale   bool          // that line was begun for an earlier ask
}

type line struct {
	text string
	err  error
}

func newLines(in io.Reader) *lines {
	l := &lines{in: in, got: make(chan line, 1), typed: make(chan struct{}, 1)}
	if keys, ok := in.(interface{ OnTyping(func()) }); ok {
		keys.OnTyping(l.noise)
	}
	return l
}

// fresh gives up what was read, or half read, for an earlier ask.
func (l *lines) fresh() {
	l.stale = l.reading && l.begun.Load()
	l.quiet()
}

// next returns the next line without its end, errLong, [ErrNoInput], or the error of ctx.
// Meanwhile it calls typing when something of that line was typed.
func (l *lines) next(ctx context.Context, typing func()) (string, error) {
	for {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		if !l.reading {
			l.reading = true
			l.begun.Store(false)
			go l.read()
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-l.typed:
			if !l.stale {
				typing()
			}
		case got := <-l.got:
			l.reading = false
			if heard := l.quiet(); heard && !l.stale {
				typing()
			}
			if !l.stale {
				return got.text, got.err
			}
			l.stale = false
		}
	}
}

// quiet forgets that something was typed, and says whether it was.
func (l *lines) quiet() bool {
	select {
	case <-l.typed:
		return true
	default:
		return false
	}
}

// noise tells whoever waits that something was typed.
func (l *lines) noise() {
	select {
	case l.typed <- struct{}{}:
	default:
	}
}

// read reads one line, byte by byte: a pipe is shared with the programs that run after
// this one, and what one of them takes the others never see.
func (l *lines) read() {
	var text strings.Builder
	buf := make([]byte, 1)
	for idle := 0; ; {
		n, err := l.in.Read(buf)
		if n == 1 {
			l.begun.Store(true)
			l.noise()
		}
		switch {
		case n == 1 && buf[0] == '\n':
			l.got <- whole(text.String())
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
			l.got <- line{err: noInput(err)}
			return
		}
	}
}

// whole is a line that came to its end.
func whole(text string) line {
	if len(text) > maxLine {
		return line{err: errLong}
	}
	return line{text: strings.TrimSuffix(text, "\r")}
}

// noInput is the one error for an input that gives no more lines.
func noInput(err error) error {
	if errors.Is(err, io.EOF) {
		return ErrNoInput
	}
	return fmt.Errorf("%w: %v", ErrNoInput, err)
}
