package anthropic_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/askback/askback/agent"
	"github.com/askback/askback/agent/anthropic"
	"github.com/askback/askback/agent/anthropic/anthropictest"
	"github.com/askback/askback/conversation"
	"github.com/askback/askback/internal/hosted/modelhttp/modeltest"
	"github.com/askback/askback/test/kit/golden"
	"github.com/askback/askback/test/kit/racedetector"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var prices = agent.Prices{Input: 3, Output: 15, Cached: 0.3, Stored: 3.75}

func newModel(t testing.TB, url string, o anthropic.Options) *anthropic.Model {
	t.Helper()
	o.BaseURL, o.Prices = url, prices
	m, err := anthropic.New("claude-test", modeltest.Key, &o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

func TestClientPassesTheSuite(t *testing.T) { modeltest.Run(t, provider()) }

func TestCutReplyIsAnError(t *testing.T) {
	racedetector.Omit(t)
	modeltest.Cuts(t, provider())
}

func provider() modeltest.Provider {
	return modeltest.Provider{
		Server: anthropictest.New,
		Model: func(t testing.TB, url, key string, idle time.Duration) agent.Model {
			m, err := anthropic.New("claude-test", key, &anthropic.Options{BaseURL: url, Prices: prices, Idle: idle})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(m.Close)
			return m
		},
		Stream: anthropictest.Stream("tool_use",
			anthropictest.Thinking("Which <file>?", "sig1"), anthropictest.Text("I read ", "“notes”", "."),
			anthropictest.ToolUse("toolu_1", "read", `{"path": "no`, `tes.txt"}`),
			anthropictest.ToolUse("toolu_2", "now")),
		Want: agent.ModelReply{
			Text: "I read “notes”.",
			Calls: []conversation.Call{
				{ID: "toolu_1", Tool: "read", Input: json.RawMessage(`{"path": "notes.txt"}`)},
				{ID: "toolu_2", Tool: "now", Input: json.RawMessage(`{}`)},
			},
			Provider: json.RawMessage(`{"provider":"anthropic","model":"claude-test","blocks":[{"type":"thinking","thinking":"Which \u003cfile\u003e?","signature":"sig1"},{"type":"text","text":"I read “notes”."},{"type":"call","call":0},{"type":"call","call":1}]}`),
			Usage: conversation.Usage{
				InputTokens: 1112, CachedTokens: 1000, OutputTokens: 120,
				CostUSD: (12*3 + 1000*0.3 + 100*3.75 + 120*15) / 1e6,
			},
		},
		Errors: map[string]string{
			anthropictest.Event("error",
				`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`): "retry: overloaded",
			anthropictest.Event("error",
				`{"type":"error","error":{"type":"rate_limit_error","message":"x"}}`): "retry: rate",
			anthropictest.Event("error",
				`{"type":"error","error":{"type":"api_error","message":"x"}}`): "retry: has an error",
			anthropictest.Event("error", `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 3 tokens > 2 maximum"}}`): "longer than the model can read",
			anthropictest.Event("message_stop",
				`{"type":"message_stop"`): "retry: cut",
		},
	}
}

// history is a run that began with another provider. It has text, several calls, results, errors and
// thoughts, and its ids repeat.
var history = []conversation.Message{
	{Role: conversation.RoleUser, Text: "Tidy up my notes."},
	{Role: conversation.RoleAssistant, Text: "I look at them.", Provider: json.RawMessage(`{"provider":"other","model":"claude-test","blocks":[{"type":"thinking","thinking":"x","signature":"sig0"}]}`), Calls: []conversation.Call{
		{N: 1, ID: "call", Tool: "list", Input: json.RawMessage(`{}`)},
		{N: 2, ID: "call", Tool: "read", Input: json.RawMessage(`{"path":"a.txt"}`)},
	}},
	{Role: conversation.RoleTool, Result: &conversation.ToolResult{N: 1, ID: "call", Text: "a.txt b.txt"}},
	{Role: conversation.RoleTool, Result: &conversation.ToolResult{
		N: 2, ID: "call", Text: "no such file", IsError: true,
	}},
	{Role: conversation.RoleUser, By: "ana", Text: "Only b.txt, please."},
	{
		Role: conversation.RoleAssistant, Text: "Then b.txt.",
		Calls:    []conversation.Call{{N: 3, ID: "toolu_3", Tool: "read", Input: json.RawMessage(`{"path":"b.txt"}`)}},
		Provider: json.RawMessage(`{"provider":"anthropic","model":"claude-test","blocks":[{"type":"thinking","thinking":"b & c","signature":"sig7"},{"type":"redacted_thinking","data":"xyz"},{"type":"text","text":"\n\n"},{"type":"text","text":"Then b.txt."},{"type":"call","call":0}]}`),
	},
	{Role: conversation.RoleTool, Result: &conversation.ToolResult{N: 3, ID: "toolu_3"}},
	{
		Role: conversation.RoleAssistant, Text: "It is empty.",
		Provider: json.RawMessage(`{"provider":"anthropic","model":"claude-other","blocks":[{"type":"thinking","thinking":"hm","signature":"sig8"},{"type":"text","text":"It is empty."}]}`),
	},
	{Role: conversation.RoleUser, By: "ana", Text: "Thanks."},
	{Role: conversation.RoleAssistant, Text: ""},
	{Role: conversation.RoleUser, By: "ben", Text: "Delete it."},
}

var tools = []agent.Tool{
	{Name: "list", Description: "List the files."},
	{Name: "read", Description: "Read a file.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`)},
}

func TestRequestMatchesGoldenFile(t *testing.T) {
	for name, o := range map[string]anthropic.Options{
		"plain": {}, "thinking": {ThinkingTokens: 2000, MaxTokens: 1000}, "adaptive": {Adaptive: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := anthropictest.New(t)
			s.Add(modeltest.Reply{Body: anthropictest.Stream("end_turn", anthropictest.Text("Done."))})
			got, err := newModel(t, s.URL, o).Reply(t.Context(),
				agent.ModelRequest{System: "You keep notes.", Messages: history, Tools: tools}, nil)
			if err != nil || got.Text != "Done." || got.Provider != nil || got.Cut {
				t.Fatalf("got %+v, %v", got, err)
			}
			var body bytes.Buffer
			json.Indent(&body, s.Bodies()[0], "", "  ")
			golden.Check(t, "testdata/"+name+".json", body.String()+"\n")
		})
	}
}

// TestProviderAcceptsStoredReply checks that a stored reply is sent back so that the provider accepts it.
func TestProviderAcceptsStoredReply(t *testing.T) {
	s := anthropictest.New(t)
	m := newModel(t, s.URL, anthropic.Options{ThinkingTokens: 1024})
	s.Add(
		modeltest.Reply{Body: anthropictest.Stream("tool_use", anthropictest.Thinking("hm", "sig1"),
			anthropictest.ToolUse("toolu_1", "list"))},
		modeltest.Reply{Body: anthropictest.Stream("end_turn", anthropictest.Text("Done."))})
	messages := []conversation.Message{{Role: conversation.RoleUser, Text: "Hello"}}
	got, err := m.Reply(t.Context(), agent.ModelRequest{Messages: messages, Tools: tools}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got.Calls[0].N = 1
	messages = append(messages, conversation.Message{
		Role: conversation.RoleAssistant, Text: got.Text, Calls: got.Calls, Provider: got.Provider,
	},
		conversation.Message{
			Role: conversation.RoleTool, Result: &conversation.ToolResult{N: 1, ID: "toolu_1", Text: "a.txt"},
		})
	if _, err := m.Reply(t.Context(), agent.ModelRequest{Messages: messages, Tools: tools}, nil); err != nil {
		t.Fatal(err)
	}
	if want := `{"signature":"sig1","thinking":"hm","type":"thinking"}`; !bytes.Contains(sorted(t, s.Bodies()[1]),
		[]byte(want)) {
		t.Errorf("%s has no %s", s.Bodies()[1], want)
	}
}

// sorted returns JSON with the members of objects in alphabetical order.
func sorted(t *testing.T, b []byte) []byte {
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	out, _ := json.Marshal(v)
	return out
}

func TestCutOffCallIsRejected(t *testing.T) {
	for name, c := range map[string]struct {
		blocks []anthropictest.Block
		want   []string // the inputs; an input with an error begins with !
	}{
		"in the input": {[]anthropictest.Block{
			anthropictest.ToolUse("t1", "list"), anthropictest.ToolUse("t2", "write", `{"text":"abc`),
		}, []string{`{}`, `!{"INVALID_JSON":"{\"text\":\"abc"}`}},
		"before the input": {
			[]anthropictest.Block{anthropictest.ToolUse("t1", "write")}, []string{`!{"INVALID_JSON":""}`},
		},
		"after the input": {
			[]anthropictest.Block{anthropictest.ToolUse("t1", "write", `{"text":"abc"}`)}, []string{`{"text":"abc"}`},
		},
		"in a thought": {[]anthropictest.Block{anthropictest.Thinking("hm", "")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := anthropictest.New(t)
			s.Add(modeltest.Reply{Body: anthropictest.Stream("max_tokens", c.blocks...)})
			got, err := newModel(t, s.URL, anthropic.Options{}).Reply(t.Context(), modeltest.Request, nil)
			if err != nil || !got.Cut || got.Provider != nil {
				t.Fatalf("got %+v, %v", got, err)
			}
			var inputs []string
			for _, call := range got.Calls {
				if call.Kind == conversation.KindRejected && strings.Contains(call.Error, "maximum length") {
					inputs = append(inputs, "!"+string(call.Input))
				} else {
					inputs = append(inputs, string(call.Input))
				}
			}
			if diff := cmp.Diff(c.want, inputs); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestStopReasonsAreExplained(t *testing.T) {
	for reason, want := range map[string]string{
		"refusal": "refused", "model_context_window_exceeded": "longer than",
		"pause_turn": `not supported: "pause_turn"`,
	} {
		s := anthropictest.New(t)
		s.Add(modeltest.Reply{Body: anthropictest.Stream(reason, anthropictest.Text("I"))})
		_, err := newModel(t, s.URL, anthropic.Options{}).Reply(t.Context(), modeltest.Request, nil)
		failed, ok := errors.AsType[*agent.ModelError](err)
		if !ok || failed.Retry || !strings.Contains(err.Error(), want) || failed.Usage.OutputTokens != 120 {
			t.Errorf("%s: got %+v", reason, err)
		}
	}
}

func TestInvalidSettingsAreRejected(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-env")
	for _, c := range []struct{ key, url, want string }{
		{"", "https://example.com", "no api_key"},
		{"sk a", "https://example.com", "a space"},
		{"sk", "http://example.com", "neither https"},
		{"sk", "https://u:p@example.com", "a user"},
		{"sk", "example.com", "not a URL"},
	} {
		if _, err := anthropic.New("m", c.key, &anthropic.Options{BaseURL: c.url}); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v", c, err)
		}
	}
}

func TestEnvironmentHasNoEffect(t *testing.T) {
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "of-the-environment") // the fake rejects requests that have this token, too
	t.Setenv("ANTHROPIC_API_KEY", "")                      // if this key were set, the SDK would ignore the token
	s := anthropictest.New(t)
	s.Add(modeltest.Reply{Body: anthropictest.Stream("end_turn", anthropictest.Text("Done."))})
	if _, err := newModel(t, s.URL, anthropic.Options{}).Reply(t.Context(), modeltest.Request, nil); err != nil {
		t.Error(err)
	}
}

func TestCutReplyCountsItsUsage(t *testing.T) {
	s := anthropictest.New(t)
	stream := anthropictest.Stream("end_turn", anthropictest.Text("Done."))
	cut := strings.Index(stream, "event: content_block_stop")
	s.Add(modeltest.Reply{Body: stream, Cut: &cut})
	_, err := newModel(t, s.URL, anthropic.Options{}).Reply(t.Context(), modeltest.Request, nil)
	failed, ok := errors.AsType[*agent.ModelError](err)
	want := conversation.Usage{
		InputTokens: 1112, CachedTokens: 1000, OutputTokens: 1, CostUSD: (12*3 + 1000*0.3 + 100*3.75 + 15) / 1e6,
	}
	if !ok || failed.Usage != want {
		t.Errorf("got %+v, want %+v", failed, want)
	}
}
