package decode_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/decode"
	"github.com/askback/askback/test/kit/golden"
)

// A malformedCall is a file of testdata/malformed, whose README describes the format.
type malformedCall struct {
	name  string
	file  *txtar.Archive
	input []byte
}

func malformedCalls(t *testing.T) (out []malformedCall) {
	t.Helper()
	paths, err := filepath.Glob("testdata/malformed/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no files in testdata/malformed", err)
	}
	for _, path := range paths {
		file, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		w := malformedCall{name: strings.TrimSuffix(filepath.Base(path), ".txtar"), file: file}
		w.input = []byte(w.section("input"))
		out = append(out, w)
	}
	return out
}

func (w malformedCall) section(name string) string {
	for _, f := range w.file.Files {
		if f.Name == name {
			return strings.TrimSuffix(string(f.Data), "\n")
		}
	}
	return ""
}

// result parses the input of a call. It returns the sections that the file should have for the call.
func (w malformedCall) result(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	r, err := decode.Request(w.input)
	if err == nil {
		r, err = r.Normalize()
	}
	if err != nil {
		out["error"] = decode.Correction(w.input, err, decode.Body)
		return out
	}
	out["questions"] = encodeQuestions(t, r.Questions)
	var warnings []string
	for _, p := range r.Warnings {
		warnings = append(warnings, p.Pointer+": "+p.Detail)
		if p.Fix == "" {
			t.Errorf("%s: the warning %q has no fix", w.name, p.Detail)
		}
	}
	out["warnings"] = strings.Join(warnings, "\n")
	tool, err := decode.Questions(w.input)
	if err != nil {
		out["tool error"] = decode.Correction(w.input, err, decode.QuestionsTool)
	} else if diff := cmp.Diff(r.Questions, tool.Questions); diff != "" {
		t.Errorf("%s: the tool returns other questions:\n%s", w.name, diff)
	}
	return out
}

// encodeQuestions returns questions as a JSON list, with one question on each line.
func encodeQuestions(t *testing.T, questions []askback.Question) string {
	t.Helper()
	lines := make([]string, len(questions))
	for i, q := range questions {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(q); err != nil {
			t.Fatal(err)
		}
		lines[i] = strings.TrimSpace(b.String())
	}
	return "[\n" + strings.Join(lines, ",\n") + "\n]"
}

var sections = []string{"questions", "warnings", "error", "tool error"}

// Malformed calls of models are repaired or rejected (F15, W1–W15).
func TestMalformedCallsAreRepairedOrRejected(t *testing.T) {
	shapes := map[string]bool{}
	for _, w := range malformedCalls(t) {
		_, shape, _ := strings.Cut(string(w.file.Comment), "shape: ")
		shapes[strings.TrimSpace(shape)] = true
		got := w.result(t)
		if golden.Updating() {
			w.write(t, got)
			continue
		}
		for _, name := range sections {
			if diff := cmp.Diff(w.section(name), got[name]); diff != "" {
				t.Errorf("%s, %s:\n%s", w.name, name, diff)
			}
		}
	}
	if len(shapes) != 15 {
		t.Errorf("got %d shapes, want W1 to W15: %v", len(shapes), shapes)
	}
}

func (w malformedCall) write(t *testing.T, got map[string]string) {
	t.Helper()
	out := &txtar.Archive{Comment: w.file.Comment, Files: []txtar.File{{Name: "input", Data: append(w.input, '\n')}}}
	for _, name := range sections {
		if got[name] != "" {
			out.Files = append(out.Files, txtar.File{Name: name, Data: []byte(got[name] + "\n")})
		}
	}
	if err := os.WriteFile("testdata/malformed/"+w.name+".txtar", txtar.Format(out), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The questions of a call that ended in markup do not contain the markup. An exception is a call that asks
// about markup (W10).
func TestMarkupOfTheCallIsRemovedFromQuestions(t *testing.T) {
	for _, w := range malformedCalls(t) {
		if strings.HasPrefix(w.name, "w10") && w.name != "w10_about_markup" &&
			strings.Contains(w.section("questions"), "parameter") {
			t.Errorf("%s: %s", w.name, w.section("questions"))
		}
	}
}

// The example of an error is valid for the function that returned the error, and needs
// no repair (F15).
func TestErrorExamplesAreValid(t *testing.T) {
	tried := 0
	for _, w := range malformedCalls(t) {
		for section, form := range map[string]decode.InputKind{
			"error": decode.Body, "tool error": decode.QuestionsTool,
		} {
			text := w.section(section)
			if text == "" {
				continue
			}
			tried++
			checkExample(t, text, form)
			if section == "error" { // the tool rejects the call, too, and its error has an example
				_, err := decode.Questions(w.input)
				if err == nil {
					t.Errorf("%s: the tool accepts what POST /asks rejects", w.name)
					continue
				}
				checkExample(t, decode.Correction(w.input, err, decode.QuestionsTool), decode.QuestionsTool)
			}
		}
	}
	if tried < 15 {
		t.Errorf("got %d errors, want at least 15", tried)
	}
}

// checkExample requires that an error text is short, and that the example in the text is valid.
func checkExample(t *testing.T, text string, form decode.InputKind) {
	t.Helper()
	if n := utf8.RuneCountInString(text); n > decode.MaxCorrection || !utf8.ValidString(text) {
		t.Errorf("%d characters, valid: %t: %s", n, utf8.ValidString(text), text)
	}
	_, example, ok := strings.Cut(text, "Example: ")
	for rest := example; ok; { // the texts of the sender may contain this separator
		if _, rest, ok = strings.Cut(rest, "Example: "); ok && json.Valid([]byte(rest)) {
			example = rest
		}
	}
	var r askback.Request
	var err error
	switch form {
	case decode.QuestionsTool:
		r, err = decode.Questions([]byte(example))
	case decode.ConfirmTool:
		_, err = decode.Confirm([]byte(example))
	default:
		if r, err = decode.Request([]byte(example)); err == nil {
			r, err = r.Normalize()
		}
	}
	if err != nil {
		t.Errorf("the example of %q is rejected: %v", text, err)
	}
	for _, p := range r.Warnings {
		if p.Detail != "this text asks several questions" {
			t.Errorf("the example of %q had to be repaired: %v", text, p)
		}
	}
}
