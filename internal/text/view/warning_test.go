package view_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
)

func confirmation(input string) *view.Confirmation {
	return view.Of(
		askback.Ask{Confirmation: &askback.Confirmation{ToolName: "t", Input: json.RawMessage(input)}},
	).Confirmation
}

// Names in one object get a warning if they are equal, or differ only in case or in letters that look alike.
// If many names are alike, the warning shows only some of the names. Long names are cut (T9).
func TestSimilarNamesGetAWarning(t *testing.T) {
	for input, want := range map[string][]string{
		`{"path":1,"Path":2}`:                         {"path", "Path"},
		`{"path":1,"p\u0061th":2}`:                    {"path", "path"},
		`{"path":1,"p\u0430th":2}`:                    {"path", "pаth"},
		`{"a":{"b":[{"x":1,"X":2}]}}`:                 {"x", "X"},
		`{"ſ":1,"s":2}`:                               {"ſ", "s"},
		`{"a":1,"A":2,"b":1,"B":2}`:                   {"a", "A", "b", "B"},
		`{"a":{"path":1},"b":{"Path":2},"path":[{}]}`: nil,
		`{"user":1,"users":2,"":3," ":4}`:             nil,
		`{"a":"a","b":["A","a"]}`:                     nil,
	} {
		var got []string
		for _, w := range confirmation(input).Warnings {
			for _, name := range w.Names {
				got = append(got, name.String())
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", input, d)
		}
	}
	var many []string
	for i := range 100 {
		many = append(many, fmt.Sprintf(`"%s%d":1,"%[1]s%[2]d":2`, strings.Repeat("x", 5_000), i))
	}
	w := confirmation("{" + strings.Join(many, ",") + "}").Warnings
	last := w[len(w)-1]
	if !strings.HasPrefix(last.Sentence, "100 names") || len(last.Names) != 6 {
		t.Errorf("got %q about %d names", last.Sentence, len(last.Names))
	}
	if got := last.Names[0].String(); !strings.HasSuffix(got, "…") || len(got) > 80 {
		t.Errorf("a name is shown as %q", got)
	}
}

// Arguments with many blank lines, many spaces or a very long line get a warning (T3).
func TestPaddingCausesAWarning(t *testing.T) {
	for _, c := range []struct {
		name, value, want string
	}{
		{"a usual text", strings.Repeat("word ", 30) + strings.Repeat(`\n`, 10), ""},
		{"empty lines", "ls" + strings.Repeat(`\n`, 10_001) + "rm", "10\u00a0000 empty lines in a row"},
		{"empty lines with spaces in them", "ls" + strings.Repeat(`\n  \t`, 31) + "rm", "30 empty lines in a row"},
		{"spaces", "ls" + strings.Repeat(" ", 90) + "rm", "90 spaces in a row"},
		{"a long line", strings.Repeat("x", 1_000_000), "a line of 1\u00a0000\u00a0009 characters"},
		{
			"all of it", strings.Repeat(`\n`, 31) + strings.Repeat(" ", 90) + strings.Repeat("x", 2_000),
			"30 empty lines in a row",
		},
		{
			"two of it", "ls" + strings.Repeat(`\n`, 31) + "a" + strings.Repeat(" ", 90) + "x",
			"30 empty lines in a row and 90 spaces in a row",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := confirmation(`{"c":"` + c.value + `"}`)
			got := ""
			for _, w := range v.Warnings {
				got += w.Sentence
			}
			if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	size := view.SizeOf(safetext.Block("one\n" + strings.Repeat("x", 200) + "\n"))
	if got, want := size.String(), "3 lines, 205 characters, the longest line 200"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Each repair of the agent's call is one line of safe text. People who are left out are not listed as a
// repair (F15).
func TestRepairsAreListed(t *testing.T) {
	v := view.Of(askback.Ask{Warnings: []askback.Problem{
		{Pointer: "/questions/0/header", Detail: "cut to 12 characters"},
		{Pointer: "/to", Detail: "\"eve\" is not\nknown here", Fix: "x"},
		{Detail: "two\nlines\u202e"},
	}})
	var got []string
	for _, r := range v.Warnings {
		got = append(got, r.String())
	}
	if len(v.LeftOut) != 1 || v.LeftOut[0].String() != `"eve" is not known here` {
		t.Errorf("left out: got %v", v.LeftOut)
	}
	want := []string{
		"The call was repaired: cut to 12 characters (/questions/0/header)", "The call was repaired: two lines⟨U+202E⟩",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if !v.Hidden {
		t.Error("the hidden character was not noticed")
	}
}

// The editable arguments mean the same as the call, and hide no character. Arguments that are too long cannot
// be edited (F7).
func TestEditableArgumentsKeepTheMeaning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := `{"a": ` + document(t, 0) + `, "` + rapid.SampledFrom(
			[]string{"b", "\u202e", "é\u0301\u0301", "\u0301", "\x7f", "😀\u200d", strings.Repeat("\u0301", 12)},
		).Draw(t, "name") + `": 1}`
		field := string(confirmation(raw).Editable())
		if diff := cmp.Diff(decode(t, raw), decode(t, field)); diff != "" {
			t.Fatalf("%s\nbecame\n%s\n%s", raw, field, diff)
		}
		if shown := safetext.Code(field).String(); shown != field {
			t.Fatalf("%q hides something: %q", field, shown)
		}
	})
	if got := confirmation(`{"a":"` + strings.Repeat("x", 100_001) + `"}`).Editable(); got != "" {
		t.Errorf("%d characters are to be edited", len(got))
	}
}
