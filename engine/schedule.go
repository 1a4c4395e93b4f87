package engine

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/store"
)

// A Scheduler is a [Runner] whose agents have schedules (E15).
type Scheduler interface {
	// NextRun returns the first time after another at which the schedule of an agent starts a
	// run. It is the zero time if there is no later one.
	NextRun(agent string, after time.Time) time.Time
}

const (
	// scheduleCheck is the longest time until a changed schedule has effect.
	scheduleCheck = 15 * time.Second
	// latestStart is how late a run may start, such as after the server was stopped.
	latestStart = time.Hour
)

// kindSchedule is the kind of the records of schedules, whose ids are the names of agents. They
// are kept when an agent has no schedule any more.
const kindSchedule = "schedule"

// A scheduleState is the state of a schedule: the next run that it starts.
type scheduleState struct {
	Line string    `json:"line"`
	Zone string    `json:"zone"`
	Next time.Time `json:"next"`
}

// scheduleLoop starts the runs of schedules until ctx ends.
func (e *Engine) scheduleLoop(ctx context.Context) {
	s, ok := e.runner.(Scheduler)
	if !ok || e.noEffects {
		return
	}
	known := map[string]scheduleState{}
	for ctx.Err() == nil {
		wait := scheduleCheck
		for _, a := range e.runner.Agents() {
			if a.Schedule == "" {
				continue
			}
			k, ok := known[a.Name]
			if now := e.clock(); !ok || k.Line != a.Schedule || k.Zone != a.TimeZone || !k.Next.After(now) {
				var err error
				if k, err = e.fireSchedule(ctx, s, a); err != nil {
					if ctx.Err() == nil {
						e.log.Error("a schedule could not be processed", "agent", a.Name, "error", err)
					}
					continue
				}
				known[a.Name] = k
			}
			wait = min(wait, max(k.Next.Sub(e.clock()), time.Millisecond))
		}
		_ = sleep(ctx, wait, nil) // the loop ends with ctx
	}
}

// neverAgain is the time of the next run of a schedule without a later time.
var neverAgain = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// fireSchedule starts the run of an agent that is due, and returns the state of its schedule. Of
// several runs that were missed, only the latest one starts, unless it is too late (E15). A run
// has the time in its key, so that it starts once, however many servers there are, and if the
// process ends before it has stored the next time.
func (e *Engine) fireSchedule(ctx context.Context, s Scheduler, a askback.HostedAgent) (scheduleState, error) {
	row, state, err := e.readSchedule(ctx, a.Name)
	if err != nil {
		return scheduleState{}, err
	}
	now := e.clock()
	if row.Version > 0 && state.Line == a.Schedule && state.Zone == a.TimeZone {
		if state.Next.After(now) { // another process has started it
			return state, nil
		}
		if err := e.startScheduled(ctx, s, a, state.Next, now); err != nil {
			return scheduleState{}, err
		}
	}
	state = scheduleState{Line: a.Schedule, Zone: a.TimeZone, Next: neverAgain}
	if next := s.NextRun(a.Name, now); !next.IsZero() {
		state.Next = next.UTC()
	}
	if row.State, err = json.Marshal(state); err != nil {
		return scheduleState{}, err
	}
	row.Updated = now
	err = e.commit(ctx, store.Change{Put: []store.Record{row}})
	if errors.Is(err, store.ErrConflict) { // another process did the same
		_, state, err = e.readSchedule(ctx, a.Name)
	}
	return state, fromStore(err)
}

// readSchedule returns the record of the schedule of an agent, without Fixed if it exists and
// otherwise a new one, and its state.
func (e *Engine) readSchedule(ctx context.Context, agent string) (store.Record, scheduleState, error) {
	var state scheduleState
	row, err := e.store.Read(ctx, kindSchedule, agent)
	if errors.Is(err, store.ErrNotFound) {
		owner := askback.HostedPrefix + agent
		return store.Record{Kind: kindSchedule, ID: agent, Owner: owner, Agent: agent, Created: e.clock(), Fixed: []byte(`{"v":1}`)}, state, nil
	}
	if err == nil {
		state, err = readable(state, json.Unmarshal(row.State, &state))
	}
	row.Fixed = nil
	return row, state, fromStore(err)
}

// startScheduled starts the latest run of a schedule that is due, if it is not too late. The
// first one that was not started is that of due.
func (e *Engine) startScheduled(ctx context.Context, s Scheduler, a askback.HostedAgent, due, now time.Time) error {
	at := due
	if oldest := now.Add(-latestStart); due.Before(oldest) {
		at = s.NextRun(a.Name, oldest.Add(-1))
		e.log.Warn("scheduled runs were missed and are skipped", "agent", a.Name, "first", due, "before", oldest)
	}
	if at.IsZero() || at.After(now) {
		return nil
	}
	for next := s.NextRun(a.Name, at); !next.IsZero() && !next.After(now); next = s.NextRun(a.Name, at) {
		e.log.Warn("a scheduled run was missed and is skipped", "agent", a.Name, "at", at)
		at = next
	}
	if zone, err := time.LoadLocation(a.TimeZone); err == nil {
		at = at.In(zone) // for people and the agent
	}
	payload, err := json.Marshal(map[string]string{"schedule": a.Schedule, "time_zone": a.TimeZone, "time": at.Format(time.RFC3339)})
	if err != nil {
		return err
	}
	_, err = e.hosted(a.Name).Start(ctx, askback.SessionRequest{
		Agent: a.Name, Key: "schedule:" + a.Name + ":" + at.UTC().Format(time.RFC3339), Payload: payload, Unattended: true,
		Title: "Scheduled for " + at.Format("Mon 2 Jan 2006, 15:04 MST"),
	})
	if errors.As(err, new(askback.Invalid)) { // its definition has just been removed, or its callback is not allowed
		e.log.Error("a scheduled run could not be started and is skipped", "agent", a.Name, "at", at, "error", err)
		return nil
	}
	return err
}
