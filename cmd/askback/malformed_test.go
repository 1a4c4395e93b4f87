package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/internal/wire/decode"
	"github.com/askback/askback/store/memstore"
)

// callResult is the result of one call: an ask, or an error text.
type callResult struct {
	Questions string // as JSON, one per line
	Repairs   string // pointer and detail, one per line
	Error     string
}

// askFunc asks through one frontend.
type askFunc func(t *testing.T, input string) callResult

// Malformed calls of models give the same questions and repairs, or the same error, through
// the library, the API and the command line (F15, W1–W15). The tests of package decode use
// the same files.
func TestFrontendsAgreeOnMalformedCalls(t *testing.T) {
	frontends := newAskFuncs(t)
	rejected := 0
	for name, sections := range malformedCalls(t) {
		want := callResult{sections["questions"], sections["warnings"], sections["error"]}
		if want.Error != "" {
			rejected++
		}
		for frontend, ask := range frontends {
			if diff := cmp.Diff(want, ask(t, sections["input"])); diff != "" {
				t.Errorf("%s, %s (-want +got)\n%s", name, frontend, diff)
			}
		}
	}
	if rejected < 15 {
		t.Errorf("%d calls were rejected, want at least 15", rejected)
	}
}

// The example in an error text is a valid call (F15).
func TestExampleInErrorIsValid(t *testing.T) {
	frontends := newAskFuncs(t)
	for name, sections := range malformedCalls(t) {
		if sections["error"] == "" {
			continue
		}
		for frontend, ask := range frontends {
			text := ask(t, sections["input"]).Error
			second := ask(t, exampleIn(text))
			if second.Error != "" || second.Questions == "" || isRepaired(second.Repairs) {
				t.Errorf("%s, %s: %s\nthe example gave %+v", name, frontend, text, second)
			}
		}
	}
}

// isRepaired reports whether the warnings include a repair. The warning that one question asks several is not
// a repair.
func isRepaired(repairs string) bool {
	for line := range strings.Lines(repairs) {
		if !strings.HasSuffix(strings.TrimSpace(line), ": this text asks several questions") {
			return true
		}
	}
	return false
}

// exampleIn returns the text after the last "Example: " that is followed by JSON, or else the text
// after the first. An error may quote its sender, so an earlier "Example: " may be part of
// the quotation.
func exampleIn(text string) string {
	out := ""
	for _, rest, ok := strings.Cut(text, "Example: "); ok; _, rest, ok = strings.Cut(rest, "Example: ") {
		if out == "" || json.Valid([]byte(rest)) {
			out = rest
		}
	}
	return out
}

// malformedCalls returns the sections of each file, by name.
func malformedCalls(t *testing.T) map[string]map[string]string {
	t.Helper()
	paths, err := filepath.Glob("../../internal/wire/decode/testdata/malformed/*.txtar")
	if err != nil || len(paths) < 50 {
		t.Fatalf("%d files, %v; want at least 50", len(paths), err)
	}
	out := map[string]map[string]string{}
	for _, path := range paths {
		file, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		sections := map[string]string{}
		for _, f := range file.Files {
			sections[f.Name] = strings.TrimSuffix(string(f.Data), "\n")
		}
		out[filepath.Base(path)] = sections
	}
	return out
}

// newAskFuncs returns functions that ask through the library, over HTTP and with the command
// line. They use one engine, each as a different agent.
func newAskFuncs(t *testing.T) map[string]askFunc {
	t.Helper()
	e := engine.New(memstore.New(), nil)
	s := httptest.NewServer(httpapi.NewHandler(e, nil))
	t.Cleanup(s.Close)
	agent := func(name string) (askback.Client, string) {
		principal := askback.Principal{Kind: askback.Agent, Name: name, Channel: askback.ChannelAPI}
		secret, err := e.NewSecret()
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Adopt(t.Context(), principal, secret); err != nil {
			t.Fatal(err)
		}
		return e.As(principal), secret
	}
	libraryClient, _ := agent("library")
	_, httpToken := agent("http")
	shellClient, shellToken := agent("shell")
	return map[string]askFunc{
		"library": func(t *testing.T, input string) callResult { return askLibrary(t, libraryClient, input) },
		"http":    func(t *testing.T, input string) callResult { return askHTTP(t, s.URL, httpToken, input) },
		"command line": func(t *testing.T, input string) callResult {
			return askCommandLine(t, s.URL, shellToken, shellClient, input)
		},
	}
}

