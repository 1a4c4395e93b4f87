// Package openapi says in OpenAPI 3.1 what can be done over the wire.
//
// A [Route] names the schemas of what goes in and what comes out; [Document]
// makes one JSON document of all of them, [Page] a page of the document, and
// [Validate] holds real JSON to a schema. The schemas are written by hand, one
// file for each noun: they are the promise, and the code is held to it.
package openapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// Version is the version of the specification that documents follow.
const Version = "3.1.0"

// Info is what a document says about itself.
type Info struct {
	Title       string
	Version     string // of the program
	Description string
	// Base is left out of the ids of operations: what stands below it needs no
	// other name.
	Base string
	URL  string // where it is served; "" is where the document was found
	Tags []Tag  // in the order of the page
}

// A Tag is a group of routes.
type Tag struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// Document returns the OpenAPI document of these routes. The same routes give
// the same bytes. A route that names a schema or a tag that is not there, that
// is repeated, or has no reply that says yes, is an error.
func Document(info Info, routes []Route) ([]byte, error) {
	out := document{
		OpenAPI: Version,
		Info:    about{info.Title, info.Version, info.Description},
		Servers: []server{{cmp.Or(info.URL, "/")}},
		Tags:    info.Tags,
		Paths:   ordered[ordered[operation]]{},
		Components: components{
			Schemas: map[string]json.RawMessage{}, Responses: refusals(), Security: securities,
		},
	}
	for _, r := range routes {
		if err := out.add(r, info); err != nil {
			return nil, fmt.Errorf("%s %s: %w", r.Method, r.Path, err)
		}
	}
	files, err := written()
	if err != nil {
		return nil, err
	}
	for name, raw := range files {
		out.Components.Schemas[name] = raw
	}
	return json.MarshalIndent(out, "", "  ")
}

// document is the order of the members at the top.
type document struct {
	OpenAPI    string                      `json:"openapi"`
	Info       about                       `json:"info"`
	Servers    []server                    `json:"servers"`
	Tags       []Tag                       `json:"tags"`
	Paths      ordered[ordered[operation]] `json:"paths"`
	Components components                  `json:"components"`
}

type about struct {
	Title       string `json:"title"`
	Version     string `json:"version"`
	Description string `json:"description,omitempty"`
}

type server struct {
	URL string `json:"url"`
}

type components struct {
	Schemas   map[string]json.RawMessage `json:"schemas"`
	Responses map[string]response        `json:"responses"`
	Security  map[string]security        `json:"securitySchemes"`
}

type security struct {
	Type        string `json:"type"`
	Scheme      string `json:"scheme,omitempty"`
	In          string `json:"in,omitempty"`
	Name        string `json:"name,omitempty"`
	Description string `json:"description"`
}

// The two ways to say who one is.
var securities = map[string]security{
	"bearer": {Type: "http", Scheme: "bearer", Description: "A token: askback_ and 43 characters."},
	"cookie": {
		Type: "apiKey", In: "cookie", Name: "askback",
		Description: "A browser that logged in; over https the cookie is __Host-askback.",
	},
}

// add puts a route where its path and method are.
func (d *document) add(r Route, info Info) error {
	op, err := r.operation(info)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(info.Tags, func(t Tag) bool { return t.Name == r.Tag }) {
		return fmt.Errorf("there is no tag %q", r.Tag)
	}
	for _, path := range d.Paths {
		for _, other := range path.value {
			if other.value.ID == op.ID {
				return fmt.Errorf("another route is called %s too", op.ID)
			}
		}
	}
	at := d.Paths.at(r.template())
	if at == nil {
		d.Paths = append(d.Paths, member[ordered[operation]]{name: r.template()})
		at = &d.Paths[len(d.Paths)-1].value
	}
	*at = append(*at, member[operation]{r.verb(), op})
	return nil
}
