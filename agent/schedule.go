package agent

import (
	"time"

	"github.com/askback/askback/internal/hosted/schedule"
)

// A Schedule is the times at which runs of an agent start by themselves (E15).
type Schedule interface {
	// Next returns the first scheduled time after a given time, or the zero time if no further time exists.
	Next(after time.Time) time.Time
	// Text returns the schedule for people. Different schedules have different texts.
	Text() string
	// Zone returns the name of the schedule's time zone.
	Zone() string
}

// ParseSchedule parses the five fields of a line of cron, as in "0 7 * * 1-5", by the clock of a time zone.
// docs/hosted.md describes the fields.
func ParseSchedule(line string, zone *time.Location) (Schedule, error) {
	return schedule.Parse(line, zone)
}

// Callback returns the address that receives the events of an agent's runs, or "".
func (r *Runner) Callback(name string) string {
	if a := r.agent(name); a != nil {
		return a.Definition.Callback
	}
	return ""
}

// StartBy returns the people and programs that may start runs of an agent. restricted is false if everyone
// may start runs, or there is no such agent.
func (r *Runner) StartBy(name string) (names []string, restricted bool) {
	if a := r.agent(name); a != nil {
		return a.Definition.StartBy, a.Definition.StartBy != nil
	}
	return nil, false
}

// NextRun returns the first time after a given time at which the schedule of an agent starts a run. If there
// is no such time, it returns the zero time.
func (r *Runner) NextRun(name string, after time.Time) time.Time {
	a := r.agent(name)
	if a == nil || a.Schedule == nil {
		return time.Time{}
	}
	return a.Schedule.Next(after)
}
