package main

import (
	"testing"
)

func TestRacesInChannelsHaveOneWinner(t *testing.T) {
	p := newChannelRaceTest(1, "")
	if err := p.run(t.Context(), 5); err != nil || len(p.bad) > 0 {
		t.Errorf("got %v, %v", err, p.bad)
	}
	t.Log(p.rows)
}
