package claudehook_test

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
	"github.com/askback/askback/internal/agentconfig"
	"github.com/askback/askback/internal/claudehook"
	"github.com/askback/askback/mcpserver"
	"github.com/askback/askback/store/memstore"
)

// allocated is how many bytes something took, kept or not.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Whatever stands in an event, reading it costs no more than a copy or two of it:
// of a tree there would be a hundred bytes for each byte (T5).
func TestReadingAnEventCostsACopyOfIt(t *testing.T) {
	zeros := "[" + strings.Repeat("0,", claudehook.MaxInput/2-200) + "0]"
	for _, member := range []string{`"tool_response":` + zeros, `"tool_input":{"n":` + zeros + `}`, `"requested_schema":{"properties":` + zeros + `}`, `"message":` + zeros} {
		raw := []byte(`{"session_id":"s1","hook_event_name":"PreToolUse","tool_name":"Bash",` + member + `}`)
		var ev claudehook.Event
		var err error
		if took := allocated(func() { ev, err = claudehook.Read(raw, "") }); took > 2*claudehook.MaxInput || err != nil {
			t.Errorf("%.30s…: %d bytes took %d, %v", member, len(raw), took, err)
		}
		if held := len(ev.Input) + len(ev.Schema) + len(ev.Message); held > 0 || !claudehook.Unaskable(ev) {
			t.Errorf("%.30s…: %d bytes are held, and it is asked", member, held)
		}
	}
}

// No name or text of an event is as long as this one, and what is not read whole
// is not asked.
func TestATextThatIsTooLongIsNoEvent(t *testing.T) {
	for _, name := range []string{"prompt_id", "cwd", "tool_name", "message", "agent_id"} {
		raw := fmt.Sprintf(`{"session_id":"s1","hook_event_name":"PermissionRequest","tool_input":{},%q:%q}`, name, strings.Repeat("x", 1<<20))
		if ev, err := claudehook.Read([]byte(raw), ""); err == nil {
			t.Errorf("%s: got %.100v, want an error", name, ev)
		}
	}
	form := `{"session_id":"s1","hook_event_name":"Elicitation","mcp_server_name":"m","message":%q,"requested_schema":{"properties":{"ok":{"type":"boolean"}}}}`
	for length, want := range map[int]bool{100: true, 5_000: true, askback.MaxQuestion: false} {
		message := strings.Repeat("x", length-4) + " EUR"
		r, ok := claudehook.Request(event(t, fmt.Sprintf(form, message)))
		if ok != want || ok && !strings.Contains(r.Title+r.Questions[0].Text, message) {
			t.Errorf("a message of %d: asked %t, want %t with all of it", length, ok, want)
		}
	}
}

// However many asks are open, the input of a tool that ran is read once (T5).
func TestAToolThatRanIsReadOnce(t *testing.T) {
	var numbers []float64
	for i := range 20_000 {
		numbers = append(numbers, float64(i)+0.123456789)
	}
	input, err := json.Marshal(map[string]any{"command": "x", "n": numbers})
	if err != nil {
		t.Fatal(err)
	}
	ran := event(t, strings.Replace(ranBash, `{"command":"make"}`, string(input), 1))
	cost := func(cards int) uint64 {
		seat := engine.New(memstore.New(), &engine.Options{MaxOpen: 1000}).As(askback.Principal{Kind: askback.Agent, Name: "bot"})
		for i := range cards {
			r, _ := claudehook.Request(event(t, strings.Replace(runBash, "make", fmt.Sprintf("make %d", i), 1)))
			if _, err := seat.Ask(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		return allocated(func() {
			if err := claudehook.Retire(t.Context(), seat, ran); err != nil {
				t.Error(err)
			}
		})
	}
	if none, one, many := cost(0), cost(1), cost(50); many > 2*one || none > one/2 {
		t.Errorf("with no card it takes %d bytes, with one %d, with fifty %d", none, one, many)
	}
}

// Whoever calls a tool of ours asks people anyway: these need no permission and are
// the only ones that init allows. Another tool of a server of our name is one of the
// others, and what is half a name is nobody's (F7).
func TestOnlyOurOwnToolsPass(t *testing.T) {
	files, err := agentconfig.Files("claude-code", agentconfig.User, agentconfig.Wish{})
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
	ours := toolsOfOurs(t)
	if len(ours) != 7 || len(allowed.Permissions.Allow) != len(ours) {
		t.Errorf("there are %q, and init allows %q", ours, allowed.Permissions.Allow)
	}
	gate := strings.Replace(runBash, `"PermissionRequest"`, `"PreToolUse","tool_use_id":"toolu_1"`, 1)
	for _, raw := range []string{runBash, gate} {
		for _, tool := range ours {
			full := "mcp__askback__" + tool
			ev := event(t, strings.Replace(raw, `"Bash"`, `"`+full+`"`, 1))
			if _, asks := claudehook.Request(ev); asks || claudehook.Unaskable(ev) || !slices.Contains(allowed.Permissions.Allow, full) {
				t.Errorf("%s: asked %t, unaskable %t, or not among %q", full, asks, claudehook.Unaskable(ev), allowed.Permissions.Allow)
			}
		}
		for tool, want := range map[string]bool{
			"mcp__askback__delete_everything": true, "mcp__askback__evil__run": true, "mcp__askback__get_answer__x": true, "mcp__askback2__get_answer": true,
			"mcp__Askback__get_answer": true, "get_answer": true, "mcp____Bash": false, "mcp____": false, "mcp__": false, "mcp__askback": false, "mcp__askback__": false,
		} {
			ev := event(t, strings.Replace(raw, `"Bash"`, `"`+tool+`"`, 1))
			if _, asks := claudehook.Request(ev); asks != want || claudehook.Unaskable(ev) == want {
				t.Errorf("%s: asked %t, want %t", tool, asks, want)
			}
			if c := claudehook.Permission(tool, nil).Confirmation; !want && (c.ToolName != tool || c.Server != "") {
				t.Errorf("%s passes for %q of %q", tool, c.ToolName, c.Server)
			}
		}
	}
}

// toolsOfOurs are the tools that our MCP server lists.
func toolsOfOurs(t *testing.T) (names []string) {
	t.Helper()
	in, say := io.Pipe()
	hear, out := io.Pipe()
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
	go fmt.Fprintln(say, strings.Join(lines, "\n"))
	replies := json.NewDecoder(hear)
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
	say.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	return names
}
