package gemini_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/askback/askback/internal/agents/gemini"
	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/agents/hook/hooktest"
)

var errNotAsked = errors.New("not asked")

// own is Askback's server: its program on Windows, and its address.
var own = hook.Server{Programs: []string{"askback", `C:\Users\My Name\askback.exe`}, URL: "https://ask.example.com/"}

// read returns the call of an event for a hook that guards tools.
func read(raw []byte) (hook.Call, error) { return readFor(raw, true) }

func readFor(raw []byte, gate bool) (hook.Call, error) {
	ev, err := gemini.Read(raw)
	if err != nil {
		return hook.Call{}, err
	}
	if call, ok := gemini.Call(ev, gate && gemini.Guarded(ev, own)); ok {
		return call, nil
	}
	return hook.Call{}, errNotAsked
}

// The files in testdata have events that Gemini CLI 0.61.0 sent (F9).
func TestHooksMatchTranscripts(t *testing.T) { hooktest.Play(t, read) }

// A hook that does not guard tools asks only questions.
func TestOnlyGuardsAskAboutTools(t *testing.T) {
	const event = `{"session_id":"s1","cwd":"/","hook_event_name":"BeforeTool","timestamp":"2026-11-22T07:08:40.944Z","tool_name":"write_file","tool_input":{}}`
	for gate, want := range map[bool]error{true: nil, false: errNotAsked} {
		if _, err := readFor([]byte(event), gate); !errors.Is(err, want) {
			t.Errorf("gate %t: got %v, want %v", gate, err, want)
		}
	}
}

// allows reports whether an output lets Gemini CLI run the call.
func allows(out []byte) bool {
	return !bytes.HasPrefix(out, []byte(`{"decision":"deny","reason":"`))
}

// Whatever the input, the hook allows a tool only after an approval of exactly this call (F7).
func FuzzRead(f *testing.F) {
	for _, name := range []string{"tool", "question", "foreign"} {
		raw, err := os.ReadFile("testdata/" + name + ".txt")
		if err != nil {
			f.Fatal(err)
		}
		for line := range strings.Lines(string(raw)) {
			if event, ok := strings.CutPrefix(line, "event "); ok {
				f.Add([]byte(event))
			}
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if call, err := read(raw); err == nil {
			hooktest.OnlyApprovalAllows(t, call, allows)
		}
	})
}
