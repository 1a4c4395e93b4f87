package httpapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/test/kit/golden"
)

const docsPath = "../docs/api.md"

// marker matches a generated part of the page: a name and, for an exchange, the members
// of the reply to show.
var marker = regexp.MustCompile(`(?s)<!-- ([^:>]+?)(?:: ([^>]*))? -->\n.*?<!-- end -->\n`)

// The exchanges, the fields and the table of routes in docs/api.md are generated from a
// dialogue, the schemas and the routes.
func TestAPIDocsAreGenerated(t *testing.T) {
	raw, err := os.ReadFile(docsPath)
	if err != nil {
		t.Fatal(err)
	}
	tour := exchanges(t, "testdata/dialogue/tour.txtar")
	if reply := tour["event"].reply; !strings.Contains(reply, "event: question_pending\n") {
		t.Errorf("the tour continues with a cursor of another stream: %s", reply)
	}
	got := string(raw)
	want := marker.ReplaceAllStringFunc(got, func(block string) string {
		m := marker.FindStringSubmatch(block)
		head, _, _ := strings.Cut(block, "\n")
		return head + "\n" + generate(t, m[1], strings.Fields(m[2]), tour) + "<!-- end -->\n"
	})
	for _, name := range slices.Sorted(maps.Keys(tour)) {
		t.Errorf("docs/api.md does not contain the exchange %q of the tour", name)
	}
	golden.Check(t, docsPath, want)
}

// An exchange is a request and its reply as written in the archive of a dialogue.
type exchange struct{ request, reply string }

func exchanges(t *testing.T, path string) map[string]exchange {
	t.Helper()
	file, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]exchange{}
	for i := 0; i+1 < len(file.Files); i += 2 {
		out[file.Files[i].Name] = exchange{string(file.Files[i].Data), string(file.Files[i+1].Data)}
	}
	return out
}

// generate returns the content for a marker: the table of routes, the fields of a schema, or an exchange. It
// removes the exchange from tour, so that each exchange is used once.
func generate(t *testing.T, name string, show []string, tour map[string]exchange) string {
	if name == "routes" {
		return routesTable()
	}
	if schema, ok := strings.CutPrefix(name, "fields "); ok {
		return fieldsTable(t, schema)
	}
	e, ok := tour[name]
	if !ok {
		t.Fatalf("docs/api.md contains %q, which is not in the tour, or is used twice", name)
	}
	delete(tour, name)
	return "```http\n" + formatRequest(e.request) + "```\n\n```http\n" + formatReply(t, e.reply, show) + "```\n"
}

// formatRequest returns a request as a client sends it. Its token is a shell variable with the name of the
// principal.
func formatRequest(request string) string {
	head, body, _ := strings.Cut(request, "\n\n")
	lines := strings.Split(strings.TrimSpace(head), "\n")
	if strings.HasPrefix(lines[0], "later ") || lines[0] == "run" {
		lines = lines[1:]
	}
	words := strings.Fields(lines[0])
	out := []string{words[0] + " " + words[1], "Authorization: Bearer $" + strings.ToUpper(words[3])}
	out = append(out, lines[1:]...)
	if body = strings.TrimSpace(body); body != "" {
		out = append(out, "Content-Type: application/json", "", formatJSON(json.RawMessage(body), nil, "", 0))
	}
	return strings.Join(out, "\n") + "\n"
}

// formatReply returns a reply as a client receives it. Its JSON shows only the members in show.
func formatReply(t *testing.T, reply string, show []string) string {
	head, body, _ := strings.Cut(reply, "\n\n")
	lines := strings.Split(head, "\n")
	status, err := strconv.Atoi(lines[0])
	if err != nil {
		t.Fatal(err)
	}
	out := []string{"HTTP/1.1 " + lines[0] + " " + http.StatusText(status)}
	for _, line := range lines[1:] {
		if !strings.HasPrefix(line, "X-") { // for proxies
			out = append(out, line)
		}
	}
	body = strings.TrimSpace(body)
	if strings.Contains(head, "json") {
		body = formatJSON(json.RawMessage(body), show, "", 0)
	}
	out = append(out, "")
	for line := range strings.SplitSeq(body, "\n") {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			line = "data: " + inLine(json.RawMessage(data), show)
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n") + "\n"
}

// routesTable returns a table for each tag, with a row for each route.
func routesTable() string {
	var b strings.Builder
	tag := ""
	for _, rt := range httpapi.Table() {
		if rt.Doc.Tag != tag {
			tag = rt.Doc.Tag
			fmt.Fprintf(&b, "\n**%s**\n\n| method and path | who | what | body | reply |\n|---|---|---|---|---|\n",
				strings.ToUpper(tag[:1])+tag[1:])
		}
		path := strings.TrimPrefix(rt.Path, "/api/v1")
		for i, q := range rt.Doc.Query {
			path += string("?&"[min(i, 1)]) + q.Name + "="
		}
		who := strings.Join(rt.Doc.Who, ", ")
		if rt.Open {
			who = "anyone"
		}
		fmt.Fprintf(&b, "| `%s %s` | %s | %s | %s | %s |\n", rt.Method, path, who, rt.Doc.Summary, word(rt.Doc.In),
			word(rt.Doc.Out))
	}
	return b.String() + "\n"
}

func word(schema string) string {
	if schema == "" {
		return ""
	}
	return "`" + schema + "`"
}

// fieldsTable returns a table of the fields of a schema.
func fieldsTable(t *testing.T, name string) string {
	t.Helper()
	raw, err := httpapi.Document()
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Properties json.RawMessage `json:"properties"`
			} `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("\n| field | what |\n|---|---|\n")
	for _, m := range members(doc.Components.Schemas[name].Properties) {
		var request struct{ Description string }
		if err := json.Unmarshal(m.value, &request); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", m.name, request.Description)
	}
	return b.String() + "\n"
}
