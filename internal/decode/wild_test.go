package decode_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/decode"
)

var update = flag.Bool("update", false, "write what comes of the wild calls")

// wild is one call as a model really made it; testdata/wild/README says how
// the files read.
type wild struct {
	name  string
	file  *txtar.Archive
	input []byte
}

func wilds(t *testing.T) (out []wild) {
	t.Helper()
	paths, err := filepath.Glob("testdata/wild/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no wild calls", err)
	}
	for _, path := range paths {
		file, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		w := wild{name: strings.TrimSuffix(filepath.Base(path), ".txtar"), file: file}
		w.input = []byte(w.section("input"))
		out = append(out, w)
	}
	return out
}

func (w wild) section(name string) string {
	for _, f := range w.file.Files {
		if f.Name == name {
			return strings.TrimSuffix(string(f.Data), "\n")
		}
	}
	return ""
}

// became is what came of a call, by section.
func (w wild) became(t *testing.T) map[string]string {
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
	out["questions"] = shown(t, r.Questions)
	var repairs []string
	for _, p := range r.Warnings {
		repairs = append(repairs, p.Pointer+": "+p.Detail)
		if p.Fix == "" {
			t.Errorf("%s: %q does not say how it was read", w.name, p.Detail)
		}
	}
	out["warnings"] = strings.Join(repairs, "\n")
	tool, err := decode.Questions(w.input)
	if err != nil {
		out["tool error"] = decode.Correction(w.input, err, decode.QuestionsTool)
	} else if diff := cmp.Diff(r.Questions, tool.Questions); diff != "" {
		t.Errorf("%s: the tool asks something else:\n%s", w.name, diff)
	}
	return out
}

// shown has one line for each question.
func shown(t *testing.T, questions []askback.Question) string {
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

// What models really send is mended, or explained (F15, W1–W15).
func TestWildCalls(t *testing.T) {
	shapes := map[string]bool{}
	for _, w := range wilds(t) {
		_, shape, _ := strings.Cut(string(w.file.Comment), "shape: ")
		shapes[strings.TrimSpace(shape)] = true
		got := w.became(t)
		if *update {
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

func (w wild) write(t *testing.T, got map[string]string) {
	t.Helper()
	out := &txtar.Archive{Comment: w.file.Comment, Files: []txtar.File{{Name: "input", Data: append(w.input, '\n')}}}
	for _, name := range sections {
		if got[name] != "" {
			out.Files = append(out.Files, txtar.File{Name: name, Data: []byte(got[name] + "\n")})
		}
	}
	if err := os.WriteFile("testdata/wild/"+w.name+".txtar", txtar.Format(out), 0o644); err != nil {
		t.Fatal(err)
	}
}

// No raw markup of a call reaches a screen (W10).
func TestNoMarkupOfTheCallIsAsked(t *testing.T) {
	for _, w := range wilds(t) {
		if strings.HasPrefix(w.name, "w10") && w.name != "w10_about_markup" && strings.Contains(w.section("questions"), "parameter") {
			t.Errorf("%s: %s", w.name, w.section("questions"))
		}
	}
}

// Whoever knows nothing but the error can send its example, and it is accepted:
// by the door that refused, without a mend (F15).
func TestTheExampleOfEachErrorIsAccepted(t *testing.T) {
	taught := 0
	for _, w := range wilds(t) {
		for section, form := range map[string]decode.Form{"error": decode.Body, "tool error": decode.QuestionsTool} {
			text := w.section(section)
			if text == "" {
				continue
			}
			taught++
			accepted(t, text, form)
			if section == "error" { // the tool refuses it too, and teaches as well
				_, err := decode.Questions(w.input)
				if err == nil {
					t.Errorf("%s: the tool accepts what POST /asks refuses", w.name)
					continue
				}
				accepted(t, decode.Correction(w.input, err, decode.QuestionsTool), decode.QuestionsTool)
			}
		}
	}
	if taught < 15 {
		t.Errorf("only %d errors were tried", taught)
	}
}

// accepted sends the example of an error text.
func accepted(t *testing.T, text string, form decode.Form) {
	t.Helper()
	if n := utf8.RuneCountInString(text); n > decode.MaxCorrection || !utf8.ValidString(text) {
		t.Errorf("%d characters, valid: %t: %s", n, utf8.ValidString(text), text)
	}
	_, example, ok := strings.Cut(text, "Example: ")
	for rest := example; ok; { // the words of the sender may have it too
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
		t.Errorf("the example of %q is refused: %v", text, err)
	}
	for _, p := range r.Warnings {
		if p.Detail != "several questions stand in one text" {
			t.Errorf("the example of %q had to be mended: %v", text, p)
		}
	}
}
