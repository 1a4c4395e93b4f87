package jcs_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/askback/askback/internal/wire/jcs"
)

// texts generates JSON with difficult parts: unusual numbers, escapes, duplicates.
func texts() *rapid.Generator[string] {
	number := rapid.Custom(func(t *rapid.T) string {
		if rapid.Bool().Draw(t, "double") {
			f := math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
			if math.IsNaN(f) || math.IsInf(f, 0) {
				return "0"
			}
			return strconv.FormatFloat(f, rapid.SampledFrom([]byte("eg")).Draw(t, "form"), -1, 64)
		}
		return rapid.StringMatching(`-?(0|[1-9][0-9]{0,18})(\.[0-9]{1,18})?([eE][+-]?[0-9]{1,3})?`).Draw(t, "number")
	})
	str := rapid.Custom(func(t *rapid.T) string {
		piece := rapid.SampledFrom([]string{
			"a", "é", "😀", "\ufb33", "\u2028", "\x7f", `\n`, `\/`, `\"`, `\\`, `\u0000`, `\u001F`, `\u00e9`,
			`\ud83d\ude00`, `\ud800`, `\udc00`, "\xff", "\t",
		})
		// Difficult parts are rare, or every text would be invalid.
		n := rapid.IntRange(0, 4).Draw(t, "length")
		var b strings.Builder
		for range n {
			p := piece.Draw(t, "piece")
			if len(p) == 6 && strings.HasPrefix(p, `\ud`) || p == "\xff" || p == "\t" {
				if rapid.IntRange(0, 9).Draw(t, "bad") > 0 {
					p = "b"
				}
			}
			b.WriteString(p)
		}
		return `"` + b.String() + `"`
	})
	scalar := rapid.OneOf(number, str, rapid.SampledFrom([]string{"null", "true", "false"}))
	var value func(depth int) *rapid.Generator[string]
	value = func(depth int) *rapid.Generator[string] {
		if depth == 0 {
			return scalar
		}
		return rapid.Custom(func(t *rapid.T) string {
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				return "[" + strings.Join(rapid.SliceOfN(value(depth-1), 0, 4).Draw(t, "elements"), ", ") + "]"
			case 1:
				var members []string
				for range rapid.IntRange(0, 12).Draw(t, "members") {
					members = append(members, str.Draw(t, "name")+" :"+value(depth-1).Draw(t, "value"))
				}
				return "{" + strings.Join(members, ",") + "}\n"
			}
			return scalar.Draw(t, "scalar")
		})
	}
	return value(3)
}

// mutated generates texts with random changes.
func mutated() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		b := []byte(texts().Draw(t, "text"))
		for range rapid.IntRange(0, 3).Draw(t, "mutations") {
			i := rapid.IntRange(0, len(b)).Draw(t, "at")
			piece := rapid.SampledFrom([]string{
				"", ",", ":", `"`, `\`, "{", "}", "[", "]", "0", "-", ".", "e", "+", " ", "\x00", "\xc3", "\ufeff",
				"//", "true",
			}).Draw(t, "piece")
			j := min(len(b), i+rapid.IntRange(0, 2).Draw(t, "cut"))
			b = append(b[:i:i], append([]byte(piece), b[j:]...)...)
		}
		return string(b)
	})
}

// agree requires that jcs and jsontext accept the same text and return the same canonical form (T5). They may
// differ only in the maximum depth and in numbers that a float64 cannot hold.
func agree(t interface{ Errorf(string, ...any) }, src []byte) {
	_, err := jcs.Parse(src)
	theirs := jsontext.Value(bytes.Clone(src))
	if valid := theirs.IsValid(); valid != (err == nil) {
		if syntax, ok := err.(*jcs.SyntaxError); !valid || !ok ||
			!strings.Contains(syntax.Detail, "nested too deeply") {
			t.Errorf("%q: got %v, and jsontext returns valid = %v", src, err, valid)
		}
	}
	if err != nil {
		return
	}
	got, err := jcs.Canonical(src)
	if err != nil {
		if _, ok := err.(*jcs.NumberError); !ok {
			t.Errorf("%q: got %v, want a *NumberError", src, err)
		}
		return
	}
	if err := theirs.Canonicalize(); err != nil || string(theirs) != string(got) {
		t.Errorf("%q: got %s, jsontext has %s %v", src, got, theirs, err)
	}
	again, err := jcs.Canonical(got)
	if err != nil || !bytes.Equal(again, got) {
		t.Errorf("%q: got %s, then %s %v", src, got, again, err)
	}
}

// The package jsontext accepts the same texts and has the same canonical forms, except for
// deep texts and rounded numbers.
func TestParserAgreesWithJSONText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { agree(t, []byte(texts().Draw(t, "src"))) })
	rapid.Check(t, func(t *rapid.T) { agree(t, []byte(mutated().Draw(t, "src"))) })
}

// The standard library decodes every accepted text and its canonical form to the same
// value.
func TestParserAgreesWithEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := []byte(texts().Draw(t, "src"))
		c, err := jcs.Canonical(src)
		if err != nil {
			return
		}
		var a, b any
		if json.Unmarshal(src, &a) != nil || json.Unmarshal(c, &b) != nil {
			t.Fatalf("%q or %q: rejected by encoding/json", src, c)
		}
		x, _ := json.Marshal(a)
		y, _ := json.Marshal(b)
		if strings.ReplaceAll(string(x), "-0", "0") != strings.ReplaceAll(string(y), "-0", "0") {
			t.Fatalf("got %s, want %s", y, x)
		}
	})
}
