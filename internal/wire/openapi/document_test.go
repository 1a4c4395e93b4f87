package openapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/askback/askback/internal/wire/openapi"
	"github.com/askback/askback/test/kit/golden"
)

func made(t *testing.T) []byte {
	t.Helper()
	doc, err := openapi.Document(info, routes)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// A third-party parser accepts the document and every example.
func TestThirdPartyParserAcceptsTheDocument(t *testing.T) {
	loader := openapi3.NewLoader()
	doc, err := loader.LoadFromData(made(t))
	if err != nil {
		t.Fatal(err)
	}
	if !doc.IsOpenAPI31OrLater() {
		t.Errorf("the version of OpenAPI is %s", doc.OpenAPI)
	}
	if err := doc.Validate(context.Background()); err != nil {
		t.Error(err)
	}
	for name, s := range doc.Components.Schemas {
		for i, example := range s.Value.Examples {
			if err := s.Value.VisitJSON(example, openapi3.EnableJSONSchema2020()); err != nil {
				t.Errorf("example %d of %s: %v", i, name, err)
			}
		}
	}
	n := 0
	for _, item := range doc.Paths.Map() {
		n += len(item.Operations())
	}
	if n != len(routes) {
		t.Errorf("got %d operations, want %d", n, len(routes))
	}
}

func TestDocumentIsDeterministic(t *testing.T) {
	if a, b := made(t), made(t); !bytes.Equal(a, b) {
		t.Error("two documents of the same routes differ")
	}
}

// Every reference resolves, every operation has its own id and a summary, and every parameter
// of a path is declared.
func TestDocumentReferencesResolve(t *testing.T) {
	var doc any
	if err := json.Unmarshal(made(t), &doc); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range faults(doc) {
		t.Error(wrong)
	}
}

// faults returns the faults of a document, such as a reference that does not resolve or a repeated id.
// TestFaultsOfADocumentAreReported tests this function.
func faults(doc any) (out []string) {
	walk("", doc, func(at string, v map[string]any) {
		for _, name := range []string{"$ref", "x-askback-event-data"} {
			to, ok := v[name].(string)
			if ok && find(doc, to) == nil {
				out = append(out, fmt.Sprintf("%s: nothing is at %s", at, to))
			}
		}
	})
	ids := map[string]string{}
	paths, _ := find(doc, "#/paths").(map[string]any)
	for path, item := range paths {
		for method, raw := range item.(map[string]any) {
			at := method + " " + path
			op := raw.(map[string]any)
			id, _ := op["operationId"].(string)
			if other, taken := ids[id]; taken || id == "" {
				out = append(out, fmt.Sprintf("%s: it has the same id %q as %q", at, id, other))
			}
			ids[id] = at
			if got, want := declared(op), holes(path); got != want {
				out = append(out, fmt.Sprintf("%s: it declares %q of its path, which has %q", at, got, want))
			}
			if s, _ := op["summary"].(string); !strings.HasSuffix(s, ".") {
				out = append(out, at+": its summary is no sentence")
			}
		}
	}
	return out
}

// The check of TestDocumentReferencesResolve reports each kind of fault that it checks for.
func TestFaultsOfADocumentAreReported(t *testing.T) {
	good := string(made(t))
	for name, change := range map[string][2]string{
		"a schema that is not there": {
			`"$ref": "#/components/schemas/Ask"`, `"$ref": "#/components/schemas/Asking"`,
		},
		"a response that is not there":  {`"#/components/responses/NotFound"`, `"#/components/responses/Lost"`},
		"an id that is repeated":        {`"operationId": "getStats"`, `"operationId": "getPeople"`},
		"an undeclared parameter":       {`"/api/v1/grants/{id}"`, `"/api/v1/grants/{grant}"`},
		"a summary that is no sentence": {`"summary": "Create an ask."`, `"summary": ""`},
		"a frame of nothing": {
			`"x-askback-event-data": "#/components/schemas/Event"`,
			`"x-askback-event-data": "#/components/schemas/Frame"`,
		},
	} {
		bad := strings.Replace(good, change[0], change[1], 1)
		var doc any
		if err := json.Unmarshal([]byte(bad), &doc); err != nil || bad == good {
			t.Fatalf("%s: %v, or nothing changed", name, err)
		}
		if len(faults(doc)) == 0 {
			t.Errorf("%s is not found", name)
		}
	}
}

// walk calls visit for each object, including the objects in examples.
func walk(at string, v any, visit func(at string, v map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		visit(at, v)
		for name, inner := range v {
			walk(at+"/"+name, inner, visit)
		}
	case []any:
		for i, inner := range v {
			walk(fmt.Sprintf("%s/%d", at, i), inner, visit)
		}
	}
}

// find follows a reference into the document.
func find(doc any, to string) any {
	for name := range strings.SplitSeq(strings.TrimPrefix(to, "#/"), "/") {
		in, _ := doc.(map[string]any)
		doc = in[name]
	}
	return doc
}

func declared(op map[string]any) string {
	var out []string
	params, _ := op["parameters"].([]any)
	for _, p := range params {
		if p := p.(map[string]any); p["in"] == "path" {
			out = append(out, p["name"].(string))
		}
	}
	return strings.Join(out, " ")
}

func holes(path string) string {
	var out []string
	for part := range strings.SplitSeq(path, "/") {
		if strings.HasPrefix(part, "{") {
			out = append(out, strings.Trim(part, "{}"))
		}
	}
	return strings.Join(out, " ")
}

func TestInvalidRoutesAreRejected(t *testing.T) {
	good := openapi.Route{Method: "GET", Path: "/x/{id}", Tag: "asks", Summary: "See.", Out: "Ask", Who: agent}
	for name, change := range map[string]func(*openapi.Route){
		"an unknown schema of a body":   func(r *openapi.Route) { r.In = "Asking" },
		"an unknown schema of a reply":  func(r *openapi.Route) { r.Out = "Asking" },
		"an unknown schema of an error": func(r *openapi.Route) { r.ErrorSchemas = map[int]string{404: "Asking"} },
		"an error that never occurs":    func(r *openapi.Route) { r.ErrorSchemas = map[int]string{409: "Ask"} },
		"an unknown tag":                func(r *openapi.Route) { r.Tag = "misc" },
		"an unknown status":             func(r *openapi.Route) { r.Statuses = []int{200, 418} },
		"no successful reply":           func(r *openapi.Route) { r.Statuses = []int{409} },
	} {
		bad := good
		change(&bad)
		if _, err := openapi.Document(info, []openapi.Route{bad}); err == nil {
			t.Errorf("a route with %s is accepted", name)
		}
	}
	same := good
	same.Path = "/x-{id}"
	for _, twice := range [][]openapi.Route{{good, good}, {good, same}} {
		if _, err := openapi.Document(info, twice); err == nil {
			t.Errorf("%s and %s are accepted together", twice[0].Path, twice[1].Path)
		}
	}
	if _, err := openapi.Document(info, []openapi.Route{good}); err != nil {
		t.Error(err)
	}
}

// A route that needs no token has no security scheme. Only routes for responders accept a
// cookie (F10).
func TestDocumentListsTheSecuritySchemesOfRoutes(t *testing.T) {
	var doc struct {
		Paths map[string]map[string]struct {
			Security []map[string][]string `json:"security"`
			Who      []string              `json:"x-askback-who"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(made(t), &doc); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ method, path, want string }{
		{"get", "/healthz", ""},
		{"post", "/api/v1/asks", "bearer"},
		{"post", "/api/v1/tokens", "bearer"},
		{"post", "/api/v1/asks/{id}/answer", "bearer cookie"},
	} {
		var got []string
		for _, ways := range doc.Paths[c.path][c.method].Security {
			for name := range ways {
				got = append(got, name)
			}
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("%s %s is opened by %q, want %q", c.method, c.path, got, c.want)
		}
	}
}

// The golden file has the whole description of each route: parameters, body and replies.
func TestRoutesAreDescribedCompletely(t *testing.T) {
	doc, err := openapi.Document(info, []openapi.Route{
		{
			Method: "POST", Path: base + "/asks/{id}/files/{rest...}", Tag: "asks", Summary: "Send.", Detail: "More.",
			Who: both, In: "Reason", Optional: true, Out: "Ask", Statuses: []int{200, 204, 409, 429},
			ErrorSchemas: map[int]string{409: "SessionReply"}, Query: []openapi.Param{
				limit, {Name: "mode", Description: "How.", Values: []string{"a", "b"}, Example: "a"},
			}, Header: []openapi.Param{key},
		},
		{
			Method: "DELETE", Path: base + "/grants/{id}", Tag: "directory", Summary: "End.", Who: admin, In: "Digest",
			OutType: openapi.Text, Statuses: []int{202},
		},
		{Method: "GET", Path: "/events", Tag: "server", Summary: "Follow.", Out: "Event", OutType: openapi.Events},
	})
	if err != nil {
		t.Fatal(err)
	}
	var part struct {
		Paths      json.RawMessage `json:"paths"`
		Components struct {
			Responses json.RawMessage `json:"responses"`
			Security  json.RawMessage `json:"securitySchemes"`
		} `json:"components"`
	}
	if err := json.Unmarshal(doc, &part); err != nil {
		t.Fatal(err)
	}
	got, err := json.MarshalIndent(part, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	const file = "testdata/routes.json"
	golden.Check(t, file, string(got)+"\n")
}
