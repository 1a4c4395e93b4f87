package mcpserver_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback"
)

// terminal is the other end of stdio, by hand.
type terminal struct {
	in     *io.PipeWriter
	served chan error
}

// terminal serves bot on an output, and says hello.
func (d *desk) terminal(t *testing.T, out io.Writer) *terminal {
	t.Helper()
	r, w := io.Pipe()
	c := &terminal{w, make(chan error, 1)}
	go func() { c.served <- d.server.ServeStdio(t.Context(), d.seat(d.engine.As(bot)), r, out) }()
	t.Cleanup(func() { _ = w.Close() })
	c.send(t, `{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "claude-code", "version": "2"}}}`)
	c.send(t, `{"jsonrpc": "2.0", "method": "notifications/initialized"}`)
	return c
}

func (c *terminal) send(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

// look is a request for an answer.
func look(id int, ask string) string {
	return fmt.Sprintf(`{"jsonrpc": "2.0", "id": %d, "method": "tools/call", "params": {"name": "get_answer", "arguments": {"question_id": %q}}}`, id, ask)
}

// cutOutput is an output that breaks.
type cutOutput struct {
	io.Writer
	broken bool
}

func (s *cutOutput) Write(p []byte) (int, error) {
	if s.broken {
		return 0, io.ErrClosedPipe
	}
	return s.Writer.Write(p)
}

// An answer whose reply could not be written was not given: it is there for the
// next process, and for the next call of this one (B7).
func TestAReplyThatIsNotWrittenGivesNothing(t *testing.T) {
	for _, written := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t)
			out := &cutOutput{Writer: io.Discard}
			c := d.terminal(t, out)
			c.send(t, `{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "ask_user_question", "arguments": {"question": "Which name?"}}}`)
			id := d.only().ID
			out.broken = !written
			d.answer(id, askback.Choose("Ada"))
			synctest.Wait()
			_ = c.in.Close()
			<-c.served
			if got := d.received(t, id); got != written {
				t.Errorf("written %t: there is a receipt: %t", written, got)
			}
			if d.server.Delivered(id) != written {
				t.Errorf("written %t: it counts as given: %t", written, !written)
			}
			listed := call(t.Context(), d.stdio("claude-code", legacy, nil), "list_open_questions", `{}`).text(t)
			if strings.Contains(listed, id) == written {
				t.Errorf("written %t: listed %s", written, listed)
			}
		})
	}
}

// Each reply has the receipts of what it gives, also when ids are used twice or
// answers are collected for a batch: what was not seen to go out is offered again.
func TestRepliesOnStdioHaveTheirOwnReceipts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		r, w := io.Pipe()
		defer r.Close()
		c := d.terminal(t, w)
		lines := bufio.NewScanner(r)
		one, two, three := d.answered(t).ID, d.answered(t).ID, d.answered(t).ID
		next := func() string { lines.Scan(); nextTick(); return lines.Text() }
		next() // to initialize
		c.send(t, look(2, one))
		nextTick()
		if d.received(t, one) {
			t.Error("there is a receipt before the reply was read")
		}
		if got := next(); !strings.Contains(got, "Ada") || !d.received(t, one) || d.received(t, two) {
			t.Errorf("got %s; receipts %t and %t, want one", got, d.received(t, one), d.received(t, two))
		}
		c.send(t, look(2, two)) // the id is free again
		synctest.Wait()
		if got := next(); !strings.Contains(got, "Ada") || !d.received(t, two) {
			t.Errorf("got %s; a receipt: %t", got, d.received(t, two))
		}
		c.send(t, "["+look(3, three)+`, {"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "ask_user_question", "arguments": {"question": "Which?"}}}]`)
		nextTick()
		if d.received(t, three) {
			t.Error("there is a receipt for what waits for the rest of its batch")
		}
		_ = c.in.Close()
		_ = r.Close()
		<-c.served
	})
}

// A request whose id is in use is dropped by the protocol, and the first one keeps
// its reply and its receipt.
func TestAnIDInUseHidesNoReceipt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		var out bytes.Buffer
		c := d.terminal(t, &out)
		c.send(t, `{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "ask_user_question", "arguments": {"question": "Which name?"}}}`)
		id := d.only().ID
		c.send(t, look(2, id))
		d.answer(id, askback.Choose("Ada"))
		nextTick()
		if n := strings.Count(out.String(), `"id":2`); n != 1 || !strings.Contains(out.String(), "Ada") || !d.received(t, id) {
			t.Errorf("%d replies: %s; a receipt: %t", n, out.String(), d.received(t, id))
		}
		_ = c.in.Close()
		<-c.served
	})
}

// What is too large is explained, and the next call is served as if nothing had
// been.
func TestALargeInputIsExplained(t *testing.T) {
	each(t, func(t *testing.T, _ *desk, connect func() *mcp.ClientSession) {
		cs := connect()
		n := askback.MaxInput/2*3 + 1 // a body over HTTP is not much larger
		if strings.Contains(t.Name(), "stdio") {
			n = 9 << 20
		}
		got := call(t.Context(), cs, "ask_user_question", `{"question": "`+strings.Repeat("x", n)+`"}`)
		if text := got.text(t); !got.IsError || !strings.Contains(text, "at most 1572864") || !strings.Contains(text, "Shorten") {
			t.Errorf("got %.200s", text)
		}
		if text := call(t.Context(), cs, "list_open_questions", `{}`).text(t); !strings.Contains(text, "Nothing is open") {
			t.Errorf("got %s", text)
		}
	})
}

// What is read before the input ends is replied to, as a script that is not a client
// expects; only nobody waits for a person then.
func TestRepliesComeBeforeTheEnd(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t)
			in := strings.NewReader(strings.Join([]string{
				`{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "script", "version": "1"}}}`,
				`{"jsonrpc": "2.0", "method": "notifications/initialized"}`,
				`{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "ask_user_question", "arguments": {"question": "Which name?"}}}`,
				`{"jsonrpc": "2.0", "id": 3, "method": "tools/list"}`,
			}, "\n") + "\n")
			var out bytes.Buffer
			begun := time.Now()
			if err := d.server.ServeStdio(t.Context(), d.engine.As(bot), in, &out); err != nil || time.Since(begun) != 0 {
				t.Errorf("ended with %v after %s", err, time.Since(begun))
			}
			for _, want := range []string{`"id":1,`, `"id":3,`, `"withdraw_question"`} {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%s is not in %s", want, out.String())
				}
			}
			d.only() // it stays asked
		})
	}
}
