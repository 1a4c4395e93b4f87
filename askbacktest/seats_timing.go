package askbacktest

import (
	"time"

	"github.com/askback/askback"
)

// timedFact is a fact about time.
type timedFact struct {
	name string
	show func(room, Clock)
}

var timing = []timedFact{
	{"TheDeadlineMeansWhatTheAskerSaid", deadlines},          // F5, E7
	{"WhoWaitsLearnsOfTheTimer", timerWakes},                 // F5, B3
	{"ATimerNeverApproves", timerNeverApproves},              // C3, F4
	{"ALateAnswerLosesToTheTimer", lateForTheTimer},          // F6
	{"AClaimHoldsTheDeadline", claimHolds},                   // F5
	{"ClaimsHoldTheDeadlineNoLongerThanHalfAnHour", heldOut}, // F5
	{"AKeyOutlivesItsDeadline", keyOutlives},                 // wire.md §3
}

// timed is a request with a deadline ten minutes off.
func timed(on askback.OnTimeout) askback.Request {
	q := everything()
	q.SessionKey = "" // a session that failed takes no more asks
	q.Timeout, q.OnTimeout = 10*time.Minute, on
	return q
}

// expired is an ask after its time, as the timer leaves it.
func expired(a askback.Ask, got askback.Ask) askback.Ask {
	a.Status = askback.Expired
	a.Outcome = &askback.Outcome{Status: askback.Expired, By: askback.By{Kind: askback.ByTimer}}
	if got.Outcome != nil {
		a.Outcome.At, a.Outcome.Reason = got.Outcome.At, got.Outcome.Reason
	}
	return a
}

func deadlines(r room, clock Clock) {
	ana := r.person("ana")
	for _, on := range []askback.OnTimeout{"", askback.OnTimeoutFail, askback.OnTimeoutDecline, askback.OnTimeoutDefault, askback.OnTimeoutWait} {
		want := r.must(r.agent(), timed(on))
		clock.Advance(9 * time.Minute)
		r.pending(want)
		clock.Advance(time.Minute)
		if on == askback.OnTimeoutWait {
			r.pending(want)
			r.done(ana.Answer(r.ctx(), want.ID, answers(askback.QuestionAnswer{ID: "q1", Selected: []string{"A"}})))
			continue
		}
		got := r.done(ana.Get(r.ctx(), want.ID))
		want = expired(want, got)
		if on == askback.OnTimeoutDefault {
			want.Outcome.Defaulted = true
			want.Outcome.Answers = []askback.QuestionAnswer{
				{ID: "q1", Question: "Which <design>?", Selected: []string{"B"}},
				{ID: "q2", Question: "Which colours?", Selected: []string{"red", "blue"}},
			}
		}
		r.same(got, want)
		if got.Outcome != nil && (got.Outcome.Reason == "" || got.Outcome.At.Before(got.Deadline)) {
			r.Errorf("on_timeout %q: got reason %q at %v, want one, after %v", on, got.Outcome.Reason, got.Outcome.At, got.Deadline)
		}
		r.same(r.done(r.agent().Wait(r.ctx(), want.ID)), want)
	}
	r.wantIDs("expired", r.list(ana, askback.Query{Status: askback.Pending}, nothing), nil)
}

func timerWakes(r room, clock Clock) {
	a := r.must(r.agent(), timed(askback.OnTimeoutFail))
	together(5, func(i int) {
		if i == 0 {
			clock.Advance(10 * time.Minute)
			return
		}
		got, err := r.agent().Wait(r.ctx(), a.ID)
		if err != nil || got.Status != askback.Expired {
			r.Errorf("got an ask that is %s and error %v, want expired", got.Status, err)
		}
	})
}

func timerNeverApproves(r room, clock Clock) {
	for _, on := range []askback.OnTimeout{askback.OnTimeoutFail, askback.OnTimeoutDecline, askback.OnTimeoutWait} {
		q := removal()
		q.Timeout, q.OnTimeout = 10*time.Minute, on
		a := r.must(r.agent(), q)
		clock.Advance(time.Hour)
		got := r.done(r.agent().Get(r.ctx(), a.ID))
		if got.Outcome.Approved() || got.Outcome != nil && got.Outcome.Decision != "" {
			r.Errorf("on_timeout %s: got outcome %s, want no decision", on, text(got.Outcome))
		}
		_, err := r.agent().Consume(r.ctx(), a.ID, a.Confirmation.Digest)
		r.want(err, askback.ErrNotApproved)
	}
}

func lateForTheTimer(r room, clock Clock) {
	a := r.must(r.agent(), timed(askback.OnTimeoutFail))
	clock.Advance(10 * time.Minute)
	got, err := r.person("ana").Answer(r.ctx(), a.ID, answers(askback.QuestionAnswer{ID: "q1", Selected: []string{"A"}}))
	r.settled(got, err, expired(a, got))
	got, err = r.agent().Cancel(r.ctx(), a.ID, "")
	r.settled(got, err, expired(a, got))
}

func claimHolds(r room, clock Clock) {
	ana := r.person("ana")
	a := r.must(r.agent(), timed(askback.OnTimeoutFail))
	clock.Advance(9 * time.Minute)
	held := r.done(ana.Claim(r.ctx(), a.ID)) // until 14 minutes
	clock.Advance(4 * time.Minute)
	r.pending(held)
	held = r.done(r.person("judge").Claim(r.ctx(), a.ID)) // until 18 minutes
	clock.Advance(4 * time.Minute)
	r.pending(held)
	clock.Advance(time.Minute)
	got := r.done(ana.Get(r.ctx(), a.ID))
	r.same(got, expired(held, got))

	a = r.must(r.agent(), timed(askback.OnTimeoutFail))
	clock.Advance(9 * time.Minute)
	r.done(ana.Claim(r.ctx(), a.ID))
	clock.Advance(4 * time.Minute)
	won := r.done(ana.Answer(r.ctx(), a.ID, answers(askback.QuestionAnswer{ID: "q1", Selected: []string{"A"}})))
	if won.Status != askback.Answered {
		r.Errorf("got an ask that is %s, want answered while it was held", won.Status)
	}
}

func heldOut(r room, clock Clock) {
	a := r.must(r.agent(), timed(askback.OnTimeoutFail))
	for range 13 { // the last one at 39 minutes
		clock.Advance(3 * time.Minute)
		r.done(r.person("ana").Claim(r.ctx(), a.ID))
	}
	clock.Advance(time.Minute)
	got := r.done(r.agent().Get(r.ctx(), a.ID))
	if got.Status != askback.Expired {
		r.Errorf("got an ask that is %s after 40 minutes, want expired", got.Status)
	}
}

func keyOutlives(r room, clock Clock) {
	q := database()
	q.Key = "k"
	probe := r.must(r.agent(), database())
	q.Deadline = probe.CreatedAt.Add(10 * time.Minute)
	a := r.must(r.agent(), q)
	if !a.Deadline.Equal(q.Deadline) {
		r.Errorf("got deadline %v, want %v", a.Deadline, q.Deadline)
	}
	clock.Advance(time.Hour)
	got := r.must(r.agent(), q)
	if !got.Repeated || got.ID != a.ID || got.Status != askback.Expired {
		r.Errorf("got ask %s, %s, repeated %v, want %s, expired and repeated", got.ID, got.Status, got.Repeated, a.ID)
	}
	q.Key = "another"
	_, err := r.agent().Ask(r.ctx(), q)
	r.invalid(err, "/deadline")
}
