package conformance

import (
	"time"

	"github.com/askback/askback"
)

// A timedCase is a test case that needs a clock.
type timedCase struct {
	name string
	show func(fixture, Clock)
}

var timing = []timedCase{
	{"DeadlineAppliesOnTimeout", deadlines},                   // F5, E7
	{"DeadlineEndsWait", timerEndsWait},                       // F5, B3
	{"DeadlineNeverApproves", timerNeverApproves},             // C3, F4
	{"AnswerAfterDeadlineIsRejected", answerAfterTimer},       // F6
	{"ClaimExtendsTheDeadline", claimExtendsDeadline},         // F5
	{"ClaimsExtendTheDeadlineByHalfAnHourAtMost", claimLimit}, // F5
	{"KeyRemainsAfterDeadline", keyAfterDeadline},             // wire.md §3
	{"HeldAnswerIsSentWhenItsTimeHasCome", heldIsSent},        // wire.md §1
}

// timed returns a request with a timeout of ten minutes and the given OnTimeout.
func timed(on askback.OnTimeout) askback.Request {
	q := fullRequest()
	q.SessionKey = "" // a failed session rejects asks
	q.Timeout, q.OnTimeout = 10*time.Minute, on
	return q
}

// expired returns the ask a as its deadline must settle it. The time and the reason of the outcome are copied
// from got.
func expired(a askback.Ask, got askback.Ask) askback.Ask {
	a.Status = askback.Expired
	a.Outcome = &askback.Outcome{Status: askback.Expired, Actor: askback.Actor{Kind: askback.ActorTimer}}
	if got.Outcome != nil {
		a.Outcome.At, a.Outcome.Reason = got.Outcome.At, got.Outcome.Reason
	}
	return a
}

func deadlines(f fixture, clock Clock) {
	ana := f.person("ana")
	for _, on := range []askback.OnTimeout{
		"", askback.OnTimeoutFail, askback.OnTimeoutDecline, askback.OnTimeoutDefault, askback.OnTimeoutWait,
	} {
		want := f.ask(f.agent(), timed(on))
		clock.Advance(9 * time.Minute)
		f.wantPending(want)
		clock.Advance(time.Minute)
		if on == askback.OnTimeoutWait {
			f.wantPending(want)
			f.noError(ana.Answer(f.ctx(), want.ID, answers(askback.QuestionAnswer{ID: "q1", Selected: []string{"A"}})))
			continue
		}
		got := f.noError(ana.Get(f.ctx(), want.ID))
		want = expired(want, got)
		if on == askback.OnTimeoutDefault {
			want.Outcome.Defaulted = true
			want.Outcome.Answers = []askback.QuestionAnswer{
				{ID: "q1", Question: "Which <design>?", Selected: []string{"B"}},
				{ID: "q2", Question: "Which colours?", Selected: []string{"red", "blue"}},
			}
		}
		f.wantSame(got, want)
		if got.Outcome != nil && (got.Outcome.Reason == "" || got.Outcome.At.Before(got.Deadline)) {
			f.Errorf("on_timeout %q: got reason %q at %v, want one, after %v", on, got.Outcome.Reason, got.Outcome.At,
				got.Deadline)
		}
		f.wantSame(f.noError(f.agent().Wait(f.ctx(), want.ID)), want)
	}
	f.wantIDs("expired", f.list(ana, askback.Query{Status: askback.Pending}, nothing), nil)
}

func timerEndsWait(f fixture, clock Clock) {
	a := f.ask(f.agent(), timed(askback.OnTimeoutFail))
	concurrently(5, func(i int) {
		if i == 0 {
			clock.Advance(10 * time.Minute)
			return
		}
		got, err := f.agent().Wait(f.ctx(), a.ID)
		if err != nil || got.Status != askback.Expired {
			f.Errorf("got status %s and error %v, want expired", got.Status, err)
		}
	})
}

