package codec_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/askback/askback/internal/wire/codec"
)

func TestDepthIsLimited(t *testing.T) {
	const most = 10_000
	for _, c := range []struct{ open, inside, closing string }{{"[", "", "]"}, {`{"":`, "0", "}"}} {
		for depth, accepted := range map[int]bool{most: true, most + 1: false} {
			raw := []byte(strings.Repeat(c.open, depth) + c.inside + strings.Repeat(c.closing, depth))
			if got := codec.Valid(raw); got != accepted {
				t.Errorf("%d times %s: got valid = %t", depth, c.open, got)
			}
			err := codec.Read(raw, func(r *codec.Reader) { r.Raw() })
			if (err == nil) != accepted ||
				err != nil && (!strings.Contains(err.Error(), "fewer levels") || len(err.Error()) > 300) {
				t.Errorf("%d times %s: got %.400v", depth, c.open, err)
			}
			if _, err := codec.AppendRaw(nil, raw, ""); (err == nil) != accepted {
				t.Errorf("%d times %s: got %.400v", depth, c.open, err)
			}
		}
	}
}

// members returns an object with n different names, followed by a member for each element of more.
func members(n int, more ...string) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`"name%d": {"a": [%d]}`, i, i))
	}
	for _, name := range more {
		all = append(all, name+`: null`)
	}
	return "{" + strings.Join(all, ", ") + "}"
}

// A duplicate name is an error, whether the reader compares a few names or collects many names in a map.
func TestDuplicatesAmongManyNamesAreErrors(t *testing.T) {
	for _, n := range []int{1, 2, 30, 62, 63, 64, 65, 66, 500} {
		if raw := members(n, `"b"`, `""`); !codec.Valid([]byte(raw)) {
			t.Errorf("%d names: not valid", n)
		}
		last := fmt.Sprintf("name%d", n-1)
		for _, duplicate := range []string{`"name0"`, `"` + last + `"`, `"\u006e` + last[1:] + `"`} {
			raw := []byte(members(n, `"b"`, duplicate))
			err := codec.Read(raw, (*codec.Reader).Skip)
			want := fmt.Sprintf(`JSON at "": byte %d: expected each name once in an object, got "name`,
				strings.LastIndex(string(raw), duplicate))
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%d names and %s: got %v, want %s", n, duplicate, err, want)
			}
			if err := codec.ReadStored(raw, (*codec.Reader).Skip); err != nil {
				t.Errorf("%d names and %s: got %v, want no error of ReadStored", n, duplicate, err)
			}
		}
	}
}

// Objects next to each other and inside each other may have the same names.
func TestNamesMayRepeatInDifferentObjects(t *testing.T) {
	if raw := `[{"a": {"a": {"a": 1}, "b": 2}, "b": {"a": 3}}, {"a": 4}, {"": {"": 5}}, {"\u0061": {"a": 6}, "b": 7}]`; !codec.Valid([]byte(raw)) {
		t.Errorf("%s: not valid", raw)
	}
	for _, raw := range []string{
		`{"a": {"b": {}}, "a": 1}`, `[{"c": 1}, {"a": {"b": {"b": 1}, "c": 2, "b": 3}}]`, `{"": 1, "": 2}`,
		`{"a": 1, "\u0061": 2}`, `{"\u0061": 1, "a": 2}`, `{"\u0061": {"a": 1}, "b": 1, "\u0061": 2}`,
	} {
		if codec.Valid([]byte(raw)) {
			t.Errorf("%s: valid", raw)
		}
	}
}

