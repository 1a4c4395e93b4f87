package main

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/askback/askback/internal/hook"
)

type hookCommand struct {
	Claude hookClaude `cmd:"" name:"claude-code" help:"Answer a hook of Claude Code: its event on standard input, the decision on standard output."`
}

type hookClaude struct {
	Defer time.Duration `default:"10s" help:"In claude -p, how long to wait before the run ends, to be resumed when there is an answer."`
}

// maxHook bounds the input of a hook.
const maxHook = 8 << 20

// Run answers one hook. Whatever goes wrong, it prints nothing and exits 0: then
// Claude Code asks in its own dialog, as if nobody were here.
func (c *hookClaude) Run(ctx context.Context, in streams, all *commands) error {
	if out, err := c.answer(ctx, in.in, all); err != nil {
		say(in.err, err.Error())
	} else if len(out) > 0 {
		_, err = in.out.Write(append(out, '\n'))
		return err
	}
	return nil
}

func (c *hookClaude) answer(ctx context.Context, in io.Reader, all *commands) (out []byte, err error) {
	raw, err := io.ReadAll(io.LimitReader(in, maxHook))
	if err != nil {
		return nil, err
	}
	ev, err := hook.Read(raw)
	if err != nil {
		return nil, err
	}
	ev.Headless = hook.Headless(os.Getenv(hook.EntrypointVariable))
	errand := waiting
	if _, asks := hook.Request(ev); !asks {
		errand = serving{} // it only looks after what was asked before
	}
	d, err := all.desk(errand)
	if err != nil {
		return nil, err
	}
	if _, served := d.place.Last(); errand.kind == "" && d.remote == "" && !served {
		return nil, nil // nobody holds anything that could be looked after
	}
	if _, defers := hook.Defer(ev); defers && c.Defer > 0 {
		limited, cancel := context.WithTimeout(ctx, c.Defer)
		defer cancel()
		ctx = limited
	}
	err = all.with(streams{err: io.Discard}, errand, func(d *desk) error {
		out, err = hook.Run(ctx, d.agent, ev)
		return err
	})
	return out, err
}
