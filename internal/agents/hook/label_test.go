package hook_test

import (
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/hook"
)

// The label of an ask contains the program and the folder (F9).
func TestLabelIsProgramAndFolder(t *testing.T) {
	for _, test := range []struct{ program, folder, want string }{
		{"codex", "/srv/shop", "codex · shop"},
		{"codex", "/srv/shop/", "codex · shop"},
		{"codex", `C:\work\shop`, "codex · shop"},
		{"codex", "", "codex"},
		{"codex", "/", "codex"},
		{"codex", ".", "codex"},
		{"", "/srv/shop", ""},
		{"codex", "/srv/a\x1b[31m\u202eb", "codex · a [31m b"},
	} {
		got := hook.Label(test.program, test.folder)
		if got != test.want {
			t.Errorf("%s in %q: got %q, want %q", test.program, test.folder, got, test.want)
		}
		if ask := (askback.Ask{Agent: got}); hook.IsBy(ask, "codex") != (test.program == "codex") {
			t.Errorf("%q is by codex: %t", got, !hook.IsBy(ask, "codex"))
		}
	}
	if hook.IsBy(askback.Ask{Agent: "codex2 · shop"}, "codex") {
		t.Error("codex2 is taken for codex")
	}
}
