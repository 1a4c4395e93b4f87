package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/askback/askback/internal/codec"
)

// schemaNames are the names of the schemas of the nouns, where they differ from those of
// the structs.
var schemaNames = map[string]string{"Page": "AskPage", "Problem": "FieldProblem"}

func schemaName(structName string) string {
	if name, ok := schemaNames[structName]; ok {
		return name
	}
	return structName
}

// rules are what a schema has beyond its struct: a limit, a pattern, an example, or a better
// description. Each member replaces the generated one; null removes that of a property.
type rules struct {
	Properties map[string]map[string]json.RawMessage `json:"properties"`
	rest       map[string]json.RawMessage
}

// loadRules reads the rules of a schema. Without a file there are none.
func loadRules(path string) (rules, error) {
	var r rules
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	if err := errors.Join(json.Unmarshal(raw, &r), json.Unmarshal(raw, &r.rest)); err != nil {
		return r, fmt.Errorf("%s: %w", path, err)
	}
	delete(r.rest, "properties")
	return r, nil
}

// schema returns the JSON schema of a noun.
func (s *source) schema(n *noun, extra rules) ([]byte, error) {
	members, err := s.named(n.name, "api")
	if err != nil {
		return nil, err
	}
	var required []string
	properties := &orderedJSON{}
	known := map[string]bool{}
	for _, m := range members {
		known[m.name] = true
		if !m.is("omitempty") {
			required = append(required, m.name)
		}
		property := s.property(m)
		for _, name := range slices.Sorted(maps.Keys(extra.Properties[m.name])) {
			value := extra.Properties[m.name][name]
			property.set(name, value)
		}
		property.removeNulls()
		properties.set(m.name, property.raw())
	}
	for name := range extra.Properties {
		if !known[name] {
			return nil, fmt.Errorf("%s: the rules name %q, which is no member", n.name, name)
		}
	}
	out := &orderedJSON{}
	out.setAny("description", oneLine(n.doc))
	out.setAny("type", "object")
	out.setAny("additionalProperties", false)
	out.setAny("required", required)
	out.set("properties", properties.raw())
	for _, name := range slices.Sorted(maps.Keys(extra.rest)) {
		out.set(name, extra.rest[name])
	}
	if err := complete(out, members); err != nil {
		return nil, fmt.Errorf("%s: %w", n.name, err)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, out.raw(), "", "  "); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// complete adds to each example of a schema the members that it lacks and that are required,
// with the values of empty fields. It requires that the schema has examples.
func complete(schema *orderedJSON, members []member) error {
	var examples []map[string]json.RawMessage
	if raw, ok := schema.values["examples"]; !ok || json.Unmarshal(raw, &examples) != nil {
		return errors.New("the rules have no examples that are objects")
	}
	var out []json.RawMessage
	for _, given := range examples {
		example := &orderedJSON{}
		for _, m := range members {
			value, ok := given[m.name]
			switch {
			case ok:
				example.set(m.name, value)
			case !m.is("omitempty"):
				example.set(m.name, emptyValue(m))
			}
		}
		out = append(out, example.raw())
	}
	schema.setAny("examples", out)
	return nil
}

// emptyValue returns the JSON of a field that is empty.
func emptyValue(m member) json.RawMessage {
	switch {
	case m.is("null") || m.kind == instant || m.kind == pointer || m.kind == raw && !m.is("object"):
		return json.RawMessage("null")
	case m.kind == text:
		return json.RawMessage(`""`)
	case m.kind == boolean:
		return json.RawMessage(fmt.Sprint(m.is("not")))
	case m.kind == integer, m.kind == number:
		return json.RawMessage("0")
	case m.kind == raw, m.kind == object:
		return json.RawMessage("{}")
	}
	return json.RawMessage("[]")
}

// property returns the schema of a member.
func (s *source) property(m member) *orderedJSON {
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
		out.setAny("type", []string{"string", "null"})
		out.setAny("format", "date-time")
		out.setAny("pattern", `^[0-9-]{10}T[0-9:]{8}\.[0-9]{3}Z$`)
	case raw:
		if m.is("object") {
			out.setAny("type", "object")
		}
	case texts:
		out.setAny("type", "array")
		out.setAny("items", map[string]string{"type": "string"})
	case list:
		out.setAny("type", "array")
		out.setAny("items", reference(m.elem))
	case pointer:
		out.setAny("anyOf", []map[string]string{reference(m.elem), {"type": "null"}})
	case object:
		out.setAny("$ref", reference(m.elem)["$ref"])
	case nothing:
		out.setAny("type", "array")
		out.setAny("maxItems", 0)
	}
	return out
}

func (s *source) textProperty(m member, out *orderedJSON) {
	values := slices.Clone(s.values[m.goType])
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

func reference(structName string) map[string]string {
	return map[string]string{"$ref": "#/components/schemas/" + schemaName(structName)}
}

// oneLine returns a comment as a sentence: in one line, with a capital letter and a period.
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

// orderedJSON is a JSON object that keeps the order of its members.
type orderedJSON struct {
	names  []string
	values map[string]json.RawMessage
}

func (o *orderedJSON) set(name string, value json.RawMessage) {
	if o.values == nil {
		o.values = map[string]json.RawMessage{}
	}
	if _, ok := o.values[name]; !ok {
		o.names = append(o.names, name)
	}
	o.values[name] = value
}

func (o *orderedJSON) setAny(name string, value any) {
	if raw, err := json.Marshal(value); err == nil && string(raw) != `""` {
		o.set(name, raw)
	}
}

// removeNulls removes the members that are null.
func (o *orderedJSON) removeNulls() {
	o.names = slices.DeleteFunc(o.names, func(n string) bool { return string(o.values[n]) == "null" })
}

func (o *orderedJSON) raw() json.RawMessage {
	b := []byte("{")
	for _, name := range o.names {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(codec.AppendString(b, name), ':')
		b = append(b, o.values[name]...)
	}
	return append(b, '}')
}

// schemas returns the generated schemas in a folder, by path.
func (s *source) schemas(folder string, names []string) (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, name := range names {
		extra, err := loadRules(filepath.Join(folder, "rules", schemaName(name)+".json"))
		if err != nil {
			return nil, err
		}
		raw, err := s.schema(s.nouns[name], extra)
		if err != nil {
			return nil, err
		}
		out[filepath.Join(folder, "gen", schemaName(name)+".json")] = raw
	}
	return out, nil
}
