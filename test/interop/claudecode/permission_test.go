package claudecode_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/askback/askback"
)

func bash(id, command string) turn {
	return calls(id, "Bash", map[string]any{"command": command, "description": "Make a file"})
}

// A person approves a tool, edits its arguments, denies it, or approves it from
// now on (D1, D2, F7, F8, F9).
func TestPersonDecidesAboutTools(t *testing.T) {
	t.Parallel()
	for name, w := range permissionSetups() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, w,
				bash("toolu_1", "touch approved"), bash("toolu_2", "touch asked"), bash("toolu_3", "touch denied"),
				calls("toolu_4", "Write", map[string]any{"file_path": "written", "content": "asked\n"}),
				bash("toolu_5", "touch all"), bash("toolu_6", "touch granted"), text("Done."),
			)
			args := []string{"Do it."}
			if w.noHooks {
				args = append(args, withPermissionTool...)
			}
			r := f.start(args...)

			ask := f.Open(1)[0]
			if c := ask.Confirmation; c.ToolName != "Bash" || !strings.Contains(string(c.Input), `"touch approved"`) {
				t.Errorf("a person is asked for %+v", c)
			}
			if f.fileExists("approved") {
				t.Error("it ran before anybody approved it")
			}
			f.Answer(ask.ID, askback.Answer{Decision: askback.Approve})
			f.wantResult("toolu_1", "")
			if !f.fileExists("approved") {
				t.Error("the approved tool did not run")
			}

			f.Answer(f.Open(1)[0].ID,
				askback.Answer{Decision: askback.Approve, Input: json.RawMessage(`{"command":"touch changed"}`)})
			f.wantResult("toolu_2", "")
			if !f.fileExists("changed") || f.fileExists("asked") {
				t.Error("it did not run as it was changed")
			}

			f.Answer(f.Open(1)[0].ID, askback.Answer{Decision: askback.Deny, Reason: "not on a Friday"})
			f.wantErrorResult("toolu_3", "not on a Friday", "ana")

			ask = f.Open(1)[0]
			if ask.Confirmation.ToolName != "Write" {
				t.Errorf("got %+v, want Write", ask.Confirmation)
			}
			f.Answer(ask.ID, askback.Answer{Decision: askback.Deny, Reason: "no files"})
			f.wantErrorResult("toolu_4", "no files")
			if f.fileExists("denied") || f.fileExists("written") {
				t.Error("the denied tool ran")
			}

			f.Answer(f.Open(1)[0].ID,
				askback.Answer{Decision: askback.ApproveAll, Grant: &askback.GrantRequest{Scope: askback.ScopeTool}})
			f.wantResult("toolu_6", "")
			if !f.fileExists("all") || !f.fileExists("granted") {
				t.Error("what was granted did not run")
			}
			f.wantGranted()
			if e := r.end(); e.IsError || e.Result != "Done." {
				t.Errorf("got %+v", e)
			}
		})
	}
}

// wantGranted requires that the last call was approved by the grant.
func (f *fixture) wantGranted() {
	f.t.Helper()
	page, err := f.Person.List(f.t.Context(), askback.Query{Status: askback.AnyStatus, Limit: 1})
	if err != nil || len(page.Items) != 1 {
		f.t.Fatalf("got %v, %v", page.Items, err)
	}
	if o := page.Items[0].Outcome; o == nil || o.Actor.Kind != askback.ActorPolicy || !o.Approved() {
		f.t.Errorf("got %+v, want it approved by the grant", o)
	}
}
