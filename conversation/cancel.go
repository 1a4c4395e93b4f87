package conversation

import (
	"time"

	"github.com/askback/askback"
)

// The reasons, for the model, why a call ended without a result of its own.
const (
	turnCancelled = "A person cancelled the turn"
	runCancelled  = "A person cancelled the run"
	runFailed     = "The run failed"
)

// fail closes the open calls and ends the run for good with an error.
func (t *step) fail(problem string) {
	t.close(runFailed)
	t.enter(Failed)
	t.update(askback.SessionFailed, "", problem)
}

func (t *step) runFailed(in RunFailed) {
	if !t.s.Ended() {
		t.stop(runFailed)
		t.fail(in.Error)
	}
}

func (t *step) cancelTurn() {
	if t.s.Ended() || t.s.Phase == Idle {
		return
	}
	t.stop(turnCancelled)
	t.close(turnCancelled)
	t.idle("")
}

func (t *step) cancelRun() {
	if t.s.Ended() {
		return
	}
	t.stop(runCancelled)
	t.close(runCancelled)
	t.enter(Cancelled)
	t.update(askback.SessionCancelled, "", "")
}

// stop ends the present work of the run. If the work of the present call has begun, the call gets a result,
// so that the model's history stays valid. Its ask is withdrawn, and its children are cancelled. A running
// tool and a request end because [State.Runs] and [State.Requests] are false afterwards.
func (t *step) stop(why string) {
	switch t.s.Phase {
	case Executing:
		if t.s.Open[0].Started {
			t.result(why+" while this tool ran. Its outcome is unknown.", true)
		}
	case Awaiting:
		t.effect(WithdrawAsk{t.s.Open[0].N})
		t.result(why+" before this was answered. Nothing was approved.", true)
	case Delegating:
		for i, c := range t.s.Children {
			if !c.Finished {
				t.effect(CancelChild{t.s.Open[0].N, i})
			}
		}
		t.result(why+" before all children had finished.", true)
	}
}

// close gives every open call a result, and adds the messages that waited for the results. It cancels the
// next attempt of a request.
func (t *step) close(why string) {
	for len(t.s.Open) > 0 {
		t.result(why+" before this call was made.", true)
	}
	t.flush()
	t.s.Attempt, t.s.RetryAt = 0, time.Time{}
}
