package copilot_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/askback/askback/internal/agents/copilot"
	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/agents/hook/hooktest"
)

var errNotAsked = errors.New("not asked")

// read returns the call of an event for a hook that does not guard permissions.
func read(raw []byte) (hook.Call, error) { return readFor(raw, false) }

func readFor(raw []byte, gate bool) (hook.Call, error) {
	ev, err := copilot.Read(raw)
	if err != nil {
		return hook.Call{}, err
	}
	if call, ok := copilot.Call(ev, gate); ok {
		return call, nil
	}
	return hook.Call{}, errNotAsked
}

// The files in testdata have events that Copilot CLI 1.0.102 sent (F9).
func TestHooksMatchTranscripts(t *testing.T) { hooktest.Play(t, read) }

// A guard also asks about commands that only read, but not about the tools of Askback. A hook that is not a
// guard asks about commands that write or run something.
func TestGuardAsksAboutEachCommand(t *testing.T) {
	const event = `{"hookName":"permissionRequest","sessionId":"s1","timestamp":1,"cwd":"/","toolName":"bash","toolInput":{"command":"COMMAND"}}`
	for command, asked := range map[string]bool{
		"ls -la docs": false, "cat a.txt": false, "grep -rn a .": false, "tail -n 3 a": false,
		"rg a": true, "rg --pre ./evil.sh a": true, "rg --hostname-bin ./evil.sh a": true, "date -s 10:00": true,
		"date 01020304": true,
	} {
		raw := []byte(strings.Replace(event, "COMMAND", command, 1))
		if _, err := read(raw); errors.Is(err, errNotAsked) == asked {
			t.Errorf("%s: got %v, asked %t", command, err, asked)
		}
		if _, err := readFor(raw, true); err != nil {
			t.Errorf("%s, guarded: %v", command, err)
		}
	}
	if _, err := readFor([]byte(strings.Replace(event, `"bash"`, `"askback/get_answer"`, 1)), true); !errors.Is(err,
		errNotAsked) {
		t.Errorf("own tool: got %v", err)
	}
}

// allows reports whether an output allows a permission.
func allows(out []byte) bool { return bytes.Contains(out, []byte(`"behavior":"allow"`)) }

// Whatever the input, the hook allows a tool only after an approval of exactly this call (F7).
func FuzzRead(f *testing.F) {
	for _, name := range []string{"permission", "question", "foreign"} {
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
		call, err := read(raw)
		if err != nil {
			return
		}
		if call.Request.Confirmation != nil {
			hooktest.OnlyApprovalAllows(t, call, allows)
		}
		if again, err := read(raw); err != nil || again.Request.Key != call.Request.Key {
			t.Errorf("the same event has another key: %s, %s, %v", call.Request.Key, again.Request.Key, err)
		}
	})
}
