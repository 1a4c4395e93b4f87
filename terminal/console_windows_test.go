package terminal_test

import (
	"context"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/terminal"
	"github.com/askback/askback/test/kit/leftout"
)

// Text that was typed for an ask that ended elsewhere, or before a call was shown, does not decide the call: neither
// an unfinished line, which the console holds, nor finished lines. Text that is typed afterwards does. Package
// release/newcomer runs this test in a console of Wine.
func TestConsoleDiscardsEarlierText(t *testing.T) {
	for _, earlier := range []struct{ held, after string }{
		{}, {"y", ""}, {"yes", ""}, {"y", "\r"}, {"y", "\ry"}, {"n", "\ry\ry\r"},
	} {
		tty, err := terminal.Open()
		if err != nil {
			leftout.Skip(t, "the prompt in a console of Windows (%v)", err)
		}
		shown := make(fakeScreen, 100)
		p := terminal.New(tty, shown, tty.Options())
		ctx, cancel := context.WithCancel(t.Context())
		first := startAsk(ctx, p, questionAsk(askback.Question{}))
		shown.waitFor(t, "> ")
		terminal.PressKeys(t, earlier.held, true)
		cancel()
		await(t, first)
		terminal.PressKeys(t, earlier.after, false)
		for _, then := range []struct {
			typed string
			want  askback.Decision
		}{{"\r", askback.Deny}, {"y\r", askback.Approve}} {
			call := startAsk(t.Context(), p, callAsk())
			shown.waitFor(t, "[y/N] ")
			terminal.PressKeys(t, then.typed, false)
			e := await(t, call)
			if r, ok := e.result.(terminal.Answered); !ok || r.Answer.Decision != then.want {
				t.Errorf("after %q, %q: got %v, %v, want %v", earlier, then.typed, e.result, e.err, then.want)
			}
		}
		if err := tty.Close(); err != nil {
			t.Error(err)
		}
	}
}
