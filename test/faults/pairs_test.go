package main

import (
	"slices"
	"strings"
	"testing"
)

// Two calls are the same if their arguments are equal as JSON, however they are written
// (T4).
func TestArgumentsAreComparedAsValues(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, tt := range []struct {
		a, b string
		want effect
	}{
		{`{"a":1,"b":[2]}`, "{ \"b\" :[ 2 ],\n\"a\":1}", sameCall},
		{`"\u00e9\/"`, `"é/"`, sameCall},
		{`1`, `1.0`, sameCall},
		{`1`, `10e-1`, sameCall},
		{`0`, `-0.0e7`, sameCall},
		{`1e21`, `1000000000000000000000`, sameCall},
		{deep(32), deep(32), sameCall},
		{`"é"`, `"e\u0301"`, otherCall},
		{`1`, `"1"`, otherCall},
		{`null`, `"null"`, otherCall},
		{`true`, `1`, otherCall},
		{`[]`, `{}`, otherCall},
		{`{"a":null}`, `{}`, otherCall},
		{`{"a":1}`, `{"A":1}`, otherCall},
		{`[1,2]`, `[2,1]`, otherCall},
		{`{"a":{"k":1},"b":{}}`, `{"a":{},"b":{"k":1}}`, otherCall},
		{`0.1`, `0.10000000000000002`, otherCall},
		{`{}`, `{"a":1,"\u0061":1}`, invalidCall},
		{`9007199254740992`, `9007199254740993`, invalidCall},
		{`0.1`, `0.1000000000000000055511151231257827`, invalidCall},
		{`0`, `1e-400`, invalidCall},
		{`0`, `1e400`, invalidCall},
		{`"a"`, `"\ud800"`, invalidCall},
		{`"a"`, "\"\xff\"", invalidCall},
		{`{}`, `{} {}`, invalidCall},
		{`{}`, ``, invalidCall},
		{deep(32), deep(33), invalidCall},
	} {
		w := &pairWorker{}
		p := &pair{approved: &toolCall{}, changed: &toolCall{raw: []byte(tt.b)}}
		var err error
		if p.meaning, err = w.valueReader.read([]byte(tt.a)); err != nil {
			t.Errorf("%s: %v", tt.a, err)
		}
		if got := w.meaningOf(p); got != tt.want {
			t.Errorf("%s and %s: got %s, want %s", tt.b, tt.a, got, tt.want)
		}
	}
}

func TestChangedAgentServerOrToolMakesADifferentCall(t *testing.T) {
	w := &pairWorker{}
	meaning, err := w.valueReader.read([]byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		p := &pair{approved: &toolCall{}, meaning: meaning, changed: &toolCall{raw: []byte(`{}`)}}
		p.changed.names[i] = "x"
		if got := w.meaningOf(p); got != otherCall {
			t.Errorf("name %d: got %s, want %s", i, got, otherCall)
		}
	}
}

func TestEveryMutationIsUsed(t *testing.T) {
	p := newPairTest(1, "")
	if err := p.run(t.Context(), 20_000); err != nil || len(p.bad) > 0 {
		t.Fatalf("got %v, %v; want no violations", p.bad, err)
	}
	for i, n := range p.counts {
		if n[sameCall]+n[otherCall]+n[invalidCall] == 0 {
			t.Errorf("%s: not used", mutations[i].name)
		}
	}
	if p.done < 20_000 || p.asked != p.done/productEach {
		t.Errorf("got %d pairs, %d of them in an engine; want 20000 and each %dth", p.done, p.asked, productEach)
	}
}

// The engine is correct, but each pair is marked with a wrong effect. So the engine seems to reject the same
// call, or to accept another call.
func TestEngineCheckerDetectsWrongEffects(t *testing.T) {
	p := newPairTest(1, "")
	w := &pairWorker{pairTest: p, engineChecker: newEngineChecker()}
	if err := w.document(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	checkAs := func(means effect) []violation {
		call := &toolCall{names: [3]string{"bot", "infra", "rm"}, raw: []byte(`{"path":"/tmp/x"}`)}
		changed := *call
		if means == sameCall {
			changed.raw = []byte(`{"path":"/"}`)
		}
		bad, err := w.engineChecker.check(t.Context(), &pair{approved: call, changed: &changed, means: means})
		if err != nil {
			t.Fatal(err)
		}
		return bad
	}
	for means, want := range map[effect]fault{sameCall: rejected, otherCall: accepted, invalidCall: accepted} {
		if bad := checkAs(means); !slices.ContainsFunc(bad, func(v violation) bool { return v.fault == want }) {
			t.Errorf("%s: got %v, want a violation of kind %s", means, bad, want)
		}
	}
}
