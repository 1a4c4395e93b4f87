package decode_test

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/decode"
)

// The values that are read from a body do not keep the body in memory. A body may be mostly white space, and
// the cache of asks counts only the strings of an ask (T25).
func TestRequestDoesNotKeepItsBody(t *testing.T) {
	const size, count = 1 << 20, 64
	body := bytes.Join([][]byte{[]byte(`{"question": "Which database?", "header": "DB", "options": ["PostgreSQL", {"label": "SQLite", "description": "one file"}], "to": ["ana"]`), []byte("}")}, bytes.Repeat([]byte(" "), size))
	var kept []askback.Request
	before := liveBytes()
	for range count {
		r, err := decode.Request(body)
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, r)
	}
	if grown := liveBytes() - before; grown > count*size/8 {
		t.Errorf("%d requests keep %d bytes", len(kept), grown)
	}
	runtime.KeepAlive(kept)
}

// liveBytes returns the number of bytes of all reachable objects on the heap.
func liveBytes() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
