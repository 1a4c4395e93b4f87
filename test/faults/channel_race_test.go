package main

import (
	"testing"
)

func TestOneOfTwoSimultaneousAnswersIsAccepted(t *testing.T) {
	p := newChannelRaceTest(1, "")
	if err := p.run(t.Context(), 3); err != nil || len(p.bad) > 0 {
		t.Errorf("got %v, %v", err, p.bad)
	}
}

// If a channel drops an outcome, a message still looks open, and the test detects it.
func TestDroppedOutcomeIsDetected(t *testing.T) {
	p := newChannelRaceTest(1, droppedOutcome)
	if err := p.run(t.Context(), 20); err != nil || len(p.bad) != 1 || p.bad[0].fault != lost {
		t.Errorf("got %v, %v, want a message that was not marked", err, p.bad)
	}
}
