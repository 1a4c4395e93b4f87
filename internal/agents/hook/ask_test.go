package hook_test

import (
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/agents/hook/hooktest"
)

// A deferred call finds its ask when the session is resumed in another folder. It also finds the ask of an
// earlier version of Askback, which asked with another label. The answer to the ask is delivered (F9).
func TestResumedCallFindsItsAsk(t *testing.T) {
	for name, change := range map[string]func(*askback.Request){
		"another context": func(r *askback.Request) {
			r.Context = hook.Origin{Hook: "PreToolUse", Session: "s1", CWD: "/srv/shop"}.JSON()
		},
		"another label": func(r *askback.Request) { r.Agent = hook.Label("codex", "/srv/shop") },
		"both": func(r *askback.Request) {
			r.Agent = hook.Label("codex", "/srv/shop")
			r.Context = hook.Origin{Hook: "PreToolUse", Session: "s1", CWD: "/srv/shop"}.JSON()
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			f, call := hooktest.NewFixture(t), deferrable()
			leave, replies := start(f, call)
			leave()
			wantOutput(t, <-replies, "defer")
			f.Answer(f.WantAsks(name+", deferred", askback.Pending)[0], askback.Decide(askback.Approve, ""))
			change(&call.Request)
			_, replies = start(f, call)
			wantOutput(t, <-replies, "allow")
			f.WantAsks(name+", resumed", askback.Answered)
		})
	}
}

// A call with other arguments, of another tool or in another session does not find an ask, even if it has the
// same key.
func TestOtherCallDoesNotFindTheAsk(t *testing.T) {
	for name, change := range map[string]func(*askback.Request){
		"other arguments": func(r *askback.Request) {
			r.Confirmation, _ = hook.Confirmation("", "Bash", json.RawMessage(`{"command":"rm"}`))
		},
		"another tool": func(r *askback.Request) {
			r.Confirmation, _ = hook.Confirmation("", "Write", r.Confirmation.Input)
		},
		"another session": func(r *askback.Request) { r.SessionKey = "s2" },
	} {
		synctest.Test(t, func(t *testing.T) {
			f, call := hooktest.NewFixture(t), deferrable()
			leave, replies := start(f, call)
			leave()
			wantOutput(t, <-replies, "defer")
			call.Request.Agent = hook.Label("codex", "/srv/shop")
			change(&call.Request)
			if reply, err := f.Runner.Run(t.Context(), "bot", f.Client(), call); reply.Output != nil ||
				!errors.Is(err, askback.ErrKeyReused) {
				t.Errorf("%s: got %q, %v; want %v", name, reply.Output, err, askback.ErrKeyReused)
			}
			f.WantAsks(name, askback.Pending)
		})
	}
}
