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

// withTasks declares the tasks extension. A call with this declaration returns a task immediately.
const withTasks = `{"extensions": {"io.modelcontextprotocol/tasks": {}}}`

// Malformed input of real models is repaired to the same ask, or rejected with the same text,
// as by package asktool (F15, W1–W15).
func TestMalformedCallsAreRepairedOrRejected(t *testing.T) {
	paths, err := filepath.Glob("../internal/wire/decode/testdata/malformed/*.txtar")
	if err != nil || len(paths) < 40 {
		t.Fatalf("%d wild calls: %v", len(paths), err)
	}
	asked, rejected := 0, 0
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				args := malformedArguments(t, path)
				want, mistaken := asktool.Questions(args)
				f := newFixture(t)
				_, got := post(t, f.httpClient("bot"), "tools/call", "ask_user_question",
					toolCall("ask_user_question", string(args), withTasks))
				result, _ := got["result"].(map[string]any)
				if m, ok := errors.AsType[*asktool.Mistake](mistaken); ok {
					rejected++
					content, _ := result["content"].([]any)
					if result["isError"] != true || len(content) != 1 {
						t.Fatalf("got %v, want %q", got, m)
					}
					text, _ := content[0].(map[string]any)["text"].(string)
					if text != m.Error() || utf8.RuneCountInString(text) > 400 || len(f.pendingAsks()) != 0 {
						t.Errorf("got %q, want %q", text, m)
					}
					return
				}
				asked++
				if result["resultType"] != "task" {
					t.Fatalf("got %v", got)
				}
				if diff := cmp.Diff(want.Questions, f.pendingAsk().Questions); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
	if asked < 10 || rejected < 10 {
		t.Errorf("%d were asked and %d refused", asked, rejected)
	}
}

// malformedArguments returns the arguments that a model sent. Text that is not JSON is put in a string, as
// clients do.
func malformedArguments(t *testing.T, path string) []byte {
	t.Helper()
	file, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, section := range file.Files {
		if section.Name != "input" {
			continue
		}
		input := strings.TrimSuffix(string(section.Data), "\n")
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

func TestToolNamesOfOtherProgramsAreAccepted(t *testing.T) {
	eachTransport(t, func(t *testing.T, f *fixture, connect func() *mcp.ClientSession) {
		cs := connect()
		for i, name := range []string{"AskUserQuestion", "askUserQuestion", "ask_user"} {
			callTool(t.Context(), cs, name, fmt.Sprintf(`{"question": "Number %d?"}`, i)).text(t)
		}
		if got := len(f.pendingAsks()); got != 3 {
			t.Errorf("%d asks, want 3", got)
		}
		if got := callTool(t.Context(), cs, "ask_nobody", `{}`); got.err == nil {
			t.Errorf("got %s", got.text(t))
		}
	})
}

// An error for the input of a tool of this package has at most 400 characters: the position of the mistake,
// and the expected value (F15).
func TestInvalidInputIsExplained(t *testing.T) {
	eachTransport(t, func(t *testing.T, f *fixture, connect func() *mcp.ClientSession) {
		cs := connect()
		for _, test := range []struct{ tool, args, want string }{
			{"get_answer", `{}`, "/question_id: missing;"},
			{"get_answer", `{"id": "ask_1"}`, "/id: unknown field; known fields: question_id."},
			{"get_answer", `{"question_id": 7}`, "/question_id: must be a string, not a number."},
			{"get_answer", `["ask_1"]`, "The input must be one JSON object."},
			{"get_answer", `{"question_id": "ask_01k00000000000000000000000"}`, "you have no question called"},
			{"get_answer", `{"question_id": "` + strings.Repeat("é", 5000) + `"}`, "you have no question called"},
			{
				"wait_for_answer", `{"question_id": "ask_1", "max_wait_s": "soon"}`,
				"/max_wait_s: must be a number of seconds",
			},
			{
				"wait_for_answer", `{"question_id": "ask_1", "max_wait_s": -1}`,
				"/max_wait_s: must be a number of seconds",
			},
			{"list_open_questions", `{"status": "all"}`, "/status: unknown field; known fields: cursor. Example: {}"},
			{"confirm_action", `{"action": " "}`, "/action"},
		} {
			got := callTool(t.Context(), cs, test.tool, test.args)
			if text := got.text(t); !got.IsError || !strings.Contains(text, test.want) ||
				utf8.RuneCountInString(text) > 400 {
				t.Errorf("%s %.60s: error %t, %q, want %q", test.tool, test.args, got.IsError, text, test.want)
			}
		}
		if asks := f.pendingAsks(); len(asks) != 0 {
			t.Errorf("asked: %v", asks)
		}
	})
}