func TestSyntaxErrorsNameTheirPosition(t *testing.T) {
	long := strings.Repeat("x", 200)
	for raw, want := range map[string]string{
		`[1, 2 3]`:            `JSON at "/1": byte 6: expected "," or "]", got '3'`,
		`[1, 2,]`:             `JSON at "/2": byte 6: expected a value, got ']'`,
		`[,]`:                 `JSON at "/0": byte 1: expected a value, got ','`,
		"[\x00]":              `JSON at "/0": byte 1: expected "," or "]", got '\x00'`,
		`{"a" 1}`:             `JSON at "/a": byte 5: expected ":", got '1'`,
		`{"a": 1,}`:           `JSON at "": byte 8: expected a name in quotes, got '}'`,
		`{a: 1}`:              `JSON at "": byte 1: expected a name in quotes, got 'a'`,
		`{"a": 1]`:            `JSON at "/a": byte 7: expected "," or "}", got ']'`,
		`{"a~/b": {"\n": [[`:  `JSON at "/a~0~1b/\n/0/0": byte 18: expected "," or "]", got the end of the text`,
		`{"a": "b" "c"}`:      `JSON at "/a": byte 10: expected "," or "}", got '"'`,
		`["\ud800xudc00"]`:    `JSON at "/0": byte 2: expected a pair of surrogates, got one alone`,
		`{"a": tru}`:          `JSON at "/a": byte 6: expected true, got 't'`,
		`[01]`:                `JSON at "/0": byte 2: expected "," or "]", got '1'`,
		`[-]`:                 `JSON at "/0": byte 2: expected a digit, got ']'`,
		`[1.]`:                `JSON at "/0": byte 3: expected a digit, got ']'`,
		`[1e+]`:               `JSON at "/0": byte 4: expected a digit, got ']'`,
		`["a`:                 `JSON at "/0": byte 3: expected a closing quote, got the end of the text`,
		"[\"a\nb\"]":          `JSON at "/0": byte 3: expected control characters to be escaped in a string, got '\n'`,
		`["\a"]`:              `JSON at "/0": byte 2: expected one of " \ / b f n r t after a backslash, or u and four hexadecimal digits`,
		`["\ud800"]`:          `JSON at "/0": byte 2: expected a pair of surrogates, got one alone`,
		"[\"12345678\xff\"]":  `JSON at "/0": byte 10: expected UTF-8`,
		`{"` + long + `": }`:  `JSON at "/` + long[:99] + `…": byte 205: expected a value, got '}'`,
		"\ufeff1":             `JSON at "": byte 0: expected a value, got '\ufeff'`,
		"1 2":                 `JSON at "": byte 2: expected the end of the text, got '2'`,
		"[1] \x00":            `JSON at "": byte 4: expected the end of the text, got '\x00'`,
		`{"a": {"b": [{"c":x`: `JSON at "/a/b/0/c": byte 18: expected a value, got 'x'`,
	} {
		if err := codec.Read([]byte(raw), (*codec.Reader).Skip); err == nil || err.Error() != want {
			t.Errorf("%q: got  %v, want %s", raw, err, want)
		}
	}
}

func TestOnlyIntegersOf64BitsAreRead(t *testing.T) {
	for raw, want := range map[string]int64{
		"0": 0, "-0": 0, "12": 12, "-9223372036854775808": -1 << 63, "9223372036854775807": 1<<63 - 1, "null": 0,
	} {
		got := int64(-1)
		if err := codec.Read([]byte(raw), func(r *codec.Reader) { got = r.Int() }); err != nil || got != want {
			t.Errorf("%s: got %d, %v, want %d", raw, got, err, want)
		}
	}
	for _, raw := range []string{"1.0", "1e3", "9223372036854775808", "-9223372036854775809", "1.5", "true"} {
		if err := codec.Read([]byte(raw), func(r *codec.Reader) { r.Int() }); err == nil {
			t.Errorf("%s: got no error", raw)
		}
	}
	var f float64
	if err := codec.Read([]byte("-1.25e2"), func(r *codec.Reader) { f = r.Float() }); err != nil || f != -125 {
		t.Errorf("got %g, %v", f, err)
	}
	if err := codec.Read([]byte("1e999"), func(r *codec.Reader) { f = r.Float() }); err == nil {
		t.Error("got no error for a number out of range")
	}
}

