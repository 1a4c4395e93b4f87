package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
)

const pay = `{"action": "Pay 100"}`

// usedUp checks what is said about an approval that was given before: what was
// decided, but nothing that a program would take for leave to act (F7).
func usedUp(t *testing.T, r reply) {
	t.Helper()
	text, s := r.text(t), r.structured(t)
	outcome, _ := s["outcome"].(map[string]any)
	if s["confirmed"] != false || s["used"] != true || outcome["decision"] != "approved" || r.IsError ||
		!strings.HasPrefix(text, "This approval was used already: do not act on it again.") || !strings.Contains(text, `Approved by "ana"`) {
		t.Errorf("got %q and %v, error %t", text, s, r.IsError)
	}
}

// approved says whether a reply is leave to act.
func approved(t *testing.T, r reply) bool {
	t.Helper()
	yes := r.structured(t)["confirmed"] == true
	if said := strings.HasPrefix(r.text(t), "Approved by"); said != yes {
		t.Errorf("the text and what stands beside it differ: %q, %v", r.text(t), r.structured(t))
	}
	return yes
}

// Two calls that ask for the same approval at a time get one each: the second is
// asked anew when the first was given what both waited for (F7).
func TestOneApprovalIsForOneCall(t *testing.T) {
	each(t, func(t *testing.T, d *desk, connect func() *mcp.ClientSession) {
		cs := connect()
		other := cs
		if strings.Contains(t.Name(), "http_"+modern) {
			other = connect() // another run of the agent, which the protocol cannot tell
		}
		one, two := start(t.Context(), cs, "confirm_action", pay), start(t.Context(), other, "confirm_action", pay)
		first := d.only().ID
		d.answer(first, askback.Decide(askback.Approve, ""))
		synctest.Wait()
		second := d.only()
		if second.ID == first || second.Confirmation.Description != "Pay 100" {
			t.Fatalf("asked %+v", second)
		}
		d.answer(second.ID, askback.Decide(askback.Deny, "once is enough"))
		if a, b := approved(t, <-one), approved(t, <-two); a == b {
			t.Errorf("both were told %t", a)
		}
	})
}

// The call that is asked anew waits no longer than its client does, and its
// progress goes on from where it was.
func TestACallThatIsAskedAnewKeepsItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		notes := make(chan float64, 20)
		cs := d.stdio("program", legacy, &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			notes <- r.Params.Progress
		}})
		begun := time.Now()
		replies := make(chan reply, 2)
		for range 2 {
			p := &mcp.CallToolParams{Name: "confirm_action", Arguments: json.RawMessage(pay)}
			p.SetProgressToken("t1")
			go func() {
				r, err := cs.CallTool(t.Context(), p)
				replies <- reply{r, err}
			}()
		}
		<-time.After(25 * time.Second) // by the clock of the bubble
		d.answer(d.only().ID, askback.Decide(askback.Approve, ""))
		if !approved(t, <-replies) {
			t.Error("nobody was told")
		}
		if got := (<-replies).structured(t); got["status"] != "pending" || got["question_id"] != d.only().ID || time.Since(begun) != 45*time.Second {
			t.Errorf("got %v after %s, want pending after 45s", got, time.Since(begun))
		}
		synctest.Wait()
		close(notes)
		var last float64
		for n := range notes {
			if n < last {
				t.Errorf("progress went from %v back to %v", last, n)
			}
			last = n
		}
		if last < 35 { // ten seconds after it was asked anew
			t.Errorf("the last progress was %v", last)
		}
	})
}

