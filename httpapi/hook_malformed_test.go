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

// Malformed arguments of AskUserQuestion in a hook create the same ask as in POST /asks, or no ask. Without
// an ask, Claude Code shows its own dialog (F15, W1-W15).
func TestMalformedInputOfHookIsRepairedOrIgnored(t *testing.T) {
	paths, err := filepath.Glob("../internal/wire/decode/testdata/malformed/*.txtar")
	if err != nil || len(paths) < 50 {
		t.Fatalf("got %d files, %v", len(paths), err)
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
			w.server.Config.Handler = w.handler // malformed bodies do not match the document
			got, ok := w.askedByHook(input)
			if !ok {
				return
			}
			asked++
			shapes[name[:3]] = true
			want := w.ask(withoutUnknown.Replace(input))
			if diff := cmp.Diff(want.Questions, got.Questions); diff != "" || want.Kind != got.Kind {
				t.Errorf("the hook asks other questions (-POST /asks +hook):\n%s", diff)
			}
			if diff := cmp.Diff(want.Warnings, got.Warnings); diff != "" {
				t.Errorf("the hook has other warnings:\n%s", diff)
			}
		})
	}
	if asked < 15 || len(shapes) < 7 {
		t.Errorf("got only %d asks, of the shapes %v", asked, shapes)
	}
}

// withoutUnknown removes members that POST /asks rejects. A hook ignores them, because
// Claude Code may add members.
var withoutUnknown = strings.NewReplacer(`, "markdown": "# Blue"`, "", `, "recommended": true`, "")

// askedByHook sends an event with an input, and answers its ask. It reports false if the
// event creates no ask.
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
				w.t.Errorf("got no ask and the reply %d %s", r.status, r.body)
			}
			return askback.Ask{}, false
		case <-late:
			w.t.Fatal("got neither an ask nor a reply")
		case <-time.After(pollTime):
		}
	}
}

// answerAll answers every question with the text "Neither.".
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

// wantDecision requires a decision that allows the call and answers every question with "Neither.".
func wantDecision(t *testing.T, got reply, ask askback.Ask) {
	t.Helper()
	var decision struct {
		Output struct {
			Decision struct {
				Behavior string `json:"behavior"`
				Input    struct {
					Answers map[string]string `json:"answers"`
				} `json:"updatedInput"`
			} `json:"decision"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal([]byte(got.body), &decision); err != nil || decision.Output.Decision.Behavior != "allow" {
		t.Fatalf("got %d %s, %v", got.status, got.body, err)
	}
	if n := len(decision.Output.Decision.Input.Answers); n != len(ask.Questions) {
		t.Errorf("%d questions, %d answers: %s", len(ask.Questions), n, got.body)
	}
	for text, answer := range decision.Output.Decision.Input.Answers {
		if answer != "Neither." {
			t.Errorf("%q is answered %q", text, answer)
		}
	}
}
