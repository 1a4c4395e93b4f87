package copilothook_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/askback/askback/internal/copilothook"
	"github.com/askback/askback/internal/hook"
	"github.com/askback/askback/internal/hook/hooktest"
)

var errNotAsked = errors.New("not asked")

func read(raw []byte) (hook.Call, error) {
	ev, err := copilothook.Read(raw)
	if err != nil {
		return hook.Call{}, err
	}
	if call, ok := copilothook.Call(ev); ok {
		return call, nil
	}
	return hook.Call{}, errNotAsked
}

// The files in testdata have events that Copilot CLI 1.0.102 sent (F9).
func TestHooksMatchTranscripts(t *testing.T) { hooktest.Play(t, read) }

// A permission is allowed by an output with the behavior allow.
func allows(out []byte) bool { return bytes.Contains(out, []byte(`"behavior":"allow"`)) }

// No input makes the hook allow a tool without an approval of exactly this call (F7).
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
