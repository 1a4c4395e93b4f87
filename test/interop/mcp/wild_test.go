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

// became is what came of one call: an ask, or a text that goes back.
type became struct {
	Questions string
	Repairs   string
	Error     string
}

// rewritten are the shapes that no client written in JavaScript can pass on: it reads
// what the model wrote, and what it then sends has no field twice.
var rewritten = []string{"w15_duplicate_field.txtar"}

// narrower are the texts of the tool where it allows less than the body of POST
// /api/v1/asks: fewer options, and nothing beside the questions. The text for
// w08_five_options stands in its file.
var narrower = map[string]string{
	"w07_one_option.txtar": `/questions/0/options: a question has 2 to 4 options, or none for free text, not 1 ("Other" is always offered). ` +
		`Example: {"questions": [{"question": "Is this the right repository?"}, {"question": "Which branch?", "options": [{"label": "main"}, {"label": "next"}]}]}`,
	"w15_title_and_id.txtar": `/title: unknown field (the fields are allow_custom, choices, default, descriptions, header, multiSelect, multi_select, multiple, options, question, questions, required). ` +
		`Example: {"questions": [{"question": "Which team?", "options": [{"label": "Red"}, {"label": "Blue"}]}]}`,
}

// What models really send, through the SDK as the arguments of the tool, comes to the
// same ask as the same bytes sent to POST /api/v1/asks, or to the same text that goes
// back; the exceptions are listed, and are exceptions (F15, W1-W15).
func TestWildCalls(t *testing.T) {
	clienttest.Packages(t)
	t.Parallel()
	paths, err := filepath.Glob("../../../internal/decode/testdata/malformed/*.txtar")
	if err != nil || len(paths) < 50 {
		t.Fatalf("%d wild calls: %v", len(paths), err)
	}
	for name, script := range map[string]string{"legacy": legacy, "2026-07-28": modern} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := clienttest.New(t)
			a := begin(t, script, overHTTP(p))
			var changed []string
			asked, refused := 0, 0
			for _, path := range paths {
				file := filepath.Base(path)
				input, text := wild(t, path)
				if text == "" {
					text = narrower[file]
				}
				var sent string
				read(t, a.must("sent", call{Input: input}), &sent)
				if sent != compact(t, input) {
					changed = append(changed, file)
				}
				want, got := overAPI(t, p, sent), a.wild(p, input)
				switch {
				case text != "":
					if want.Error == text {
						t.Errorf("%s is no exception: %s", file, text)
					}
					want = became{Error: text}
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

// wild is what a model sent, and the tool's own text if there is one. What is no JSON comes in a string, as from clients that pass it on.
func wild(t *testing.T, path string) (input, own string) {
	t.Helper()
	file, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range file.Files {
		switch text := strings.TrimSuffix(string(f.Data), "\n"); f.Name {
		case "input":
			if input = text; !json.Valid([]byte(text)) {
				input = written(text)
			}
		case "tool error":
			own = text
		}
	}
	return input, own
}

// compact is JSON without the blanks between its parts.
func compact(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// wild calls the tool and looks at what is asked then, which is withdrawn.
func (a *agent) wild(p *clienttest.Place, input string) became {
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
			return became{Error: out.text()}
		case <-over:
			a.t.Fatalf("%s: neither asked nor refused", input)
		case <-time.After(5 * time.Millisecond):
		}
		if got, ok := withdrawn(a.t, p); ok {
			if r := a.result(done); !r.IsError {
				a.t.Fatalf("%s was withdrawn: got %+v", input, r)
			}
			return got
		}
	}
}

// overAPI sends the same as the body of a request.
func overAPI(t *testing.T, p *clienttest.Place, body string) became {
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
		if read(t, raw, &problem); res.StatusCode != http.StatusUnprocessableEntity && res.StatusCode != http.StatusBadRequest {
			t.Fatalf("%s: %s", res.Status, raw)
		}
		return became{Error: problem.Detail}
	}
	got, ok := withdrawn(t, p)
	if !ok {
		t.Fatalf("nothing is asked after %s", raw)
	}
	return got
}

// withdrawn is the only thing the agent asks, once it does, and takes it back.
func withdrawn(t *testing.T, p *clienttest.Place) (became, bool) {
	t.Helper()
	page, err := p.Robot.List(t.Context(), askback.Query{})
	if err != nil || len(page.Items) > 1 {
		t.Fatalf("%d asks are open, %v", len(page.Items), err)
	}
	if len(page.Items) == 0 {
		return became{}, false
	}
	if _, err := p.Robot.Cancel(t.Context(), page.Items[0].ID, ""); err != nil && !errors.Is(err, askback.ErrSettled) {
		t.Fatal(err)
	}
	var repairs []string
	for _, r := range page.Items[0].Warnings {
		repairs = append(repairs, fmt.Sprintf("%s: %s", r.Pointer, r.Detail))
	}
	return became{Questions: written(page.Items[0].Questions), Repairs: strings.Join(repairs, "\n")}, true
}
