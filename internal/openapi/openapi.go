// Package openapi describes the HTTP API in OpenAPI 3.1.
//
// A [Route] names the schemas of its request and its reply. [Document] returns a JSON
// document of all routes, and [Page] an HTML page of the document. The schemas are
// written by hand, one file each, and tests check the code against them.
package openapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// Version is the version of the OpenAPI specification that documents follow.
const Version = "3.1.0"

// Info is the metadata of a document.
type Info struct {
	Title       string
	Version     string // of the program
	Description string
	Base        string // a prefix of paths, which the ids of operations omit
	URL         string // the address of the server; "" if the server also serves the document
	Tags        []Tag  // in the order in which the page shows them
}

// A Tag is a group of routes.
type Tag struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// Document returns the OpenAPI document of the routes. Its output is deterministic. It returns
// an error if a route is repeated, names an unknown schema, tag or status, or has no
// successful reply.
func Document(info Info, routes []Route) ([]byte, error) {
	out := document{
		OpenAPI: Version,
		Info:    infoObject{info.Title, info.Version, info.Description},
		Servers: []server{{cmp.Or(info.URL, "/")}},
		Tags:    info.Tags,
		Paths:   ordered[ordered[operation]]{},
		Components: components{
			Schemas: schemaFiles(), Responses: errorResponses(), Security: securitySchemes,
		},
	}
	for _, r := range routes {
		if err := out.add(r, info); err != nil {
			return nil, fmt.Errorf("%s %s: %w", r.Method, r.Path, err)
		}
	}
	return json.MarshalIndent(out, "", "  ")
}

// document is an OpenAPI document, with the top-level members in the order of the output.
type document struct {
	OpenAPI    string                      `json:"openapi"`
	Info       infoObject                  `json:"info"`
	Servers    []server                    `json:"servers"`
	Tags       []Tag                       `json:"tags"`
	Paths      ordered[ordered[operation]] `json:"paths"`
	Components components                  `json:"components"`
}

type infoObject struct {
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

// securitySchemes are the two ways to authenticate.
var securitySchemes = map[string]security{
	"bearer": {Type: "http", Scheme: "bearer", Description: "A token: askback_ and 43 characters."},
	"cookie": {
		Type: "apiKey", In: "cookie", Name: "askback",
		Description: "The cookie of a browser that is logged in. Over https it is __Host-askback.",
	},
}

// add adds a route to the operations of its path. It returns an error if the route is repeated
// or invalid.
func (d *document) add(r Route, info Info) error {
	op, err := r.operation(info)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(info.Tags, func(t Tag) bool { return t.Name == r.Tag }) {
		return fmt.Errorf("unknown tag %q", r.Tag)
	}
	for _, path := range d.Paths {
		for _, other := range path.value {
			if other.value.ID == op.ID {
				return fmt.Errorf("two routes have the id %s", op.ID)
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
