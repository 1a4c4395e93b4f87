package terminal

import (
	"context"
	"errors"
	"io"
	"strings"
)

// ReadLine prompts for one line and returns it. Lines that were pasted together are returned together. The
// error is [ErrNoInput] if the person pressed Ctrl+D. If ctx ends first, ReadLine removes the prompt and
// returns the error of ctx. Afterwards only [TTY.Close] may be called.
func (t *TTY) ReadLine(ctx context.Context, prompt string) (string, error) {
	if err := t.Discard(); err != nil {
		return "", err
	}
	t.Prepare()
	if _, err := io.WriteString(t, prompt); err != nil {
		return "", err
	}
	line, err := newLineReader(t).next(ctx, func() {})
	line = strings.ReplaceAll(line, lineBreak, "\n")
	switch {
	case ctx.Err() != nil && t.Style():
		_, _ = io.WriteString(t, "\r"+eraseRight)
	case ctx.Err() != nil, errors.Is(err, ErrNoInput):
		_, _ = io.WriteString(t, "\n")
	}
	return line, err
}
