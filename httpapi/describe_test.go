package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/askback/askback"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/wire/openapi"
)

// checkRouteDoc returns an error if the documentation of a route contradicts the route. Both must have the
// same kinds of principals, and both or neither must have a body. The summary must end with a full stop.
func checkRouteDoc(rt httpapi.Route) error {
	var may, documented []askback.Kind
	for _, kind := range askback.Kinds {
		if !rt.Open && (access.Ever(kind, rt.Action) || rt.Or != "" && access.Ever(kind, rt.Or)) {
			may = append(may, kind)
		}
		people := kind == askback.Admin &&
			(slices.Contains(rt.Doc.Who, "responder") || slices.Contains(rt.Doc.Who, "operator"))
		if slices.Contains(rt.Doc.Who, string(kind)) || people {
			documented = append(documented, kind)
		}
	}
	switch {
	case !slices.Equal(may, documented):
		return fmt.Errorf("it accepts %v, but is documented for %v", may, documented)
	case rt.Body != (rt.Doc.In != ""):
		return fmt.Errorf("it has a body: %v, but is documented with %q", rt.Body, rt.Doc.In)
	case !strings.HasSuffix(rt.Doc.Summary, "."):
		return fmt.Errorf("%q is not a sentence", rt.Doc.Summary)
	}
	return nil
}

// The documentation of each route lists exactly the kinds of principals that the route accepts. It describes
// a body if and only if the route accepts a body (E10).
func TestRouteDocsMatchRoutes(t *testing.T) {
	for _, rt := range httpapi.Table() {
		if err := checkRouteDoc(rt); err != nil {
			t.Errorf("%s %s: %v", rt.Method, rt.Path, err)
		}
	}
}

// The check of TestRouteDocsMatchRoutes reports a route whose documentation is wrong.
func TestWrongRouteDocIsReported(t *testing.T) {
	all := httpapi.Table()
	at := slices.IndexFunc(all, func(rt httpapi.Route) bool { return strings.HasSuffix(rt.Path, "/answer") })
	for name, change := range map[string]func(*httpapi.Route){
		"for agents too":  func(rt *httpapi.Route) { rt.Doc.Who = []string{"agent", "responder"} },
		"for no kind":     func(rt *httpapi.Route) { rt.Doc.Who = nil },
		"for admins only": func(rt *httpapi.Route) { rt.Doc.Who = []string{"admin"} },
		"without a token": func(rt *httpapi.Route) { rt.Open = true },
		"without a body":  func(rt *httpapi.Route) { rt.Doc.In = "" },
		"with no word":    func(rt *httpapi.Route) { rt.Doc.Summary = "" },
	} {
		bad := all[at]
		change(&bad)
		if checkRouteDoc(bad) == nil {
			t.Errorf("a route that is described %s was accepted", name)
		}
	}
}

// A parser of another project accepts the served document as OpenAPI 3.1. The document has every route and
// the URL of the server, and is served without a token.
func TestServedDocumentIsValidOpenAPI(t *testing.T) {
	w := newFixture(t, &httpapi.Options{PublicURL: "https://ask.example.com", Version: "1.2.3"})
	got := w.send("GET", "/api/openapi.json", "", "")
	doc, err := openapi3.NewLoader().LoadFromData([]byte(got.body))
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(context.Background()); err != nil {
		t.Error(err)
	}
	for _, rt := range httpapi.Table() {
		if item := doc.Paths.Find(rt.Path); item == nil || item.GetOperation(rt.Method) == nil {
			t.Errorf("the document has no route %s %s", rt.Method, rt.Path)
		}
	}
	if doc.Servers[0].URL != "https://ask.example.com" || doc.Info.Version != "1.2.3" ||
		doc.OpenAPI != openapi.Version {
		t.Errorf("got the server %s, version %s, OpenAPI %s", doc.Servers[0].URL, doc.Info.Version, doc.OpenAPI)
	}
	if again := w.send("GET", "/api/openapi.json", "", ""); again.body != got.body {
		t.Error("the second document differs")
	}
	var here struct {
		Servers []struct{ URL string }
		Info    struct{ Version string }
	}
	raw, err := httpapi.Document()
	if err == nil {
		err = json.Unmarshal(raw, &here)
	}
	if err != nil || here.Servers[0].URL != "/" || here.Info.Version == "" {
		t.Errorf("without an address: got %+v, %v", here, err)
	}
}

// The page loads only from this server, and its policy allows nothing else (F4).
func TestDocsPageLoadsOnlyFromServer(t *testing.T) {
	w := newFixture(t, nil)
	page := w.send("GET", "/api/docs", "", "")
	for _, rt := range httpapi.Table() {
		if line := "<code>" + rt.Path + "</code></h3>"; !strings.Contains(page.body, line) {
			t.Errorf("the page does not show %s", rt.Path)
		}
	}
	for _, link := range []string{`<link rel="stylesheet" href="docs.css">`, `<a href="openapi.json">`} {
		if !strings.Contains(page.body, link) {
			t.Errorf("the page has no %s", link)
		}
	}
	policy := page.header.Get("Content-Security-Policy")
	for _, part := range []string{
		"default-src 'none'", "style-src 'self'", "base-uri 'none'", "frame-ancestors 'none'",
	} {
		if !slices.Contains(strings.Split(policy, "; "), part) {
			t.Errorf("the policy is %q, without %s", policy, part)
		}
	}
	for path, kind := range map[string]string{
		"/api/docs": "text/html; charset=utf-8", "/api/docs.css": "text/css; charset=utf-8",
		"/api/openapi.json": "application/json",
	} {
		whole, head := w.send("GET", path, "", ""), w.send("HEAD", path, "", "")
		if whole.status != 200 || head.status != 200 || whole.header.Get("Content-Type") != kind ||
			head.header.Get("Content-Type") != kind {
			t.Errorf("%s: got %d and %d, %s; want 200 and %s", path, whole.status, head.status,
				whole.header.Get("Content-Type"), kind)
		}
		if n := head.header.Get("Content-Length"); head.body != "" || n != fmt.Sprint(len(whole.body)) {
			t.Errorf("HEAD %s: got %d bytes and the length %s; GET has %d", path, len(head.body), n, len(whole.body))
		}
		if whole.header.Get("X-Content-Type-Options") != "nosniff" || whole.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: got %v", path, whole.header)
		}
		if got := w.send("GET", path+"?x=1", "", ""); got.status != 422 {
			t.Errorf("%s?x=1: got %d, want 422", path, got.status)
		}
	}
}