func timerNeverApproves(f fixture, clock Clock) {
	for _, on := range []askback.OnTimeout{askback.OnTimeoutFail, askback.OnTimeoutDecline, askback.OnTimeoutWait} {
		q := confirmation()
		q.Timeout, q.OnTimeout = 10*time.Minute, on
		a := f.ask(f.agent(), q)
		clock.Advance(time.Hour)
		got := f.noError(f.agent().Get(f.ctx(), a.ID))
		if got.Outcome.Approved() || got.Outcome != nil && got.Outcome.Decision != "" {
			f.Errorf("on_timeout %s: got outcome %s, want no decision", on, text(got.Outcome))
		}
		_, err := f.agent().Consume(f.ctx(), a.ID, a.Confirmation.Digest)
		f.wantError(err, askback.ErrNotApproved)
	}
}

func answerAfterTimer(f fixture, clock Clock) {
	a := f.ask(f.agent(), timed(askback.OnTimeoutFail))
	clock.Advance(10 * time.Minute)
	got, err := f.person("ana").Answer(f.ctx(), a.ID,
		answers(askback.QuestionAnswer{ID: "q1", Selected: []string{"A"}}))
	f.wantSettled(got, err, expired(a, got))
	got, err = f.agent().Cancel(f.ctx(), a.ID, "")
	f.wantSettled(got, err, expired(a, got))
}

func claimExtendsDeadline(f fixture, clock Clock) {
	ana := f.person("ana")
	a := f.ask(f.agent(), timed(askback.OnTimeoutFail))
	clock.Advance(9 * time.Minute)
	held := f.noError(ana.Claim(f.ctx(), a.ID)) // until 14 minutes
	clock.Advance(4 * time.Minute)
	f.wantPending(held)
	held = f.noError(f.person("judge").Claim(f.ctx(), a.ID)) // until 18 minutes
	clock.Advance(4 * time.Minute)
	f.wantPending(held)
	clock.Advance(time.Minute)
	got := f.noError(ana.Get(f.ctx(), a.ID))
	f.wantSame(got, expired(held, got))

	a = f.ask(f.agent(), timed(askback.OnTimeoutFail))
	clock.Advance(9 * time.Minute)
	f.noError(ana.Claim(f.ctx(), a.ID))
	clock.Advance(4 * time.Minute)
	won := f.noError(ana.Answer(f.ctx(), a.ID, answers(askback.QuestionAnswer{ID: "q1", Selected: []string{"A"}})))
	if won.Status != askback.Answered {
		f.Errorf("got status %s, want answered during the claim", won.Status)
	}
}

func claimLimit(f fixture, clock Clock) {
	a := f.ask(f.agent(), timed(askback.OnTimeoutFail))
	for range 13 { // the last reminder is at 39 minutes
		clock.Advance(3 * time.Minute)
		f.noError(f.person("ana").Claim(f.ctx(), a.ID))
	}
	clock.Advance(time.Minute)
	got := f.noError(f.agent().Get(f.ctx(), a.ID))
	if got.Status != askback.Expired {
		f.Errorf("got status %s after 40 minutes, want expired", got.Status)
	}
}

func keyAfterDeadline(f fixture, clock Clock) {
	q := database()
	q.Key = "k"
	probe := f.ask(f.agent(), database())
	q.Deadline = probe.CreatedAt.Add(10 * time.Minute)
	a := f.ask(f.agent(), q)
	if !a.Deadline.Equal(q.Deadline) {
		f.Errorf("got deadline %v, want %v", a.Deadline, q.Deadline)
	}
	clock.Advance(time.Hour)
	got := f.ask(f.agent(), q)
	if !got.Repeated || got.ID != a.ID || got.Status != askback.Expired {
		f.Errorf("got ask %s, %s, repeated %v, want %s, expired and repeated", got.ID, got.Status, got.Repeated, a.ID)
	}
	q.Key = "another"
	_, err := f.agent().Ask(f.ctx(), q)
	f.wantInvalid(err, "/deadline")
}
