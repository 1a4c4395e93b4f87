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
	"github.com/askback/askback/internal/decode"
	"github.com/askback/askback/store/memstore"
)

// became is what came of one call: an ask, or a text that goes back.
type became struct {
	Questions string // as JSON, one a line
	Repairs   string // pointer and detail, one a line
	Error     string
}

// door is one way to ask.
type door func(t *testing.T, input string) became

// What models really send comes to the same through every door: the same questions
// with the same repairs, or the same text that goes back (F15, W1-W15). The files are
// those that package decode is held to.
func TestWildCalls(t *testing.T) {
	doors := wildDoors(t)
	refused := 0
	for name, sections := range wildCalls(t) {
		want := became{sections["questions"], sections["warnings"], sections["error"]}
		if want.Error != "" {
			refused++
		}
		for door, ask := range doors {
			if diff := cmp.Diff(want, ask(t, sections["input"])); diff != "" {
				t.Errorf("%s, %s (-want +got)\n%s", name, door, diff)
			}
		}
	}
	if refused < 15 {
		t.Errorf("only %d calls were refused", refused)
	}
}

// Whoever is told nothing but the error sends its example, and is understood (F15).
func TestTheErrorTeaches(t *testing.T) {
	doors := wildDoors(t)
	for name, sections := range wildCalls(t) {
		if sections["error"] == "" {
			continue
		}
		for door, ask := range doors {
			text := ask(t, sections["input"]).Error
			second := ask(t, example(text))
			if second.Error != "" || second.Questions == "" || isMended(second.Repairs) {
				t.Errorf("%s, %s: %s\nits example gave %+v", name, door, text, second)
			}
		}
	}
}

// isMended says whether a call was not what it should be. That a question could be two
// is advice.
func isMended(repairs string) bool {
	for line := range strings.Lines(repairs) {
		if !strings.HasSuffix(strings.TrimSpace(line), ": this text asks several questions") {
			return true
		}
	}
	return false
}

// example is what stands behind the last "Example: " that has JSON behind it: the
// words of the sender may have it too.
func example(text string) string {
	out := ""
	for _, rest, ok := strings.Cut(text, "Example: "); ok; _, rest, ok = strings.Cut(rest, "Example: ") {
		if out == "" || json.Valid([]byte(rest)) {
			out = rest
		}
	}
	return out
}

// wildCalls are the sections of each file, by its name.
func wildCalls(t *testing.T) map[string]map[string]string {
	t.Helper()
	paths, err := filepath.Glob("../../internal/decode/testdata/malformed/*.txtar")
	if err != nil || len(paths) < 50 {
		t.Fatalf("%d wild calls, %v", len(paths), err)
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

// wildDoors are the library, HTTP and the command line, at an engine of each its own.
func wildDoors(t *testing.T) map[string]door {
	t.Helper()
	e := engine.New(memstore.New(), nil)
	s := httptest.NewServer(httpapi.NewHandler(e, nil))
	t.Cleanup(s.Close)
	agent := func(name string) (askback.Client, string) {
		who := askback.Principal{Kind: askback.Agent, Name: name, Channel: askback.ChannelAPI}
		secret, err := e.NewSecret()
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Adopt(t.Context(), who, secret); err != nil {
			t.Fatal(err)
		}
		return e.As(who), secret
	}
	library, _ := agent("library")
	_, overHTTP := agent("http")
	atShell, typed := agent("shell")
	return map[string]door{
		"library":      func(t *testing.T, input string) became { return throughLibrary(t, library, input) },
		"http":         func(t *testing.T, input string) became { return throughHTTP(t, s.URL, overHTTP, input) },
		"command line": func(t *testing.T, input string) became { return throughShell(t, s.URL, typed, atShell, input) },
	}
}

func throughLibrary(t *testing.T, seat askback.Client, input string) became {
	t.Helper()
	r, err := decode.Request([]byte(input))
	var ask askback.Ask
	if err == nil {
		ask, err = seat.Ask(t.Context(), r)
	}
	if err != nil {
		return became{Error: decode.Correction([]byte(input), err, decode.Body)}
	}
	ask, err = seat.Get(t.Context(), ask.ID)
	if err != nil {
		t.Fatal(err)
	}
	return shown(t, ask)
}

func throughHTTP(t *testing.T, url, token, input string) became {
	t.Helper()
	in, err := http.NewRequestWithContext(t.Context(), "POST", url+"/api/v1/asks", strings.NewReader(input))
	if err != nil {
		t.Fatal(err)
	}
	in.Header.Set("Authorization", "Bearer "+token)
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
	if res.StatusCode == http.StatusCreated {
		var ask askback.Ask
		if err := json.Unmarshal(raw, &ask); err != nil {
			t.Fatal(err)
		}
		return shown(t, ask)
	}
	var problem struct {
		Detail string `json:"detail"`
	}
	if err := json.Unmarshal(raw, &problem); err != nil || res.StatusCode != http.StatusBadRequest && res.StatusCode != http.StatusUnprocessableEntity {
		t.Fatalf("%s: %s, %v", res.Status, raw, err)
	}
	return became{Error: problem.Detail}
}

// throughShell asks with the binary. Once the ask is there it is withdrawn, so that the
// command ends.
func throughShell(t *testing.T, url, token string, seat askback.Client, input string) became {
	t.Helper()
	env, _ := sandbox(t, "ASKBACK_URL="+url, "ASKBACK_TOKEN="+token)
	cmd := exec.CommandContext(t.Context(), "askback", "ask", "--file", "-")
	cmd.Env, cmd.Stdin = env, strings.NewReader(input)
	var out, said syncBuffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var got became
	var end error
	over := false
	if !eventually(func() bool {
		select {
		case end = <-ended:
			over = true
		default:
			got, over = withdrawn(t, seat)
			if over {
				end = <-ended
			}
		}
		return over
	}) {
		t.Fatalf("it neither asks nor ends: %s", said.String())
	}
	switch code := exitCode(end); {
	case code == exitCancelled && got.Questions != "" && out.String() == "":
		return got
	case code == exitUsage && out.String() == "":
		return became{Error: strings.TrimSuffix(strings.TrimPrefix(said.String(), "askback: "), "\n")}
	}
	t.Fatalf("exit code %d, %q\n%s", exitCode(end), out.String(), said.String())
	return became{}
}

// withdrawn is what an agent asks, once it does, and takes it back.
func withdrawn(t *testing.T, seat askback.Client) (became, bool) {
	t.Helper()
	page, err := seat.List(t.Context(), askback.Query{})
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Items) == 0 {
		return became{}, false
	}
	if _, err := seat.Cancel(context.WithoutCancel(t.Context()), page.Items[0].ID, ""); err != nil && !errors.Is(err, askback.ErrSettled) {
		t.Fatal(err)
	}
	return shown(t, page.Items[0]), true
}

func shown(t *testing.T, ask askback.Ask) became {
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
	return became{Questions: "[\n" + strings.Join(lines, ",\n") + "\n]", Repairs: strings.Join(repairs, "\n")}
}
