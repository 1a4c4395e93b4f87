package httpapi_test

import (
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/httpapi"
)

// Checking the query, the origin and the media type of an ordinary request allocates nothing.
func TestChecksOfRequestAllocateNothing(t *testing.T) {
	w := newFixture(t, nil)
	for _, in := range []struct {
		name, method, target string
		check                func(*httpapi.Call) error
	}{
		{"query", "GET", "/api/v1/asks/ask_1?wait=50", (*httpapi.Call).CheckQuery},
		{"no query", "POST", "/api/v1/asks", (*httpapi.Call).CheckQuery},
		{"list", "GET", "/api/v1/asks?status=all&limit=20", (*httpapi.Call).CheckQuery},
		{"parameter", "GET", "/api/v1/asks/ask_1?wait=50", (*httpapi.Call).CheckWait},
		{"cross-origin", "POST", "/api/v1/asks", (*httpapi.Call).CheckOrigin},
		{"media type", "POST", "/api/v1/asks", (*httpapi.Call).CheckMediaType},
	} {
		r := httptest.NewRequest(in.method, in.target, strings.NewReader("{}"))
		r.Header.Set("Content-Type", "application/json")
		call := w.handler.Call(r)
		if err := in.check(call); err != nil {
			t.Fatalf("%s: %v", in.name, err)
		}
		if n := testing.AllocsPerRun(100, func() { _ = in.check(call) }); n != 0 {
			t.Errorf("%s: got %v allocations, want 0", in.name, n)
		}
	}
}

// The handler reads parameters like url.ParseQuery, with and without escapes in the query. It rejects unknown
// and repeated parameters.
func TestUnescapedQueryIsParsedLikeEscapedQuery(t *testing.T) {
	w := newFixture(t, nil)
	for query, valid := range map[string]bool{
		"":                             true,
		"limit=5":                      true,
		"limit=5&status=all":           true,
		"status=all&&limit=5&":         true,
		"status":                       true,
		"status=":                      true,
		"=":                            false,
		"status=a=b":                   true,
		"q=a+b&limit=5":                true,
		"q=a%26limit%3D6&limit=5":      true,
		"%73tatus=all":                 true,
		"status=all&%73tatus=pending":  false,
		"limit=5&limit=5":              false,
		"limit=5&page=2":               false,
		"limit=5;status=all":           false,
		"status=%zz":                   false,
		"Status=all":                   false,
		"q=" + strings.Repeat("x", 99): true,
	} {
		call := w.handler.Call(httptest.NewRequest("GET", "/api/v1/asks", nil))
		call.SetQuery(query)
		if err := call.CheckQuery(); (err == nil) != valid {
			t.Errorf("%q: got %v, want valid %t", query, err, valid)
		}
		if !valid {
			continue
		}
		want, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"status", "limit", "q", "wait"} {
			if got := call.Param(name); got != want.Get(name) {
				t.Errorf("%q: %s: got %q, want %q", query, name, got, want.Get(name))
			}
		}
	}
}

// The JSON of a problem has the members of its struct, in the same order.
func TestProblemIsEncodedLikeItsStruct(t *testing.T) {
	outcome := &askback.Outcome{Status: askback.Declined, Reason: "<no>"}
	ask := &askback.Ask{ID: "ask_1", Title: "a & b", Outcome: outcome}
	for _, p := range []httpapi.Problem{
		{},
		{Type: "t", Title: "T", Status: 404, Detail: "d\"\u2028\x00"},
		{Errors: []askback.Problem{{Pointer: "/a", Detail: "b", Fix: "c"}, {}}, QuestionIDs: []string{
			"ask_1", "ask_2",
		}},
		{AskID: "ask_1", Ask: ask, Outcome: outcome},
	} {
		got, err := p.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		if want := httpapi.EncodeProblem(p); string(got) != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// A long reply has a Content-Length header, too.
func TestLongReplyHasContentLength(t *testing.T) {
	w := newFixture(t, nil)
	long := strings.Repeat("x", 50_000)
	ask := w.ask(`{"question": "Which?", "context": {"text": "` + long + `"}}`)
	got := w.send("GET", "/api/v1/asks/"+ask.ID, w.token(bot), "")
	if !strings.Contains(got.body, long) || got.header.Get("Content-Length") == "" {
		t.Errorf("got %d bytes, header %v; want more than 50000 and Content-Length", len(got.body), got.header)
	}
}
