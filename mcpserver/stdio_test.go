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
	"github.com/askback/askback/internal/limits"
)

// A stdioPeer is the other end of a connection on stdio.
type stdioPeer struct {
	in     *io.PipeWriter
	served chan error
}

// stdioPeer serves bot on stdio, and initializes the connection.
func (f *fixture) stdioPeer(t *testing.T, out io.Writer) *stdioPeer {
	t.Helper()
	r, w := io.Pipe()
	c := &stdioPeer{w, make(chan error, 1)}
	go func() { c.served <- f.server.ServeStdio(t.Context(), f.wrap(f.engine.As(bot)), r, out) }()
	t.Cleanup(func() { _ = w.Close() })
	c.send(t, `{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "claude-code", "version": "2"}}}`)
	c.send(t, `{"jsonrpc": "2.0", "method": "notifications/initialized"}`)
	return c
}

func (c *stdioPeer) send(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

// getAnswerCall returns a call of get_answer.
func getAnswerCall(id int, ask string) string {
	return fmt.Sprintf(`{"jsonrpc": "2.0", "id": %d, "method": "tools/call", "params": {"name": "get_answer", "arguments": {"question_id": %q}}}`, id, ask)
}

// A breakableOutput is an output whose writes fail once broken is set.
type breakableOutput struct {
	io.Writer
	broken bool
}

func (s *breakableOutput) Write(p []byte) (int, error) {
	if s.broken {
		return 0, io.ErrClosedPipe
	}
	return s.Writer.Write(p)
}

// An outcome whose reply was not written does not count as delivered, and the next connection
// lists it (B7).
func TestUnwrittenReplyOnStdioDeliversNothing(t *testing.T) {
	for _, written := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t)
			out := &breakableOutput{Writer: io.Discard}
			c := f.stdioPeer(t, out)
			c.send(t, `{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "ask_user_question", "arguments": {"question": "Which name?"}}}`)
			id := f.pendingAsk().ID
			out.broken = !written
			f.answer(id, askback.Choose("Ada"))
			synctest.Wait()
			_ = c.in.Close()
			<-c.served
			if got := f.acked(t, id); got != written {
				t.Errorf("written %t: acknowledged %t", written, got)
			}
			if f.server.Delivered(id) != written {
				t.Errorf("written %t: delivered %t", written, !written)
			}
			listed := callTool(t.Context(), f.connectStdio("claude-code", withSessions, nil), "list_open_questions",
				`{}`).text(t)
			if strings.Contains(listed, id) == written {
				t.Errorf("written %t: listed %s", written, listed)
			}
		})
	}
}

// Each reply acknowledges its own outcomes immediately, even if its id is used again. A reply that is
// buffered for a batch acknowledges nothing.
func TestRepliesOnStdioAcknowledgeTheirOwnOutcomes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		r, w := io.Pipe()
		defer r.Close()
		c := f.stdioPeer(t, w)
		lines := bufio.NewScanner(r)
		one, two, three := f.answeredAsk(t).ID, f.answeredAsk(t).ID, f.answeredAsk(t).ID
		next := func() string { lines.Scan(); synctest.Wait(); return lines.Text() }
		next() // the reply to initialize
		c.send(t, getAnswerCall(2, one))
		nextTick()
		if f.acked(t, one) {
			t.Error("the outcome is acknowledged before the reply was read")
		}
		if got := next(); !strings.Contains(got, "Ada") || !f.acked(t, one) || f.acked(t, two) {
			t.Errorf("got %s; acknowledged %t and %t, want the first", got, f.acked(t, one), f.acked(t, two))
		}
		c.send(t, getAnswerCall(2, two)) // the id is free again
		synctest.Wait()
		if got := next(); !strings.Contains(got, "Ada") || !f.acked(t, two) {
			t.Errorf("got %s; acknowledged %t", got, f.acked(t, two))
		}
		c.send(t, "["+getAnswerCall(3, three)+`, {"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "ask_user_question", "arguments": {"question": "Which?"}}}]`)
		nextTick()
		if f.acked(t, three) {
			t.Error("an outcome in a buffered reply is acknowledged")
		}
		_ = c.in.Close()
		_ = r.Close()
		<-c.served
	})
}

// The protocol drops a request whose id is in use. The first request keeps its reply and
// its ack.
func TestRequestWithAnIDInUseIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		var out bytes.Buffer
		c := f.stdioPeer(t, &out)
		c.send(t, `{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "ask_user_question", "arguments": {"question": "Which name?"}}}`)
		id := f.pendingAsk().ID
		c.send(t, getAnswerCall(2, id))
		f.answer(id, askback.Choose("Ada"))
		nextTick()
		if n := strings.Count(out.String(), `"id":2`); n != 1 ||
			!strings.Contains(out.String(), "Ada") || !f.acked(t, id) {
			t.Errorf("%d replies: %s; acknowledged %t", n, out.String(), f.acked(t, id))
		}
		_ = c.in.Close()
		<-c.served
	})
}

// Input that is too large gets an error result, and the connection stays usable.
func TestLargeInputIsExplained(t *testing.T) {
	eachTransport(t, func(t *testing.T, _ *fixture, connect func() *mcp.ClientSession) {
		cs := connect()
		n := limits.MaxInput/2*3 + 1 // a body over HTTP is not much larger
		if strings.Contains(t.Name(), "stdio") {
			n = 9 << 20
		}
		got := callTool(t.Context(), cs, "ask_user_question", `{"question": "`+strings.Repeat("x", n)+`"}`)
		if text := got.text(t); !got.IsError || !strings.Contains(text, "at most 1572864") ||
			!strings.Contains(text, "Shorten") {
			t.Errorf("got %.200s", text)
		}
		if text := callTool(t.Context(), cs, "list_open_questions",
			`{}`).text(t); !strings.Contains(text, "Nothing is open") {
			t.Errorf("got %s", text)
		}
	})
}

// Requests that are read before the input ends get a reply, as scripts expect. They do not
// wait for a person.
func TestRequestsBeforeTheEndOfInputGetReplies(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t)
			in := strings.NewReader(strings.Join([]string{
				`{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "script", "version": "1"}}}`,
				`{"jsonrpc": "2.0", "method": "notifications/initialized"}`,
				`{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "ask_user_question", "arguments": {"question": "Which name?"}}}`,
				`{"jsonrpc": "2.0", "id": 3, "method": "tools/list"}`,
			}, "\n") + "\n")
			var out bytes.Buffer
			started := time.Now()
			if err := f.server.ServeStdio(t.Context(), f.engine.As(bot), in, &out); err != nil ||
				time.Since(started) != 0 {
				t.Errorf("ended with %v after %s", err, time.Since(started))
			}
			for _, want := range []string{`"id":1,`, `"id":3,`, `"withdraw_question"`} {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%s is not in %s", want, out.String())
				}
			}
			f.pendingAsk() // the ask is still pending
		})
	}
}
