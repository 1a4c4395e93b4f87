package opencode

import "github.com/askback/askback"

// Decide returns the reply to an event for the outcome of its ask.
func Decide(ev Event, ask askback.Ask) (Reply, bool) {
	p, err := prepare(ev)
	if err != nil {
		return Reply{}, false
	}
	return p.decide(ask)
}
