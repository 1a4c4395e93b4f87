package openai_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/askback/askback/agent"
	"github.com/askback/askback/agent/openai"
	"github.com/askback/askback/agent/openai/openaitest"
	"github.com/askback/askback/conversation"
	"github.com/askback/askback/internal/hosted/modelhttp/modeltest"
	"github.com/askback/askback/test/kit/golden"
	"github.com/askback/askback/test/kit/racedetector"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var prices = agent.Prices{Input: 3, Output: 15, Cached: 0.3}

func newModel(t testing.TB, name, url, key string, o openai.Options) *openai.Model {
	t.Helper()
	o.BaseURL, o.Prices = url, prices
	m, err := openai.New(name, key, &o)
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
		Server: openaitest.New,
		Model: func(t testing.TB, url, key string, idle time.Duration) agent.Model {
			return newModel(t, "gpt-test", url, key, openai.Options{Idle: idle})
		},
		Stream: openaitest.Stream("tool_calls", openaitest.Text("I read ", "“notes”", "."),
			openaitest.Call(0, "call_a", "read", `{"path": "no`, `tes.txt"}`), openaitest.Call(1, "call_b", "now")),
		Want: agent.ModelReply{
			Text: "I read “notes”.",
			Calls: []conversation.Call{
				{ID: "call_a", Tool: "read", Input: json.RawMessage(`{"path": "notes.txt"}`)},
				{ID: "call_b", Tool: "now", Input: json.RawMessage(`{}`)},
			},
			Usage: conversation.Usage{
				InputTokens: 1112, CachedTokens: 1000, OutputTokens: 120, CostUSD: (112*3 + 1000*0.3 + 120*15) / 1e6,
			},
		},
		Errors: map[string]string{
			openaitest.Event(
				`{"error":{"message":"The server had an error","type":"server_error","param":null,"code":null}}`,
			): "retry: has an error",
			openaitest.Event(
				`{"error":{"message":"x","type":"requests","code":"rate_limit_exceeded"}}`,
			): "retry: rate",
			openaitest.Event(
				`{"error":{"message":"x","code":503}}`,
			): "retry: 503",
			openaitest.Event(`{"error":{"message":"too long","type":"invalid_request_error","param":"x","code":"context_length_exceeded"}}`): "longer than the model can read",
			openaitest.Event(`{"choices":[}`):                                    "retry: cut",
			openaitest.Event("[DONE]"):                                           "retry: did not finish",
			openaitest.Delta(`{"content":"I"}`) + ": comment\n\n":                "retry: cut",
			openaitest.Stream("error")[len(openaitest.Delta(`{"content":""}`)):]: "retry: ",
		},
	}
}

// history is a run that began with another provider. It has text, several calls, results, errors and
// thoughts, and its ids repeat.
var history = []conversation.Message{
	{Role: conversation.RoleUser, Text: "Tidy up my notes."},
	{
		Role: conversation.RoleAssistant, Text: "I look at them.",
		Provider: json.RawMessage(`{"provider":"anthropic","model":"gpt-test","thoughts":"no"}`),
		Calls: []conversation.Call{
			{N: 1, ID: "", Tool: "list", Input: json.RawMessage(`{}`)},
			{N: 2, ID: "a.b", Tool: "read", Input: json.RawMessage(`{"path":"a.txt"}`)},
		},
	},
	{Role: conversation.RoleTool, Result: &conversation.ToolResult{N: 1, Text: "a.txt b.txt"}},
	{Role: conversation.RoleTool, Result: &conversation.ToolResult{
		N: 2, ID: "a.b", Text: "no such file", IsError: true,
	}},
	{Role: conversation.RoleUser, By: "ana", Text: "Only b.txt, please."},
	{Role: conversation.RoleUser, By: "ana", Text: "And c.txt."},
	{
		Role:     conversation.RoleAssistant,
		Calls:    []conversation.Call{{N: 3, ID: "call_x", Tool: "read", Input: json.RawMessage(`{"path":"b.txt"}`)}},
		Provider: json.RawMessage(`{"provider":"openai","base_url":"BASE","model":"gpt-test","thoughts":"b, then c"}`),
	},
	{Role: conversation.RoleTool, Result: &conversation.ToolResult{N: 3, ID: "call_x"}},
	{Role: conversation.RoleAssistant, Text: "It is empty.", Provider: json.RawMessage(
		`{"provider":"openai","base_url":"https://example.com","model":"gpt-test","thoughts":"secret"}`,
	)},
	{Role: conversation.RoleUser, By: "ana", Text: "Thanks."},
	{Role: conversation.RoleAssistant},
	{Role: conversation.RoleUser, By: "ben", Text: "Delete it."},
}

