package conversation

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/askback/askback"
)

// The results of calls that were not made or were interrupted. They state what is known and what the model
// should do.
const (
	interrupted = "Interrupted: the server stopped while this tool ran, and its outcome is unknown. Check what it " +
		"did before you call it again."
	noTasks     = "There are no tasks. Name at least one."
	tooManyRuns = "This run may start %d agents, and has started %d. Start fewer, or do the rest yourself."
	tooManyAsks = "This run has asked people the maximum number of times (%d). Decide yourself, and say what " +
		"you assumed."
)

// A step builds a [Result].
type step struct {
	s       State
	changed bool
	Result
}

// start returns the first step of a run.
func start(in Started) Result {
	t := step{s: State{Limits: in.Limits}}
	t.add(in.Prompt, false)
	t.update(askback.SessionRunning, "", "")
	t.request()
	return t.end()
}

// end returns the result of the step.
func (t *step) end() Result {
	t.Result.State = t.s
	return t.Result
}

// add adds the event of a message, and the events of its calls.
func (t *step) add(m Message, final bool) {
	t.changed = true
	t.event(Event{Type: EventMessage, Role: m.Role, Text: m.Text, By: m.By, Provider: m.Provider, Final: final})
	for _, c := range m.Calls {
		t.event(Event{Type: EventToolInput, Call: c.N, ID: c.ID, Tool: c.Tool, Input: c.Input, Kind: c.kind()})
	}
}

func (t *step) event(e Event)   { t.History = append(t.History, e) }
func (t *step) effect(e Effect) { t.Effects = append(t.Effects, e) }

// enter changes the phase, and adds its event.
func (t *step) enter(p Phase) {
	t.changed = true
	t.s.Phase = p
	t.event(Event{Type: EventStateChange, Phase: p})
}

// update adds the effect that changes the session.
func (t *step) update(status askback.SessionStatus, result, problem string) {
	t.effect(UpdateSession{
		Status: status, Idle: status == askback.SessionCompleted, Result: result, Error: problem, Usage: t.s.Usage,
	})
}

// request adds the messages that waited, and requests the model. If the turn has reached the maximum number
// of requests, request fails the run instead.
func (t *step) request() {
	t.flush()
	if limit := or(t.s.Limits.Requests, DefaultRequests); t.s.InTurn >= limit {
		t.fail(fmt.Sprintf("the agent sent %d requests to its model and did not end its turn; max_turns in its "+
			"definition is the limit", limit))
		return
	}
	t.s.Request++
	t.s.InTurn++
	t.s.Attempt = 1
	t.enter(Requesting)
	t.effect(RequestModel{t.s.Request, 1})
}

// flush adds the messages that waited for the results of the calls before them.
func (t *step) flush() {
	for _, m := range t.s.Queued {
		t.add(m, false)
	}
	t.s.Queued = nil
}

func (t *step) modelReplied(in ModelReplied) {
	if t.s.Phase != Requesting || t.s.Request != in.Request {
		return
	}
	t.s.Attempt, t.s.RetryAt = 0, time.Time{}
	t.s.Usage = t.s.Usage.Add(in.Usage)
	m := Message{Role: RoleAssistant, Text: in.Text, Provider: in.Provider}
	for _, c := range in.Calls {
		t.s.Calls++
		c.N = t.s.Calls
		m.Calls = append(m.Calls, c)
		t.s.Open = append(t.s.Open, Open{N: c.N, ID: c.ID, Tool: c.Tool, Plan: c.Plan})
	}
	t.add(m, len(m.Calls)+len(t.s.Queued) == 0)
	switch {
	case len(m.Calls) > 0:
		t.update(askback.SessionRunning, "", "")
		t.next()
	case len(t.s.Queued) > 0: // a person has sent a message meanwhile, so the turn continues
		t.update(askback.SessionRunning, "", "")
		t.request()
	default:
		t.idle(in.Text)
	}
}

// idle ends the turn with this result.
func (t *step) idle(result string) {
	t.s.InTurn = 0
	t.enter(Idle)
	t.event(Event{Type: EventAgentComplete})
	t.update(askback.SessionCompleted, result, "")
}

// next makes the first open call that can be made. Calls before it that cannot be made get an error as their
// result. If no call is open, next requests the model.
func (t *step) next() {
	for len(t.s.Open) > 0 {
		c := &t.s.Open[0]
		switch {
		case c.Kind == KindTool && (!c.Confirm || c.Approved):
			t.execute(ExecuteTool{Call: c.N})
			return
		case c.Kind == KindAsk && t.s.Asks >= or(t.s.Limits.Asks, DefaultAsks):
			t.result(fmt.Sprintf(tooManyAsks, t.s.Asks), true)
		case c.Kind == KindTool || c.Kind == KindAsk:
			if c.Kind == KindAsk {
				t.s.Asks++
			}
			t.enter(Awaiting)
			t.effect(OpenAsk{c.N})
			return
		case c.Kind == KindDelegate && t.s.Spawned+c.Tasks > MaxChildren:
			t.result(fmt.Sprintf(tooManyRuns, MaxChildren, t.s.Spawned), true)
		case c.Kind == KindDelegate && c.Tasks > 0:
			t.delegate(c)
			return
		case c.Kind == KindDelegate:
			t.result(noTasks, true)
		default:
			t.result(c.Error, true)
		}
	}
	t.request()
}

