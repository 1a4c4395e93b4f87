package main

import (
	"cmp"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/askback/askback/test/kit/golden"
)

// The committed files are exactly the files that the generator makes from the present structs.
func TestGeneratedFilesAreUpToDate(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	outputs, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range outputs {
		got, err := os.ReadFile(name)
		if err != nil {
			t.Error(err)
		} else if string(got) != string(want) {
			t.Errorf("%s is not what the generator makes of the structs: run go generate . in the root",
				strings.TrimPrefix(name, root))
		}
	}
	schemas, err := filepath.Glob(filepath.Join(root, schemaFolder, "gen", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range schemas {
		if _, ok := outputs[name]; !ok {
			t.Errorf("%s is not generated any more: remove it", strings.TrimPrefix(name, root))
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
	Name    string          ` + "`api:\"name\" store:\"name,keep\"`" + ` // the name of the thing
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
	_       [0]struct{}     ` + "`api:\"votes\" store:\"-\"`" + `
	Ignored chan int        ` + "`api:\"-\" store:\"-\"`" + `
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

// The methods for the API and for the store equal the golden files. The sample has a field of each kind.
func TestSampleIsGenerated(t *testing.T) {
	s := parseSample(t, sampleSource)
	api, err := s.api("sample", []string{"Thing", "Part"}, "Thing")
	if err != nil {
		t.Fatal(err)
	}
	stored, err := s.stored("sample", []string{"Thing"}, nil, []string{"Part"})
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
	"examples": [{"name": "a", "parts": [{}, {"$ref": "#/components/schemas/Part/examples/0"}], "best": null, "first": {}}]
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
	s := parseSample(t, strings.Replace(sampleSource, "type Color string",
		"type Color string\n\nconst (\n\tRed Color = \"red\"\n\tBlue Color = \"blue\"\n)", 1))
	schema, err := s.schema("Thing", replySchemas, parseRules(t, sampleRules))
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, filepath.Join("testdata", "schema.json"), string(schema))
}

func TestInvalidRulesAreErrors(t *testing.T) {
	s := parseSample(t, sampleSource)
	for raw, want := range map[string]string{
		`{"properties": {"nam": {"maxLength": 200}}, "examples": [{}]}`: `the rules name "nam", which is no member`,
		`{"properties": {"name": 1}, "examples": [{}]}`:                 "the rules of name: expected an object, not 1",
		`{}`:                            "the rules have no examples",
		`{"examples": [["a"]]}`:         "an example of Thing is not an object",
		`{"examples": [{"parts": {}}]}`: "the example of parts is not an array",
		`{"examples": [{"best": {"name": "a"}}]}`: `an example of Part has ["name"], which is no member`,
	} {
		if _, err := s.schema("Thing", replySchemas, parseRules(t, raw)); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", raw, err, want)
		}
	}
	if _, err := loadRules(filepath.Join("testdata", "api.txt")); err == nil ||
		!strings.Contains(err.Error(), "api.txt: ") {
		t.Errorf("got %v for a file that is not JSON", err)
	}
}

func TestFieldWithoutTagIsAnError(t *testing.T) {
	for field, want := range map[string]string{
		"Name string":                               `Thing.Name has no tag store; write store:"-" if it has no member`,
		"Name string `sotre:\"name\"`":              `Thing.Name has no tag store; write store:"-" if it has no member`,
		"Part Part `store:\",inline\"`":             `Thing.Part.ID has no tag store; write store:"-" if it has no member`,
		"Name string `store:\"-\"`":                 "",
		"_ [0]struct{} `api:\"votes\" store:\"-\"`": "",
	} {
		s := parseSample(t, "package sample\n\ntype Thing struct {\n\t"+field+"\n}\n\ntype Part struct{ ID string }\n")
		if _, err := s.named("Thing", "store"); fmt.Sprint(err) != cmp.Or(want, "<nil>") {
			t.Errorf("%s: got %v, want %s", field, err, want)
		}
	}
}

// Each method is generated once, even for a struct that contains itself, or contains another struct twice.
func TestRecursiveNounsAreCloned(t *testing.T) {
	s := parseSample(t, `package sample

type Tree struct {
	Left, Right *Tree
	Leaves      []Leaf
	Fruits      []Leaf
}

type Leaf struct{ Trees []Tree }
`)
	w := &writer{}
	s.clones(w, "Tree")
	for _, method := range []string{
		"func (t Tree) Clone() Tree", "func (t Tree) clone() Tree", "func (l Leaf) clone() Leaf",
	} {
		if got := strings.Count(w.String(), method); got != 1 {
			t.Errorf("%s is written %d times, want once:\n%s", method, got, w)
		}
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
	if _, err := parseSample(t, sampleSource).named("Nothing", "api"); err == nil ||
		err.Error() != "there is no struct Nothing" {
		t.Errorf("got %v", err)
	}
}