var tools = []agent.Tool{
	{Name: "list", Description: "List the files."},
	{Name: "read", Description: "Read a file.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`)},
}

func TestRequestMatchesGoldenFile(t *testing.T) {
	for file, c := range map[string]struct {
		model string
		o     openai.Options
	}{
		"plain": {"gpt-test", openai.Options{}}, "limit": {"gpt-test", openai.Options{MaxTokens: 500}},
		"reasoning": {"gpt-5-mini", openai.Options{MaxTokens: 500, Effort: "low"}},
	} {
		t.Run(file, func(t *testing.T) {
			s := openaitest.New(t)
			s.Add(modeltest.Reply{Body: openaitest.Stream("stop", openaitest.Text("Done."))})
			b, _ := json.Marshal(history)
			var messages []conversation.Message
			json.Unmarshal(bytes.ReplaceAll(b, []byte("BASE"), []byte(s.URL)), &messages)
			got, err := newModel(t, c.model, s.URL, modeltest.Key, c.o).Reply(t.Context(),
				agent.ModelRequest{System: "You keep notes.", Messages: messages, Tools: tools}, nil)
			if err != nil || got.Text != "Done." || got.Provider != nil || got.Cut {
				t.Fatalf("got %+v, %v", got, err)
			}
			var body bytes.Buffer
			json.Indent(&body, s.Bodies()[0], "", "  ")
			golden.Check(t, "testdata/"+file+".json", body.String()+"\n")
		})
	}
}

// TestCallsOfOtherServersAreRead reads calls in the forms in which other servers with the same API send them.
func TestCallsOfOtherServersAreRead(t *testing.T) {
	whole := func(index, id, name string) string {
		return openaitest.Delta(fmt.Sprintf(
			`{"tool_calls":[{%s"id":"%s","type":"function","function":{"name":"%s","arguments":"{\"a\":1}"}}]}`, index,
			id, name,
		))
	}
	for name, c := range map[string]struct {
		stream string
		want   string
	}{
		"all with index 0": {
			openaitest.Stream("stop", whole(`"index":0,`, "a", "x"), whole(`"index":0,`, "b", "y")),
			`a x {"a":1}; b y {"a":1}; `,
		},
		"without index": {
			openaitest.Stream("tool_calls", whole("", "a", "x"), whole("", "b", "y")), `a x {"a":1}; b y {"a":1}; `,
		},
		"without index, ids": {
			openaitest.Stream("tool_calls", whole("", "", "x"), whole("", "", "x")), ` x {"a":1};  x {"a":1}; `,
		},
		"id in each piece": {
			openaitest.Stream("tool_calls", openaitest.Call(0, "a", "x"),
				openaitest.Delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}]}`)),
			`a x {}; `,
		},
		"interleaved": {openaitest.Stream("tool_calls", openaitest.Call(0, "a", "x"), openaitest.Call(1, "b", "y"),
			openaitest.Delta(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":"}},{"index":1,"function":{"arguments":"{}"}}]}`),
			openaitest.Delta(`{"tool_calls":[{"index":0,"function":{"arguments":"2}"}}]}`)), `a x {"a":2}; b y {}; `},
		"not an object": {
			openaitest.Stream("tool_calls", openaitest.Call(0, "a", "x", `[1]`)), `a x !{"INVALID_JSON":"[1]"}; `,
		},
		"cut off": {
			openaitest.Stream("length", openaitest.Call(0, "a", "x", `{"a": "b`)),
			`a x !{"INVALID_JSON":"{\"a\": \"b"}; `,
		},
		"not yet begun": {openaitest.Stream("length", openaitest.Call(0, "a", "x")), `a x !{"INVALID_JSON":""}; `},
		"comments first": {
			strings.Repeat(": processing\n\n", 1000) + openaitest.Stream("stop", openaitest.Call(0, "a", "x")),
			`a x {}; `,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := openaitest.New(t)
			s.Add(modeltest.Reply{Body: c.stream})
			reply, err := newModel(t, "gpt-test", s.URL, modeltest.Key,
				openai.Options{}).Reply(t.Context(), modeltest.Request, nil)
			var got strings.Builder
			for _, call := range reply.Calls {
				mark := ""
				if call.Kind == conversation.KindRejected && call.Error != "" {
					mark = "!"
				}
				fmt.Fprintf(&got, "%s %s %s%s; ", call.ID, call.Tool, mark, call.Input)
			}
			if diff := cmp.Diff(c.want, got.String()); diff != "" || err != nil {
				t.Error(diff, err)
			}
		})
	}
}

