package main

import (
	"context"
	"time"
)

// A usage is the busy time of all processors since the machine started, and the part of this process. Zero
// means that the time is unknown.
type usage struct{ machine, own time.Duration }

// others returns the average number of processors that other processes have used since the usage u was read.
// while is the time since then. The result is 0 if the number is unknown. The work of other processes slows
// down a measurement.
func (u usage) others(while time.Duration) float64 {
	if u.machine == 0 || while <= 0 {
		return 0
	}
	now := readUsage()
	busy := (now.machine - u.machine) - (now.own - u.own)
	return max(0, float64(busy)/float64(while))
}

// maxOthers is how much of a processor other processes may use before a
// measurement counts as disturbed.
const maxOthers = 0.15

// A patience is the remaining time that cases may wait for an idle machine.
type patience struct{ left time.Duration }

// wait returns when the machine is idle, the time is used up, or ctx ends.
func (p *patience) wait(ctx context.Context) {
	const interval = 250 * time.Millisecond
	for p.left > 0 && ctx.Err() == nil {
		u, t := readUsage(), time.NewTimer(interval)
		select {
		case <-ctx.Done():
		case <-t.C:
		}
		if p.left -= interval; u.others(interval) <= maxOthers {
			return
		}
	}
}
