package claudecode_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/askback/askback"
	"github.com/askback/askback/test/interop/clienttest"
)

// A recorded call of a model results in the same questions through the hook as over HTTP. Otherwise the hook
// makes no decision, so that Claude Code asks. The questions of a call are never asked only in part (F9, F15,
// W1–W15).
func TestMalformedCallsOfHookMatchTheAPI(t *testing.T) {
	t.Parallel()
	clienttest.Packages(t)
	p := clienttest.New(t)
	paths, err := filepath.Glob("../../../internal/wire/decode/testdata/malformed/*.txtar")
	if err != nil || len(paths) < 50 {
		t.Fatalf("%d wild calls, %v", len(paths), err)
	}
	asked := map[string]int{}
	for _, path := range paths {
		file, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, shape, _ := strings.Cut(string(file.Comment), "shape: ")
		input := strings.TrimSuffix(string(file.Files[0].Data), "\n")
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		want, ok := posted(t, p, unknown.Replace(input))
		h := hooked(t, p, name, input)
		got, local := h.asks()
		if !local {
			continue // no decision
		}
		asked[strings.TrimSpace(shape)]++
		if diff := cmp.Diff(want, got.Questions); !ok || diff != "" {
			t.Errorf("%s: accepted over HTTP: %t; the hook asks something else (-http +hook)\n%s", name, ok, diff)
		}
		h.answered(got)
	}
	if len(asked) < 7 {
		t.Errorf("only these shapes were asked: %v", asked)
	}
}

// unknown removes fields that Claude Code and its hook ignore, and that POST
// /asks rejects.
var unknown = strings.NewReplacer(`, "markdown": "# Blue"`, "", `, "recommended": true`, "")

// posted returns the questions that POST /asks reads from an input, and whether it
// accepts the input.
func posted(t *testing.T, p *clienttest.Instance, input string) ([]askback.Question, bool) {
	t.Helper()
	in, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.URL+"/api/v1/asks", strings.NewReader(input))
	if err != nil {
		t.Fatal(err)
	}
	in.Header.Set("Authorization", "Bearer "+p.AgentToken)
	in.Header.Set("Content-Type", "application/json")
	out, err := http.DefaultClient.Do(in)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Body.Close()
	raw, err := io.ReadAll(out.Body)
	var ask askback.Ask
	if err == nil && out.StatusCode == http.StatusCreated {
		err = json.Unmarshal(raw, &ask)
	}
	if err != nil {
		t.Fatal(err)
	}
	if ask.ID != "" {
		if _, err := p.Robot.Cancel(t.Context(), ask.ID, ""); err != nil {
			t.Fatal(err)
		}
	}
	return ask.Questions, ask.ID != ""
}

// A hook is a running hook command.
type hook struct {
	t         *testing.T
	p         *clienttest.Instance
	name      string
	out, said bytes.Buffer
	ended     chan error
}

func hooked(t *testing.T, p *clienttest.Instance, name, input string) *hook {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	h := &hook{t: t, p: p, name: name, ended: make(chan error, 1)}
	cmd := exec.CommandContext(ctx, p.Program, "hook", "claude-code")
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = p.Environ("CLAUDE_CODE_ENTRYPOINT=cli"), os.TempDir(), &h.out, &h.said
	cmd.Stdin = strings.NewReader(fmt.Sprintf(
		`{"session_id":%q,"hook_event_name":"PermissionRequest","tool_name":"AskUserQuestion","tool_input":%s}`, name, input))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { h.ended <- cmd.Wait() }()
	return h
}

// asks returns the ask of the hook, unless the hook ends without an ask.
func (h *hook) asks() (askback.Ask, bool) {
	h.t.Helper()
	for {
		select {
		case err := <-h.ended:
			if err != nil || h.out.Len() > 0 {
				h.t.Errorf("%s: the hook ended without an answer, with %v and %q", h.name, err, h.out.String())
			}
			return askback.Ask{}, false
		case <-time.After(10 * time.Millisecond):
		}
		page, err := h.p.Person.List(h.t.Context(), askback.Query{})
		if err != nil {
			h.t.Fatal(err)
		}
		if len(page.Items) > 0 {
			return page.Items[0], true
		}
	}
}

// answered answers each question, and requires the answers in the decision.
func (h *hook) answered(ask askback.Ask) {
	h.t.Helper()
	var a askback.Answer
	for _, q := range ask.Questions {
		a.Answers = append(a.Answers, askback.QuestionAnswer{ID: q.ID, Selected: []string{q.Options[0].Label}})
	}
	h.p.Answer(ask.ID, a)
	if err := <-h.ended; err != nil {
		h.t.Errorf("%s: %v: %s", h.name, err, h.said.String())
	}
	var said struct {
		Output struct {
			Decision struct {
				Behavior string `json:"behavior"`
				Input    struct {
					Questions []struct {
						Text string `json:"question"`
					} `json:"questions"`
					Answers map[string]string `json:"answers"`
				} `json:"updatedInput"`
			} `json:"decision"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal(h.out.Bytes(), &said); err != nil || said.Output.Decision.Behavior != "allow" {
		h.t.Errorf("%s: got %s, %v", h.name, h.out.String(), err)
	}
	var want, got []string
	for _, one := range a.Answers {
		want = append(want, one.Selected[0])
	}
	for _, q := range said.Output.Decision.Input.Questions { // the keys of answers are the questions as they were sent
		got = append(got, said.Output.Decision.Input.Answers[q.Text])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		h.t.Errorf("%s: answers differ (-given +received)\n%s\n%s", h.name, diff, h.out.String())
	}
}
