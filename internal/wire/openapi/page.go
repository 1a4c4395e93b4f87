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
	"strings"
)

//go:embed page.html
var pageText string

//go:embed page.css
var stylesheet []byte

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// Stylesheet returns the style sheet of the page. The caller must serve it. The page has
// no inline style, so that a strict content security policy is possible.
func Stylesheet() []byte { return bytes.Clone(stylesheet) }

// Links are the addresses that the page links to.
type Links struct {
	Stylesheet string
	Document   string // the OpenAPI document as JSON
}

// Page returns a document as an HTML page without scripts.
func Page(document []byte, at Links) ([]byte, error) {
	p, err := newPage(document)
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

// A page is the data of pageTemplate.
type page struct {
	Info     infoObject
	Links    Links
	Groups   []group
	Security map[string]security
	Schemas  []schemaView
}

type group struct {
	Tag
	Routes []routeView
}

// A routeView is a route on the page.
type routeView struct {
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

// A schemaView is a schema on the page.
type schemaView struct {
	Name, Description string
	Type              []typePart
	Fields            []field
	Example           string
}

func newPage(raw []byte) (page, error) {
	var doc document
	if err := json.Unmarshal(raw, &doc); err != nil {
		return page{}, err
	}
	shapes := map[string]shape{}
	p := page{Info: doc.Info, Security: doc.Components.Security}
	for _, name := range slices.Sorted(maps.Keys(doc.Components.Schemas)) {
		var s shape
		if err := json.Unmarshal(doc.Components.Schemas[name], &s); err != nil {
			return page{}, fmt.Errorf("schema %s: %w", name, err)
		}
		shapes[name] = s
		p.Schemas = append(p.Schemas, schemaView{name, s.Description, s.typeParts(), s.fields(), s.example()})
	}
	for _, tag := range doc.Tags {
		g := group{Tag: tag}
		for _, path := range doc.Paths {
			for _, m := range path.value {
				if slices.Contains(m.value.Tags, tag.Name) {
					g.Routes = append(g.Routes, doc.newRouteView(m.name, path.name, m.value, shapes))
				}
			}
		}
		p.Groups = append(p.Groups, g)
	}
	return p, nil
}

func (d document) newRouteView(method, path string, op operation, shapes map[string]shape) routeView {
	out := routeView{operation: op, Method: strings.ToUpper(method), Path: path, Open: len(op.Who) == 0}
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

// reply returns a response for the page. It looks up shared responses in the components.
func (d document) reply(status string, r response) reply {
	if name, ok := strings.CutPrefix(r.Ref, "#/components/responses/"); ok {
		r = d.Components.Responses[name]
	}
	out := reply{Status: status, Text: r.Description, Good: strings.HasPrefix(status, "2")}
	for kind, m := range r.Content {
		out.Media, out.Schema = kind, nameIn(m.Schema)
	}
	return out
}

// nameIn returns the name of the component that a schema refers to. It returns "" if the schema has no
// reference.
func nameIn(s *schema) string {
	if s == nil {
		return ""
	}
	return strings.TrimPrefix(s.Ref+s.EventData, schemaPath)
}

// curl returns a curl command that calls the route, with an example as the body.
func (s routeView) curl(example string) string {
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

// quoted returns s as a shell argument in single quotes.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
