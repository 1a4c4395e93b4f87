package askbacktest

import (
	"errors"
	"fmt"

	"github.com/askback/askback"
)

var racing = []fact{
	{"AHundredAnswerAndOneWins", hundredAnswer},        // E10
	{"WhoeverEndsItFirstEndsItForAll", mixedEnds},      // E10
	{"OneKeyMakesOneAsk", oneKey},                      // wire.md §3
	{"OneSessionKeyMakesOneSession", oneSession},       // wire.md §11
	{"AnApprovalIsSpentOnceAmongMany", spentAmongMany}, // F7
	{"AllWhoWaitLearnTheSame", allLearn},               // B3, E10
	{"NobodyWhoWaitsIsForgotten", nobodyForgotten},     // B3
}

func hundredAnswer(r room) {
	const people = 100
	agent := r.agent()
	a := r.must(agent, database())
	got, errs := make([]askback.Ask, people), make([]error, people)
	together(people, func(i int) {
		name := fmt.Sprintf("person%d", i)
		got[i], errs[i] = r.person(name).Answer(r.ctx(), a.ID, askback.Choose("the choice of "+name))
	})
	want := r.done(agent.Wait(r.ctx(), a.ID))
	winners := 0
	for i, err := range errs {
		if err == nil {
			winners++
			if name := fmt.Sprintf("person%d", i); want.Outcome.By.Name != name || want.Outcome.Answers[0].Other != "the choice of "+name {
				r.Errorf("%s was told to have won, and the outcome is %s", name, text(want.Outcome))
			}
			r.same(got[i], want)
			continue
		}
		r.settled(got[i], err, want)
	}
	if winners != 1 {
		r.Errorf("got %d winners, want 1", winners)
	}
}

func mixedEnds(r room) {
	agent := r.agent()
	for range 10 {
		a := r.must(agent, removal())
		ends := []func() (askback.Ask, error){
			func() (askback.Ask, error) { return agent.Cancel(r.ctx(), a.ID, "") },
			func() (askback.Ask, error) { return r.person("ana").Decline(r.ctx(), a.ID, "") },
			func() (askback.Ask, error) {
				return r.person("ben").Answer(r.ctx(), a.ID, askback.Decide(askback.Approve, ""))
			},
			func() (askback.Ask, error) {
				return r.person("carl").Answer(r.ctx(), a.ID, askback.Decide(askback.Deny, ""))
			},
		}
		got, errs := make([]askback.Ask, len(ends)), make([]error, len(ends))
		together(len(ends), func(i int) { got[i], errs[i] = ends[i]() })
		want, winners := r.done(agent.Wait(r.ctx(), a.ID)), 0
		for i, err := range errs {
			if err == nil {
				winners++
				r.same(got[i], want)
				continue
			}
			r.settled(got[i], err, want)
		}
		if winners != 1 {
			r.Errorf("got %d winners, want 1", winners)
		}
	}
}

func oneKey(r room) {
	const calls = 16
	for round := range 5 {
		q := database()
		q.Key = fmt.Sprint("k", round)
		if round%2 == 1 {
			q.SessionKey = q.Key
		}
		got, errs := make([]askback.Ask, calls), make([]error, calls)
		together(calls, func(i int) { got[i], errs[i] = r.agent().Ask(r.ctx(), q) })
		made := 0
		for i, a := range got {
			if errs[i] != nil {
				r.Errorf("ask: %v", errs[i])
				continue
			}
			if !a.Repeated {
				made++
			}
			r.same(a, got[0])
		}
		if made != 1 {
			r.Errorf("got %d new asks for one key, want 1", made)
		}
	}
	if page := r.list(r.agent(), askback.Query{}, nothing); len(page) != 5 {
		r.Errorf("got %d asks for 5 keys", len(page))
	}
}

func oneSession(r room) {
	const calls = 16
	q := database()
	q.SessionKey = "run"
	got, errs := make([]askback.Ask, calls), make([]error, calls)
	together(calls, func(i int) { got[i], errs[i] = r.agent().Ask(r.ctx(), q) })
	seen := map[string]bool{}
	for i, a := range got {
		if errs[i] != nil {
			r.Fatalf("ask: %v", errs[i])
		}
		if seen[a.ID] {
			r.Errorf("got ask %s twice, want one each", a.ID)
		}
		seen[a.ID] = true
		if a.SessionID != got[0].SessionID {
			r.Errorf("got session %s beside %s, want one", a.SessionID, got[0].SessionID)
		}
	}
}

func spentAmongMany(r room) {
	const calls = 16
	agent := r.agent()
	a := r.must(agent, removal())
	r.done(r.person("ana").Answer(r.ctx(), a.ID, askback.Decide(askback.Approve, "")))
	errs := make([]error, calls)
	together(calls, func(i int) { _, errs[i] = agent.Consume(r.ctx(), a.ID, a.Confirmation.Digest) })
	spent := 0
	for _, err := range errs {
		if err == nil {
			spent++
		} else if !errors.Is(err, askback.ErrConsumed) {
			r.Errorf("got error %v, want %v", err, askback.ErrConsumed)
		}
	}
	if spent != 1 {
		r.Errorf("the approval was spent %d times, want once", spent)
	}
}

func allLearn(r room) {
	const waiters = 50
	agent := r.agent()
	a := r.must(agent, database())
	got, errs := make([]askback.Ask, waiters+1), make([]error, waiters+1)
	together(waiters+1, func(i int) {
		if i == waiters {
			got[i], errs[i] = r.person("ana").Answer(r.ctx(), a.ID, askback.Choose("SQLite"))
			return
		}
		got[i], errs[i] = agent.Wait(r.ctx(), a.ID)
	})
	for i := range got {
		r.same(r.done(got[i], errs[i]), got[waiters])
	}
}

func nobodyForgotten(r room) {
	const rounds = 100
	agent, ana := r.agent(), r.person("ana")
	asks := make([]askback.Ask, rounds)
	for i := range asks {
		asks[i] = r.must(agent, database())
	}
	together(3*rounds, func(i int) {
		a := asks[i/3]
		if i%3 == 0 {
			if _, err := ana.Answer(r.ctx(), a.ID, askback.Choose("SQLite")); err != nil {
				r.Errorf("answer: %v", err)
			}
			return
		}
		got, err := agent.Wait(r.ctx(), a.ID)
		if err != nil || got.ID != a.ID || !got.Settled() {
			r.Errorf("wait for %s: got ask %s, %s, and error %v", a.ID, got.ID, got.Status, err)
		}
	})
}
