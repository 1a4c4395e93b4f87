package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// A schemaForm is a form of the nouns that has schemas.
type schemaForm struct {
	key     string            // the key of the tags
	structs []string          // the structs that have schemas
	names   map[string]string // the names of schemas that differ from the names of their structs
	reply   bool              // Askback sends the form: each member is required, unless it is omitted
}

var replySchemas = schemaForm{
	key:     "api",
	structs: apiNouns,
	names:   map[string]string{"Page": "AskPage", "Problem": "FieldProblem"},
	reply:   true,
}

var requestSchemas = schemaForm{
	key: "request",
	structs: []string{
		"Request", "Question", "Option", "Confirmation", "Answer", "QuestionAnswer", "GrantRequest", "SessionRequest",
		"Report", "ResumeSession", "Complete", "SetTodos", "EndSession", "TokenRequest", "EndpointRequest",
		"ContactRequest", "PersonRequest",
	},
	names: map[string]string{
		"Request": "AskRequest", "Question": "QuestionRequest", "Option": "OptionRequest",
		"Confirmation": "ConfirmationRequest", "Answer": "AnswerRequest", "QuestionAnswer": "AnswerEntry",
		"Report": "MessageRequest", "ResumeSession": "ResumeRequest", "Complete": "Completion", "SetTodos": "Todos",
		"EndSession": "Reason", "Problem": "FieldProblem",
	},
}

// name returns the name of the schema of a struct.
func (f schemaForm) name(structName string) string {
	if name, ok := f.names[structName]; ok {
		return name
	}
	return structName
}

// reference returns a reference to the schema of a struct.
func (f schemaForm) reference(structName string) map[string]string {
	return map[string]string{"$ref": "#/components/schemas/" + f.name(structName)}
}

// schemas adds the schemas of the form f to out, keyed by their paths in folder.
func (s *source) schemas(out map[string][]byte, folder string, f schemaForm) error {
	for _, structName := range f.structs {
		file := f.name(structName) + ".json"
		extra, err := loadRules(filepath.Join(folder, "rules", file))
		if err != nil {
			return err
		}
		if out[filepath.Join(folder, "gen", file)], err = s.schema(structName, f, extra); err != nil {
			return fmt.Errorf("%s: %w", structName, err)
		}
	}
	return nil
}

// schema returns the schema of a struct.
func (s *source) schema(structName string, f schemaForm, extra rules) ([]byte, error) {
	members, err := s.named(structName, f.key)
	if err != nil {
		return nil, err
	}
	properties := &orderedJSON{}
	var required []string
	for _, m := range members {
		properties.set(m.name, s.property(m, f).raw())
		if f.reply && !m.is("omitempty") {
			required = append(required, m.name)
		}
	}
	if properties, err = extra.apply(properties, f); err != nil {
		return nil, err
	}
	out := &orderedJSON{}
	out.setAny("description", oneLine(s.nouns[structName].doc))
	out.setAny("type", "object")
	out.setAny("additionalProperties", false)
	if f.reply {
		out.setAny("required", required)
	}
	out.set("properties", properties.raw())
	for _, name := range extra.rest.names {
		out.set(name, extra.rest.values[name])
	}
	if f.reply {
		examples, err := s.examples(structName, extra.rest.values["examples"])
		if err != nil {
			return nil, err
		}
		out.setAny("examples", examples)
	}
	var b bytes.Buffer
	err = json.Indent(&b, append(out.raw(), '\n'), "", "  ")
	return b.Bytes(), err
}

// property returns the schema of a member.
func (s *source) property(m member, f schemaForm) *orderedJSON {
	out := &orderedJSON{}
	out.setAny("description", oneLine(m.doc))
	switch m.kind {
	case text:
		s.textProperty(m, out)
	case boolean:
		out.setAny("type", "boolean")
	case integer:
		out.setAny("type", "integer")
		out.setAny("minimum", 0)
	case number:
		out.setAny("type", "number")
	case instant:
		out.setAny("type", "string")
		out.setAny("format", "date-time")
		if f.reply {
			out.setAny("type", []string{"string", "null"})
			out.setAny("pattern", `^[0-9-]{10}T[0-9:]{8}\.[0-9]{3}Z$`)
		}
	case duration:
		out.setAny("$ref", "#/components/schemas/Duration")
	case raw:
		if m.is("object") {
			out.setAny("type", "object")
		}
	case texts:
		out.setAny("type", "array")
		out.setAny("items", map[string]string{"type": "string"})
	case list:
		out.setAny("type", "array")
		out.setAny("items", f.reference(m.elem))
	case pointer:
		if f.reply {
			out.setAny("anyOf", []map[string]string{f.reference(m.elem), {"type": "null"}})
		} else {
			out.setAny("$ref", f.reference(m.elem)["$ref"])
		}
	case object:
		out.setAny("$ref", f.reference(m.elem)["$ref"])
	case nothing:
		out.setAny("type", "array")
		out.setAny("maxItems", 0)
	}
	return out
}

func (s *source) textProperty(m member, out *orderedJSON) {
	values := slices.Clone(s.values[m.goType])
	if len(values) == 1 {
		values = nil // a constant of a type with other values, such as a position in a stream
	}
	if m.is("null") {
		out.setAny("type", []string{"string", "null"})
		if len(values) > 0 {
			values = append(values, nil)
		}
	} else {
		out.setAny("type", "string")
	}
	if len(values) > 0 {
		out.setAny("enum", values)
	}
}

// oneLine returns a comment as a sentence: on one line, with a capital letter and a period.
func oneLine(doc string) string {
	text := strings.Join(strings.Fields(doc), " ")
	if text == "" {
		return ""
	}
	text = strings.ToUpper(text[:1]) + text[1:]
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}
