package conversation_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/askback/askback"
	"github.com/askback/askback/conversation"
)

// The invariants of a run hold for any inputs, in any order and number (A2, A7).
func TestInvariantsOfARunHoldForRandomInputs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newRun(t)
		for range rapid.IntRange(0, 60).Draw(t, "inputs") {
			r.step(r.draw())
		}
		cancel := rapid.SampledFrom([]conversation.Input{
			conversation.TurnCancelled{At: r.at},
			conversation.RunCancelled{At: r.at},
			conversation.RunFailed{Error: "gone", At: r.at},
		}).Draw(t, "end")
		r.step(cancel)
		if err := validHistory(r.messages); err != nil {
			t.Fatalf("after %T: %v", cancel, err)
		}
		if len(r.state.Open) > 0 || !r.state.Due().IsZero() {
			t.Fatalf("after %T there are open calls or a time: %+v", cancel, r.state)
		}
		for ask, open := range r.asks {
			if open {
				t.Fatalf("after %T, the ask of call %d is open", cancel, ask)
			}
		}
		for child, runs := range r.children {
			if runs {
				t.Fatalf("after %T, child %v runs", cancel, child)
			}
		}
	})
}

// A run is a run under test, together with its asks, its children and the effects of the machine.
type run struct {
	t        *rapid.T
	at       time.Time
	state    conversation.State
	messages []conversation.Message
	done     []string                         // the effects so far, other than UpdateSession
	asks     map[int]bool                     // whether the ask of a call is open
	children map[conversation.StartChild]bool // whether a child runs
	ran      map[int]int                      // how often a tool that changes data ran for a call
	reads    map[int]bool                     // the calls of read-only tools
}

func newRun(t *rapid.T) *run {
	r := &run{
		t: t, at: time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC),
		asks: map[int]bool{}, children: map[conversation.StartChild]bool{}, ran: map[int]int{}, reads: map[int]bool{},
	}
	limits := conversation.Limits{
		Requests: rapid.IntRange(0, 5).Draw(t, "requests"), Attempts: rapid.IntRange(0, 3).Draw(t, "attempts"),
		Asks: rapid.IntRange(0, 3).Draw(t, "asks"),
	}
	r.step(conversation.Started{
		Prompt: conversation.Message{Role: conversation.RoleUser, Text: "Go."}, Limits: limits, At: r.at,
	})
	return r
}

// draw returns an input. Often it is the input that the run waits for, and sometimes any other input.
func (r *run) draw() conversation.Input {
	r.at = r.at.Add(time.Duration(rapid.IntRange(0, 90).Draw(r.t, "seconds")) * time.Second)
	n := func(near int) int { // in most cases, the number that the run waits for
		return max(0, near+rapid.SampledFrom([]int{0, 0, 0, 0, -1, 1}).Draw(r.t, "off"))
	}
	call := 0
	if len(r.state.Open) > 0 {
		call = r.state.Open[0].N
	}
	text, isError := rapid.SampledFrom([]string{"", "a", "b"}).Draw(r.t, "text"), rapid.Bool().Draw(r.t, "error")
	expected := map[conversation.Phase][]string{
		conversation.Requesting: {"replies", "replies", "fails", "due"}, conversation.Executing: {"starts", "ends"},
		conversation.Awaiting: {"settled"}, conversation.Delegating: {"child"}, conversation.Idle: {"writes"},
	}[r.state.Phase]
	all := []string{"replies", "fails", "due", "starts", "ends", "settled", "child", "writes", "cancelled"}
	if rapid.IntRange(0, 4).Draw(r.t, "expected") > 0 && len(expected) > 0 {
		all = expected
	}
	switch rapid.SampledFrom(all).Draw(r.t, "input") {
	case "replies":
		return conversation.ModelReplied{Request: n(r.state.Request), Text: text, Calls: drawCalls(r.t), At: r.at}
	case "fails":
		return conversation.ModelFailed{
			Request: n(r.state.Request), Attempt: n(r.state.Attempt), Error: "overloaded", Retry: !isError, At: r.at,
		}
	case "due":
		return conversation.Due{At: r.at}
	case "starts":
		return conversation.ToolStarted{Call: n(call), At: r.at}
	case "ends":
		return conversation.ToolFinished{Call: n(call), Text: text, IsError: isError, At: r.at}
	case "settled":
		in := conversation.AskSettled{
			Call: n(call), Text: text, IsError: isError, Approved: rapid.Bool().Draw(r.t, "approved"), AskID: "ask_1",
			At: r.at,
		}
		if rapid.IntRange(0, 9).Draw(r.t, "fails") == 0 {
			in.Fails = "no one answered"
		}
		return in
	case "child":
		return conversation.ChildFinished{
			Call: n(call), Child: rapid.IntRange(-1, 3).Draw(r.t, "child"), Text: text, IsError: isError, At: r.at,
		}
	case "writes":
		return conversation.PersonWrote{By: "ana", Text: text, At: r.at}
	}
	return conversation.TurnCancelled{At: r.at}
}

func drawCalls(t *rapid.T) []conversation.Call {
	kinds := rapid.SampledFrom([]conversation.Kind{
		conversation.KindTool, conversation.KindTool, conversation.KindAsk, conversation.KindDelegate,
		conversation.KindRejected,
	})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) conversation.Call {
		return conversation.Call{
			ID:   rapid.SampledFrom([]string{"x", "y"}).Draw(t, "id"),
			Tool: "tool", Input: json.RawMessage(`{}`), Plan: conversation.Plan{
				Kind: kinds.Draw(t, "kind"), Reads: rapid.Bool().Draw(t, "reads"), Confirm: rapid.Bool().Draw(t,
					"confirm"), Tasks: rapid.IntRange(0, 3).Draw(t, "tasks"), Error: "no",
			},
		}
	}), 0, 4).Draw(t, "calls")
}

