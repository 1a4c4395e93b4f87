package mcp_test

import (
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/test/interop/clienttest"
)

// The default timeout of the SDK is 60 s. Most clients get a normal result with the next step before that.
// Clients that are known to wait longer time out. Clients of both kinds get their answer later (B7, F4). The
// name of this file sorts first, so that this slow test begins first.
func TestAnswerIsReturnedAfterTimeoutOfTheSDK(t *testing.T) {
	forEachSetup(t, func(t *testing.T, p *clienttest.Instance, w setupCase) {
		b, most := newBrowser(t, p), w.in(p)
		known := most
		known.Name = "gemini-cli"
		one, other := newAgent(t, w.script, most), newAgent(t, w.script, known)
		held, lost := ask("Which database?", "PostgreSQL",
			"SQLite").withTimeout(0), ask("Which cache?", "Redis", "None").withTimeout(0)
		first, second := one.start("call", held), other.start("call", lost)

		r := one.result(first)
		if r.IsError || r.Structured.Status != askback.Pending || !strings.Contains(r.text(), r.Structured.Next) ||
			!strings.Contains(r.Structured.Next, "wait_for_answer") {
			t.Fatalf("got %+v", r)
		}
		first = one.start("call", laterCall("wait_for_answer", r.Structured.ID).withTimeout(0))
		b.answer(r.Structured.PageURL, "1")
		one.wantAnswer(one.result(first), "Which database?", "SQLite")

		if r := other.await(second); !r.Error.isTimeout() {
			t.Fatalf("the client did not time out: %s %v", r.Result, r.Error)
		}
		p.Idle()
		b.answer(p.Open(1)[0].PageURL, "0")
		other.wantAnswer(other.call(lost), "Which cache?", "Redis")
		p.Open(0)
	})
}
