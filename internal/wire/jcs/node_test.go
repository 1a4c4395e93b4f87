package jcs_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/askback/askback/internal/wire/jcs"
	"github.com/askback/askback/test/kit/leftout"
)

// canonicalJS is a program for RFC 8785 in JavaScript: JSON.stringify writes numbers and
// strings, and sort compares by UTF-16. For a line that JSON.parse rejects it prints an
// empty line.
const canonicalJS = `
const write = v => {
	if (Array.isArray(v)) return "[" + v.map(write).join(",") + "]"
	if (v === null || typeof v !== "object") return JSON.stringify(v)
	return "{" + Object.keys(v).sort().map(k => JSON.stringify(k) + ":" + write(v[k])).join(",") + "}"
}
const read = line => { try { return JSON.parse(line) } catch { return undefined } }
const lines = require("fs").readFileSync(0, "utf8").split("\n")
process.stdout.write(lines.map(line => { const v = read(line); return v === undefined ? "" : write(v) }).join("\n"))`

// inNode returns the canonical form of each line, as computed by Node.js.
func inNode(t *testing.T, lines []string) []string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		leftout.Skip(t, "the comparison with JavaScript (node is not installed)")
	}
	cmd := exec.CommandContext(t.Context(), node, "-e", canonicalJS)
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n"))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	theirs := strings.Split(string(out), "\n")
	if len(theirs) != len(lines) {
		t.Fatalf("got %d lines back for %d", len(theirs), len(lines))
	}
	return theirs
}

// compareWithNode requires that each accepted text has the same canonical form in JavaScript, and that texts
// which JavaScript rejects are rejected. JavaScript accepts more, because it allows duplicate names and
// rounds numbers (T5). The result is the number of equal forms.
func compareWithNode(t *testing.T, texts []string) (compared int) {
	t.Helper()
	for i, text := range texts {
		texts[i] = strings.ReplaceAll(text, "\n", " ") // both are white space outside of strings
	}
	for i, theirs := range inNode(t, texts) {
		ours, err := jcs.Canonical([]byte(texts[i]))
		switch {
		case err != nil:
		case string(ours) != theirs:
			t.Errorf("%q: got %s, node has %q", texts[i], ours, theirs)
		default:
			compared++
		}
	}
	return compared
}

// JavaScript prints the numbers of accepted texts in the same form (T5).
func TestNumbersAgreeWithNode(t *testing.T) {
	var texts []string
	for e := -330; e <= 310; e++ {
		for _, digits := range []string{"1", "9", "12345", "123456789012345", "9007199254740993"} {
			texts = append(texts, digits+"e"+strconv.Itoa(e))
		}
	}
	doubles := rapid.Uint64()
	for seed := range 4000 {
		if f := math.Float64frombits(doubles.Example(seed)); !math.IsNaN(f) && !math.IsInf(f, 0) {
			texts = append(texts, strconv.FormatFloat(f, "eg"[seed%2], -1, 64))
		}
	}
	if n := compareWithNode(t, texts); n < 5000 {
		t.Errorf("%d of %d were compared, want nearly all", n, len(texts))
	}
}

// JavaScript computes the same canonical form of each accepted document, with names in the
// same order (T5).
func TestDocumentsAgreeWithNode(t *testing.T) {
	var texts []string
	documents, broken := documents(), mutated()
	for seed := range 3000 {
		texts = append(texts, documents.Example(seed))
	}
	if n := compareWithNode(t, texts); n < 2500 {
		t.Errorf("%d of %d were compared, want most", n, len(texts))
	}
	texts = texts[:0]
	for seed := range 3000 {
		if s := broken.Example(seed); strings.ToValidUTF8(s, "") == s {
			texts = append(texts, s)
		}
	}
	if n := compareWithNode(t, texts); n < 300 {
		t.Errorf("%d of %d were compared, want some", n, len(texts))
	}
}

// documents generates nested objects with distinct names. Their orders by UTF-16, by code
// point and by insertion differ.
func documents() *rapid.Generator[string] {
	name := rapid.StringOfN(rapid.RuneFrom([]rune{
		'a', 'A', 'b', '0', '1', '9', '_', ' ', '"', '\\', '/', 0, '\t', 0x7f, 0x80, 'é', 'e', 0x301, 'ö', '€', 0x2028,
		0xd7ff, 0xe000, 0xfb33, 0xfeff, 0xfffd, 0xffff, 0x10000, '😀', 0x10ffff,
	}), 0, 3, -1)
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		return rapid.Custom(func(t *rapid.T) any {
			switch kind := rapid.IntRange(0, 7).Draw(t, "kind"); {
			case kind < 3 && depth > 0:
				return rapid.MapOfN(name, value(depth-1), 0, 8).Draw(t, "object")
			case kind == 3 && depth > 0:
				return rapid.SliceOfN(value(depth-1), 0, 3).Draw(t, "array")
			case kind < 5:
				return name.Draw(t, "string")
			case kind == 5:
				return rapid.SampledFrom([]any{nil, true, false, 0, -1, 1e21, 1e-7}).Draw(t, "word")
			}
			return rapid.Float64().Draw(t, "number")
		})
	}
	return rapid.Custom(func(t *rapid.T) string {
		var b bytes.Buffer
		w := json.NewEncoder(&b)
		w.SetEscapeHTML(rapid.Bool().Draw(t, "escape"))
		if err := w.Encode(rapid.MapOfN(name, value(3), 0, 12).Draw(t, "document")); err != nil {
			t.Fatal(err)
		}
		return b.String()
	})
}
