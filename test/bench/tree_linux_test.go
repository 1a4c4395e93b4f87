package main

import (
	"testing"
	"time"
)

func TestStatOfProcessIsParsed(t *testing.T) {
	line := "42 (a (b) c) S 7 42 42 0 -1 4194560 1 2 3 4 10 20 30 40 20 0 1 0 100 200 300"
	if pid, parent, spent := parseStat(line); pid != 42 || parent != 7 || spent != time.Second {
		t.Errorf("got process %d of %d with %s, want 42 of 7 with 1s", pid, parent, spent)
	}
	if pid, _, _ := parseStat("42 (a) S 7"); pid != 0 {
		t.Error("a short line is not ignored")
	}
}

// The child of the peer works for half a second of processor time. The peer
// itself does nothing.
func TestTimeOfPeerIncludesItsChildren(t *testing.T) {
	c, _, err := startPeer(t.Context(), fakePeer(t, "busy"), t.TempDir(), "", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	c.grace = time.Millisecond
	defer c.stop()
	if got := treeTime(c.cmd.Process.Pid); got < 400*time.Millisecond {
		t.Errorf("got %s, want at least 0.4 s", got)
	}
}
