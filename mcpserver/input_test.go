package mcpserver_test

import (
	"encoding/json"
	"strconv"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/askback/askback/mcpserver"
)

// The set of recent deliveries contains the latest keys, and its size is limited.
func TestRecentSetIsBounded(t *testing.T) {
	started := time.Now()
	m := mcpserver.NewRecentSet(started)
	if mcpserver.Covers(&m, started.Add(-time.Second)) || !mcpserver.Covers(&m, started.Add(time.Second)) {
		t.Error("the set covers a time before its creation, or does not cover one after it")
	}
	const many = 100_000
	for i := range many {
		mcpserver.Add(&m, strconv.Itoa(i))
		if n := mcpserver.Size(&m); n > 8192 {
			t.Fatalf("%d marks after %d", n, i)
		}
	}
	for i := many - 4096; i < many; i++ {
		if !mcpserver.Has(&m, strconv.Itoa(i)) {
			t.Fatalf("mark %d of %d is forgotten", i, many)
		}
	}
	if mcpserver.Has(&m, "0") {
		t.Error("the first mark is still there")
	}
	if mcpserver.Covers(&m, started) {
		t.Error("the set covers a time whose keys were dropped")
	}
}

// Accepted input is JSON, and the error for other input is short (F15).
func FuzzInputs(f *testing.F) {
	for _, seed := range []string{
		`{}`, bash, claude, `{"question_id": "ask_1", "max_wait_s": "7"}`,
		`{"question_id": "ask_1", "max_wait_s": 1e9}`,
		`{"max_wait_s": null}`, `{"a": 1, "a": 2}`, `[]`, `"{}"`, "\xff", `{"tool_name": "x", "input": {"n": 1e400}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		waits, prompts := mcpserver.ReadInputs(raw)
		for _, err := range []error{waits, prompts} {
			switch {
			case err == nil && !json.Valid(raw):
				t.Errorf("%q was accepted", raw)
			case err != nil && utf8.RuneCountInString(err.Error()) > 400:
				t.Errorf("%q: %d characters", raw, utf8.RuneCountInString(err.Error()))
			case err != nil && !utf8.ValidString(err.Error()):
				t.Errorf("%q: %q", raw, err)
			}
		}
	})
}