func TestThoughtsOfCallsAreKept(t *testing.T) {
	s := openaitest.New(t)
	thought := openaitest.Delta(`{"reasoning_content":"hm"}`)
	s.Add(modeltest.Reply{Body: openaitest.Stream("tool_calls", thought, openaitest.Call(0, "a", "x"))},
		modeltest.Reply{Body: openaitest.Stream("stop", thought, openaitest.Text("Yes."))})
	m := newModel(t, "gpt-test", s.URL, modeltest.Key, openai.Options{})
	for _, want := range []string{
		`{"provider":"openai","base_url":"` + s.URL + `","model":"gpt-test","thoughts":"hm"}`, "",
	} {
		got, err := m.Reply(t.Context(), modeltest.Request, func(piece string) {
			if strings.Contains(piece, "hm") {
				t.Error("a thought is shown as text")
			}
		})
		if err != nil || string(got.Provider) != want {
			t.Errorf("got %s, %v, want %s", got.Provider, err, want)
		}
	}
}

func TestRefusalsAreExplained(t *testing.T) {
	for want, stream := range map[string]string{
		"refused":                 openaitest.Stream("content_filter", openaitest.Text("I")),
		"the model refused":       openaitest.Stream("stop", openaitest.Delta(`{"refusal":"I cannot help"}`)),
		`not supported: "strange`: openaitest.Stream("strange"),
	} {
		s := openaitest.New(t)
		s.Add(modeltest.Reply{Body: stream})
		_, err := newModel(t, "gpt-test", s.URL, modeltest.Key,
			openai.Options{}).Reply(t.Context(), modeltest.Request, nil)
		failed, ok := errors.AsType[*agent.ModelError](err)
		if !ok || failed.Retry || !strings.Contains(err.Error(), want) || failed.Usage.OutputTokens != 120 {
			t.Errorf("got %+v, want %q", err, want)
		}
	}
}

func TestInvalidSettingsAreRejected(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-env")
	for _, c := range []struct{ key, url, want string }{
		{"", "", "no api_key"},
		{"sk a", "", "a space"},
		{"", "http://example.com/v1", "neither https"},
		{"", "http://127.0.0.1:11434/v1", ""},
		{"", "http://localhost:11434/v1", ""},
		{"", "https://example.com/v1", ""},
	} {
		if _, err := openai.New(
			"m", c.key, &openai.Options{BaseURL: c.url},
		); fmt.Sprint(err) != "<nil>" != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v", c, err)
		}
	}
}
