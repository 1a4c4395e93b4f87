package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/agents/opencode"
)

type hookOpenCode struct{}

// Run asks about one event, which is a line of standard input, and prints the reply. The ask is
// withdrawn when standard input ends, because then the plugin no longer waits. After an error
// it prints nothing, so that the dialog of OpenCode decides. A call of the gate, which has no
// dialog, is blocked with exit code 2.
func (c *hookOpenCode) Run(ctx context.Context, in streams, all *commands) error {
	noteReading(in)
	lines := bufio.NewReader(in.in)
	raw, err := readLine(lines)
	if err != nil {
		return err
	}
	ev, err := opencode.Read(raw)
	if errors.Is(err, opencode.ErrForeign) {
		return nil
	}
	var unwritten error
	if err == nil {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		go func() {
			_, _ = io.Copy(io.Discard, lines) // until the plugin closes it, or ends
			cancel()
		}()
		unwritten, err = runHook(ctx, in, all, true, func(ctx context.Context, client hook.Client) (hook.Reply, error) {
			return opencode.Run(ctx, new(hook.Runner), "", client, ev)
		})
	}
	return endHook(in, ev.Name == opencode.ToolCall, unwritten, err)
}

// readLine reads a line of at most [hook.MaxEvent] bytes. At the end of the input, the line
// may lack its end.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > hook.MaxEvent:
			return nil, errors.New("the event is too long")
		case err == nil || errors.Is(err, io.EOF):
			return bytes.TrimSpace(line), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}
