package main

import "time"

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
