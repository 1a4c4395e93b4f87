package agent

import (
	"time"

	"github.com/askback/askback/internal/hosted/schedule"
)

// A Schedule has the times at which runs of an agent start by themselves (E15).
type Schedule interface {
	// Next returns the first time after another one, or the zero time if there is no later one.
	Next(after time.Time) time.Time
	// Text returns the schedule for people. If it changes, so has the schedule.
	Text() string
	// Zone returns the name of its time zone.
	Zone() string
}

// ParseSchedule parses the five fields of a line of cron, as in "0 7 * * 1-5", by the clock of a
// time zone. docs/hosted.md describes them.
func ParseSchedule(line string, zone *time.Location) (Schedule, error) {
	return schedule.Parse(line, zone)
}

// Callback returns the address that receives the events of the runs of an agent, or "".
func (r *Runner) Callback(name string) string {
	if a := r.agent(name); a != nil {
		return a.Definition.Callback
	}
	return ""
}

// StartBy returns who may start runs of an agent, and reports whether not everyone may.
func (r *Runner) StartBy(name string) (names []string, restricted bool) {
	if a := r.agent(name); a != nil {
		return a.Definition.StartBy, a.Definition.StartBy != nil
	}
	return nil, false
}

// NextRun returns the first time after another one at which a run of an agent starts by itself,
// or the zero time if there is no later one.
func (r *Runner) NextRun(name string, after time.Time) time.Time {
	a := r.agent(name)
	if a == nil || a.Schedule == nil {
		return time.Time{}
	}
	return a.Schedule.Next(after)
}
