package conformance

import (
	"errors"
	"fmt"

	"github.com/askback/askback"
)

var racing = []testCase{
	{"OneOfManyAnswersSettles", concurrentAnswers},    // E10
	{"OneOfDifferentOutcomesIsKept", concurrentEnds},  // E10
	{"OneKeyMakesOneAsk", oneKey},                     // wire.md §3
	{"OneSessionKeyMakesOneSession", oneSession},      // wire.md §11
	{"OneOfManyConsumesSucceeds", concurrentConsume},  // F7
	{"AllWaitsReturnTheSameOutcome", concurrentWaits}, // B3, E10
	{"EveryWaitReturns", manyWaits},                   // B3
}

func concurrentAnswers(f fixture) {
	const people = 100
	agent := f.agent()
	a := f.ask(agent, database())
	got, errs := make([]askback.Ask, people), make([]error, people)
	concurrently(people, func(i int) {
		name := fmt.Sprintf("person%d", i)
		got[i], errs[i] = f.person(name).Answer(f.ctx(), a.ID, askback.Choose("the choice of "+name))
	})
	want := f.noError(agent.Wait(f.ctx(), a.ID))
	winners := 0
	for i, err := range errs {
		if err == nil {
			winners++
			if name := fmt.Sprintf("person%d", i); want.Outcome.Actor.Name != name ||
				want.Outcome.Answers[0].Other != "the choice of "+name {
				f.Errorf("the answer of %s succeeded, but the outcome is %s", name, text(want.Outcome))
			}
			f.wantSame(got[i], want)
			continue
		}
		f.wantSettled(got[i], err, want)
	}
	if winners != 1 {
		f.Errorf("%d calls succeeded, want 1", winners)
	}
}

func concurrentEnds(f fixture) {
	agent := f.agent()
	for range 10 {
		a := f.ask(agent, confirmation())
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
		concurrently(len(ends), func(i int) { got[i], errs[i] = ends[i]() })
		want, winners := f.noError(agent.Wait(f.ctx(), a.ID)), 0
		for i, err := range errs {
			if err == nil {
				winners++
				f.wantSame(got[i], want)
				continue
			}
			f.wantSettled(got[i], err, want)
		}
		if winners != 1 {
			f.Errorf("%d calls succeeded, want 1", winners)
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
		concurrently(calls, func(i int) { got[i], errs[i] = f.agent().Ask(f.ctx(), q) })
		made := 0
		for i, a := range got {
			if errs[i] != nil {
				f.Errorf("ask: %v", errs[i])
				continue
			}
			if !a.Repeated {
				made++
			}
			f.wantSame(a, got[0])
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
	concurrently(calls, func(i int) { got[i], errs[i] = f.agent().Ask(f.ctx(), q) })
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
			f.Errorf("got sessions %s and %s, want one", a.SessionID, got[0].SessionID)
		}
	}
}

func concurrentConsume(f fixture) {
	const calls = 16
	agent := f.agent()
	a := f.ask(agent, confirmation())
	f.noError(f.person("ana").Answer(f.ctx(), a.ID, askback.Decide(askback.Approve, "")))
	errs := make([]error, calls)
	concurrently(calls, func(i int) { _, errs[i] = agent.Consume(f.ctx(), a.ID, a.Confirmation.Digest) })
	spent := 0
	for _, err := range errs {
		if err == nil {
			spent++
		} else if !errors.Is(err, askback.ErrConsumed) {
			f.Errorf("got error %v, want %v", err, askback.ErrConsumed)
		}
	}
	if spent != 1 {
		f.Errorf("the approval was consumed %d times, want once", spent)
	}
}

func concurrentWaits(f fixture) {
	const waiters = 50
	agent := f.agent()
	a := f.ask(agent, database())
	got, errs := make([]askback.Ask, waiters+1), make([]error, waiters+1)
	concurrently(waiters+1, func(i int) {
		if i == waiters {
			got[i], errs[i] = f.person("ana").Answer(f.ctx(), a.ID, askback.Choose("SQLite"))
			return
		}
		got[i], errs[i] = agent.Wait(f.ctx(), a.ID)
	})
	for i := range got {
		f.wantSame(f.noError(got[i], errs[i]), got[waiters])
	}
}

func manyWaits(f fixture) {
	const rounds = 100
	agent, ana := f.agent(), f.person("ana")
	asks := make([]askback.Ask, rounds)
	for i := range asks {
		asks[i] = f.ask(agent, database())
	}
	concurrently(3*rounds, func(i int) {
		a := asks[i/3]
		if i%3 == 0 {
			_, err := ana.Answer(f.ctx(), a.ID, askback.Choose("SQLite"))
			for errors.Is(err, askback.ErrBusy) { // it took too long on a busy machine, and changed nothing
				_, err = ana.Answer(f.ctx(), a.ID, askback.Choose("SQLite"))
			}
			if err != nil {
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