// step steps the run with an input, and then again with the same input. The second step is like a repeated
// effect or message.
func (r *run) step(in conversation.Input) {
	before := r.state
	first := r.commit(in)
	switch in.(type) {
	case conversation.PersonWrote, conversation.ToolStarted, conversation.Started:
		return
	}
	if _, due := in.(conversation.Due); !first.Unchanged && !due && !reflect.DeepEqual(before, r.state) {
		if again, err := r.state.Step(in); err != nil || !again.Unchanged {
			r.t.Fatalf("a repeated %#v changes the run: %+v, %v", in, again, err)
		}
	}
}

func (r *run) commit(in conversation.Input) conversation.Result {
	old, err := r.state.Encode()
	if err != nil {
		r.t.Fatal(err)
	}
	ended := r.state.Ended()
	out, err := r.state.Step(in)
	if now, _ := r.state.Encode(); string(now) != string(old) {
		r.t.Fatalf("Step(%#v) changed the state that it was given", in)
	}
	if same, sameErr := r.state.Step(in); !reflect.DeepEqual(same, out) || fmt.Sprint(sameErr) != fmt.Sprint(err) {
		r.t.Fatalf("Step(%#v) returns %+v, and then %+v", in, out, same)
	}
	if err != nil && !out.Unchanged || ended && !out.Unchanged {
		r.t.Fatalf("Step(%#v) after the end, or with error %v: %+v", in, err, out)
	}
	if started, ok := in.(conversation.ToolStarted); ok && out.State.Runs(started.Call) {
		if r.ran[started.Call]++; r.ran[started.Call] > 1 && !r.reads[started.Call] {
			r.t.Fatalf("the tool of call %d may run twice", started.Call)
		}
	}
	if out.Unchanged {
		return out
	}
	b, err := out.State.Encode()
	if err != nil {
		r.t.Fatal(err)
	}
	if r.state, err = conversation.Decode(b); err != nil {
		r.t.Fatalf("%s: %v", b, err)
	}
	if again, _ := r.state.Encode(); string(again) != string(b) {
		r.t.Fatalf("stored %s, and read %s", b, again)
	}
	r.messages = append(r.messages, conversation.Messages(out.History)...)
	for _, e := range out.Effects {
		r.effect(e)
	}
	if settled, ok := in.(conversation.AskSettled); ok {
		r.asks[settled.Call] = false
	}
	if child, ok := in.(conversation.ChildFinished); ok {
		r.children[conversation.StartChild{Call: child.Call, Child: child.Child}] = false
	}
	r.checkMessages(out)
	return out
}

// effect records an effect of the machine. It fails the test if the machine returns the same effect twice.
func (r *run) effect(e conversation.Effect) {
	switch e := e.(type) {
	case conversation.UpdateSession:
		return
	case conversation.OpenAsk:
		r.asks[e.Call] = true
	case conversation.WithdrawAsk:
		r.asks[e.Call] = false
	case conversation.StartChild:
		r.children[e] = true
	case conversation.CancelChild:
		r.children[conversation.StartChild(e)] = false
	case conversation.ExecuteTool:
		r.reads[e.Call] = r.state.Open[0].Reads
	case conversation.RequestModel:
		if err := validHistory(r.messages); err != nil {
			r.t.Fatalf("%+v: %v", e, err)
		}
	}
	name := fmt.Sprintf("%T %+v", e, e)
	if slices.Contains(r.done, name) {
		r.t.Fatalf("%s is required twice", name)
	}
	r.done = append(r.done, name)
}

// checkMessages checks that the session ends exactly when the run ends. It also checks that the open calls
// are the calls without a result.
func (r *run) checkMessages(out conversation.Result) {
	open := map[int]bool{}
	for _, m := range r.messages {
		for _, c := range m.Calls {
			open[c.N] = true
		}
		if m.Result != nil {
			delete(open, m.Result.N)
		}
	}
	if len(open) != len(r.state.Open) {
		r.t.Fatalf("%d calls have no result, and %d are open", len(open), len(r.state.Open))
	}
	final := false
	for _, e := range out.Effects {
		if u, ok := e.(conversation.UpdateSession); ok {
			final = u.Status == askback.SessionFailed || u.Status == askback.SessionCancelled
		}
	}
	if final != r.state.Ended() {
		r.t.Fatalf("in phase %s, the session has ended: %v", r.state.Phase, final)
	}
}

// validHistory returns an error unless each call has exactly one result, in order, before the
// next message of another role.
func validHistory(messages []conversation.Message) error {
	var open []conversation.Call
	for i, m := range messages {
		switch {
		case m.Role == conversation.RoleTool &&
			(len(open) == 0 || open[0].N != m.Result.N || open[0].ID != m.Result.ID):
			return fmt.Errorf("message %d is the result of call %d, which is not the next one", i, m.Result.N)
		case m.Role == conversation.RoleTool:
			open = open[1:]
		case len(open) > 0:
			return fmt.Errorf("message %d of role %s follows call %d without a result", i, m.Role, open[0].N)
		default:
			open = m.Calls
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("call %d has no result", open[0].N)
	}
	return nil
}
