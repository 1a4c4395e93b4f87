package main

import (
	"testing"
)

// One ask goes to ntfy, Slack, Telegram, e-mail, browsers and a webhook. After an answer in one channel, the
// ask is withdrawn or marked in all other channels. The test repeats this for each channel except the
// webhook, which accepts no answers (E3 to E7).
func TestOneAskInAllChannelsIsAnsweredInEach(t *testing.T) {
	dir := t.TempDir()
	program := builtProgram(t)
	p := newChannelKillTest(dir, program, 1, "")
	if err := p.run(t.Context(), 0); err != nil || len(p.bad) > 0 {
		t.Fatalf("got %v, %v", err, p.bad)
	}
	if want := len(programServices()) - 1; p.rounds != want || p.checked != want {
		t.Errorf("%d asks were answered, each in another channel, and %d checked, want %d", p.rounds, p.checked, want)
	}
}
