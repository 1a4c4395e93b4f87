package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/pause"
	"github.com/askback/askback/store/memstore"
	"github.com/askback/askback/test/kit/fakes"
)

// A channelRaceTest lets two people answer one ask in two messages at the same moment, for each pair of
// channels. One answer is accepted, the other person sees who answered, and no message can be answered
// afterwards (E5, T18).
type channelRaceTest struct {
	seed     uint64
	mutant   string
	patience time.Duration // the time limit of a race
	rows     table
	done     int
	bad      []violation
}

func newChannelRaceTest(seed uint64, mutant string) *channelRaceTest {
	t := &channelRaceTest{seed: seed, mutant: mutant, patience: venueTime, rows: table{
		{"ana at", "ben at", "races", "won by ana", "told"},
	}}
	if mutant != "" {
		t.patience = venueTime / 10
	}
	return t
}

// racesPerRig is the maximum number of races of a rig. A new rig then replaces it, because the services of a
// rig keep all messages.
const racesPerRig = 100

// run runs n races for each pair of channels, or until there is a violation.
func (t *channelRaceTest) run(ctx context.Context, n int) error {
	stage := fakes.NewStage(ctx)
	names := len(localVenues(stage))
	stage.End()
	for i := range names {
		for j := range names {
			r := rand.New(rand.NewPCG(t.seed, uint64(i*names+j)))
			row := &pairRow{}
			for left := n; left > 0 && len(t.bad) == 0; left -= racesPerRig {
				if err := t.rig(ctx, r, i, j, min(left, racesPerRig), row); err != nil {
					return err
				}
			}
			t.rows = append(t.rows,
				[]string{row.x, row.y, fmt.Sprint(row.races), fmt.Sprint(row.ana), fmt.Sprint(row.told)})
			if len(t.bad) > 0 {
				return nil
			}
		}
	}
	return nil
}

// A pairRow counts the races of one pair of channels.
type pairRow struct {
	x, y             string
	races, ana, told int
}

// rig runs races in one engine, with ana at one venue and ben at the same or another venue.
func (t *channelRaceTest) rig(ctx context.Context, r *rand.Rand, i, j, n int, row *pairRow) error {
	stage := fakes.NewStage(ctx)
	defer stage.End()
	all := localVenues(stage)
	g, err := newRig(ctx, all[i], all[j], t.mutant)
	if err != nil {
		return err
	}
	defer g.stop()
	row.x, row.y = g.at["ana"].name, g.at["ben"].name
	for range n {
		if err := t.race(ctx, g, r, row); err != nil {
			if ctx.Err() != nil { // the end of the tests interrupted the race
				return ctx.Err()
			}
			t.bad = append(t.bad, violated(asFault(err), "seed %d, race %d of ana at %s and ben at %s: %v", t.seed,
				row.races, row.x, row.y, err))
			return ctx.Err()
		}
		t.done++
		row.races++
	}
	return nil
}

// race runs one race.
func (t *channelRaceTest) race(ctx context.Context, g *channelRig, r *rand.Rand, row *pairRow) error {
	ctx, cancel := context.WithTimeout(ctx, t.patience)
	defer cancel()
	return g.race(ctx, r, row)
}

// A raceError is a violation that ends a race.
type raceError struct {
	fault
	text string
}

func (e raceError) Error() string { return e.text }

func asFault(err error) fault {
	if e, ok := errors.AsType[raceError](err); ok {
		return e.fault
	}
	return failed
}

// A channelRig is an engine with channels, and the venue of each person.
type channelRig struct {
	engine *engine.Engine
	agent  askback.Client
	at     map[string]*venue
	stop   func()
	asks   int
}

func newRig(ctx context.Context, x, y *venue, mutant string) (*channelRig, error) {
	g := &channelRig{at: map[string]*venue{"ana": x, "ben": y}}
	channels := map[string]engine.Channel{}
	settings := engine.Settings{People: []askback.Person{{Name: "ana"}, {Name: "ben"}}}
	log := slog.New(slog.DiscardHandler)
	var runs []func(context.Context, *engine.Engine)
	for _, v := range []*venue{x, y} {
		if channels[v.channel] != nil {
			continue
		}
		c, run, err := v.open(log)
		if err != nil {
			return nil, err
		}
		channels[v.channel] = mutantChannel(mutant, c)
		runs = append(runs, run)
	}
	for person, v := range g.at {
		for _, r := range v.receivers() {
			if r.Person == person {
				settings.Receivers = append(settings.Receivers, r)
			}
		}
	}
	g.engine = engine.New(memstore.New(), &engine.Options{Channels: channels, Settings: settings, Log: log})
	g.engine.Link(publicPages)
	g.agent = g.engine.As(askback.Principal{Kind: askback.Agent, Name: "bot"})
	running, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	group.Go(func() { _ = g.engine.Run(running) })
	for _, run := range runs {
		group.Go(func() { run(running, g.engine) })
	}
	g.stop = func() { cancel(); group.Wait() }
	for person, v := range g.at {
		c := g.engine.As(askback.Principal{Kind: askback.Responder, Name: person})
		if err := v.join(ctx, person, c, v.localBrowser(g.engine, person)); err != nil {
			g.stop()
			return nil, fmt.Errorf("%s joins %s: %w", person, v.name, err)
		}
	}
	return g, nil
}

