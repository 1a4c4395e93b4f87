package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/internal/wire/openapi"
	"github.com/askback/askback/internal/wire/openapi/openapitest"
)

// trafficChecker checks traffic against the OpenAPI document.
type trafficChecker struct {
	mux   *http.ServeMux // finds the operation of a request
	Paths map[string]map[string]struct {
		Body      *content           `json:"requestBody"`
		Responses map[string]content `json:"responses"`
	} `json:"paths"`
	Components struct {
		Responses map[string]content `json:"responses"`
	} `json:"components"`
}

// content has the schemas of a body or a reply, by media type.
type content struct {
	Ref     string `json:"$ref"`
	Content map[string]struct {
		Schema struct {
			Ref   string `json:"$ref"`
			Event string `json:"x-askback-event-data"`
		} `json:"schema"`
	} `json:"content"`
}

// newTrafficChecker parses the document. All tests share the result.
var newTrafficChecker = sync.OnceValues(func() (*trafficChecker, error) {
	raw, err := httpapi.Document()
	if err != nil {
		return nil, err
	}
	p := &trafficChecker{mux: http.NewServeMux()}
	if err := json.Unmarshal(raw, p); err != nil {
		return nil, err
	}
	for path, item := range p.Paths {
		for verb := range item {
			p.mux.Handle(strings.ToUpper(verb)+" "+path, http.NotFoundHandler())
		}
	}
	return p, nil
})

// schemaOf returns the name at the end of a reference.
func schemaOf(ref string) string { return ref[strings.LastIndex(ref, "/")+1:] }

// checkTraffic wraps a handler and checks its traffic against the document. An undeclared status, field or
// event fails the test.
func checkTraffic(t testing.TB, h http.Handler) http.Handler {
	p, err := newTrafficChecker()
	if err != nil {
		t.Fatal(err)
	}
	return p.wrap(h, func(format string, args ...any) {
		t.Errorf("not in the OpenAPI document: "+format, args...)
	})
}

func (p *trafficChecker) wrap(h http.Handler, report func(format string, args ...any)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body bytes.Buffer
		r.Body = struct {
			io.Reader
			io.Closer
		}{io.TeeReader(r.Body, &body), r.Body}
		out := &recorded{ResponseWriter: w, status: http.StatusOK}
		h.ServeHTTP(out, r)
		if r.Context().Err() != nil && !out.begun {
			return // the client disconnected before a reply
		}
		if err := p.check(r, body.Bytes(), out); err != nil {
			report("%s %s: %d: %v", r.Method, r.URL, out.status, err)
		}
	})
}

// recorded is a response writer that records the reply.
type recorded struct {
	http.ResponseWriter
	status int
	begun  bool
	body   bytes.Buffer
}

// Unwrap makes Flush and deadlines available to [http.ResponseController].
func (r *recorded) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func (r *recorded) WriteHeader(status int) {
	r.status, r.begun = status, true
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorded) Write(raw []byte) (int, error) {
	r.body.Write(raw)
	return r.ResponseWriter.Write(raw)
}

// check returns an error if an exchange differs from the document.
func (p *trafficChecker) check(r *http.Request, body []byte, out *recorded) error {
	kind, _, _ := mime.ParseMediaType(out.Header().Get("Content-Type"))
	_, pattern := p.mux.Handler(&http.Request{Method: r.Method, URL: r.URL, Host: r.Host})
	method, path, _ := strings.Cut(pattern, " ")
	op, ok := p.Paths[path][strings.ToLower(method)]
	if !ok {
		if out.status != http.StatusNotFound && out.status != http.StatusMethodNotAllowed {
			return fmt.Errorf("unknown route")
		}
		return openapitest.Validate("Problem", out.body.Bytes())
	}
	if out.status < 300 && len(body) > 0 {
		if op.Body == nil {
			return fmt.Errorf("it has no body, but %s was accepted", body)
		}
		if err := openapitest.Validate(schemaOf(op.Body.Content[openapi.JSON].Schema.Ref), body); err != nil {
			return fmt.Errorf("%s was accepted: %w", body, err)
		}
	}
	reply, ok := op.Responses[strconv.Itoa(out.status)]
	if !ok {
		return fmt.Errorf("this status is not declared: %s", out.body.Bytes())
	}
	if reply.Ref != "" {
		reply = p.Components.Responses[schemaOf(reply.Ref)]
	}
	return reply.check(kind, r.Method == http.MethodHead, out.body.Bytes())
}

