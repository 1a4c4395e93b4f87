package codec_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/askback/askback/internal/wire/codec"
)

// standard returns the JSON of encoding/json without HTML escapes.
func standard(t rapid.TB, v any) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func TestStringsAreWrittenAsByEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(
			rapid.OneOf(rapid.Rune(), rapid.RuneFrom([]rune("\"\\\b\f\n\r\t\x00\x1f\x7f<>&\u2028\u2029é€𝄞"))),
		).Draw(t, "s")
		if !utf8.ValidString(s) {
			t.Skip("encoding/json escapes what it replaces")
		}
		if got := string(codec.AppendString(nil, s)); got != standard(t, s) {
			t.Fatalf("got %s, want %s", got, standard(t, s))
		}
		var back string
		if err := codec.Read(codec.AppendString(nil, s), func(r *codec.Reader) { back = r.String() }); err != nil ||
			back != s {
			t.Fatalf("got %q, %v, want %q", back, err, s)
		}
	})
}

func TestInvalidUTF8IsReplaced(t *testing.T) {
	if got := string(codec.AppendString(nil, "a\xffb")); got != `"a`+"\ufffd"+`b"` {
		t.Errorf("got %s", got)
	}
}

// NaN, for which encoding/json returns an error, is written as null.
func TestNumbersAreWrittenAsByEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64().Draw(t, "f")
		if math.IsNaN(f) || math.IsInf(f, 0) {
			t.Skip("JSON has no such number")
		}
		if got := string(codec.AppendFloat(nil, f)); got != standard(t, f) {
			t.Fatalf("got %s, want %s", got, standard(t, f))
		}
	})
	if got := string(codec.AppendFloat(nil, math.NaN())); got != "null" {
		t.Errorf("got %s for NaN", got)
	}
}

func TestTimesAreWrittenWithMilliseconds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(-1e11, 3e11).Draw(t, "seconds"),
			rapid.Int64Range(0, 1e9-1).Draw(t, "nanoseconds"))
		at = at.In(time.FixedZone("", rapid.IntRange(-50_000, 50_000).Draw(t, "zone")))
		want := at.UTC().Format(`"2006-01-02T15:04:05.000Z"`)
		if got := string(codec.AppendTime(nil, at)); got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	})
}

func TestTimesAreRead(t *testing.T) {
	at := time.Date(2026, 1, 2, 9, 0, 0, 123e6, time.UTC)
	var rfc, ms time.Time
	if err := codec.Read(codec.AppendTime(nil, at.In(time.FixedZone("", 3600))), func(r *codec.Reader) {
		rfc = r.Time()
	}); err != nil || rfc != at {
		t.Errorf("got %v, %v", rfc, err)
	}
	if err := codec.Read(codec.AppendMillis(nil, at), func(r *codec.Reader) { ms = r.Millis() }); err != nil ||
		ms != at {
		t.Errorf("got %v, %v", ms, err)
	}
	for _, zero := range []string{"null", string(codec.AppendTime(nil, time.Time{})), `""`} {
		if err := codec.Read([]byte(zero), func(r *codec.Reader) { rfc = r.Time() }); err != nil || !rfc.IsZero() {
			t.Errorf("%s: got %v, %v", zero, rfc, err)
		}
	}
}

