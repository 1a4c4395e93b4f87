package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/askback/askback"
)

// A hosted run that is killed repeatedly ends like a run that is not killed. Each change was made at most
// once and each question was asked once (A2, F2).
func TestKilledHostedRunsEndWithTheSameResult(t *testing.T) {
	dir := t.TempDir()
	program := builtProgram(t)
	h, err := newHostedTest(dir, program, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.run(t.Context(), 4); err != nil || len(h.bad) > 0 {
		t.Fatalf("%v\n%v", err, h.bad)
	}
	if len(h.checked) != 3*h.runs || h.runs == 0 {
		t.Errorf("%d sessions of %d runs were checked", len(h.checked), h.runs)
	}
}

// The check finds each kind of defect that a crash could leave.
func TestHostedCheckDetectsDefects(t *testing.T) {
	want := hostedShapes("run-1")["run-1"]
	record := func() hostedRecord {
		r := hostedRecord{session: askback.Session{
			Agent: "run-1", Status: askback.SessionCompleted, Result: json.RawMessage(`{"text":"run-1 is done."}`),
		}, replies: want.replies, asks: append([]string{}, want.asks...)}
		for i := range want.calls {
			c := hostedCall{id: string(rune('a' + i)), results: 1}
			if i < len(want.writes) {
				c.write = want.writes[i]
			}
			r.calls = append(r.calls, c)
		}
		return r
	}
	for name, c := range map[string]struct {
		spoil func(r *hostedRecord, made map[string]int)
		want  string
	}{
		"nothing": {func(*hostedRecord, map[string]int) {}, ""},
		"an interrupted write": {
			func(r *hostedRecord, made map[string]int) { r.calls[0].isError = true; made[want.writes[0]] = 0 }, "",
		},
		"a write twice": {
			func(_ *hostedRecord, made map[string]int) { made[want.writes[0]] = 2 }, "duplicated",
		},
		"an error and twice": {
			func(r *hostedRecord, made map[string]int) { r.calls[0].isError = true; made[want.writes[0]] = 2 },
			"duplicated",
		},
		"a result without call": {func(_ *hostedRecord, made map[string]int) { delete(made, want.writes[0]) }, "lost"},
		"two results":           {func(r *hostedRecord, _ map[string]int) { r.calls[3].results = 2 }, "inconsistent"},
		"no result":             {func(r *hostedRecord, _ map[string]int) { r.calls[3].results = 0 }, "inconsistent"},
		"asked twice": {
			func(r *hostedRecord, _ map[string]int) { r.asks = append(r.asks, r.asks[0]) }, "duplicated",
		},
		"not asked": {func(r *hostedRecord, _ map[string]int) { r.asks = r.asks[1:] }, "lost"},
		"another question": {
			func(r *hostedRecord, _ map[string]int) { r.asks = append(r.asks, "Why?") }, "duplicated",
		},
		"a reply twice":      {func(r *hostedRecord, _ map[string]int) { r.replies++ }, "duplicated"},
		"a reply is missing": {func(r *hostedRecord, _ map[string]int) { r.replies-- }, "lost"},
		"another end": {
			func(r *hostedRecord, _ map[string]int) { r.session.Status = askback.SessionFailed }, "inconsistent",
		},
		"another result": {
			func(r *hostedRecord, _ map[string]int) { r.session.Result = json.RawMessage(`{}`) }, "inconsistent",
		},
		"one more call": {func(r *hostedRecord, _ map[string]int) {
			r.calls = append(r.calls, hostedCall{id: "z", results: 1})
		}, "inconsistent"},
		"the writes in another order": {func(r *hostedRecord, _ map[string]int) {
			r.calls[0], r.calls[1] = r.calls[1], r.calls[0]
		}, "inconsistent"},
	} {
		t.Run(name, func(t *testing.T) {
			r, made := record(), map[string]int{}
			for _, w := range want.writes {
				made[w] = 1
			}
			c.spoil(&r, made)
			var got []string
			for _, v := range r.check(want, made) {
				got = append(got, v.String())
			}
			if len(got) > 0 != (c.want != "") || !strings.HasPrefix(strings.Join(got, "\n"), c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