// about returns the messages about an ask that a person sees.
func (g *channelRig) about(person string, a askback.Ask) []fakes.Message {
	return sightsOf(g.at[person], person, a)
}

// race asks, lets both people press their buttons at the same moment, and checks the messages that both
// people then see.
func (g *channelRig) race(ctx context.Context, r *rand.Rand, row *pairRow) error {
	g.asks++
	a, err := g.agent.Ask(ctx, askback.Request{To: fakes.People, Questions: []askback.Question{{
		Text: fmt.Sprint("Go on with step ", g.asks, "?"), Options: askback.Options("Yes", "No"), NoOther: true,
	}}})
	if err != nil {
		return err
	}
	open := map[string]fakes.Message{}
	for _, person := range fakes.People {
		if !until(ctx, func() bool { all := g.about(person, a); return len(all) == 1 && all[0].Live }) {
			return raceError{
				lost, fmt.Sprintf("%s has no message that can be answered: %s", person, shownAs(g.about(person, a))),
			}
		}
		if open[person], err = g.at[person].opened(ctx, person, g.about(person, a)[0]); err != nil {
			return raceError{failed, fmt.Sprintf("%s could not open the message: %v", person, err)}
		}
	}
	replies := g.press(ctx, r, open)
	settled, err := g.agent.Wait(ctx, a.ID)
	if err != nil {
		return raceError{lost, fmt.Sprintf("no answer arrived: %v, %+v", err, replies)}
	}
	return g.check(ctx, settled, replies, row)
}

// A pressResult is the reply that a person read after a press, or an error.
type pressResult struct {
	reply string
	err   error
}

var raceLabels = map[string]string{"ana": "Yes", "ben": "No"}

// press lets both people press their buttons, the second person a random moment after the first. It returns
// their results, keyed by name.
func (g *channelRig) press(ctx context.Context, r *rand.Rand, open map[string]fakes.Message) map[string]pressResult {
	replies := map[string]pressResult{}
	var mu sync.Mutex
	var group sync.WaitGroup
	first, moment := fakes.People[r.IntN(2)], randomDuration(r, 2*time.Millisecond)
	for person, m := range open {
		group.Go(func() {
			if person != first {
				_ = pause.For(ctx, moment)
			}
			reply, err := g.at[person].press(ctx, person, m, raceLabels[person])
			mu.Lock()
			defer mu.Unlock()
			replies[person] = pressResult{reply, err}
		})
	}
	group.Wait()
	return replies
}

// check checks the outcome of a race and the messages that both people see.
func (g *channelRig) check(ctx context.Context, a askback.Ask, replies map[string]pressResult, row *pairRow) error {
	winner := a.Outcome.Actor.Name
	if got := a.Outcome.Answers[0].Selected; len(got) != 1 || got[0] != raceLabels[winner] {
		return raceError{accepted, fmt.Sprintf("%s answered %q, but pressed %q", winner, got, raceLabels[winner])}
	}
	for _, person := range fakes.People {
		if err := replies[person].err; err != nil {
			return raceError{failed, fmt.Sprintf("%s could not press: %v", person, err)}
		}
		all := func() []fakes.Message { return g.about(person, a) }
		if !until(ctx, func() bool { return len(all()) == 1 && !all()[0].Live && all()[0].Settled }) {
			return raceError{lost, fmt.Sprintf("%s still sees %s after %s answered", person, shownAs(all()), winner)}
		}
		if person == winner {
			continue
		}
		text := replies[person].reply + all()[0].Text + g.at[person].told(person)
		if !strings.Contains(text, winner) {
			return raceError{lost, fmt.Sprintf("%s was not told that %s was first: %q", person, winner, text)}
		}
		row.told++
	}
	if winner == "ana" {
		row.ana++
	}
	if got, err := g.agent.Get(ctx, a.ID); err != nil || !got.Outcome.Same(a.Outcome) {
		return raceError{duplicated, fmt.Sprintf("the outcome was %+v and is %+v (%v)", a.Outcome, got.Outcome, err)}
	}
	return nil
}

func (t *channelRaceTest) report() report {
	return report{
		noun: "races", what: "of two people in two channels", n: t.done,
		detail: "one winner each, and no message left that can be answered", table: t.rows, bad: t.bad,
	}
}

// droppedOutcome is the mutant that does not send one of ten outcomes.
const droppedOutcome = "dropped-outcome"

// mutantChannel returns the channel for a rig. Without a mutant, it is c.
func mutantChannel(mutant string, c engine.Channel) engine.Channel {
	if mutant != droppedOutcome {
		return c
	}
	return &dropsOutcomes{Channel: c}
}

type dropsOutcomes struct {
	engine.Channel
	mu sync.Mutex
	n  int
}

// Send implements [engine.Channel].
func (d *dropsOutcomes) Send(ctx context.Context, n askback.Notification) (string, error) {
	if n.Event.Settles() {
		d.mu.Lock()
		d.n++
		drop := d.n%10 == 0
		d.mu.Unlock()
		if drop {
			return "", nil
		}
	}
	return d.Channel.Send(ctx, n)
}