func askLibrary(t *testing.T, client askback.Client, input string) callResult {
	t.Helper()
	r, err := decode.Request([]byte(input))
	var ask askback.Ask
	if err == nil {
		ask, err = client.Ask(t.Context(), r)
	}
	if err != nil {
		return callResult{Error: decode.Correction([]byte(input), err, decode.Body)}
	}
	ask, err = client.Get(t.Context(), ask.ID)
	if err != nil {
		t.Fatal(err)
	}
	return resultOf(t, ask)
}

func askHTTP(t *testing.T, url, token, input string) callResult {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", url+"/api/v1/asks", strings.NewReader(input))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode == http.StatusCreated {
		var ask askback.Ask
		if err := json.Unmarshal(raw, &ask); err != nil {
			t.Fatal(err)
		}
		return resultOf(t, ask)
	}
	var problem struct {
		Detail string `json:"detail"`
	}
	if err := json.Unmarshal(raw, &problem); err != nil ||
		res.StatusCode != http.StatusBadRequest && res.StatusCode != http.StatusUnprocessableEntity {
		t.Fatalf("%s: %s, %v", res.Status, raw, err)
	}
	return callResult{Error: problem.Detail}
}

// askCommandLine asks with the binary. It withdraws the ask, so that the command exits.
func askCommandLine(t *testing.T, url, token string, client askback.Client, input string) callResult {
	t.Helper()
	env, _ := sandbox(t, "ASKBACK_URL="+url, "ASKBACK_TOKEN="+token)
	cmd := exec.CommandContext(t.Context(), "askback", "ask", "--file", "-")
	cmd.Env, cmd.Stdin = env, strings.NewReader(input)
	var out, stderr syncBuffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var got callResult
	var result error
	done := false
	if !eventually(func() bool {
		select {
		case result = <-ended:
			done = true
		default:
			got, done = withdrawAsk(t, client)
			if done {
				result = <-ended
			}
		}
		return done
	}) {
		t.Fatalf("the command neither asks nor exits: %s", stderr.String())
	}
	switch code := exitCode(result); {
	case code == exitCancelled && got.Questions != "" && out.String() == "":
		return got
	case code == exitUsage && out.String() == "":
		return callResult{Error: strings.TrimSuffix(strings.TrimPrefix(stderr.String(), "askback: "), "\n")}
	}
	t.Fatalf("exit code %d, %q\n%s", exitCode(result), out.String(), stderr.String())
	return callResult{}
}

// withdrawAsk withdraws the pending ask of a client and returns it. It reports false
// if the client has no pending ask yet.
func withdrawAsk(t *testing.T, client askback.Client) (callResult, bool) {
	t.Helper()
	page, err := client.List(t.Context(), askback.Query{})
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Items) == 0 {
		return callResult{}, false
	}
	if _, err := client.Cancel(context.WithoutCancel(t.Context()), page.Items[0].ID, ""); err != nil &&
		!errors.Is(err, askback.ErrSettled) {
		t.Fatal(err)
	}
	return resultOf(t, page.Items[0]), true
}

// resultOf returns the questions and repairs of an ask.
func resultOf(t *testing.T, ask askback.Ask) callResult {
	t.Helper()
	var lines, repairs []string
	for _, q := range ask.Questions {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(q); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.TrimSpace(b.String()))
	}
	for _, p := range ask.Warnings {
		repairs = append(repairs, fmt.Sprintf("%s: %s", p.Pointer, p.Detail))
	}
	return callResult{Questions: "[\n" + strings.Join(lines, ",\n") + "\n]", Repairs: strings.Join(repairs, "\n")}
}
