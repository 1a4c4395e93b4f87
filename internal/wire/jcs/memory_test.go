package jcs_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/askback/askback/internal/wire/jcs"
)

// The memory of a tree is limited, even if the text is full of small values. A body of the
// maximum size must not use gigabytes (T5).
func TestMemoryOfATreeIsLimited(t *testing.T) {
	const size, limit = 1 << 20, 110 // limit is in bytes for each byte of the text, including garbage
	array := func(item string) string { return "[" + strings.Repeat(item+",", size/(len(item)+1)) + "0]" }
	open := strings.Repeat("["+strings.Repeat("0,", 30), jcs.MaxDepth-2)
	var names strings.Builder
	for i := 0; names.Len() < size; i++ {
		fmt.Fprintf(&names, `"%x":0,`, i)
	}
	for _, src := range []string{
		array("0"), array("[]"), array("[0]"), array("[[0]]"), array("[" + strings.Repeat("0,", 24) + "0]"),
		array(`""`), array(`"\n"`), array(`{"":0}`), array(`{"":{"":0}}`), "{" + names.String() + `"":0}`,
		open + array("0") + strings.Repeat("]", jcs.MaxDepth-2),
		open + array("[0]") + strings.Repeat("]", jcs.MaxDepth-2),
		`"` + strings.Repeat(`\n`, size/2) + `"`,
	} {
		raw := []byte(src)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := jcs.Parse(raw); err != nil {
			t.Fatalf("%.40s…: %v", src, err)
		}
		runtime.ReadMemStats(&after)
		if took := (after.TotalAlloc - before.TotalAlloc) / uint64(len(raw)); took > limit {
			t.Errorf("%.40s…: got %d bytes of memory for each byte, want at most %d", src, took, limit)
		}
	}
}

// The lists of an ordinary text share a few allocations.
func TestParsingAllocatesLittle(t *testing.T) {
	src := []byte(benchmarkAsk)
	const most = 16 // with an allocation for each value of this text, the number would be more than 50
	if got := testing.AllocsPerRun(100, func() { _, _ = jcs.Parse(src) }); got > most {
		t.Errorf("got %v allocations, want at most %d", got, most)
	}
}
