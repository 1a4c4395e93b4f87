package main

import (
	"slices"
	"strings"
	"testing"
)

// What the prover takes for the meaning of a text, by which it judges (T4).
func TestMeaningIsThatOfTheText(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, tt := range []struct {
		a, b string
		want effect
	}{
		{`{"a":1,"b":[2]}`, "{ \"b\" :[ 2 ],\n\"a\":1}", same},
		{`"\u00e9\/"`, `"é/"`, same},
		{`1`, `1.0`, same},
		{`1`, `10e-1`, same},
		{`0`, `-0.0e7`, same},
		{`1e21`, `1000000000000000000000`, same},
		{deep(32), deep(32), same},
		{`"é"`, `"e\u0301"`, other},
		{`1`, `"1"`, other},
		{`null`, `"null"`, other},
		{`true`, `1`, other},
		{`[]`, `{}`, other},
		{`{"a":null}`, `{}`, other},
		{`{"a":1}`, `{"A":1}`, other},
		{`[1,2]`, `[2,1]`, other},
		{`{"a":{"k":1},"b":{}}`, `{"a":{},"b":{"k":1}}`, other},
		{`0.1`, `0.10000000000000002`, other},
		{`{}`, `{"a":1,"\u0061":1}`, refused},
		{`9007199254740992`, `9007199254740993`, refused},
		{`0.1`, `0.1000000000000000055511151231257827`, refused},
		{`0`, `1e-400`, refused},
		{`0`, `1e400`, refused},
		{`"a"`, `"\ud800"`, refused},
		{`"a"`, "\"\xff\"", refused},
		{`{}`, `{} {}`, refused},
		{`{}`, ``, refused},
		{deep(32), deep(33), refused},
	} {
		w := &pairMaker{}
		p := &pair{approved: &toolCall{}, changed: &toolCall{raw: []byte(tt.b)}}
		var err error
		if p.meaning, err = w.reader.read([]byte(tt.a)); err != nil {
			t.Errorf("%s: %v", tt.a, err)
		}
		if got := w.meaningOf(p); got != tt.want {
			t.Errorf("%s against %s: got %s, want %s", tt.b, tt.a, got, tt.want)
		}
	}
}

func TestNamesAreAPartOfTheMeaning(t *testing.T) {
	w := &pairMaker{}
	meaning, err := w.reader.read([]byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		p := &pair{approved: &toolCall{}, meaning: meaning, changed: &toolCall{raw: []byte(`{}`)}}
		p.changed.names[i] = "x"
		if got := w.meaningOf(p); got != other {
			t.Errorf("name %d: got %s, want %s", i, got, other)
		}
	}
}

// A mutation that is never made proves nothing.
func TestEveryMutationIsMade(t *testing.T) {
	p := newPairs(1, "")
	if err := p.run(t.Context(), 20_000); err != nil || len(p.bad) > 0 {
		t.Fatalf("got %v, %v; want nothing", p.bad, err)
	}
	for i, n := range p.counts {
		if n[same]+n[other]+n[refused] == 0 {
			t.Errorf("%s: never made", mutations[i].name)
		}
	}
	if p.done < 20_000 || p.asked != p.done/productEach {
		t.Errorf("got %d pairs, %d of them in an engine; want 20000 and each %dth", p.done, p.asked, productEach)
	}
}

// An engine that takes any digest is found out, in each of its ways.
func TestEngineThatBindsNothingIsSeen(t *testing.T) {
	p := newPairs(1, "")
	w := &pairMaker{pairs: p, product: newProduct()}
	if err := w.document(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	pretends := func(means effect) []violation {
		call := &toolCall{names: [3]string{"bot", "infra", "rm"}, raw: []byte(`{"path":"/tmp/x"}`)}
		changed := *call
		if means == same { // it says that this is the same
			changed.raw = []byte(`{"path":"/"}`)
		}
		bad, err := w.product.try(t.Context(), &pair{approved: call, changed: &changed, means: means})
		if err != nil {
			t.Fatal(err)
		}
		return bad
	}
	for means, want := range map[effect]fault{same: rejected, other: accepted, refused: accepted} {
		if bad := pretends(means); !slices.ContainsFunc(bad, func(v violation) bool { return v.fault == want }) {
			t.Errorf("%s: got %v, want something %s", means, bad, want)
		}
	}
}
