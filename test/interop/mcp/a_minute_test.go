package mcp_test

import (
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/test/interop/clienttest"
)

// The SDK's own time-out of 60 s, untouched. It stands in the first file, so that it
// begins first and the others run beside it. A client like most gets a normal result
// before it passes, with what to do next; one that is known to wait longer runs into
// it. Both are answered in the browser afterwards, and get it (B7, F4).
func TestTheSDKsOwnTimeOut(t *testing.T) {
	each(t, func(t *testing.T, p *clienttest.Place, w way) {
		b, most := newBrowser(t, p), w.in(p)
		known := most
		known.Name = "gemini-cli"
		one, other := begin(t, w.script, most), begin(t, w.script, known)
		held, lost := ask("Which database?", "PostgreSQL", "SQLite").within(0), ask("Which cache?", "Redis", "None").within(0)
		first, second := one.start("call", held), other.start("call", lost)

		r := one.result(first)
		if r.IsError || r.Structured.Status != askback.Pending || !strings.Contains(r.text(), r.Structured.Next) ||
			!strings.Contains(r.Structured.Next, "wait_for_answer") {
			t.Fatalf("got %+v", r)
		}
		first = one.start("call", later("wait_for_answer", r.Structured.ID).within(0))
		b.answer(r.Structured.PageURL, "1")
		one.said(one.result(first), "Which database?", "SQLite")

		if r := other.soon(second); !r.Error.timedOut() {
			t.Fatalf("the client did not time out: %s %v", r.Result, r.Error)
		}
		other.heard()
		b.answer(p.Open(1)[0].PageURL, "0")
		other.said(other.call(lost), "Which cache?", "Redis")
		p.Open(0)
	})
}
