package lifecycle_test

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/internal/limits"
)

// The invariants are tested only if the random runs reach each case. So each case in the list must occur in
// at least one of 2000 runs (A7).
func TestRandomRunsReachEveryCase(t *testing.T) {
	left := []string{
		"answered", "approved", "denied", "declined", "cancelled", "expired", "expired with defaults",
		"expired, a look held it", "held as long as may be", "a look soon after another", "too early", "consumed",
		"spent before", "other digest", "not approved", "late", "a repeat", "a broken answer", "received",
		"received before", "received too early",
	}
	for seed := range 2000 {
		for _, m := range rapid.Custom(anyRun).Example(seed) {
			left = slices.DeleteFunc(left, func(name string) bool { return name == caseOf(m) })
		}
	}
	if len(left) > 0 {
		t.Errorf("no run had %q", left)
	}
}

// caseOf returns the name of the case to which a transition belongs, or "".
func caseOf(m transition) string {
	var invalid askback.Invalid
	a, o, due := m.before.Ask, m.after.Ask.Outcome, m.before.Expires()
	news := len(m.history) > 0
	switch ev := m.event.(type) {
	case lifecycle.Due:
		switch {
		case !news && !due.IsZero():
			return "too early"
		case !news:
			return ""
		case due.Equal(a.Deadline.Add(limits.MaxClaimHold)):
			return "held as long as may be"
		case due.After(a.Deadline):
			return "expired, a look held it"
		case o.Defaulted:
			return "expired with defaults"
		}
		return "expired"
	case lifecycle.Consumed:
		switch {
		case news:
			return "consumed"
		case errors.Is(m.err, askback.ErrConsumed):
			return "spent before"
		case errors.Is(m.err, askback.ErrDigest):
			return "other digest"
		}
		return "not approved"
	case lifecycle.Acked:
		switch {
		case news:
			return "received"
		case m.err != nil:
			return "received too early"
		}
		return "received before"
	case lifecycle.Repeated:
		if !news {
			return "repeated after the outcome"
		}
		return "repeated"
	case lifecycle.Claimed:
		if !news && m.err == nil {
			return "a look soon after another"
		}
		return ""
	case lifecycle.Answered:
		switch {
		case m.late():
			return "late"
		case errors.As(m.err, &invalid):
			return "a broken answer"
		case !news:
			return "a repeat"
		case ev.Answer.Decision != "":
			return string(ev.Answer.Decision)
		}
		return "answered"
	}
	if news && !a.Settled() && o != nil {
		return string(o.Status)
	}
	return ""
}
