package agents_test

import (
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/test/interop/clienttest"
)

// With askback attach codex, the hooks of Codex do not ask for permissions that have a dialog. There is one
// ask, and the first answer counts. After askback attach has ended, the hooks ask again.
func TestAttachedCodexAsksOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t, codexWithHooks("codex", "--user"),
		call{"call_1", "exec_command", map[string]any{"cmd": "sleep 3"}}, codexPermission.call("call_2"),
		codexPermission.call("call_3"))
	attached := f.attach()
	f.stopDaemon()
	s := clienttest.NewScreen(t, f.project, f.environ(), f.program, "Do it.")
	s.PressUntil("2", clienttest.Contains("› 2. Trust all"))
	s.PressUntil("Enter", clienttest.Lacks("Trust all"))
	ask := f.Open(1)[0]
	s.WaitFor(codexPermission.dialog...)
	if strings.Contains(string(ask.Context), "PermissionRequest") {
		t.Errorf("a hook asked: %s", ask.Context)
	}
	release := f.model.hold("call_3")
	f.Answer(ask.ID, askback.Answer{Decision: askback.Approve})
	codexPermission.want(f, "call_2", "wrote")
	s.Until(clienttest.Lacks(codexPermission.dialog[1]))
	if err := attached.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = attached.Wait()
	release()
	ask = f.openAfter(ask)
	if !strings.Contains(string(ask.Context), "PermissionRequest") {
		t.Errorf("without attach, no hook asked: %s", ask.Context)
	}
	f.Answer(ask.ID, askback.Answer{Decision: askback.Approve})
	codexPermission.want(f, "call_3", "wrote")
}
