package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/askback/askback/internal/golden"
)

// The committed files are those that the generator makes of the present structs.
func TestGeneratedFilesAreUpToDate(t *testing.T) {
	root := filepath.Join("..", "..")
	outputs, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range outputs {
		got, err := os.ReadFile(name)
		if err != nil {
			t.Error(err)
		} else if string(got) != string(want) {
			t.Errorf("%s differs from what the structs say: run go generate . in the root", strings.TrimPrefix(name, root))
		}
	}
}

const sampleSource = `package sample

import (
	"encoding/json"
	"time"
)

type Color string

// A Thing has a field of each kind.
type Thing struct {
	Name    string          ` + "`api:\"name\" store:\"name,keep\"`" + `
	Color   Color           ` + "`api:\"color,null,after=name\" store:\"color,moving\"`" + `
	Small   bool            ` + "`api:\"large,not\" store:\"small\"`" + `
	Count   int             ` + "`api:\"count,omitempty\" store:\"count,moving,first\"`" + `
	Weight  float64         ` + "`api:\"weight\" store:\"weight\"`" + `
	At      time.Time       ` + "`api:\"at\" store:\"at,was=when\"`" + `
	Any     json.RawMessage ` + "`api:\"any\" store:\"any\"`" + `
	Object  json.RawMessage ` + "`api:\"object,object\" store:\"-\"`" + `
	Names   []string        ` + "`api:\"names\" store:\"names,after=name\"`" + `
	Special []string        ` + "`api:\"special,custom\" store:\"-\"`" + `
	Parts   []Part          ` + "`api:\"parts\" store:\"parts\"`" + `
	Best    *Part           ` + "`api:\"best\" store:\"best\"`" + `
	First   Part            ` + "`api:\"first\" store:\",inline\"`" + `
	_       [0]struct{}     ` + "`api:\"votes\"`" + `
	Ignored chan int
}

// A Part is a part of a Thing.
type Part struct {
	ID string ` + "`api:\"id\" store:\"part,keep\"`" + `
}
`

func parseSample(t *testing.T, src string) *source {
	t.Helper()
	s, err := parse(map[string]string{"sample.go": src}, builtin())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The methods for the API and for the store are those of the golden files. The sample has a
// field of each kind.
func TestSampleIsGenerated(t *testing.T) {
	s := parseSample(t, sampleSource)
	api, err := s.api("sample", []string{"Thing", "Part"}, "Thing")
	if err != nil {
		t.Fatal(err)
	}
	stored, err := s.stored("sample", nil, []string{"Thing"})
	if err != nil {
		t.Fatal(err)
	}
	for name, out := range map[string][]byte{"api.txt": api, "stored.txt": stored} {
		if _, err := parser.ParseFile(token.NewFileSet(), name, out, 0); err != nil {
			t.Error(err)
		}
		golden.Check(t, filepath.Join("testdata", name), string(out))
	}
}

const sampleRules = `{
	"description": "A better description.",
	"properties": {"name": {"maxLength": 200}, "any": {"description": "Any value."}, "weight": {"type": null, "const": 1}},
	"examples": [{"name": "a"}]
}`

func parseRules(t *testing.T, raw string) rules {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rules.json")
	golden.Write(t, path, raw)
	r, err := loadRules(path)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSchemaHasFieldsAndRules(t *testing.T) {
	s := parseSample(t, strings.Replace(sampleSource, "type Color string", "type Color string\n\nconst (\n\tRed Color = \"red\"\n\tBlue Color = \"blue\"\n)", 1))
	schema, err := s.schema(s.nouns["Thing"], parseRules(t, sampleRules))
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, filepath.Join("testdata", "schema.json"), string(schema))
}

func TestInvalidRulesAreErrors(t *testing.T) {
	s := parseSample(t, sampleSource)
	for raw, want := range map[string]string{
		`{"properties": {"nam": {"maxLength": 200}}, "examples": [{}]}`: `Thing: the rules name "nam", which is no member`,
		`{}`:                  "Thing: the rules have no examples that are objects",
		`{"examples": ["a"]}`: "Thing: the rules have no examples that are objects",
	} {
		if _, err := s.schema(s.nouns["Thing"], parseRules(t, raw)); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", raw, err, want)
		}
	}
	if _, err := loadRules(filepath.Join("testdata", "api.txt")); err == nil || !strings.Contains(err.Error(), "api.txt: ") {
		t.Errorf("got %v for a file that is not JSON", err)
	}
}

func TestFieldWithoutStoreTagIsAnError(t *testing.T) {
	s := parseSample(t, sampleSource)
	if err := s.checkStored([]string{"Thing", "Part"}); err != nil {
		t.Error(err)
	}
	s = parseSample(t, strings.Replace(sampleSource, "store:\"weight\"", "sotre:\"weight\"", 1))
	want := `Thing.Weight has no tag store; write store:"-" if it is not stored`
	if err := s.checkStored([]string{"Part", "Thing"}); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if err := s.checkStored([]string{"Nothing"}); err == nil {
		t.Error("got no error for a struct that does not exist")
	}
}

func TestInvalidTagsAreErrors(t *testing.T) {
	for tag, want := range map[string]string{
		"`api:\"name,nul\"`":       `Thing.Name: unknown option "nul"`,
		"`api:\"name,after=age\"`": `Thing.Name: there is no member "age" before it`,
		"`api:\"name,not\"`":       `Thing.Name: the option not is for bool`,
		"`api:\",inline\"`":        `Thing.Name: the option inline is for a struct`,
	} {
		s := parseSample(t, "package sample\n\ntype Thing struct {\n\tName string "+tag+"\n}\n")
		if _, err := s.named("Thing", "api"); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", tag, err, want)
		}
	}
	if _, err := parseSample(t, sampleSource).named("Nothing", "api"); err == nil || err.Error() != "there is no struct Nothing" {
		t.Errorf("got %v", err)
	}
}
