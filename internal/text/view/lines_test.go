package view_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/askback/askback/internal/text/view"
)

// Arguments are lines of a name and a value, in the order of the agent. What is not plain text has escapes.
func TestArgumentsAreLinesOfNameAndValue(t *testing.T) {
	for _, c := range []struct{ raw, want string }{
		{
			`{"to":"kim@example.com","n":1.50,"draft":false,"cc":null}`,
			"to: “kim@example.com”\nn: 1.50\ndraft: false\ncc: null",
		},
		{
			`{"command":"git commit -m \"x\" \\\n"}`,
			"command: text, 2 lines, 20 characters\n  git commit -m \"x\" \\\n  ",
		},
		{`{"body":"Dear Kim,\n\n  thanks."}`, "body: text, 3 lines, 20 characters\n  Dear Kim,\n  \n    thanks."},
		{`{"a":[],"o":{},"s":""}`, "a: [ ] empty list\no: { } empty\ns: “”"},
		{`{"files":["a.go","b"],"at":{"x":1}}`, "files: 2 items\n  - “a.go”\n  - “b”\nat: 1 field\n  x: 1"},
		{
			`{"edits":[{"old":"x\ny"}]}`,
			"edits: 1 item\n  - 1 field\n    old: text, 2 lines, 3 characters\n      x\n      y",
		},
		{`{"word":"false","number":"1"}`, "word: “false”\nnumber: “1”"},
		{`{"quote":"a”, b: “c"}`, `quote: "a”, b: “c"`},
		{
			`{"tab":"a\tb","end":"a \nb","hidden":"a\u202eb"}`,
			`tab: "a\tb"` + "\n" + `end: "a \n` + "\n" + `  b"` + "\n" + `hidden: "a\u202eb"`,
		},
		{`{"raw":"a` + "\u202e" + `b","mark":"⟨U+202E⟩"}`, `raw: "a\u202eb"` + "\n" + `mark: “⟨U+202E⟩”`},
		{`{"to: “x”, cc":"y","a b":1,"":2}`, `"to: “x”, cc": “y”` + "\n" + `"a b": 1` + "\n" + `"": 2`},
		{`{}`, `{}`},
		{`["a"]`, "[\n  \"a\"\n]"},
		{`{"a":"\ud800"}`, "{\n  \"a\": \"\\ud800\"\n}"},
		{`no json`, `no json`},
	} {
		if d := cmp.Diff(c.want, view.ArgumentLines(json.RawMessage(c.raw)).String()); d != "" {
			t.Errorf("%s: -want +got\n%s", c.raw, d)
		}
	}
}

// The arguments can be read from their lines, character by character, so no other arguments look the same (T3, F7).
func TestArgumentLinesAreExact(t *testing.T) {
	piece := rapid.OneOf(rapid.SampledFrom([]string{
		"a", "b: ", "- ", "“", "”", `"`, `\`, `\n`, "\n", "\t", "\r", " ", "  ", "\u202e", "\u00a0", "\u0301", "é",
		"日本", "⟨U+202E⟩", "text, 2 lines", "2 items", "[ ] empty list", "👩‍👩‍👧", "\u200d",
		"\ufe0f", "<", "\x00", "\u2028", "שלום",
	}), rapid.StringN(0, 4, -1))
	text := rapid.Map(rapid.SliceOfN(piece, 0, 6), func(all []string) string { return strings.Join(all, "") })
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		kinds := []*rapid.Generator[any]{
			text.AsAny(), text.AsAny(),
			rapid.SampledFrom([]any{true, false, nil, json.Number("1.50"), json.Number("-1e3")}),
		}
		if depth > 0 {
			kinds = append(kinds,
				rapid.SliceOfN(value(depth-1), 0, 3).AsAny(), rapid.MapOfN(text, value(depth-1), 0, 3).AsAny())
		}
		return rapid.OneOf(kinds...)
	}
	rapid.Check(t, func(t *rapid.T) {
		members := rapid.MapOfN(text, value(3), 1, 3).Draw(t, "arguments")
		raw, err := json.Marshal(members)
		if err != nil || strings.Contains(strings.ToLower(string(raw)), `\ud`) { // shown as JSON
			return
		}
		var want any
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		if err := d.Decode(&want); err != nil {
			t.Fatal(err)
		}
		lines := view.ArgumentLines(raw).String()
		r := lineReader{lines: strings.Split(lines, "\n")}
		got, err := r.members(0, len(members), false)
		if diff := cmp.Diff(want, got); err != nil || diff != "" || len(r.lines) > 0 {
			t.Fatalf("%s\nis shown as\n%s\nand read with %v, %d lines left: -want +got\n%s", raw, lines, err,
				len(r.lines), diff)
		}
	})
}

// A lineReader reads arguments from their lines.
type lineReader struct{ lines []string }

// next returns the next line without the indentation of depth levels.
func (r *lineReader) next(depth int) (string, error) {
	if len(r.lines) == 0 {
		return "", fmt.Errorf("a line is missing")
	}
	line, ok := strings.CutPrefix(r.lines[0], strings.Repeat("  ", depth))
	if !ok {
		return "", fmt.Errorf("%q has a wrong indentation", r.lines[0])
	}
	r.lines = r.lines[1:]
	return line, nil
}

func (r *lineReader) members(depth, n int, isList bool) (any, error) {
	list, object := []any{}, map[string]any{}
	for range n {
		line, err := r.next(depth)
		if err != nil {
			return nil, err
		}
		name, isQuoted := "", strings.HasPrefix(line, `"`)
		switch {
		case isList:
			line = strings.TrimPrefix(line, "- ")
		case isQuoted:
			if name, line, err = r.quoted(line, 8); err != nil {
				return nil, err
			}
			line = strings.TrimPrefix(line, ": ")
		default:
			name, line, _ = strings.Cut(line, ": ")
		}
		value, err := r.value(line, depth+1)
		if err != nil {
			return nil, err
		}
		list, object[name] = append(list, value), value
	}
	if isList {
		return list, nil
	}
	return object, nil
}

func (r *lineReader) value(line string, depth int) (any, error) {
	number, _, _ := strings.Cut(strings.TrimPrefix(line, "text, "), " ")
	count, _ := strconv.Atoi(number)
	switch {
	case strings.HasPrefix(line, "“"):
		return strings.TrimSuffix(strings.TrimPrefix(line, "“"), "”"), nil
	case strings.HasPrefix(line, `"`):
		s, rest, err := r.quoted(line, depth)
		if rest != "" {
			err = fmt.Errorf("%q follows a string", rest)
		}
		return s, err
	case strings.HasPrefix(line, "text, "):
		var all []string
		for range count {
			one, err := r.next(depth)
			if err != nil {
				return nil, err
			}
			all = append(all, one)
		}
		return strings.Join(all, "\n"), nil
	case line == "[ ] empty list":
		return []any{}, nil
	case line == "{ } empty":
		return map[string]any{}, nil
	case count > 0:
		return r.members(depth, count, strings.Contains(line, " item"))
	case line == "true" || line == "false":
		return line == "true", nil
	case line == "null":
		return nil, nil
	}
	return json.Number(line), nil
}

// quoted reads a string with escapes at the beginning of line, and the lines that continue it.
func (r *lineReader) quoted(line string, depth int) (s, rest string, err error) {
	for {
		d := json.NewDecoder(strings.NewReader(line))
		if err = d.Decode(&s); err == nil {
			return s, line[d.InputOffset():], nil
		}
		more, missing := r.next(depth)
		if missing != nil {
			return "", "", fmt.Errorf("%q does not end: %w", line, err)
		}
		line += more
	}
}