// A caller that reads too little or too much gets an error.
func TestReadingTooLittleOrTooMuchIsAnError(t *testing.T) {
	for raw, read := range map[string]func(*codec.Reader){
		"1":        func(*codec.Reader) {},
		"{":        func(r *codec.Reader) { r.Object() },
		`{"a": 1}`: func(r *codec.Reader) { r.Object(); r.Member() },
		"null}":    func(r *codec.Reader) { r.Object(); r.Member() },
		`{"a": null}`: func(r *codec.Reader) {
			r.Object()
			r.Member()
			r.Object()
			r.Member()
			r.Member()
			r.Member()
		},
		`{"a": [null}`: func(r *codec.Reader) {
			r.Object()
			r.Member()
			r.Array()
			r.Element()
			r.Object()
			r.Member()
			r.Element()
		},
		"[1]": func(r *codec.Reader) { r.Array(); r.Element(); r.Int(); r.Element(); r.Int() },
		`{"a": 1, "b`: func(r *codec.Reader) {
			r.Object()
			r.Member()
			r.Int()
			r.Member()
			_ = r.String()
			r.Raw()
		},
		`{"a": "b": 1}`: func(r *codec.Reader) { r.Object(); r.Member(); r.Object(); r.Member(); r.Strings() },
	} {
		if err := codec.Read([]byte(raw), read); err == nil {
			t.Errorf("%s: got no error", raw)
		}
	}
}

func TestReaderReturnsZeroValuesAfterAnError(t *testing.T) {
	for raw, read := range map[string]func(*codec.Reader) bool{
		"tru":           func(r *codec.Reader) bool { return !r.Bool() },
		"nulx":          func(r *codec.Reader) bool { return r.Raw() == nil && r.Kind() == 0 },
		"12x":           func(r *codec.Reader) bool { return r.Int() == 12 && !r.Object() && r.Int() == 0 },
		`"\ud800"`:      func(r *codec.Reader) bool { return r.String() == "" && r.Strings() == nil },
		`{"\ud800": 1}`: func(r *codec.Reader) bool { r.Object(); name, ok := r.Member(); return name == "" && !ok },
		`"9 o'clock"`:   func(r *codec.Reader) bool { return r.Time().IsZero() && !r.Array() },
	} {
		zero := false
		if err := codec.ReadStored([]byte(raw), func(r *codec.Reader) { zero = read(r) }); err == nil || !zero {
			t.Errorf("%s: got zero values = %t and %v", raw, zero, err)
		}
	}
	list := []string{"a"}
	if err := codec.Read([]byte("[]"), func(r *codec.Reader) { list = r.Strings() }); err != nil || list != nil {
		t.Errorf("got %#v, %v for no strings", list, err)
	}
}

// The copies of values do not change with the source, and null has no bytes.
func TestRawValuesAreCopied(t *testing.T) {
	src := []byte(`[ {"a" : 1} , null, "s"]`)
	var got []json.RawMessage
	err := codec.Read(src, func(r *codec.Reader) {
		got = codec.ReadList(r, func(m *json.RawMessage, r *codec.Reader) { *m = r.Raw() })
	})
	clear(src)
	if err != nil || len(got) != 3 || string(got[0]) != `{"a" : 1}` || got[1] != nil || string(got[2]) != `"s"` {
		t.Errorf("got %q, %v", got, err)
	}
}

// Names, numbers, unknown values and the checks of strings allocate nothing.
func TestReadingAllocatesLittle(t *testing.T) {
	const most = 5 // the limit is for a reader that is not pooled; with an allocation for each member it would be 120
	raw := []byte(members(60, `"name"`))
	b := make([]byte, 0, 2*len(raw))
	var p part
	read := p.read
	for what, f := range map[string]func(){
		"Valid":        func() { codec.Valid(raw) },
		"Read":         func() { _ = codec.Read(raw, read) },
		"AppendRaw":    func() { b, _ = codec.AppendRaw(b[:0], raw, "") },
		"AppendString": func() { b = codec.AppendString(b[:0], strings.Repeat("a \"quoted\" é \u2028 text\n", 20)) },
	} {
		if got := testing.AllocsPerRun(100, f); got > most {
			t.Errorf("%s: got %v allocations, want at most %d", what, got, most)
		}
	}
}
