package openapi_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/askback/askback/internal/wire/openapi"
	"github.com/askback/askback/test/kit/leftout"
)

var links = openapi.Links{Stylesheet: "docs.css", Document: "/api/openapi.json"}

func drawn(t *testing.T, doc []byte) string {
	t.Helper()
	page, err := openapi.Page(doc, links)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// The page shows each route with its users and a curl command, and each schema.
func TestPageShowsEveryRouteAndSchema(t *testing.T) {
	page := drawn(t, made(t))
	for _, r := range routes {
		line := fmt.Sprintf(`<h3><b class="verb">%s</b> <code>%s</code></h3>`, r.Method, r.Path)
		if strings.Count(page, line) != 1 {
			t.Errorf("the page does not show %s %s once", r.Method, r.Path)
		}
		said := "<p>" + strings.TrimSpace(r.Summary+" "+r.Detail) + "</p>"
		if !strings.Contains(page, strings.ReplaceAll(said, "'", "&#39;")) {
			t.Errorf("the page does not say %q", said)
		}
	}
	for name := range schemas(t) {
		if strings.Count(page, `<article id="`+name+`">`) != 1 {
			t.Errorf("the page does not show %s once", name)
		}
	}
	for _, want := range []string{
		`<p class="who">For <b>agent</b> and <b>responder</b>.</p>`, `<p class="who">No token is needed.</p>`,
		`<code class="name">allow_custom</code><b class="required" title="required">*</b> <span class="is">true or false</span>`,
		`list of <a href="#Question">Question</a>; at most 4 of them`,
		`<code>approved</code> or <code>denied</code> or <code>approve_all</code> or <code>null</code>`,
		`<b>409</b> <a href="#SessionReply">SessionReply</a>`,
		`<span class="is">text/event-stream</span>`,
		"<pre tabindex=\"0\">curl -N \\\n", "/api/v1/sessions/$id/events",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
}

// The page lists routes in the order of the table, not alphabetically.
func TestPageKeepsTheOrderOfRoutes(t *testing.T) {
	page := drawn(t, made(t))
	at, want := 0, []string{"getPeople", "getGroups", "getAgents", "getStats", "AskRequest"}
	for _, id := range want {
		n := strings.Index(page[at:], `<article id="`+id+`">`)
		if n < 0 {
			t.Fatalf("%s does not follow the row before it in %v", id, want)
		}
		at += n
	}
}

var (
	anchor = regexp.MustCompile(`\sid="([^"]*)"`)
	link   = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
)

// Every link leads to this server, and the page works with a strict content security
// policy.
func TestPageLoadsNothingFromOtherHosts(t *testing.T) {
	page := drawn(t, made(t))
	ids := map[string]int{}
	for _, m := range anchor.FindAllStringSubmatch(page, -1) {
		ids["#"+m[1]]++
	}
	for id, n := range ids {
		if n > 1 {
			t.Errorf("%s occurs %d times", id, n)
		}
	}
	for _, m := range link.FindAllStringSubmatch(page, -1) {
		if to := m[1]; ids[to] == 0 && to != links.Stylesheet && to != links.Document {
			t.Errorf("a link goes to %s", to)
		}
	}
	for _, bad := range []string{"<script", "<style", " style=", " onclick=", "<img", "<iframe", "ZgotmplZ"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %s", bad)
		}
	}
	for _, bad := range []string{"@import", "url(", "http:", "https:"} {
		if strings.Contains(string(openapi.Stylesheet()), bad) {
			t.Errorf("the style sheet has %s", bad)
		}
	}
}

// HTML in a document is displayed as text.
func TestPageEscapesHTML(t *testing.T) {
	hostile := info
	hostile.Title, hostile.Description = `<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`
	doc, err := openapi.Document(hostile, routes)
	if err != nil {
		t.Fatal(err)
	}
	if page := drawn(t, doc); strings.Contains(page, "<script") || strings.Contains(page, "<img") {
		t.Error("the title became a part of the page")
	}
}

// The body of a curl command is a single shell argument, whatever it contains.
func TestCurlExampleIsQuoted(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		leftout.Skip(t, "the commands on the page of the API (there is no shell here)")
	}
	page := drawn(t, made(t))
	calls := regexp.MustCompile(`(?s)<pre tabindex="0">(curl.*?)</pre>`).FindAllStringSubmatch(page, -1)
	if len(calls) != len(routes) {
		t.Fatalf("%d calls for %d routes", len(calls), len(routes))
	}
	unescape := strings.NewReplacer("&#34;", `"`, "&#39;", "'", "&lt;", "<", "&gt;", ">", "&#43;", "+", "&amp;", "&")
	for i, call := range calls {
		script := `curl() { for last; do [ "$before" = -d ] && printf %s "$last"; before=$last; done; }; ` +
			unescape.Replace(call[1])
		out, err := exec.Command(sh, "-c", script).CombinedOutput()
		if err != nil {
			t.Errorf("%v: %s\n%s", err, out, script)
		}
		if sends := strings.Contains(call[1], " -d "); sends != json.Valid(out) {
			t.Errorf("call %d sends %q:\n%s", i, out, call[1])
		}
	}
}

func TestPageRejectsInvalidDocuments(t *testing.T) {
	for _, bad := range []string{``, `[]`, `{"paths": []}`, `{"components": {"schemas": {"X": {"type": 1}}}}`} {
		if _, err := openapi.Page([]byte(bad), links); err == nil {
			t.Errorf("%q became a page", bad)
		}
	}
}

// TestWritePage writes the page and its files to the folder in ASKBACK_PICTURES, so that people can view it.
func TestWritePage(t *testing.T) {
	dir := os.Getenv("ASKBACK_PICTURES")
	if dir == "" {
		t.Skip("ASKBACK_PICTURES names no folder")
	}
	for name, raw := range map[string][]byte{
		"openapi.json": made(t), "docs.html": []byte(drawn(t, made(t))), "docs.css": openapi.Stylesheet(),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
