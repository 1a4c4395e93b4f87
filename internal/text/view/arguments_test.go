package view_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/askback/askback/internal/text/view"
)

// The order of members and the digits of numbers are kept, because a program may depend on them. Escapes are
// decoded, except escapes of invisible characters (T3, F7).
func TestFormatJSONKeepsOrderAndDigits(t *testing.T) {
	for _, c := range []struct {
		name, raw, want string
		hidden          bool
	}{
		{
			"order and digits stay", `{"z":1e3,"a":[1.50,-0,true,null],"e":{},"l":[ ]}`,
			"{\n  \"z\": 1e3,\n  \"a\": [\n    1.50,\n    -0,\n    true,\n    null\n  ],\n  \"e\": {},\n  \"l\": []\n}",
			false,
		},
		{"white space of the sender goes", " {\t\"a\" : [ 1 , 2 ] \n} ", "{\n  \"a\": [\n    1,\n    2\n  ]\n}", false},
		{"an escape hides no letter", `{"cmd":"\u0072m \u002drf \/"}`, "{\n  \"cmd\": \"rm -rf /\"\n}", false},
		{"two names that are the same are two rows", `{"a":1,"\u0061":2}`, "{\n  \"a\": 1,\n  \"a\": 2\n}", false},
		{"a quote cannot end its string", `{"a":"x\u0022,\u005c"}`, "{\n  \"a\": \"x\\\",\\\\\"\n}", false},
		{"a line ends where it ends", `{"a":"one\ntwo\n"}`, "{\n  \"a\": \"one\\n\n    two\\n\"\n}", false},
		{
			"a pair is one character, alone it is an escape", `["\ud83d\ude00","\ud83d"]`,
			"[\n  \"😀\",\n  \"\\ud83d\"\n]", true,
		},
		{"an escaped trick stays an escape", `["a\u202eb\u0000"]`, "[\n  \"a\\u202eb\\u0000\"\n]", true},
		{"a raw trick is a mark", "[\"a\u202eb\"]", "[\n  \"a⟨U+202E⟩b\"\n]", true},
		{"Hindi in escapes can be read", `["\u0915\u093f"]`, "[\n  \"कि\"\n]", false},
		{"what is no JSON is shown as it is", `{"a":`, `{"a":`, false},
		{
			"deep down the indent ends", strings.Repeat("[", 10) + "1" + strings.Repeat("]", 10),
			"[\n  [\n    [\n      [\n        [\n          [\n            [\n              [\n                [\n    " +
				"            [\n                1\n" +
				"                ]\n                ]\n              ]\n            ]\n          ]\n        ]\n     " +
				" ]\n    ]\n  ]\n]", false,
		},
		{"a lone value", `"x"`, `"x"`, false},
		{"a lone number", `17`, `17`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, hidden := view.FormatJSON(json.RawMessage(c.raw))
			if got.String() != c.want || hidden != c.hidden {
				t.Errorf("got %q, hidden %v\nwant %q, hidden %v", got, hidden, c.want, c.hidden)
			}
		})
	}
}

// Without the added line breaks, the output is JSON with the same meaning.
func TestFormatJSONKeepsTheMeaning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := document(t, 0)
		drawn, _ := view.FormatJSON(json.RawMessage(raw))
		want, got := decode(t, raw), decode(t, unbroken(drawn.String()))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s\nwas drawn as\n%s\n%s", raw, drawn, diff)
		}
	})
}

func document(t *rapid.T, depth int) string {
	kinds := 3
	if depth < 4 {
		kinds = 5
	}
	text := func() string {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{
			"a", " ", "  ", `\n`, `\\`, `\"`, `\/`, `\t`, `\u0000`, `\u0041`, `\u000a`, `\u202e`, `\ud83d\ude00`, "é",
			"{", "}", ",", ":", "日",
		}), 0, 8).Draw(t, "text")
		return `"` + strings.Join(parts, "") + `"`
	}
	list := func(element func(i int) string) string {
		var all []string
		for i := range rapid.IntRange(0, 3).Draw(t, "n") {
			all = append(all, element(i))
		}
		return strings.Join(all, rapid.SampledFrom([]string{",", " , ", ",\n"}).Draw(t, "comma"))
	}
	switch rapid.IntRange(1, kinds).Draw(t, "kind") {
	case 1:
		return text()
	case 2:
		return rapid.SampledFrom([]string{"true", "false", "null"}).Draw(t, "word")
	case 3:
		return rapid.SampledFrom([]string{"0", "-1", "1e99", "12.50", "123456789012345678901"}).Draw(t, "number")
	case 4:
		return "[" + list(func(int) string { return document(t, depth+1) }) + "]"
	}
	return "{" + list(func(i int) string { return text() + ": " + document(t, depth+1) }) + "}"
}

// unbroken removes the line breaks that FormatJSON adds inside strings.
func unbroken(s string) string {
	var b strings.Builder
	depth, inside := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case inside && c == '\\':
			b.WriteString(s[i : i+2])
			i++
			continue
		case inside && c == '\n':
			i += 2 * (depth + 1)
			continue
		case c == '"':
			inside = !inside
		case inside:
		case c == '{', c == '[':
			depth++
		case c == '}', c == ']':
			depth--
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func decode(t *rapid.T, raw string) (v any) {
	d := json.NewDecoder(strings.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%q: %v", raw, err)
	}
	return v
}
