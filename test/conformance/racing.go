package conformance

import (
	"errors"
	"fmt"

	"github.com/askback/askback"
)

var racing = []testCase{
	{"AHundredAnswerAndOneWins", hundredAnswer},        // E10
	{"WhoeverEndsItFirstEndsItForAll", mixedEnds},      // E10
	{"OneKeyMakesOneAsk", oneKey},                      // wire.md §3
	{"OneSessionKeyMakesOneSession", oneSession},       // wire.md §11
	{"AnApprovalIsSpentOnceAmongMany", spentAmongMany}, // F7
	{"AllWhoWaitLearnTheSame", allLearn},               // B3, E10
	{"NobodyWhoWaitsIsForgotten", nobodyForgotten},     // B3
}

func hundredAnswer(f fixture) {
	const people = 100
	agent := f.agent()
	a := f.must(agent, database())
	got, errs := make([]askback.Ask, people), make([]error, people)
	together(people, func(i int) {
		name := fmt.Sprintf("person%d", i)
		got[i], errs[i] = f.person(name).Answer(f.ctx(), a.ID, askback.Choose("the choice of "+name))
	})
	want := f.done(agent.Wait(f.ctx(), a.ID))
	winners := 0
	for i, err := range errs {
		if err == nil {
			winners++
			if name := fmt.Sprintf("person%d", i); want.Outcome.Actor.Name != name || want.Outcome.Answers[0].Other != "the choice of "+name {
				f.Errorf("%s was told to have won, and the outcome is %s", name, text(want.Outcome))
			}
			f.same(got[i], want)
			continue
		}
		f.settled(got[i], err, want)
	}
	if winners != 1 {
		f.Errorf("got %d winners, want 1", winners)
	}
}

func mixedEnds(f fixture) {
	agent := f.agent()
	for range 10 {
		a := f.must(agent, removal())
		ends := []func() (askback.Ask, error){
			func() (askback.Ask, error) { return agent.Cancel(f.ctx(), a.ID, "") },
			func() (askback.Ask, error) { return f.person("ana").Decline(f.ctx(), a.ID, "") },
			func() (askback.Ask, error) {
				return f.person("ben").Answer(f.ctx(), a.ID, askback.Decide(askback.Approve, ""))
			},
			func() (askback.Ask, error) {
				return f.person("carl").Answer(f.ctx(), a.ID, askback.Decide(askback.Deny, ""))
			},
		}
		got, errs := make([]askback.Ask, len(ends)), make([]error, len(ends))
		together(len(ends), func(i int) { got[i], errs[i] = ends[i]() })
		want, winners := f.done(agent.Wait(f.ctx(), a.ID)), 0
		for i, err := range errs {
			if err == nil {
				winners++
				f.same(got[i], want)
				continue
			}
			f.settled(got[i], err, want)
		}
		if winners != 1 {
			f.Errorf("got %d winners, want 1", winners)
		}
	}
}

func oneKey(f fixture) {
	const calls = 16
	for round := range 5 {
		q := database()
		q.Key = fmt.Sprint("k", round)
		if round%2 == 1 {
			q.SessionKey = q.Key
		}
		got, errs := make([]askback.Ask, calls), make([]error, calls)
		together(calls, func(i int) { got[i], errs[i] = f.agent().Ask(f.ctx(), q) })
		made := 0
		for i, a := range got {
			if errs[i] != nil {
				f.Errorf("ask: %v", errs[i])
				continue
			}
			if !a.Repeated {
				made++
			}
			f.same(a, got[0])
		}
		if made != 1 {
			f.Errorf("got %d new asks for one key, want 1", made)
		}
	}
	if page := f.list(f.agent(), askback.Query{}, nothing); len(page) != 5 {
		f.Errorf("got %d asks for 5 keys", len(page))
	}
}

func oneSession(f fixture) {
	const calls = 16
	q := database()
	q.SessionKey = "run"
	got, errs := make([]askback.Ask, calls), make([]error, calls)
	together(calls, func(i int) { got[i], errs[i] = f.agent().Ask(f.ctx(), q) })
	seen := map[string]bool{}
	for i, a := range got {
		if errs[i] != nil {
			f.Fatalf("ask: %v", errs[i])
		}
		if seen[a.ID] {
			f.Errorf("got ask %s twice, want one each", a.ID)
		}
		seen[a.ID] = true
		if a.SessionID != got[0].SessionID {
			f.Errorf("got session %s beside %s, want one", a.SessionID, got[0].SessionID)
		}
	}
}

func spentAmongMany(f fixture) {
	const calls = 16
	agent := f.agent()
	a := f.must(agent, removal())
	f.done(f.person("ana").Answer(f.ctx(), a.ID, askback.Decide(askback.Approve, "")))
	errs := make([]error, calls)
	together(calls, func(i int) { _, errs[i] = agent.Consume(f.ctx(), a.ID, a.Confirmation.Digest) })
	spent := 0
	for _, err := range errs {
		if err == nil {
			spent++
		} else if !errors.Is(err, askback.ErrConsumed) {
			f.Errorf("got error %v, want %v", err, askback.ErrConsumed)
		}
	}
	if spent != 1 {
		f.Errorf("the approval was spent %d times, want once", spent)
	}
}

func allLearn(f fixture) {
	const waiters = 50
	agent := f.agent()
	a := f.must(agent, database())
	got, errs := make([]askback.Ask, waiters+1), make([]error, waiters+1)
	together(waiters+1, func(i int) {
		if i == waiters {
			got[i], errs[i] = f.person("ana").Answer(f.ctx(), a.ID, askback.Choose("SQLite"))
			return
		}
		got[i], errs[i] = agent.Wait(f.ctx(), a.ID)
	})
	for i := range got {
		f.same(f.done(got[i], errs[i]), got[waiters])
	}
}

func nobodyForgotten(f fixture) {
	const rounds = 100
	agent, ana := f.agent(), f.person("ana")
	asks := make([]askback.Ask, rounds)
	for i := range asks {
		asks[i] = f.must(agent, database())
	}
	together(3*rounds, func(i int) {
		a := asks[i/3]
		if i%3 == 0 {
			if _, err := ana.Answer(f.ctx(), a.ID, askback.Choose("SQLite")); err != nil {
				f.Errorf("answer: %v", err)
			}
			return
		}
		got, err := agent.Wait(f.ctx(), a.ID)
		if err != nil || got.ID != a.ID || !got.Settled() {
			f.Errorf("wait for %s: got ask %s, %s, and error %v", a.ID, got.ID, got.Status, err)
		}
	})
}
