package mcpserver_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/askback/askback/asktool"
)

// withTasks makes a call come back at once.
const withTasks = `{"extensions": {"io.modelcontextprotocol/tasks": {}}}`

// What models really send reaches the decoder as it was sent: it is mended to the
// same ask or explained by the same words as anywhere else (F15, W1–W15).
func TestWildCallsThroughTheProtocol(t *testing.T) {
	paths, err := filepath.Glob("../internal/decode/testdata/malformed/*.txtar")
	if err != nil || len(paths) < 40 {
		t.Fatalf("%d wild calls: %v", len(paths), err)
	}
	asked, refused := 0, 0
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				args := wildArguments(t, path)
				want, mistaken := asktool.Questions(args)
				d := newDesk(t)
				_, got := post(t, d.web("bot"), "tools/call", "ask_user_question", toolCall("ask_user_question", string(args), withTasks))
				result, _ := got["result"].(map[string]any)
				if m, ok := errors.AsType[*asktool.Mistake](mistaken); ok {
					refused++
					content, _ := result["content"].([]any)
					if result["isError"] != true || len(content) != 1 {
						t.Fatalf("got %v, want %q", got, m)
					}
					text, _ := content[0].(map[string]any)["text"].(string)
					if text != m.Error() || utf8.RuneCountInString(text) > 400 || len(d.open()) != 0 {
						t.Errorf("got %q, want %q", text, m)
					}
					return
				}
				asked++
				if result["resultType"] != "task" {
					t.Fatalf("got %v", got)
				}
				if diff := cmp.Diff(want.Questions, d.only().Questions); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
	if asked < 10 || refused < 10 {
		t.Errorf("%d were asked and %d refused", asked, refused)
	}
}

// wildArguments is what a model sent, or as clients pass it on that cannot: text
// that is no JSON comes in a string.
func wildArguments(t *testing.T, path string) []byte {
	t.Helper()
	file, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range file.Files {
		if f.Name != "input" {
			continue
		}
		input := strings.TrimSuffix(string(f.Data), "\n")
		if json.Valid([]byte(input)) {
			return []byte(input)
		}
		quoted, err := json.Marshal(input)
		if err != nil {
			t.Fatal(err)
		}
		return quoted
	}
	t.Fatal("no input")
	return nil
}

// A model that knows the tool by another program's name means it all the same.
func TestOtherNamesOfTheTool(t *testing.T) {
	each(t, func(t *testing.T, d *desk, connect func() *mcp.ClientSession) {
		cs := connect()
		for i, name := range []string{"AskUserQuestion", "askUserQuestion", "ask_user"} {
			call(t.Context(), cs, name, fmt.Sprintf(`{"question": "Number %d?"}`, i)).text(t)
		}
		if got := len(d.open()); got != 3 {
			t.Errorf("%d asks, want 3", got)
		}
		if got := call(t.Context(), cs, "ask_nobody", `{}`); got.err == nil {
			t.Errorf("got %s", got.text(t))
		}
	})
}

// Mistakes in the small tools are explained as well: where, what was expected, an
// example (F15).
func TestMistakesInSmallToolsAreExplained(t *testing.T) {
	each(t, func(t *testing.T, d *desk, connect func() *mcp.ClientSession) {
		cs := connect()
		for _, test := range []struct{ tool, args, want string }{
			{"get_answer", `{}`, "/question_id: which question?"},
			{"get_answer", `{"id": "ask_1"}`, "/id: there is no such field; there is question_id."},
			{"get_answer", `{"question_id": 7}`, "/question_id: a text, not a number."},
			{"get_answer", `["ask_1"]`, "The input is one JSON object."},
			{"get_answer", `{"question_id": "ask_01k00000000000000000000000"}`, "you have no question called"},
			{"get_answer", `{"question_id": "` + strings.Repeat("é", 5000) + `"}`, "you have no question called"},
			{"wait_for_answer", `{"question_id": "ask_1", "max_wait_s": "soon"}`, "/max_wait_s: a number of seconds"},
			{"wait_for_answer", `{"question_id": "ask_1", "max_wait_s": -1}`, "/max_wait_s: a number of seconds"},
			{"list_open_questions", `{"status": "all"}`, "/status: there is no such field; there is cursor. Example: {}"},
			{"confirm_action", `{"action": " "}`, "/action"},
		} {
			got := call(t.Context(), cs, test.tool, test.args)
			if text := got.text(t); !got.IsError || !strings.Contains(text, test.want) || utf8.RuneCountInString(text) > 400 {
				t.Errorf("%s %.60s: error %t, %q, want %q", test.tool, test.args, got.IsError, text, test.want)
			}
		}
		if asks := d.open(); len(asks) != 0 {
			t.Errorf("somebody was asked: %v", asks)
		}
	})
}
