package main

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/askback/askback"
)

// T12: dangerous calls, and those with hidden characters, are never decided with others.
func TestDangerousCallsAreDecidedAlone(t *testing.T) {
	call := func(dangerous bool, input string) askback.Ask {
		return askback.Ask{ID: "ask_1", Kind: askback.Confirm, Confirmation: &askback.Confirmation{ToolName: "db.migrate", Dangerous: dangerous, Input: json.RawMessage(input)}}
	}
	if err := decidable([]askback.Ask{call(false, `{"a":1}`)}); err != nil {
		t.Errorf("got %v, want none", err)
	}
	for want, a := range map[string]askback.Ask{"is dangerous": call(true, `{}`), "hard to see": call(false, "{\"a\":\"x\u200by\"}")} {
		err := decidable([]askback.Ask{call(false, `{}`), a})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		if coded := (exitError{}); !errors.As(err, &coded) || coded.code != exitUsage {
			t.Errorf("got %v, want exit code 2", err)
		}
	}
}