func (c content) check(kind string, head bool, body []byte) error {
	if len(c.Content) == 0 && kind == "" && len(body) == 0 {
		return nil
	}
	is, ok := c.Content[kind]
	switch name := schemaOf(is.Schema.Ref); {
	case !ok:
		return fmt.Errorf("the media type is %q", kind)
	case head && kind == openapi.Events:
		return nil
	case is.Schema.Event != "":
		return checkEvents(schemaOf(is.Schema.Event), body)
	case name != "":
		return openapitest.Validate(name, body)
	}
	return nil
}

// checkEvents checks the data of each complete frame against a schema.
func checkEvents(schema string, stream []byte) error {
	for line := range bytes.Lines(stream) {
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if !ok || !bytes.HasSuffix(line, []byte("\n")) {
			continue
		}
		if err := openapitest.Validate(schema, data); err != nil {
			return fmt.Errorf("%s: %w", data, err)
		}
	}
	return nil
}

// The checker of traffic in these tests reports each deviation from the OpenAPI document. It
// accepts exchanges that match the document.
func TestUndocumentedReplyIsReported(t *testing.T) {
	p, err := newTrafficChecker()
	if err != nil {
		t.Fatal(err)
	}
	const (
		grants  = "GET /api/v1/grants"
		none    = `{"items":[],"next_cursor":null}`
		problem = `{"type":"urn:askback:problem:forbidden","title":"Forbidden","status":403,"detail":"no"}`
	)
	for name, c := range map[string]struct {
		request, body string
		status        int
		kind, reply   string
		valid         bool
	}{
		"a documented reply": {grants, "", 200, "application/json", none, true},
		"a problem":          {grants, "", 403, "application/problem+json", problem, true},
		"a stream": {
			"GET /api/v1/events", "", 200, "text/event-stream", ":\n\nid: a\ndata: {\"seq\":", true,
		},
		"an accepted body": {
			"POST /api/v1/asks/x/cancel", `{"reason": "r"}`, 403, "application/problem+json", problem, true,
		},
		"an unknown path": {
			"GET /api/v2", "", 404, "application/problem+json", strings.ReplaceAll(problem, "403", "404"), true,
		},
		"another status": {grants, "", 202, "application/json", none, false},
		"an undocumented status": {
			grants, "", 409, "application/problem+json", strings.ReplaceAll(problem, "403", "409"), false,
		},
		"another field": {
			grants, "", 200, "application/json", `{"items":[],"next_cursor":null,"total":0}`, false,
		},
		"a missing field":                {grants, "", 200, "application/json", `{"items":[]}`, false},
		"another type":                   {grants, "", 200, "text/plain; charset=utf-8", none, false},
		"an error that is not a problem": {grants, "", 403, "application/json", `{"error":"no"}`, false},
		"an invalid problem":             {grants, "", 403, "application/problem+json", `{"error":"no"}`, false},
		"an invalid event": {
			"GET /api/v1/events", "", 200, "text/event-stream", "id: a\ndata: {\"seq\":1}\n\n", false,
		},
		"an undocumented body": {
			"DELETE /api/v1/grants/x", `{"reason": "r"}`, 200, "application/json", none, false,
		},
		"a wrong body that was accepted": {
			"POST /api/v1/asks/x/decline", `{"why": "r"}`, 200, "application/json", none, false,
		},
		"an unknown route":       {"GET /api/v2", "", 200, "application/json", none, false},
		"a body with status 204": {"PUT /api/v1/asks/x/draft", "{}", 204, "application/json", none, false},
	} {
		var reports []string
		h := p.wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", c.kind)
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.reply)
		}), func(format string, args ...any) { reports = append(reports, fmt.Sprintf(format, args...)) })
		method, path, _ := strings.Cut(c.request, " ")
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(method, path, strings.NewReader(c.body)))
		if (len(reports) == 0) != c.valid {
			t.Errorf("%s: got reports %q, valid: %v", name, reports, c.valid)
		}
	}
}
