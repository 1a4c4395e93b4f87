package openapi

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

//go:embed page.html
var pageText string

//go:embed page.css
var stylesheet []byte

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// Stylesheet returns the style sheet of the page: where it is served is for the
// caller to say. The page has no style of its own, so that a strict content
// security policy holds.
func Stylesheet() []byte { return bytes.Clone(stylesheet) }

// Links are the addresses that the page points to.
type Links struct {
	Stylesheet string
	Document   string // the JSON
}

// Page returns a document as one page to read, without any script.
func Page(document []byte, at Links) ([]byte, error) {
	p, err := read(document)
	if err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	p.Links = at
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, p); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// page is what the template shows.
type page struct {
	Info   about
	Links  Links
	Groups []group
	Ways   map[string]security
	Nouns  []noun
}

type group struct {
	Tag
	Routes []shown
}

// shown is a route on the page.
type shown struct {
	operation
	Method, Path string
	Open         bool
	Fields       []field // of the body
	BodyName     string
	Replies      []reply
	Curl         string
}

type reply struct {
	Status, Text string
	Good         bool
	Schema       string
	Media        string
}

// noun is a schema on the page.
type noun struct {
	Name, Description string
	Is                []piece
	Fields            []field
	Example           string
}

func read(raw []byte) (page, error) {
	var doc document
	if err := json.Unmarshal(raw, &doc); err != nil {
		return page{}, err
	}
	shapes := map[string]shape{}
	p := page{Info: doc.Info, Ways: doc.Components.Security}
	for _, name := range slices.Sorted(maps.Keys(doc.Components.Schemas)) {
		var s shape
		if err := json.Unmarshal(doc.Components.Schemas[name], &s); err != nil {
			return page{}, fmt.Errorf("schema %s: %w", name, err)
		}
		shapes[name] = s
		p.Nouns = append(p.Nouns, noun{name, s.Description, s.pieces(), s.fields(), s.example()})
	}
	for _, tag := range doc.Tags {
		g := group{Tag: tag}
		for _, path := range doc.Paths {
			for _, m := range path.value {
				if slices.Contains(m.value.Tags, tag.Name) {
					g.Routes = append(g.Routes, doc.show(m.name, path.name, m.value, shapes))
				}
			}
		}
		p.Groups = append(p.Groups, g)
	}
	return p, nil
}

func (d document) show(method, path string, op operation, shapes map[string]shape) shown {
	out := shown{operation: op, Method: strings.ToUpper(method), Path: path, Open: len(op.Who) == 0}
	example := ""
	if op.Body != nil {
		out.BodyName = nameIn(op.Body.Content[JSON].Schema)
		out.Fields = shapes[out.BodyName].fields()
		if len(out.Fields) > 0 || op.Body.Required {
			example = shapes[out.BodyName].short()
		}
	}
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		out.Replies = append(out.Replies, d.reply(status, op.Responses[status]))
	}
	out.Curl = out.curl(example)
	return out
}

// reply is a response; those that routes share stand among the components.
func (d document) reply(status string, r response) reply {
	if name, ok := strings.CutPrefix(r.Ref, "#/components/responses/"); ok {
		r = d.Components.Responses[name]
	}
	out := reply{Status: status, Text: r.Description}
	n, err := strconv.Atoi(status)
	out.Good = err == nil && good(n)
	for kind, m := range r.Content {
		out.Media, out.Schema = kind, nameIn(m.Schema)
	}
	return out
}

// nameIn is the component that a schema outside of them stands for.
func nameIn(s *schema) string {
	if s == nil {
		return ""
	}
	return strings.TrimPrefix(s.Ref+s.EventData, schemaPath)
}

// curl is a call to copy. Its body is an example that the schema takes.
func (s shown) curl(example string) string {
	call := "curl"
	if s.Method != http.MethodGet {
		call += " -X " + s.Method
	}
	if _, stream := s.Responses["200"].Content[Events]; stream {
		call += " -N"
	}
	lines := []string{call}
	if !s.Open {
		lines = append(lines, `-H "Authorization: Bearer $ASKBACK_TOKEN"`)
	}
	if example != "" {
		lines = append(lines, "-H 'Content-Type: application/json'", "-d "+quoted(example))
	}
	path := strings.NewReplacer("{", "$", "}", "").Replace(s.Path)
	return strings.Join(append(lines, `"$ASKBACK_URL`+path+`"`), " \\\n  ")
}

// quoted is a text in the quotes of a shell.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