// Of two that only look at an approval, one is given it. The other is told what
// was decided, as often as it asks (F7).
func TestALookAtAnApprovalThatWasGiven(t *testing.T) {
	each(t, func(t *testing.T, d *desk, connect func() *mcp.ClientSession) {
		cs := connect()
		call(t.Context(), cs, "confirm_action", pay)
		id := `{"question_id": "` + d.only().ID + `"}`
		one, two := start(t.Context(), cs, "wait_for_answer", id), start(t.Context(), cs, "wait_for_answer", id)
		d.answer(d.only().ID, askback.Decide(askback.Approve, ""))
		a, b := <-one, <-two
		if !approved(t, a) {
			a, b = b, a
		}
		if !approved(t, a) {
			t.Errorf("got %q", a.text(t))
		}
		usedUp(t, b)
		for _, tool := range []string{"wait_for_answer", "get_answer", "withdraw_question", "get_answer"} {
			usedUp(t, call(t.Context(), cs, tool, id))
		}
		if asks := d.open(); len(asks) != 0 {
			t.Errorf("a look asked: %v", asks)
		}
	})
}

// So is a task: its result is an approval once.
func TestATaskIsAnApprovalOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		web := d.web("bot")
		id := fmt.Sprint(d.newTask(web, "confirm_action", pay)["taskId"])
		d.answer(id, askback.Decide(askback.Approve, ""))
		for i := range 3 {
			task, _ := d.on(web, "tasks/get", id)
			result, _ := task["result"].(map[string]any)
			s, _ := result["structuredContent"].(map[string]any)
			if task["status"] != "completed" || result["resultType"] != "complete" || s["confirmed"] != (i == 0) || (s["used"] == true) != (i > 0) {
				t.Errorf("look %d: got %v", i, task)
			}
		}
	})
}

// A key of its own is the one ask: whoever has it and did not hear the approval is
// told it again.
func TestAnApprovalUnderAKeyOfItsOwnIsToldAgain(t *testing.T) {
	each(t, func(t *testing.T, d *desk, connect func() *mcp.ClientSession) {
		keyed := func() reply {
			p := &mcp.CallToolParams{Name: "confirm_action", Arguments: json.RawMessage(pay)}
			p.Meta = mcp.Meta{"askback/idempotency-key": "pay-17"}
			r, err := connect().CallTool(t.Context(), p)
			return reply{r, err}
		}
		keyed()
		d.answer(d.only().ID, askback.Decide(askback.Approve, ""))
		for range 3 {
			if got := keyed(); !approved(t, got) {
				t.Errorf("got %q", got.text(t))
			}
		}
		if asks := d.open(); len(asks) != 0 {
			t.Errorf("asked again: %v", asks)
		}
	})
}

// A call that comes back from the page of an approval that another was given is
// asked anew, on a page of its own.
func TestAPageOfAnApprovalThatWasGiven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		web := d.web("bot")
		round := func(body string) map[string]any {
			t.Helper()
			_, got := post(t, web, "tools/call", "confirm_action", body)
			result, _ := got["result"].(map[string]any)
			return result
		}
		state := fmt.Sprint(round(pageCall("confirm_action", pay))["requestState"])
		first := d.only().ID
		d.answer(first, askback.Decide(askback.Approve, ""))
		back := strings.Replace(withState("confirm_action", pay, state), "decline", "accept", 1)
		if got := fmt.Sprint(round(back)); !strings.Contains(got, "confirmed:true") {
			t.Fatalf("got %s", got)
		}
		again := round(back)
		second := d.only()
		if again["resultType"] != "input_required" || second.ID == first || !strings.Contains(fmt.Sprint(again["inputRequests"]), second.ID) {
			t.Errorf("got %v", again)
		}
		d.answer(second.ID, askback.Decide(askback.Deny, ""))
		state = fmt.Sprint(again["requestState"])
		if got := fmt.Sprint(round(strings.Replace(withState("confirm_action", pay, state), "decline", "accept", 1))); !strings.Contains(got, "confirmed:false") {
			t.Errorf("got %s", got)
		}
	})
}

// unspent is a seat where no approval can be spent.
type unspent struct {
	askback.Client
	err error
}

func (u unspent) Consume(context.Context, string, string) (askback.Ask, error) {
	return askback.Ask{}, u.err
}