func (t *step) execute(e ExecuteTool) {
	t.enter(Executing)
	t.event(Event{Type: EventToolStart, Call: e.Call, Tool: t.s.Open[0].Tool})
	t.effect(e)
}

func (t *step) delegate(c *Open) {
	t.s.Children = make([]Child, c.Tasks)
	t.s.Spawned += c.Tasks
	t.enter(Delegating)
	for i := range t.s.Children {
		t.effect(StartChild{c.N, i})
	}
}

// result adds the result of the first open call, and removes the call from the open calls.
func (t *step) result(text string, isError bool) {
	c := t.s.Open[0]
	t.s.Open, t.s.Children = t.s.Open[1:], nil
	t.changed = true
	t.event(Event{
		Type: EventToolComplete, Call: c.N, ID: c.ID, Tool: c.Tool, Text: text, IsError: isError, Kind: c.kind(),
	})
}

func (t *step) modelFailed(in ModelFailed) {
	if !t.s.Requests(RequestModel{in.Request, in.Attempt}) {
		return
	}
	t.s.Usage = t.s.Usage.Add(in.Usage)
	if !in.Retry || in.Attempt >= or(t.s.Limits.Attempts, DefaultAttempts) {
		t.fail(in.Error)
		return
	}
	t.changed = true
	t.s.Attempt++
	t.s.RetryAt = in.At.Add(max(in.After, pause(in.Attempt)))
}

// pause returns the pause after a failed attempt.
func pause(attempt int) time.Duration {
	if attempt > 10 {
		return LongestPause
	}
	return min(FirstPause<<(attempt-1), LongestPause)
}

func (t *step) due(in Due) {
	if t.s.RetryAt.IsZero() || in.At.Before(t.s.RetryAt) {
		return
	}
	t.changed = true
	t.s.RetryAt = time.Time{}
	t.effect(RequestModel{t.s.Request, t.s.Attempt})
}

// current reports whether the run is in this phase and makes this call.
func (t *step) current(p Phase, call int) bool { return t.s.Phase == p && t.s.Open[0].N == call }

func (t *step) toolStarted(in ToolStarted) {
	if !t.current(Executing, in.Call) {
		return
	}
	c := &t.s.Open[0]
	switch {
	case !c.Started:
		t.changed, c.Started = true, true
	case !c.Reads:
		t.result(interrupted, true)
		t.next()
	}
}

func (t *step) toolFinished(in ToolFinished) {
	if t.current(Executing, in.Call) {
		t.result(in.Text, in.IsError)
		t.next()
	}
}

func (t *step) askSettled(in AskSettled) {
	if !t.current(Awaiting, in.Call) {
		return
	}
	c := &t.s.Open[0]
	switch {
	case in.Fails != "":
		t.result(in.Text, true)
		t.fail(in.Fails)
	case c.Kind == KindTool && in.Approved:
		c.Approved = true
		t.execute(ExecuteTool{Call: c.N, AskID: in.AskID, Input: in.Input})
	default:
		t.result(in.Text, in.IsError)
		t.next()
	}
}

func (t *step) childFinished(in ChildFinished) {
	if !t.current(Delegating, in.Call) || in.Child < 0 || in.Child >= len(t.s.Children) ||
		t.s.Children[in.Child].Finished {
		return
	}
	t.changed = true
	t.s.Children[in.Child] = Child{Finished: true, Text: in.Text, IsError: in.IsError}
	text, failed := strings.Builder{}, 0
	for i, c := range t.s.Children {
		if !c.Finished {
			return
		}
		if c.IsError {
			failed++
		}
		line, _ := json.Marshal(struct { // a string and a number can always be marshaled
			Task   int    `json:"task"`
			Result string `json:"result,omitempty"`
			Error  string `json:"error,omitempty"`
		}{i + 1, unless(c.IsError, c.Text), unless(!c.IsError, c.Text)})
		if i > 0 {
			text.WriteByte('\n')
		}
		text.Write(line)
	}
	t.result(text.String(), failed == len(t.s.Children))
	t.next()
}

func (t *step) personWrote(in PersonWrote) error {
	m := Message{Role: RoleUser, Text: in.Text, By: in.By}
	switch {
	case t.s.Ended():
		return askback.ErrEnded
	case t.s.Phase == Idle:
		t.add(m, false)
		t.update(askback.SessionRunning, "", "")
		t.request()
	case len(t.s.Queued) >= MaxQueued:
		return &askback.RetryError{Err: askback.ErrTooMany, After: LongestPause}
	default:
		t.changed = true
		t.s.Queued = append(t.s.Queued, m)
		t.event(Event{Type: EventMessageQueued, Role: m.Role, Text: m.Text, By: m.By})
	}
	return nil
}

// or returns n, or other if n is 0.
func or(n, other int) int {
	if n == 0 {
		return other
	}
	return n
}

// unless returns text if condition is false, and otherwise "".
func unless(condition bool, text string) string {
	if condition {
		return ""
	}
	return text
}
