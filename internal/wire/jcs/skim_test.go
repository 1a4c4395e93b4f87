package jcs_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/askback/askback/internal/wire/jcs"
)

// A leaf has the fields of a member that Skim and Parse must both return.
type leaf struct {
	Name, Text       string
	At, Offset, End  int
	Kind             jcs.Kind
	Yes, HasChildren bool
}

func leaves(members []jcs.Member) (out []leaf) {
	for _, m := range members {
		v := m.Value
		out = append(out, leaf{
			m.Name, v.Text(), m.Offset, v.Offset, v.End, v.Kind, v.Bool(), v.Elements() != nil || v.Members() != nil,
		})
	}
	return out
}

// checkSkim requires that Skim and Parse return the same members for every name, and the same errors.
// Duplicates of names that Skim does not return are an exception.
func checkSkim(t interface{ Errorf(string, ...any) }, src []byte) {
	v, err := jcs.Parse(src)
	twice := func(err error) bool {
		var e *jcs.SyntaxError
		return errors.As(err, &e) && strings.HasPrefix(e.Detail, "expected each name once")
	}
	if none, bad := jcs.Skim(src, jcs.MaxDepth); len(none) > 0 || (bad == nil) != (err == nil) && !twice(err) ||
		bad != nil && !twice(err) && bad.Error() != err.Error() {
		t.Errorf("%q: skimmed of no name %v, %v; Parse has %v", src, none, bad, err)
	}
	if err != nil {
		return
	}
	var names []string
	for _, m := range v.Members() {
		names = append(names, m.Name)
	}
	got, err := jcs.Skim(src, jcs.MaxDepth, names...)
	want := leaves(v.Members())
	for i := range want {
		want[i].HasChildren = false
	}
	if diff := cmp.Diff(want, leaves(got)); diff != "" || err != nil {
		t.Errorf("%q: %v, -want +got\n%s", src, err, diff)
	}
}

// Skim and Parse return the same members for the same text (T5).
func TestSkimAgreesWithParse(t *testing.T) {
	object := rapid.Custom(func(t *rapid.T) string {
		return `{"a" : ` + texts().Draw(t, "a") + `, "\u0062":` + texts().Draw(t, "b") + `}`
	})
	rapid.Check(t, func(t *rapid.T) { checkSkim(t, []byte(object.Draw(t, "src"))) })
	rapid.Check(t, func(t *rapid.T) { checkSkim(t, []byte(mutated().Draw(t, "src"))) })
}

// The whole text must be JSON. Each selected name may occur once only; other names, and
// names inside of values, may be repeated (T5).
func TestSkimRejectsRepeatedNamesAndInvalidJSON(t *testing.T) {
	for src, want := range map[string]string{
		`{"a":1,"a":2}`:              `expected each name once in an object, got "a" again`,
		`{"a":1,"\u0061":2}`:         `expected each name once in an object, got "a" again`,
		`{"x":1,"x":2,"A":3,"a":4}`:  "",
		`{"a":{"b":1,"b":2}}`:        "",
		`{"x":"\ud800"}`:             "expected a pair of surrogates, got one alone",
		"{\"x\":\"\xff\"}":           "expected UTF-8, got a byte that is not",
		`{"x":[1,]}`:                 `expected a value, got "]"`,
		`{"x":[01]}`:                 "expected no digit after a leading zero",
		`{"x":{"y" 1}}`:              `expected ":", got "1"`,
		`{"x":1} x`:                  `expected the end of the text, got "x"`,
		`{"x":[[[[1]]]]}`:            "expected fewer levels: arrays and objects are nested too deeply",
		`[{"a":1}]`:                  "",
		"\ufeff{}":                   "expected a value, got a byte order mark",
		`{"x":{"a":1},"a":"\u00e9"}`: "",
	} {
		got, err := jcs.Skim([]byte(src), 4, "a")
		var syntax *jcs.SyntaxError
		if errors.As(err, &syntax) != (want != "") || err != nil && syntax.Detail != want {
			t.Errorf("%s: got %v, %v; want %q", src, got, err, want)
		}
		if want == "" && src[0] == '{' && (len(got) != 1 || got[0].Name != "a") {
			t.Errorf("%s: got %v, want one member a", src, got)
		}
	}
}

// Skim needs no memory for the text that it skips, except for a copy of its input. A tree could use a hundred
// bytes for each byte of the text (T5).
func TestSkippedTextIsNotStored(t *testing.T) {
	const size = 4 << 20
	for name, src := range map[string]string{
		"numbers": `{"r":[` + strings.Repeat("0,", size/2) + `0]}`,
		"members": `{"r":{` + strings.Repeat(`"":0,`, size/5) + `"":0}}`,
		"outside": `{` + strings.Repeat(`"":0,`, size/5) + `"":0}`,
		"escapes": `{"r":"` + strings.Repeat(`\n`, size/2) + `"}`,
		"arrays":  `{"r":[` + strings.Repeat("[],", size/3) + `[]]}`,
	} {
		raw := []byte(src)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if got, err := jcs.Skim(raw, jcs.MaxDepth, "a"); err != nil || got != nil {
			t.Fatalf("%s: got %v, %v", name, got, err)
		}
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 2*size {
			t.Errorf("%s: %d bytes took %d, want no more than a copy of them", name, len(raw), took)
		}
	}
}
