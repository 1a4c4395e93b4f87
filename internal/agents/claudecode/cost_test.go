package claudecode_test

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/askbacktest"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/agents/claudecode"
	"github.com/askback/askback/internal/agents/config"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/mcpserver"
	"github.com/askback/askback/store/memstore"
)

// allocated returns the number of bytes that a function allocates.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Read allocates at most twice the size of the event, and keeps no huge member. A parsed
// tree would need a hundred bytes for each byte (T5).
func TestReadAllocatesAtMostTwiceTheSizeOfTheEvent(t *testing.T) {
	zeros := "[" + strings.Repeat("0,", claudecode.MaxInput/2-200) + "0]"
	for _, member := range []string{
		`"tool_response":` + zeros, `"tool_input":{"n":` + zeros + `}`,
		`"requested_schema":{"properties":` + zeros + `}`, `"message":` + zeros,
	} {
		raw := []byte(`{"session_id":"s1","hook_event_name":"PreToolUse","tool_name":"Bash",` + member + `}`)
		var ev claudecode.Event
		var err error
		if took := allocated(func() { ev, err = claudecode.Read(raw, "") }); took > 2*claudecode.MaxInput ||
			err != nil {
			t.Errorf("%.30s…: %d bytes allocate %d, %v", member, len(raw), took, err)
		}
		if held := len(ev.Input) + len(ev.Schema) + len(ev.Message); held > 0 || !cannotAsk(ev) {
			t.Errorf("%.30s…: %d bytes are kept, and it can be asked", member, held)
		}
	}
}

// An event with a string that is too long is an error. A form whose message is too long for a
// question is not asked.
func TestTooLongStringIsRejected(t *testing.T) {
	for _, name := range []string{"prompt_id", "cwd", "tool_name", "message", "agent_id"} {
		raw := fmt.Sprintf(`{"session_id":"s1","hook_event_name":"PermissionRequest","tool_input":{},%q:%q}`, name,
			strings.Repeat("x", 1<<20))
		if ev, err := claudecode.Read([]byte(raw), ""); err == nil {
			t.Errorf("%s: got %.100v, want an error", name, ev)
		}
	}
	form := `{"session_id":"s1","hook_event_name":"Elicitation","mcp_server_name":"m","message":%q,"requested_schema":{"properties":{"ok":{"type":"boolean"}}}}`
	for length, want := range map[int]bool{100: true, 5_000: true, limits.MaxQuestion: false} {
		message := strings.Repeat("x", length-4) + " EUR"
		r, ok := requestOf(event(t, fmt.Sprintf(form, message)))
		if ok != want || ok && !strings.Contains(r.Title+r.Questions[0].Text, message) {
			t.Errorf("a message of %d: asked %t, want %t with all of it", length, ok, want)
		}
	}
}

// The input of a tool that ran is parsed once, not for each open ask (T5).
func TestInputOfToolIsParsedOnce(t *testing.T) {
	var numbers []float64
	for i := range 20_000 {
		numbers = append(numbers, float64(i)+0.123456789)
	}
	input, err := json.Marshal(map[string]any{"command": "x", "n": numbers})
	if err != nil {
		t.Fatal(err)
	}
	ran := event(t, strings.Replace(ranBash, `{"command":"make"}`, string(input), 1))
	cost := func(asks int) uint64 {
		client := engine.New(memstore.New(),
			&engine.Options{MaxOpen: 1000}).As(askback.Principal{Kind: askback.Agent, Name: "bot"})
		for i := range asks {
			r, _ := requestOf(event(t, strings.Replace(runBash, "make", fmt.Sprintf("make %d", i), 1)))
			if _, err := client.Ask(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		return allocated(func() {
			if err := withdrawEnded(t.Context(), client, ran); err != nil {
				t.Error(err)
			}
		})
	}
	if none, one, many := cost(0), cost(1), cost(50); many > 2*one || none > one/2 {
		t.Errorf("got %d bytes with no ask, %d with one, %d with fifty", none, one, many)
	}
}

// The tools of Askback need no approval, and askback init allows exactly these tools. Other tools of a server
// with the same name need approval, and incomplete names are not split (F7).
func TestOnlyOwnToolsNeedNoApproval(t *testing.T) {
	files, err := claudecode.Config.FilesFor(config.User, config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	settings, err := files[1].Edit(nil)
	if err != nil {
		t.Fatal(err)
	}
	var allowed struct {
		Permissions struct {
			Allow []string `json:"allow"`
		} `json:"permissions"`
	}
	if err := json.Unmarshal(settings, &allowed); err != nil {
		t.Fatal(err)
	}
	own := ownTools(t)
	if len(own) != 7 || len(allowed.Permissions.Allow) != len(own) {
		t.Errorf("our tools are %q, and init allows %q", own, allowed.Permissions.Allow)
	}
	gate := strings.Replace(runBash, `"PermissionRequest"`, `"PreToolUse","tool_use_id":"toolu_1"`, 1)
	for _, raw := range []string{runBash, gate} {
		for _, tool := range own {
			full := "mcp__askback__" + tool
			ev := event(t, strings.Replace(raw, `"Bash"`, `"`+full+`"`, 1))
			if _, asks := requestOf(ev); asks || cannotAsk(ev) || !slices.Contains(allowed.Permissions.Allow, full) {
				t.Errorf("%s: asked %t, cannot be asked %t, or not among %q", full, asks, cannotAsk(ev),
					allowed.Permissions.Allow)
			}
		}
		for tool, want := range map[string]bool{
			"mcp__askback__delete_everything": true, "mcp__askback__evil__run": true,
			"mcp__askback__get_answer__x": true, "mcp__askback2__get_answer": true, "mcp__Askback__get_answer": true,
			"get_answer": true, "mcp____Bash": false, "mcp____": false, "mcp__": false, "mcp__askback": false,
			"mcp__askback__": false,
		} {
			ev := event(t, strings.Replace(raw, `"Bash"`, `"`+tool+`"`, 1))
			if _, asks := requestOf(ev); asks != want || cannotAsk(ev) == want {
				t.Errorf("%s: asked %t, want %t", tool, asks, want)
			}
			if c := claudecode.Permission(tool, nil).Confirmation; !want && (c.ToolName != tool || c.Server != "") {
				t.Errorf("%s was split into %q of %q", tool, c.ToolName, c.Server)
			}
		}
	}
}

// ownTools returns the tools that Askback's MCP server lists.
func ownTools(t *testing.T) (names []string) {
	t.Helper()
	in, requests := io.Pipe()
	replyPipe, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- mcpserver.New(nil).ServeStdio(t.Context(), askbacktest.New(t).Agent("local"), in, out)
		out.Close()
	}()
	lines := []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"claude-code","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`,
	}
	go fmt.Fprintln(requests, strings.Join(lines, "\n"))
	replies := json.NewDecoder(replyPipe)
	for names == nil {
		var reply struct {
			Result struct {
				Tools []struct {
					Name string `json:"name"`
				} `json:"tools"`
			} `json:"result"`
		}
		if err := replies.Decode(&reply); err != nil {
			t.Fatal(err)
		}
		for _, tool := range reply.Result.Tools {
			names = append(names, tool.Name)
		}
	}
	requests.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	return names
}
