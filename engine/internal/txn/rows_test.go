package txn_test

import (
	"testing"

	"github.com/askback/askback/engine/internal/txn"
)

// The cursor after a record that the caller may not see has only the record's time. A list continues after
// its last item.
func TestCursorAfterHiddenRecordHasOnlyItsTime(t *testing.T) {
	const early, time, late = "ask_01m6hasq1f", "ask_01m6hasq20", "ask_01m6hasq21"
	const low, id, high, zeros, zs = "0dk68rk220zdq2v0", "8dk68rk220zdq2v0", "vdk68rk220zdq2v0", "0000000000000000",
		"zzzzzzzzzzzzzzzz"
	for _, c := range []struct {
		first, last string
		newest      bool
		want        string
	}{
		{"", "", false, time + zeros},
		{"", "", true, time + zs},
		{early + high, "", false, time + zeros},
		{late + low, "", true, time + zs},
		{early + low, early + high, false, time + zeros},
		{early + low, time + low, false, time + low},
		{late + low, time + high, true, time + high},
		{time + low, "", false, time + id},
		{time + high, "", true, time + id},
		{time + zeros, "", false, time + id},
	} {
		if got := txn.CursorAfter(time+id, c.first, c.last, c.newest); got != c.want {
			t.Errorf("after %q and %q, newest %t: got %s, want %s", c.first, c.last, c.newest, got, c.want)
		}
	}
}
