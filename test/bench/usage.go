package main

import (
	"context"
	"time"
)

// usage is the time that all processors were busy since the machine started,
// and for how much of it this process is to blame. Zero is unknown.
type usage struct{ machine, own time.Duration }

// others says how many processors everybody else has kept busy since u was
// read, a while ago. Their work makes ours look slow.
func (u usage) others(while time.Duration) float64 {
	if u.machine == 0 || while <= 0 {
		return 0
	}
	now := readUsage()
	busy := (now.machine - u.machine) - (now.own - u.own)
	return max(0, float64(busy)/float64(while))
}

// quiet is how much of a processor others may use before a figure is called
// disturbed.
const quiet = 0.15

// patience is how long cases wait, all together, for the others to be quiet.
type patience struct{ left time.Duration }

// wait returns when the others are quiet or patience is at its end.
func (p *patience) wait(ctx context.Context) {
	const look = 250 * time.Millisecond
	for p.left > 0 && ctx.Err() == nil {
		u, t := readUsage(), time.NewTimer(look)
		select {
		case <-ctx.Done():
		case <-t.C:
		}
		if p.left -= look; u.others(look) <= quiet {
			return
		}
	}
}
