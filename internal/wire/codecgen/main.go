// Command codecgen generates code and schemas from the descriptions of the nouns: the structs
// of the root package and of package lifecycle, with the tags of their fields.
//
// Usage, in the root of the repository:
//
//	go run ./internal/wire/codecgen
//
// The tag api describes the JSON of the API (docs/wire.md §2), and the tag store describes
// the JSON of the store. Both begin with the name of the member, or are "-" if the field is not a member.
// These options follow the name:
//
//	null       an empty string is null
//	object     an absent raw value is {}
//	omitempty  a zero value is omitted
//	keep       a zero value is stored; without it, it is omitted
//	not        the member is the opposite of the field
//	custom     the methods appendX and readX write and read the field X
//	inline     the members of the struct are members of the object around it
//	moving     the member is stored with each step, not only once
//	follows    the value follows from a column or another member, so it is not stored; older
//	           formats of records have it
//	usual=X    the value X is not stored; older formats of records have it
//	first      the member is the first member, not in the order of the fields
//	after=X    the member follows the member X, not in the order of the fields
//	was=X      the member had the name X in format 1
//
// A blank field is an array that is always empty.
//
// The tag request describes the body of a request, as internal/wire/decode reads it and the
// client of package httpapi writes it, without zero values. It begins with the name of the
// member. These options follow it:
//
//	manual     no code is generated that reads the member
//	header     the client sends the value in a header
//	not        the member is the opposite of the field
//	verbatim   a text that ends with markup of a tool call is rejected
//	lenient    a value of another kind is ignored, with a warning
//	single     a string is a list of one
//	object     a raw value is an object
//
// Each field of a struct needs a tag for each of its forms.
//
// The OpenAPI schemas of requests and replies follow from the same structs, tags and
// comments of fields. The folder internal/wire/openapi/schemas/rules adds limits, patterns,
// examples, descriptions that differ from the comments, and other names of members in
// requests. An example may lack members whose values are empty.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

const (
	module          = "github.com/askback/askback"
	generatedSuffix = "_gen.go"
	schemaFolder    = "internal/wire/openapi/schemas"
)

func main() {
	outputs, err := generate(".")
	if err == nil {
		err = write(outputs)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "codecgen:", err)
		os.Exit(1)
	}
}

func write(outputs map[string][]byte) error {
	for name, content := range outputs {
		if err := os.WriteFile(name, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate returns the generated files of the repository in root, keyed by path.
func generate(root string) (map[string][]byte, error) {
	domain, err := load(root, builtin())
	if err != nil {
		return nil, err
	}
	machines, err := load(filepath.Join(root, "internal", "lifecycle"), domain.qualified("askback"))
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for file, source := range map[string]func() ([]byte, error){
		"api": func() ([]byte, error) { return domain.api("askback", apiNouns, "Ask") },
		"engine/ask": func() ([]byte, error) {
			return domain.conversion("engine", "askOf", "Request", "Ask")
		},
		"httpapi/body":                 func() ([]byte, error) { return domain.bodies(bodyNouns) },
		"internal/wire/decode/request": func() ([]byte, error) { return domain.requests(requestNouns) },
		"internal/lifecycle/stored": func() ([]byte, error) {
			return machines.stored("lifecycle", storedRecords, storedNouns, storedEvents)
		},
	} {
		path := filepath.Join(root, filepath.FromSlash(file)+generatedSuffix)
		if out[path], err = source(); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	for _, f := range []schemaForm{replySchemas, requestSchemas} {
		if err := domain.schemas(out, filepath.Join(root, schemaFolder), f); err != nil {
			return nil, err
		}
	}
	return out, nil
}
