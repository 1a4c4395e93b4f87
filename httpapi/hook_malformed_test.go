package httpapi_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/askback/askback"
)

// Malformed arguments of AskUserQuestion make the same ask by a hook as by POST /asks, or
// none: then Claude Code shows its own dialog (F15, W1-W15).
func TestMalformedInputOfHookIsRepairedOrLeft(t *testing.T) {
	paths, err := filepath.Glob("../internal/decode/testdata/malformed/*.txtar")
	if err != nil || len(paths) < 50 {
		t.Fatalf("%d wild calls, %v", len(paths), err)
	}
	asked, shapes := 0, map[string]bool{}
	for _, path := range paths {
		file, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		input := strings.TrimSuffix(string(file.Files[0].Data), "\n")
		t.Run(name, func(t *testing.T) {
			w := newFixture(t, nil)
			w.server.Config.Handler = w.handler // what is mended is not as the document says
			got, ok := w.askedByHook(input)
			if !ok {
				return
			}
			asked++
			shapes[name[:3]] = true
			want := w.ask(unknown.Replace(input))
			if diff := cmp.Diff(want.Questions, got.Questions); diff != "" || want.Kind != got.Kind {
				t.Errorf("the hook asks something else (-POST /asks +hook):\n%s", diff)
			}
			if diff := cmp.Diff(want.Warnings, got.Warnings); diff != "" {
				t.Errorf("the hook says another mend:\n%s", diff)
			}
		})
	}
	if asked < 15 || len(shapes) < 7 {
		t.Errorf("only %d calls of the shapes %v were asked", asked, shapes)
	}
}

// unknown are members of the corpus that mean nothing to us, and that Claude Code
// may have of its own: its calls are asked without them, where POST /asks would
// refuse.
var unknown = strings.NewReplacer(`, "markdown": "# Blue"`, "", `, "recommended": true`, "")

// askedByHook puts an input into an event and returns what is asked then, once
// its answer came back. What is not asked has no decision.
func (w *fixture) askedByHook(input string) (askback.Ask, bool) {
	w.t.Helper()
	w.token(bot)
	kept := w.contents()
	event := `{"session_id":"s1","cwd":"/srv","hook_event_name":"PermissionRequest","tool_name":"AskUserQuestion","tool_input":` + input + `}`
	got := w.sendHook(bot, "", event)
	late := time.After(time.Minute)
	for {
		page, err := w.engine.As(ana).List(w.t.Context(), askback.Query{})
		if err != nil {
			w.t.Fatal(err)
		}
		if len(page.Items) > 0 {
			w.answerAll(page.Items[0])
			wantDecision(w.t, <-got, page.Items[0])
			return page.Items[0], true
		}
		select {
		case r := <-got:
			if r.status != 204 && r.status != 400 || w.contents() != kept {
				w.t.Errorf("nothing is asked, and the reply is %d %s", r.status, r.body)
			}
			return askback.Ask{}, false
		case <-late:
			w.t.Fatal("it neither asks nor ends")
		case <-time.After(look):
		}
	}
}

// answerAll answers every question in own words.
func (w *fixture) answerAll(ask askback.Ask) {
	w.t.Helper()
	var answer askback.Answer
	for _, q := range ask.Questions {
		answer.Answers = append(answer.Answers, askback.QuestionAnswer{ID: q.ID, Other: "Neither."})
	}
	if _, err := w.engine.As(ana).Answer(w.t.Context(), ask.ID, answer); err != nil {
		w.t.Fatal(err)
	}
}

// wantDecision looks whether every question has its answer, by the text that it
// is known by there.
func wantDecision(t *testing.T, got reply, ask askback.Ask) {
	t.Helper()
	var said struct {
		Output struct {
			Decision struct {
				Behavior string `json:"behavior"`
				Input    struct {
					Answers map[string]string `json:"answers"`
				} `json:"updatedInput"`
			} `json:"decision"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal([]byte(got.body), &said); err != nil || said.Output.Decision.Behavior != "allow" {
		t.Fatalf("got %d %s, %v", got.status, got.body, err)
	}
	if n := len(said.Output.Decision.Input.Answers); n != len(ask.Questions) {
		t.Errorf("%d questions, %d answers: %s", len(ask.Questions), n, got.body)
	}
	for text, answer := range said.Output.Decision.Input.Answers {
		if answer != "Neither." {
			t.Errorf("%q is answered %q", text, answer)
		}
	}
}
