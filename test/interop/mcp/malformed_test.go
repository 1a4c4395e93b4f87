package mcp_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/askback/askback"
	"github.com/askback/askback/test/interop/clienttest"
)

// A callResult is the result of a call: an ask or an error text.
type callResult struct {
	Questions string
	Repairs   string
	Error     string
}

// rewritten lists the calls that a JavaScript client cannot send, because the client parses a call and
// thereby drops duplicate fields.
var rewritten = []string{"w15_duplicate_field.txtar"}

// narrower lists the errors of the tool for requests that only POST /api/v1/asks accepts, with more options
// or other fields. The error for w08_five_options is in its file.
var narrower = map[string]string{
	"w07_one_option.txtar": `/questions/0/options: a question needs 2 to 4 options, or none for free text; this one has 1 ("Other" is always offered). ` +
		`Example: {"questions": [{"question": "Is this the right repository?"}, {"question": "Which branch?", "options": [{"label": "main"}, {"label": "next"}]}]}`,
	"w15_title_and_id.txtar": `/title: unknown field (the fields are allow_custom, choices, default, descriptions, format, header, multiSelect, multi_select, multiple, options, question, questions, required). ` +
		`Example: {"questions": [{"question": "Which team?", "options": [{"label": "Red"}, {"label": "Blue"}]}]}`,
}

// A recorded call of a model results in the same ask or error through the SDK
// as over POST /api/v1/asks, with listed exceptions (F15, W1-W15).
func TestMalformedCallsMatchTheAPI(t *testing.T) {
	clienttest.Packages(t)
	t.Parallel()
	paths, err := filepath.Glob("../../../internal/wire/decode/testdata/malformed/*.txtar")
	if err != nil || len(paths) < 50 {
		t.Fatalf("%d wild calls: %v", len(paths), err)
	}
	for name, script := range map[string]string{"legacy": legacy, "2026-07-28": modern} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := clienttest.New(t)
			a := newAgent(t, script, overHTTP(p))
			var changed []string
			asked, refused := 0, 0
			for _, path := range paths {
				file := filepath.Base(path)
				input, text := malformed(t, path)
				if text == "" {
					text = narrower[file]
				}
				var sent string
				read(t, a.run("sent", call{Input: input}), &sent)
				if sent != compact(t, input) {
					changed = append(changed, file)
				}
				want, got := overAPI(t, p, sent), a.malformed(p, input)
				switch {
				case text != "":
					if want.Error == text {
						t.Errorf("%s is not an exception: %s", file, text)
					}
					want = callResult{Error: text}
				case want.Error != "":
					refused++
				default:
					asked++
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-want +got)\n%s", file, diff)
				}
			}
			if asked < 20 || refused < 15 {
				t.Errorf("%d were asked and %d refused", asked, refused)
			}
			slices.Sort(changed)
			if diff := cmp.Diff(rewritten, changed); diff != "" {
				t.Errorf("shapes that the client changes\n%s", diff)
			}
		})
	}
}

// malformed returns a recorded call, and the error of the tool if it differs.
// Invalid JSON is returned as a JSON string, as some clients send it.
func malformed(t *testing.T, path string) (input, own string) {
	t.Helper()
	file, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range file.Files {
		switch text := strings.TrimSuffix(string(f.Data), "\n"); f.Name {
		case "input":
			if input = text; !json.Valid([]byte(text)) {
				input = jsonText(text)
			}
		case "tool error":
			own = text
		}
	}
	return input, own
}

// compact returns JSON without white space.
func compact(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// malformed calls the tool and returns the resulting ask, which it cancels, or the error.
func (a *agent) malformed(p *clienttest.Instance, input string) callResult {
	a.t.Helper()
	done := a.start("call", call{Tool: "ask_user_question", Input: input, Timeout: patience.Milliseconds()})
	over := time.After(patience)
	for {
		select {
		case r := <-done:
			if r.Error != nil {
				a.t.Fatalf("%s: %v", input, r.Error)
			}
			var out result
			read(a.t, r.Result, &out)
			if !out.IsError {
				a.t.Fatalf("%s: got %+v", input, out)
			}
			return callResult{Error: out.text()}
		case <-over:
			a.t.Fatalf("%s: neither asked nor refused", input)
		case <-time.After(5 * time.Millisecond):
		}
		if got, ok := cancelOpenAsk(a.t, p); ok {
			if r := a.result(done); !r.IsError {
				a.t.Fatalf("%s was withdrawn: got %+v", input, r)
			}
			return got
		}
	}
}

// overAPI sends a body to POST /api/v1/asks and returns the resulting ask, which it cancels,
// or the error.
func overAPI(t *testing.T, p *clienttest.Instance, body string) callResult {
	t.Helper()
	in, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.URL+"/api/v1/asks", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	in.Header.Set("Authorization", "Bearer "+p.AgentToken)
	in.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(in)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusCreated {
		var problem struct {
			Detail string `json:"detail"`
		}
		if read(t, raw, &problem); res.StatusCode != http.StatusUnprocessableEntity &&
			res.StatusCode != http.StatusBadRequest {
			t.Fatalf("%s: %s", res.Status, raw)
		}
		return callResult{Error: problem.Detail}
	}
	got, ok := cancelOpenAsk(t, p)
	if !ok {
		t.Fatalf("nothing is asked after %s", raw)
	}
	return got
}

// cancelOpenAsk cancels the only open ask of the agent and returns it. It returns false if the agent has no
// open ask.
func cancelOpenAsk(t *testing.T, p *clienttest.Instance) (callResult, bool) {
	t.Helper()
	page, err := p.Robot.List(t.Context(), askback.Query{})
	if err != nil || len(page.Items) > 1 {
		t.Fatalf("%d asks are open, %v", len(page.Items), err)
	}
	if len(page.Items) == 0 {
		return callResult{}, false
	}
	if _, err := p.Robot.Cancel(t.Context(), page.Items[0].ID, ""); err != nil && !errors.Is(err, askback.ErrSettled) {
		t.Fatal(err)
	}
	var repairs []string
	for _, r := range page.Items[0].Warnings {
		repairs = append(repairs, fmt.Sprintf("%s: %s", r.Pointer, r.Detail))
	}
	return callResult{Questions: jsonText(page.Items[0].Questions), Repairs: strings.Join(repairs, "\n")}, true
}