// An absent value is written as the given replacement. Invalid JSON is an error.
func TestRawValuesAreCompact(t *testing.T) {
	got, err := codec.AppendRaw([]byte("x"), json.RawMessage(" { \"a\" : [ 1.0 , \"\\u00e9 \" ] } "), "null")
	if want := `x{"a":[1.0,"\u00e9 "]}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	if got, err := codec.AppendRaw([]byte("x"), nil, "{}"); err != nil || string(got) != "x{}" {
		t.Errorf("got %s, %v", got, err)
	}
	for _, invalid := range []string{"{", "{} {}", "\"\xff\"", "nul"} {
		if got, err := codec.AppendRaw([]byte("x"), json.RawMessage(invalid), "null"); err == nil ||
			string(got) != "x" {
			t.Errorf("%q: got %s, %v", invalid, got, err)
		}
	}
}

type part struct {
	name  string
	sizes []int64
	next  *part
	other bool
}

func (p *part) read(r *codec.Reader) {
	if !r.Object() {
		return
	}
	for name, ok := r.Member(); ok; name, ok = r.Member() {
		switch name {
		case "name":
			p.name = r.String()
		case "sizes":
			p.sizes = codec.ReadList(r, func(n *int64, r *codec.Reader) { *n = r.Int() })
		case "next":
			p.next = codec.ReadPointer(r, (*part).read)
		case "other":
			p.other = r.Bool()
		default:
			r.Skip()
		}
	}
}

// Unknown members are skipped. For null and for an empty array, the result is nil.
func TestObjectsAreRead(t *testing.T) {
	var p part
	err := codec.Read([]byte(` {"name": "a\u00e9", "new": [{"x": 1}], "sizes": [1, -2], "next": {"name": "b", "next": null, "sizes": []}, "other": true} `), p.read)
	if err != nil || p.name != "aé" || len(p.sizes) != 2 || p.sizes[1] != -2 || p.next == nil || p.next.name != "b" ||
		p.next.next != nil || p.next.sizes != nil || !p.other {
		t.Errorf("got %+v, %v", p, err)
	}
}

// A reader rejects values of another kind, malformed JSON, and JSON that another parser could
// understand differently.
func TestMalformedValuesAreErrors(t *testing.T) {
	for raw, want := range map[string]string{
		``:                            `JSON at "": byte 0: expected a value, got the end of the text`,
		`{"name": "a"`:                `got the end of the text`,
		`{"name": "a"} {}`:            "expected the end of the text",
		`{"name": "a", "name": "b"}`:  `"name"`,
		`{"x": {"y": 1, "y": 2}}`:     `"y"`,
		`{"name": "a` + "\xff" + `"}`: "UTF-8",
		`{"name": "\ud800"}`:          "surrogate",
		`{"name": 5}`:                 `JSON at "/name": expected a string, got a number`,
		`{"sizes": [1, "2"]}`:         `JSON at "/sizes/1": expected a number, got a string`,
		`{"sizes": [1.5]}`:            `JSON at "/sizes/0": expected an integer of 64 bits`,
		`{"sizes": {}}`:               `JSON at "/sizes": expected an array, got an object`,
		`{"next": {"next": []}}`:      `JSON at "/next/next": expected an object, got an array`,
		`{"other": "true"}`:           `JSON at "/other": expected true or false, got a string`,
		`[]`:                          `JSON at "": expected an object, got an array`,
	} {
		var p part
		if err := codec.Read([]byte(raw), p.read); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", raw, err, want)
		}
	}
}

// Earlier releases stored contexts with duplicate names and invalid UTF-8, which must stay
// readable.
func TestReadStoredAcceptsAmbiguousValues(t *testing.T) {
	for _, raw := range []string{
		`{"name": "a", "new": {"x": 1, "x": 2}}`, `{"name": "a", "new": "\ud800"}`,
		`{"name": "a", "new": "` + "\xff" + `"}`,
	} {
		var p part
		if err := codec.ReadStored([]byte(raw), p.read); err != nil || p.name != "a" {
			t.Errorf("%q: got %+v, %v", raw, p, err)
		}
		if err := codec.Read([]byte(raw), p.read); err == nil {
			t.Errorf("%q: Read accepted it", raw)
		}
		if codec.Valid([]byte(raw)) {
			t.Errorf("%q: Valid accepted it", raw)
		}
	}
	if !codec.Valid([]byte(`{"x": 1}`)) {
		t.Error("Valid rejected an object")
	}
}

// After an error, a pooled reader reads the next value correctly.
func TestReaderIsReusedAfterAnError(t *testing.T) {
	for range 10 {
		var p part
		if err := codec.Read([]byte(`{"next": {"name": "a", "sizes": [[`), p.read); err == nil {
			t.Fatal("got no error")
		}
		if err := codec.Read([]byte(`{"name": "b"}`), p.read); err != nil || p.name != "b" {
			t.Fatalf("got %+v, %v", p, err)
		}
	}
}

func TestDurationsAreRoundedUp(t *testing.T) {
	for d, want := range map[time.Duration]string{
		90 * time.Minute: `"1h30m0s"`, time.Nanosecond: `"1s"`, time.Second: `"1s"`, 59*time.Second + 1: `"1m0s"`,
		0: `"0s"`,
	} {
		if got := string(codec.AppendDuration(nil, d)); got != want {
			t.Errorf("%v: got %s, want %s", d, got, want)
		}
	}
}