// An approval that could not be spent is not given: a call before, or after, could
// be given it as well (F7).
func TestAnApprovalThatCannotBeSpentIsNotGiven(t *testing.T) {
	for _, err := range []error{askback.ErrUnreachable, askback.ErrBusy, errors.New("disk")} {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t)
			d.seat = func(s askback.Client) askback.Client { return unspent{s, err} }
			cs := d.stdio("program", legacy, nil)
			done := start(t.Context(), cs, "confirm_action", pay)
			id := d.only().ID
			d.answer(id, askback.Decide(askback.Approve, ""))
			replies := []reply{<-done}
			for _, tool := range []string{"wait_for_answer", "get_answer"} {
				replies = append(replies, call(t.Context(), cs, tool, `{"question_id": "`+id+`"}`))
			}
			for _, got := range replies {
				if text := got.text(t); !got.IsError || strings.Contains(text, "Approved by") {
					t.Errorf("%v: error %t, %q", err, got.IsError, text)
				}
			}
			nextTick()
			if ask, err := d.engine.As(bot).Get(t.Context(), id); err != nil || !ask.AckedAt.IsZero() {
				t.Errorf("there is a receipt, %v", err)
			}
		})
	}
}

// gate lets agents in to seats where no approval can be spent.
type gate struct {
	*engine.Engine
	err error
}

func (g gate) As(p askback.Principal) askback.Client { return unspent{g.Engine.As(p), g.err} }

// Nor is it the result of a task.
func TestAnApprovalThatCannotBeSpentIsNoResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		web := &http.Client{Transport: &direct{
			handler: func() http.Handler { return d.server.Handler(gate{d.engine, askback.ErrBusy}) },
			serving: &d.serving, secret: d.secret(askback.Agent, "bot"),
		}}
		id := fmt.Sprint(d.newTask(web, "confirm_action", pay)["taskId"])
		d.answer(id, askback.Decide(askback.Approve, ""))
		if task, failed := d.on(web, "tasks/get", id); failed == nil || task != nil {
			t.Errorf("got %v", task)
		}
		if task, _ := d.on(d.web("bot"), "tasks/get", id); !strings.Contains(fmt.Sprint(task), "confirmed:true") {
			t.Errorf("later: got %v", task)
		}
	})
}

// An approval by a grant that ended meanwhile is none any more: a person is asked (F8).
func TestAGrantThatEndedIsAskedAbout(t *testing.T) {
	for tool, args := range map[string]string{"confirm_action": pay, "permission_prompt": bash} {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t)
			d.seat = func(s askback.Client) askback.Client { return unspent{s, askback.ErrNotApproved} }
			cs := d.stdio("program", legacy, nil)
			start(t.Context(), cs, tool, args)
			id := d.only().ID
			d.answer(id, askback.Decide(askback.Approve, ""))
			synctest.Wait()
			if again := d.only(); again.ID == id {
				t.Errorf("%s: nobody is asked again", tool)
			}
		})
	}
}

// Claude Code is neither given tasks nor shown pages, whatever it declares, and waits
// long wherever it can be told that the call lives.
func TestClaudeCodeWaitsInTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		web := d.web("bot")
		const all = `{"extensions": {"io.modelcontextprotocol/tasks": {}}, "elicitation": {"url": {}}}`
		for _, c := range []struct {
			progress string
			wait     time.Duration
		}{{`"progressToken": 1, `, 25 * time.Minute}, {"", 45 * time.Second}} {
			body := strings.Replace(toolCall("ask_user_question", database, all), `"_meta": {`,
				`"_meta": {`+c.progress+`"io.modelcontextprotocol/clientInfo": {"name": "claude-code", "version": "2"}, `, 1)
			begun := time.Now()
			_, got := post(t, web, "tools/call", "ask_user_question", body)
			if result, _ := got["result"].(map[string]any); result["resultType"] != "complete" || time.Since(begun) != c.wait {
				t.Errorf("%q: got %v after %s", c.progress, got, time.Since(begun))
			}
		}
	})
}
