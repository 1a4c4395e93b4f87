package runs

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/store"
)

// A Scheduler is a [Runner] whose agents have schedules (E15).
type Scheduler interface {
	// NextRun returns the first time after the given time at which the schedule of an agent starts a run. It
	// is the zero time if there is no later run.
	NextRun(agent string, after time.Time) time.Time
}

const (
	// scheduleCheck is the longest time until a changed schedule has effect.
	scheduleCheck = 15 * time.Second
	// latestStart is the maximum delay of a run, such as after the server was stopped.
	latestStart = time.Hour
)

// kindSchedule is the kind of the records of schedules, whose ids are the names of agents. A record is kept
// when its agent no longer has a schedule.
const kindSchedule = "schedule"

// A scheduleState is the state of a schedule: the time of the next run, and the session of the last run that
// it started.
type scheduleState struct {
	Line string    `json:"line"`
	Zone string    `json:"zone"`
	Next time.Time `json:"next"`
	Last string    `json:"last,omitempty"` // the id of a session
	// Skipped is the session for which a skipped run was logged, with its status. Further runs that are skipped
	// for the same reason are not logged.
	Skipped string `json:"skipped,omitempty"`
}

// ScheduleLoop starts the runs of schedules until ctx ends.
func (e *Service) ScheduleLoop(ctx context.Context) {
	s, ok := e.Runner.(Scheduler)
	if !ok || e.Idle {
		return
	}
	known := map[string]scheduleState{}
	for ctx.Err() == nil {
		wait := scheduleCheck
		for _, a := range e.Runner.Agents() {
			if a.Schedule == "" {
				continue
			}
			k, ok := known[a.Name]
			if now := e.Clock(); !ok || k.Line != a.Schedule || k.Zone != a.TimeZone || !k.Next.After(now) {
				var err error
				if k, err = e.fireSchedule(ctx, s, a); err != nil {
					if ctx.Err() == nil {
						e.Log.Error("a schedule could not be processed", "agent", a.Name, "error", err)
					}
					continue
				}
				known[a.Name] = k
			}
			wait = min(wait, max(k.Next.Sub(e.Clock()), time.Millisecond))
		}
		_ = txn.Sleep(ctx, wait, nil) // the loop ends with ctx
	}
}

// neverAgain is the time that is stored for the next run if a schedule has no further run.
var neverAgain = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// fireSchedule starts the run of an agent that is due, and returns the state of its schedule. If several runs
// were missed, it starts only the latest run, unless that run is too late. It starts no run while the last
// run waits or works (E15). The key of a run contains the time. So a run starts only once, even if there are
// several servers, or if the process ends before it has stored the next time.
func (e *Service) fireSchedule(ctx context.Context, s Scheduler, a askback.HostedAgent) (scheduleState, error) {
	row, state, err := e.readSchedule(ctx, a.Name)
	if err != nil {
		return scheduleState{}, err
	}
	now := e.Clock()
	if row.Version > 0 && state.Line == a.Schedule && state.Zone == a.TimeZone {
		if state.Next.After(now) { // another process has started the run
			return state, nil
		}
		if state, err = e.startScheduled(ctx, s, a, state, now); err != nil {
			return scheduleState{}, err
		}
	}
	state.Line, state.Zone, state.Next = a.Schedule, a.TimeZone, neverAgain
	if next := s.NextRun(a.Name, now); !next.IsZero() {
		state.Next = next.UTC()
	}
	if row.State, err = json.Marshal(state); err != nil {
		return scheduleState{}, err
	}
	err = e.Update(ctx, func(t *txn.Tx) error {
		stored, other, err := e.readSchedule(t.Context(), a.Name)
		if err != nil || stored.Version != row.Version {
			state = other // another process has already stored the next time
			return err
		}
		row.Updated = now
		t.Put(row)
		return nil
	})
	return state, err
}

// readSchedule returns the record of the schedule of an agent, and its state. If no record exists, the
// returned record is new. Otherwise it has no Fixed.
func (e *Service) readSchedule(ctx context.Context, agent string) (store.Record, scheduleState, error) {
	var state scheduleState
	row, err := e.Store.Read(ctx, kindSchedule, agent)
	if errors.Is(err, store.ErrNotFound) {
		owner := askback.HostedPrefix + agent
		return store.Record{
			Kind: kindSchedule, ID: agent, Owner: owner, Agent: agent, Created: e.Clock(), Fixed: []byte(`{"v":1}`),
		}, state, nil
	}
	if err == nil {
		state, err = txn.Readable(state, json.Unmarshal(row.State, &state))
	}
	row.Fixed = nil
	return row, state, txn.FromStore(err)
}

// startScheduled starts the latest run of a schedule that is due, unless that run is too late or the last run
// has not ended. It returns the state with the session of the last run. It logs once that runs are skipped, and
// again when the status of the last run has changed.
func (e *Service) startScheduled(
	ctx context.Context, s Scheduler, a askback.HostedAgent, state scheduleState, now time.Time,
) (scheduleState, error) {
	due, last := state.Next, state.Last
	at := due
	if oldest := now.Add(-latestStart); due.Before(oldest) {
		at = s.NextRun(a.Name, oldest.Add(-1))
		e.Log.Warn("scheduled runs were missed and are skipped", "agent", a.Name, "first", due, "before", oldest)
	}
	if at.IsZero() || at.After(now) {
		return state, nil
	}
	for next := s.NextRun(a.Name, at); !next.IsZero() && !next.After(now); next = s.NextRun(a.Name, at) {
		e.Log.Warn("a scheduled run was missed and is skipped", "agent", a.Name, "at", at)
		at = next
	}
	if last != "" {
		session, err := e.Sessions(hostedPrincipal(a.Name)).Session(ctx, last)
		if err == nil && !session.Ended() {
			if why := last + " " + string(session.Status); state.Skipped != why {
				state.Skipped = why
				e.Log.Warn("scheduled runs are skipped until the last one has ended", "agent", a.Name, "at", at,
					"session", last, "status", session.Status)
			}
			return state, nil
		}
		if err != nil && !errors.Is(err, askback.ErrNotFound) {
			return state, err
		}
	}
	if zone, err := time.LoadLocation(a.TimeZone); err == nil {
		at = at.In(zone) // people and the agent read the time in this zone
	}
	payload, err := json.Marshal(map[string]string{
		"schedule": a.Schedule, "time_zone": a.TimeZone, "time": at.Format(time.RFC3339),
	})
	if err != nil {
		return state, err
	}
	started, err := e.Sessions(hostedPrincipal(a.Name)).Start(ctx, askback.SessionRequest{
		Agent: a.Name, Key: "schedule:" + a.Name + ":" + at.UTC().Format(time.RFC3339), Payload: payload,
		Unattended: true,
		Title:      "Scheduled for " + at.Format("Mon 2 Jan 2006, 15:04 MST"),
	})
	if errors.As(err, new(askback.Invalid)) { // the definition was just removed, or its callback is not allowed
		e.Log.Error("a scheduled run could not be started and is skipped", "agent", a.Name, "at", at, "error", err)
		return state, nil
	}
	state.Last, state.Skipped = started.ID, ""
	return state, err
}
