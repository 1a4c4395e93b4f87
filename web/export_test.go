package web_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/askback/askback"
)

// An export has all asks that the filter selects, including asks of further pages, but only asks that the
// person may see. Each line of JSON Lines is the ask as in the API (E6).
func TestExportContainsAllSelectedAsks(t *testing.T) {
	h := newServer(t)
	asks, b := h.settledAsks(), h.browser("ana")
	private := single
	private.To = []string{"ben"}
	secret := h.ask(private)
	if _, err := h.client(askback.Responder,
		"ben").Answer(t.Context(), secret.ID, askback.Choose("SQLite")); err != nil {
		t.Fatal(err)
	}
	for range 2 * askback.MaxLimit {
		a := h.ask(free)
		if _, err := h.client(askback.Agent, "bot").Cancel(t.Context(), a.ID, ""); err != nil {
			t.Fatal(err)
		}
	}
	export := func(query string) []askback.Ask {
		t.Helper()
		w := b.do(b.request(http.MethodGet, "/history/export?format=jsonl&"+query, nil))
		if got := w.Header().Get("Content-Disposition"); w.Code != http.StatusOK ||
			got != `attachment; filename="askback-history-2026-11-03.jsonl"` {
			t.Fatalf("got status %d, %q", w.Code, got)
		}
		var all []askback.Ask
		for line := range bytes.Lines(w.Body.Bytes()) {
			var a askback.Ask
			if err := json.Unmarshal(line, &a); err != nil {
				t.Fatal(err)
			}
			all = append(all, a)
		}
		return all
	}
	if all := export(""); len(all) != 2*askback.MaxLimit+5 ||
		slices.ContainsFunc(all, func(a askback.Ask) bool { return a.ID == secret.ID }) {
		t.Errorf("got %d asks, want 5 and two pages of others, without %s", len(all), secret.ID)
	}
	some := export("outcome=denied&q=drop")
	if len(some) != 1 || some[0].ID != asks["denied"].ID || jsonOf(t, some[0]) != jsonOf(t, asks["denied"]) {
		t.Errorf("got %+v, want the denied ask", some)
	}
	for _, query := range []string{"", "format=xml", "format=csv&outcome=maybe"} {
		b.open("/history/export?"+query, http.StatusNotFound)
	}
	browser{server: h}.open("/history/export?format=csv", http.StatusUnauthorized)
}

// A leavingClient is a client that logs out after it has read some bytes.
type leavingClient struct {
	*httptest.ResponseRecorder
	after int
	leave func()
}

func (c *leavingClient) Write(b []byte) (int, error) {
	n, err := c.ResponseRecorder.Write(b)
	if c.leave != nil && c.Body.Len() >= c.after {
		c.leave()
		c.leave = nil
	}
	return n, err
}

// An export ends with the log-out, either within a page of the list or before the next page. Its output does
// not look complete.
func TestExportEndsWithTheLogOut(t *testing.T) {
	h := newServer(t)
	for range askback.MaxLimit + 20 {
		a := h.ask(free)
		if _, err := h.client(askback.Agent, "bot").Cancel(t.Context(), a.ID, ""); err != nil {
			t.Fatal(err)
		}
	}
	for _, read := range []int{1, askback.MaxLimit} {
		b := h.browser("ana")
		whole := b.do(b.request(http.MethodGet, "/history/export?format=jsonl", nil)).Body.String()
		lines := strings.SplitAfter(whole, "\n")
		if len(lines) != askback.MaxLimit+21 {
			t.Fatalf("the whole export has %d lines", len(lines))
		}
		c := &leavingClient{httptest.NewRecorder(), len(strings.Join(lines[:read], "")), func() {
			if w := b.do(b.request(http.MethodPost, "/logout", url.Values{})); w.Code != http.StatusSeeOther {
				t.Errorf("the log-out is %d", w.Code)
			}
		}}
		func() {
			defer func() {
				if p := recover(); p != http.ErrAbortHandler {
					t.Errorf("after the log-out the export ended with %v, want %v", p, http.ErrAbortHandler)
				}
			}()
			h.handler.ServeHTTP(c, b.request(http.MethodGet, "/history/export?format=jsonl", nil))
		}()
		if got := strings.Count(c.Body.String(), "\n"); got != read {
			t.Errorf("the client logged out after %d asks, and got %d", read, got)
		}
	}
}

func jsonOf(t *testing.T, a askback.Ask) string {
	t.Helper()
	b, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// No cell of an export is a formula for a spreadsheet, and every text is kept.
func TestExportContainsNoFormulas(t *testing.T) {
	h := newServer(t)
	ana := h.client(askback.Responder, "ana")
	texts := []string{
		"=1+1", "+1", "-1", "@sum", "\tx", "\rx", "\n=1", "＝1+1", "＠sum", "x;=2+2;y", "a, b; \"@sum\"", "one\n+2",
		"x;\t\r\n-3", "fine; x=1", `a "quoted", line` + "\nand more", "plain",
	}
	for _, s := range texts {
		a := h.ask(askback.Request{Questions: []askback.Question{{Text: "=HYPERLINK(0)"}}})
		answer := askback.Answer{Answers: []askback.QuestionAnswer{{ID: a.Questions[0].ID, Other: "x"}}, Comment: s}
		if _, err := ana.Answer(t.Context(), a.ID, answer); err != nil {
			t.Fatal(err)
		}
	}
	b := h.browser("ana")
	w := b.do(b.request(http.MethodGet, "/history/export?format=csv", nil))
	if got := w.Header().Get("Content-Type"); got != "text/csv; charset=utf-8; header=present" {
		t.Errorf("Content-Type: got %q", got)
	}
	if !strings.Contains(w.Body.String(), "\r\n") {
		t.Error("lines do not end with CR LF")
	}
	body := w.Body.String()
	rows, err := csv.NewReader(w.Body).ReadAll()
	if err != nil || len(rows) != len(texts)+1 {
		t.Fatalf("got %d rows, %v", len(rows), err)
	}
	for _, line := range strings.FieldsFunc(body, func(r rune) bool { return strings.ContainsRune(";\t\r\n", r) }) {
		if cell := strings.TrimLeft(line, "\" "); cell != "" && strings.ContainsRune("=+-@＝＋－＠", []rune(cell)[0]) {
			t.Errorf("split at semicolons, %q is a formula", line)
		}
	}
	column := slices.Index(rows[0], "comment")
	var comments []string
	for _, row := range rows[1:] {
		comments = append(comments, row[column])
		for i, cell := range row {
			if cell != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", []rune(cell)[0]) {
				t.Errorf("%s: %q is a formula", rows[0][i], cell)
			}
		}
	}
	for _, want := range []string{
		"'=1+1", "'-1", "x;'=2+2;y", "a, b; \"'@sum\"", "one\n'+2", "fine; x=1", `a "quoted", line` + "\nand more",
		"plain",
	} {
		if !slices.Contains(comments, want) {
			t.Errorf("%q is missing in %q", want, comments)
		}
	}
}
