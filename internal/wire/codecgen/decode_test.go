package main

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"

	"github.com/askback/askback/test/kit/golden"
)

const sampleRequest = `package sample

import (
	"encoding/json"
	"time"
)

type Color string

// A Request has a member of each kind.
type Request struct {
	Name     string          ` + "`request:\"name\"`" + `
	Color    Color           ` + "`request:\"color\"`" + `
	Exact    string          ` + "`request:\"exact,verbatim\"`" + `
	Maybe    string          ` + "`request:\"maybe,lenient\"`" + `
	Large    bool            ` + "`request:\"large\"`" + `
	Small    bool            ` + "`request:\"big,not\"`" + `
	Count    int             ` + "`request:\"count\"`" + `
	At       time.Time       ` + "`request:\"at\"`" + `
	Timeout  time.Duration   ` + "`request:\"timeout\"`" + `
	Names    []string        ` + "`request:\"names\"`" + `
	Selected []string        ` + "`request:\"selected,single\"`" + `
	Any      json.RawMessage ` + "`request:\"any\"`" + `
	Object   json.RawMessage ` + "`request:\"object,object\"`" + `
	Best     *Part           ` + "`request:\"best\"`" + `
	Parts    []Part          ` + "`request:\"parts,manual\"`" + `
	Key      string          ` + "`request:\"key,header\"`" + `
	Internal string          ` + "`api:\"internal\" request:\"-\"`" + `
}

// A Part is a part of a Request.
type Part struct {
	ID string ` + "`request:\"id\"`" + `
}
`

func TestReaderOfRequestsIsGenerated(t *testing.T) {
	out, err := parseSample(t, sampleRequest).requests([]string{"Request", "Part"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.ParseFile(token.NewFileSet(), "request.txt", out, 0); err != nil {
		t.Error(err)
	}
	golden.Check(t, filepath.Join("testdata", "request.txt"), string(out))
}

func TestWriterOfBodiesIsGenerated(t *testing.T) {
	out, err := parseSample(t, sampleRequest).bodies([]string{"Request", "Part"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.ParseFile(token.NewFileSet(), "body.txt", out, 0); err != nil {
		t.Error(err)
	}
	golden.Check(t, filepath.Join("testdata", "body.txt"), string(out))
}

func TestConversionMethodIsGenerated(t *testing.T) {
	out, err := parseSample(t, `package sample

type Request struct {
	Name  string
	Names []string
	Count int
	Only  string
}

type Thing struct {
	Names []string
	Name  string
	Count int64
}
`).conversion("sample", "thingOf", "Request", "Thing")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, filepath.Join("testdata", "convert.txt"), string(out))
}

func TestSchemaOfRequestIsGenerated(t *testing.T) {
	schema, err := parseSample(t, sampleRequest).schema("Request", requestSchemas, parseRules(t, `{
		"required": ["name"],
		"properties": {"object": null, "nickname": {"type": "string"}, "count": {"minimum": 1}},
		"examples": [{"name": "a"}]
	}`))
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, filepath.Join("testdata", "request.json"), string(schema))
}

// A request field of an unsupported type is an error. So is an option that does not apply to the type of its
// field.
func TestInvalidRequestFieldsAreErrors(t *testing.T) {
	for field, want := range map[string]string{
		"Parts []Part `request:\"parts\"`":           "Request: parts: a request has no values of the type []Part",
		"Weight float64 `request:\"weight\"`":        "Request: weight: a request has no values of the type float64",
		"Name string `request:\"name,single\"`":      "Request.Name: the option single is for []string",
		"Names []string `request:\"names,lenient\"`": "Request.Names: the option lenient is for a string",
	} {
		s := parseSample(t, "package sample\n\ntype Request struct {\n\t"+field+"\n}\n")
		if _, err := s.requests([]string{"Request"}); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", field, err, want)
		}
	}
}
