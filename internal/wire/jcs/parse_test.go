package jcs_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback/internal/wire/jcs"
)

// The mistakes of models are explained with a pointer and a position (F15).
func TestSyntaxErrorsAreExplained(t *testing.T) {
	tests := []struct {
		name, src    string
		line, column int
		pointer      string
		detail       string
	}{
		{"nothing", "", 1, 1, "", `expected a value, got the end of the text`},
		{"only space", " \n ", 2, 2, "", `expected a value, got the end of the text`},
		{"byte order mark", "\ufeff{}", 1, 1, "", `expected a value, got a byte order mark`},
		{"trailing text", "{} x", 1, 4, "", `expected the end of the text, got "x"`},
		{"two values", "1 2", 1, 3, "", `expected the end of the text, got "2"`},
		{"word", "nullable", 1, 1, "", `expected a value, got "n"`},
		{"python", `{"a": True}`, 1, 7, "/a", `expected a value, got "T"`},
		{"NaN", `[NaN]`, 1, 2, "/0", `expected a value, got "N"`},
		{"single quotes", `{'a': 1}`, 1, 2, "", `expected a name in double quotes, got "'"`},
		{"comment", `[1, // no` + "\n2]", 1, 5, "/1", `expected a value, got "/"`},
		{"trailing comma in an array", "[1,]", 1, 4, "/1", `expected a value, got "]"`},
		{"trailing comma in an object", `{"a":1,}`, 1, 8, "", `expected a name in double quotes, got "}"`},
		{"no comma", "[1\n 2]", 2, 2, "", `expected "," or "]", got "2"`},
		{"no colon", `{"a" 1}`, 1, 6, "/a", `expected ":", got "1"`},
		{"cut off", `{"a": [1, {"b~/": "x`, 1, 21, "/a/1/b~0~1", `expected a closing quote, got the end of the text`},
		{
			"duplicate", `{"a": 1, "b": {}, "\u0061": 2}`, 1, 19, "/a",
			`expected each name once in an object, got "a" again`,
		},
		{
			"long duplicate", `{"secretsecretsecretsecret":1,"secretsecretsecretsecret":1}`, 1, 31,
			"/secretsecretsecretsecret",
			`expected each name once in an object, got "secretsecretsecretse…" again`,
		},
		{"wide characters before", "{\"ключ😀\": [tru]}", 1, 12, "/ключ😀/0", `expected a value, got "t"`},
		{"leading zero", "[01]", 1, 3, "/0", `expected no digit after a leading zero`},
		{"plus", "+1", 1, 1, "", `expected a value, got "+"`},
		{"bare minus", "-", 1, 2, "", `expected a digit, got the end of the text`},
		{"bare point", "1.", 1, 3, "", `expected a digit after the decimal point, got the end of the text`},
		{"bare exponent", "1e+", 1, 4, "", `expected a digit in the exponent, got the end of the text`},
		{"hex number", "0x10", 1, 2, "", `expected the end of the text, got "x"`},
		{
			"line feed in a string", "\"a\nb\"", 1, 3, "",
			`expected control characters to be escaped in a string, got "\n"`,
		},
		{"NUL", "\x00", 1, 1, "", `expected a value, got "\x00"`},
		{"NUL in a string", "\"\x00\"", 1, 2, "", `expected control characters to be escaped in a string, got "\x00"`},
		{"bad escape", `"\x41"`, 1, 3, "", `expected one of " \ / b f n r t u after a backslash, got "x"`},
		{"bad hex", `"\u00g0"`, 1, 6, "", `expected four hexadecimal digits after \u, got "g"`},
		{"high surrogate alone", `"a\ud800"`, 1, 3, "", `expected a pair of surrogates, got one alone`},
		{"low surrogate alone", `"\udc00\ud800"`, 1, 2, "", `expected a pair of surrogates, got one alone`},
		{"two high surrogates", `"\ud800\ud800"`, 1, 2, "", `expected a pair of surrogates, got one alone`},
		{"bad UTF-8", "[\"a\xff\"]", 1, 4, "/0", `expected UTF-8, got a byte that is not`},
		{"surrogate in UTF-8", "\"\xed\xa0\x80\"", 1, 2, "", `expected UTF-8, got a byte that is not`},
		{"overlong UTF-8", "\"\xc0\xaf\"", 1, 2, "", `expected UTF-8, got a byte that is not`},
		{"bad UTF-8 outside", "[\xff]", 1, 2, "/0", `expected a value, got a byte that is not UTF-8`},
		{"no-break space", "\u00a01", 1, 1, "", `expected a value, got "\u00a0"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := jcs.Parse([]byte(tt.src))
			var got *jcs.SyntaxError
			if !errors.As(err, &got) {
				t.Fatalf("got error %v, want a *SyntaxError", err)
			}
			line, column := jcs.Position([]byte(tt.src), got.Offset)
			want := &jcs.SyntaxError{
				Offset: got.Offset, Line: tt.line, Column: tt.column, Pointer: tt.pointer, Detail: tt.detail,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			if line != got.Line || column != got.Column {
				t.Errorf("got position %d:%d of offset %d, want %d:%d", line, column, got.Offset, got.Line, got.Column)
			}
		})
	}
}

func TestErrorsAreOnOneLine(t *testing.T) {
	_, err := jcs.Parse([]byte(`{"a": [tru]}`))
	if got, want := err.Error(), `not JSON: line 1, column 8 ("/a/0"): expected a value, got "t"`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	_, err = jcs.Canonical([]byte(`{"a": [1e400]}`))
	if got, want := err.Error(),
		`"/a/0": the number "1e400" changes when it is read as a double: send it as a string`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestErrorsNeverRepeatLongInput(t *testing.T) {
	secret := strings.Repeat("hunter2", 1000)
	for _, src := range []string{
		`"` + secret, secret, `{"` + secret + `":1,"` + secret + `":1}`, `{"` + secret + `":` + secret + `}`,
		strings.Repeat("1", 5000), `{"` + secret + `":1e999}`,
	} {
		_, err := jcs.Canonical([]byte(src))
		if err == nil {
			t.Fatalf("%.20s… was accepted", src)
		}
		if got := len(err.Error()); got > 200 {
			t.Errorf("got an error of %d bytes, want at most 200", got)
		}
	}
}

func TestParseReturnsTheTree(t *testing.T) {
	src := []byte(` {"text": "a\n\u00e9\ud83d\ude00\/", "list": [1, -2.50, true, false, null, [], {}], "1e2": 1e2}`)
	v, err := jcs.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	text, ok := v.Get("text")
	if got, want := text.Text(), "a\né😀/"; !ok || got != want {
		t.Errorf("got text %q %v, want %q", got, ok, want)
	}
	if none, ok := v.Get("Text"); ok || none.Kind != jcs.Missing {
		t.Errorf("got a member of another case: %v", none)
	}
	list, _ := v.Get("list")
	var kinds, raws []string
	for _, e := range list.Elements() {
		kinds = append(kinds, e.Kind.String())
		raws = append(raws, string(e.Raw(src)))
	}
	if diff := cmp.Diff(
		[]string{"a number", "a number", "true or false", "true or false", "null", "an array", "an object"}, kinds,
	); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if diff := cmp.Diff([]string{"1", "-2.50", "true", "false", "null", "[]", "{}"}, raws); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if e := list.Elements(); !e[2].Bool() || e[3].Bool() || e[1].Text() != "-2.50" {
		t.Errorf("got %v %v %q, want true false -2.50", e[2].Bool(), e[3].Bool(), e[1].Text())
	}
	var at []int
	for _, m := range v.Members() {
		at = append(at, m.Offset, m.Value.Offset, m.Value.End)
	}
	want := []int{2, 10, 35, 37, 45, 82, 84, 91, 94}
	if diff := cmp.Diff(want, at); diff != "" {
		t.Errorf("offsets: -want +got\n%s", diff)
	}
}

func TestIntegersAreExact(t *testing.T) {
	tests := []struct {
		src  string
		want int64
		ok   bool
	}{
		{"0", 0, true},
		{"-0.0e9", 0, true},
		{"0e999999999999", 0, true},
		{"42", 42, true},
		{"-7", -7, true},
		{"5.0", 5, true},
		{"1e2", 100, true},
		{"1200e-2", 12, true},
		{"0.5e1", 5, true},
		{"9223372036854775807", 9223372036854775807, true},
		{"-9223372036854775808", -9223372036854775808, true},
		{"9223372036854775808", 0, false},
		{"5.5", 0, false},
		{"1e-1", 0, false},
		{"1e19", 0, false},
		{"1e999999999999", 0, false},
		{`"1"`, 0, false},
	}
	for _, tt := range tests {
		v, err := jcs.Parse([]byte(tt.src))
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := v.Int(); got != tt.want || ok != tt.ok {
			t.Errorf("%s: got %d %v, want %d %v", tt.src, got, ok, tt.want, tt.ok)
		}
	}
}

func TestDepthIsLimited(t *testing.T) {
	deep := func(n int) []byte { return []byte(strings.Repeat(`[`, n) + strings.Repeat(`]`, n)) }
	if _, err := jcs.Parse(deep(jcs.MaxDepth)); err != nil {
		t.Errorf("got %v at the limit, want nothing", err)
	}
	for _, n := range []int{jcs.MaxDepth + 1, 5_000_000} {
		_, err := jcs.Parse(deep(n))
		var got *jcs.SyntaxError
		if !errors.As(err, &got) || got.Offset != jcs.MaxDepth || strings.Count(got.Pointer, "/0") != jcs.MaxDepth {
			t.Errorf("got %v for depth %d, want an error at byte %d", err, n, jcs.MaxDepth)
		}
	}
	// Depth counts levels, not values.
	if _, err := jcs.Parse([]byte("[" + strings.Repeat("[],{},", 100) + "1]")); err != nil {
		t.Errorf("got %v for siblings, want nothing", err)
	}
}

// A duplicate is found at any position, among few names and among many (T5).
func TestDuplicatesAreFoundAmongMany(t *testing.T) {
	for n := 1; n < 40; n++ {
		for again := range n {
			var members []string
			for i := range n {
				members = append(members, `"k`+strconv.Itoa(i)+`":0`)
			}
			if _, err := jcs.Parse([]byte("{" + strings.Join(members, ",") + "}")); err != nil {
				t.Fatal(err)
			}
			members = append(members, `"k`+strconv.Itoa(again)+`":0`)
			if _, err := jcs.Parse([]byte("{" + strings.Join(members, ",") + "}")); err == nil {
				t.Errorf("got nothing for name %d twice among %d, want an error", again, n)
			}
		}
	}
}

// A parser that ignores case would return another member (T5).
func TestNamesAreCaseSensitive(t *testing.T) {
	v, err := jcs.Parse([]byte(`{"path":1,"Path":2,"PATH":3}`))
	if err != nil || len(v.Members()) != 3 {
		t.Fatalf("got %d members, %v; want 3", len(v.Members()), err)
	}
	for i, name := range []string{"path", "Path", "PATH"} {
		m, ok := v.Get(name)
		if n, _ := m.Int(); !ok || n != int64(i+1) {
			t.Errorf("%s: got %d %t, want %d", name, n, ok, i+1)
		}
	}
}

func TestPointersAreEscaped(t *testing.T) {
	if got, want := jcs.Pointer("/questions", "0", "a/b~c", ""), "/questions/0/a~1b~0c/"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The test leaves out the code points that need an escape.
func TestEveryCodePointIsPreserved(t *testing.T) {
	for r := rune(0x20); r <= utf8.MaxRune; r++ {
		if !utf8.ValidRune(r) || r == '"' || r == '\\' {
			continue
		}
		src := `"` + string(r) + `"`
		v, err := jcs.Parse([]byte(src))
		if err != nil || v.Text() != string(r) {
			t.Fatalf("%U: got %q %v", r, v.Text(), err)
		}
	}
}
