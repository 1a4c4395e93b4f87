package engine_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/reports"
	"github.com/askback/askback/store/memstore"
)

// The figures count the outcomes and the waiting asks. They contain the median and the 90th percentile of the
// waits for people, by agent and by person (F16).
func TestFiguresCountWaitsOutcomesAndOpenAsks(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	now := start
	p := newFixture(t, memstore.New(), &engine.Options{Now: func() time.Time { return now }})
	old := p.ask(question()) // stays open
	now = start.Add(48 * time.Hour)
	var asks []askback.Ask
	for range 10 {
		asks = append(asks, p.ask(question()))
	}
	for i, a := range asks {
		now = start.Add(48*time.Hour + time.Duration(i+1)*time.Minute)
		person := p.ana
		if i == 9 {
			person = p.ben
		}
		if _, err := person.Answer(t.Context(), a.ID, askback.Choose("SQLite")); err != nil {
			t.Fatal(err)
		}
	}
	other := question()
	other.Agent = "planner"
	declined := p.ask(other)
	if _, err := p.ana.Decline(t.Context(), declined.ID, ""); err != nil {
		t.Fatal(err)
	}
	last := now
	addressed := question()
	addressed.To = []string{"ana", "kim"}
	p.ask(addressed)
	now = start.Add(50 * time.Hour)
	who := askback.Principal{Kind: askback.Responder, Name: "ana"}
	got, err := p.engine.Reports(who).Figures(t.Context(), reports.FiguresQuery{Period: 4 * time.Hour, Points: 4})
	if err != nil {
		t.Fatal(err)
	}
	wait := reports.WaitFigures{Answers: 10, Median: 5*time.Minute + 30*time.Second, P90: 9 * time.Minute}
	want := reports.Figures{
		Since: start.Add(46 * time.Hour), Asked: 12, Wait: wait, OpenForAll: 1,
		Outcomes: []reports.OutcomeCount{
			{Status: askback.Answered, Actor: askback.ActorPerson, Count: 10},
			{Status: askback.Declined, Actor: askback.ActorPerson, Count: 1},
		},
		Agents: []reports.AgentFigures{
			{Label: asks[0].Agent, Owner: "bot", Open: 2, Asked: 11, Wait: wait, LastSeen: last},
			{Label: "planner", Owner: "bot", Asked: 1, LastSeen: last},
		},
		People: []reports.PersonFigures{
			{Name: "ana", Open: 1, Wait: reports.WaitFigures{
				Answers: 9, Median: 5 * time.Minute, P90: 9 * time.Minute,
			}},
			{Name: "ben", Wait: reports.WaitFigures{Answers: 1, Median: 10 * time.Minute, P90: 10 * time.Minute}},
			{Name: "kim", Open: 1},
		},
		Waiting: []reports.WaitingCount{
			{At: start.Add(47 * time.Hour), Count: 1},
			{At: start.Add(48 * time.Hour), Count: 11},
			{At: start.Add(49 * time.Hour), Count: 2},
			{At: now, Count: 2},
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("with %s still open: %s", old.ID, d)
	}
	if _, err := p.engine.Reports(askback.Principal{Kind: askback.Agent, Name: "bot"}).Figures(t.Context(),
		reports.FiguresQuery{Period: time.Hour, Points: 1}); !errors.Is(err, askback.ErrForbidden) {
		t.Errorf("an agent: got %v, want %v", err, askback.ErrForbidden)
	}
}

// Figures read a bounded number of asks, and are marked as partial if there are more.
func TestFiguresReadBoundedNumberOfAsks(t *testing.T) {
	kept := &countingStore{Store: memstore.New()}
	p := newFixture(t, kept, nil)
	for range 4500 {
		p.ask(question())
	}
	kept.rows.Store(0)
	got, err := p.engine.Reports(askback.Principal{Kind: askback.Responder, Name: "ana"}).Figures(t.Context(),
		reports.FiguresQuery{Period: time.Hour, Points: 24})
	if err != nil || !got.Partial || kept.rows.Load() > 8400 {
		t.Errorf("got partial %v, %v, after %d rows; want a part of at most 8400 rows", got.Partial, err,
			kept.rows.Load())
	}
}
