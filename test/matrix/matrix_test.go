package matrix

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the table anew, to be read line by line before it is committed")

// tablePath is the table of the expected replies.
const tablePath = "../../internal/access/testdata/matrix.txt"

// A row is a line of the table: a call, the record that it is about, and the expected reply for each caller.
type row struct {
	method, path, record string
	want                 []string // in the order of callers
}

// A cell is a call by one caller.
type cell struct {
	row
	caller string
	secret string // sent instead of the secret of the caller; "" for that secret
	body   string
}

// readTable returns the rows of the table. Comments begin with #.
func readTable(t *testing.T) (comment string, rows []row) {
	t.Helper()
	raw, err := os.ReadFile(tablePath)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		fields := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "#"):
			comment += line
		case len(fields) >= 3:
			rows = append(rows, row{fields[0], fields[1], fields[2], fields[3:]})
		}
	}
	return comment, rows
}

// Each route, page, stream and tool has a row for each record that it can show. It replies to each caller
// with the status in the table. The reply contains questions and answers only if the table allows that (E10,
// F4, T20).
func TestRepliesMatchTheTable(t *testing.T) {
	comment, rows := readTable(t)
	w := newWorld(t)
	missing := map[string]bool{}
	for _, name := range slices.Concat(w.apiRoutes(), pagePatterns(t), w.tools()) {
		missing[name] = true
	}
	delete(missing, "/") // the page for unknown paths
	var out bytes.Buffer
	out.WriteString(comment)
	for _, r := range rows {
		delete(missing, r.method+" "+r.path)
		line := fmt.Sprintf("%-6s %-38s %-11s", r.method, r.path, r.record)
		for i, caller := range callers {
			var got string
			if got, w = w.try(cell{row: r, caller: caller}); i >= len(r.want) || got != r.want[i] {
				want := "(none)"
				if i < len(r.want) {
					want = r.want[i]
				}
				if !*update {
					t.Errorf("%s %s of %s by %s: got %s, want %s", r.method, r.path, r.record, caller, got, want)
				}
			}
			line += fmt.Sprintf(" %-6s", got)
		}
		out.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	for name := range missing {
		t.Errorf("%s has no row in %s", name, tablePath)
	}
	if *update {
		if err := os.WriteFile(tablePath, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// try makes the call of a cell. It returns the reply in the form of the table, and the world for the next
// call. If the call may have changed a record, this is a new world.
func (w *world) try(c cell) (string, *world) {
	w.t.Helper()
	secrets := []string{""}
	if c.caller == "bad" {
		secrets = append(slices.Clone(w.tokens), strings.TrimPrefix(w.other, "/a/"), signature)
	}
	got := ""
	for i, secret := range secrets {
		if c.caller == "bad" && secret == "" {
			continue
		}
		c.secret = secret
		reply := w.send(c)
		if i > 1 && reply.String() != got {
			w.t.Errorf("%s %s of %s: got %s for an invalid token and %s for %q", c.method, c.path, c.record, got,
				reply, secret)
		}
		got = reply.String()
	}
	if isRead := c.method == "GET" || c.method == "MCP"; !isRead && got < "400" {
		w.close()
		return got, newWorld(w.t)
	}
	return got, w
}

// A reply is the reply to a cell.
type reply struct {
	status int
	body   string
}

// String returns the status and marks: + if the body contains questions or answers, ! if it contains a held
// answer, and * if it contains the name of the person who answered.
func (r reply) String() string {
	out := strconv.Itoa(r.status)
	if strings.Contains(r.body, hush) {
		out += "+"
	}
	if strings.Contains(r.body, unsent) {
		out += "!"
	}
	if strings.Contains(r.body, answerer) {
		out += "*"
	}
	return out
}

// json returns the body of a reply, which may be one server-sent event.
func (r reply) json() string {
	if _, data, ok := strings.Cut(r.body, "data: "); ok {
		data, _, _ = strings.Cut(data, "\n")
		return data
	}
	return r.body
}

// target returns the path of a cell with the ids of its record.
func (w *world) target(c cell) string {
	id := cmp.Or(w.ids[c.record], c.record)
	path := strings.NewReplacer("{id}", id, "{agent}", "worker", "{token}", strings.TrimPrefix(w.link, "/a/"), "{$}",
		"").Replace(c.path)
	name := "flat"
	if c.record != "-" {
		name = c.record
	}
	path = strings.ReplaceAll(path, "{name}", name)
	if path == "/a/"+strings.TrimPrefix(w.link, "/a/") && c.record == "other" {
		path = w.other
	}
	if strings.Contains(path, "{") {
		w.t.Fatalf("%s has an unknown part", path)
	}
	return path + queries[c.method+" "+c.path]
}

// send sends the request of a cell. It reads a stream until everything has arrived.
func (w *world) send(c cell) reply {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	method, path, body := c.method, w.target(c), cmp.Or(c.body, w.body(c))
	if method == "MCP" {
		method, path, body = "POST", "/mcp", w.toolCall(c)
	}
	r, err := http.NewRequestWithContext(ctx, method, w.url+path, strings.NewReader(body))
	w.must(err)
	secret := cmp.Or(c.secret, w.secrets[c.caller])
	switch {
	case secret == "":
	case strings.HasPrefix(c.caller, "web-"):
		r.AddCookie(&http.Cookie{Name: "askback", Value: secret})
	default:
		r.Header.Set("Authorization", "Bearer "+secret)
	}
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("Accept", "application/json, text/event-stream, text/html")
	if body != "" {
		r.Header.Set("Content-Type", contentType(c))
	}
	if strings.HasSuffix(c.path, "/live") {
		r.Header.Set("Last-Event-ID", "0")
	}
	res, err := transport.RoundTrip(r)
	if err != nil {
		w.t.Fatalf("%s %s of %s by %s: %v", c.method, c.path, c.record, c.caller, err)
	}
	defer res.Body.Close()
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") && c.method == "GET" {
		return reply{res.StatusCode, w.readStream(res.Body, c)}
	}
	raw, err := io.ReadAll(res.Body)
	w.must(err)
	return reply{res.StatusCode, string(raw)}
}

// transport keeps no connections, so that a server can stop immediately. The client follows no redirect.
var transport = &http.Transport{DisableKeepAlives: true}

// readStream returns the content of a stream up to the last event, or to its end.
func (w *world) readStream(body io.Reader, c cell) string {
	w.t.Helper()
	end := last
	switch {
	case c.path == "/live":
		end = w.ids["public"]
	case c.path == "/sessions/{id}/live":
		end = "id: " + w.lastCursor(c) + "\n"
	case c.record == "session":
		end = `"llm_requesting"`
	case c.record == "ask-session":
		end = `"type":"question_pending"`
	}
	var got bytes.Buffer
	buffer := make([]byte, 4096)
	for !strings.Contains(got.String(), end) {
		n, err := body.Read(buffer)
		got.Write(buffer[:n])
		if err != nil && err != io.EOF {
			w.t.Fatalf("%s by %s: %q is missing in the stream: %v\n%s", c.path, c.caller, end, err, got.String())
		}
		if err != nil {
			break
		}
	}
	return got.String()
}

// lastCursor returns the cursor of the last event of the run.
func (w *world) lastCursor(c cell) string {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	for ev, err := range w.as("owner").Events(ctx, w.ids[c.record], "0") {
		w.must(err)
		if strings.Contains(string(ev.Data), last) {
			return string(ev.Cursor)
		}
	}
	return ""
}

// A signed webhook starts its agent. The signature gives no other access.
func TestWebhookSignatureOnlyStartsItsAgent(t *testing.T) {
	w := newWorld(t)
	for path, want := range map[string]int{
		"/hooks/worker": http.StatusAccepted, "/hooks/other": http.StatusUnauthorized,
		"/api/v1/hooks/claude-code": http.StatusUnauthorized, "/api/v1/asks": http.StatusUnauthorized,
		"/mcp": http.StatusUnauthorized, "/run": http.StatusUnauthorized,
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+path, strings.NewReader(`{}`))
		w.must(err)
		r.Header.Set("Webhook-Signature", signature)
		r.Header.Set("Webhook-Id", "msg_1")
		r.Header.Set("Content-Type", "application/json")
		res, err := transport.RoundTrip(r)
		w.must(err)
		raw, err := io.ReadAll(res.Body)
		w.must(err)
		w.must(res.Body.Close())
		if res.StatusCode != want || strings.Contains(string(raw), hush) {
			t.Errorf("POST %s: got %d %s, want %d", path, res.StatusCode, raw, want)
		}
	}
}
