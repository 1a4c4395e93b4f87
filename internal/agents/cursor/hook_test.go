package cursor_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/askback/askback/internal/agents/cursor"
	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/agents/hook/hooktest"
)

var errNotAsked = errors.New("not asked")

// own is Askback's server: its programs on macOS and Windows, and its address.
var own = hook.Server{
	Programs: []string{"askback", "/Users/My Name/bin/askback", `C:\askback.exe`}, URL: "https://ask.example.com",
}

func read(raw []byte) (hook.Call, error) {
	ev, err := cursor.Read(raw)
	if err != nil {
		return hook.Call{}, err
	}
	if !cursor.Guarded(ev, own) {
		return hook.Call{}, errNotAsked
	}
	if call, ok := cursor.Call(ev); ok {
		return call, nil
	}
	return hook.Call{}, errNotAsked
}

// The files in testdata have events in the format of Cursor's documentation (F9).
func TestHooksMatchTranscripts(t *testing.T) { hooktest.Play(t, read) }

func allows(out []byte) bool { return !bytes.HasPrefix(out, []byte(`{"permission":"deny",`)) }

// Whatever the input, the hook allows a call only after an approval of exactly this call (F7).
func FuzzRead(f *testing.F) {
	raw, err := os.ReadFile("testdata/permission.txt")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if event, ok := strings.CutPrefix(line, "event "); ok {
			f.Add([]byte(event))
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if call, err := read(raw); err == nil {
			hooktest.OnlyApprovalAllows(t, call, allows)
		}
	})
}
