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

// A person approves what a tool may do, changes it, denies it, or approves it
// from now on; what then happens is on the disk (D1, D2, F7, F8, F9).
func TestPermissionsOfOtherTools(t *testing.T) {
	t.Parallel()
	for name, w := range ways() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, w,
				bash("toolu_1", "touch approved"), bash("toolu_2", "touch asked"), bash("toolu_3", "touch denied"),
				calls("toolu_4", "Write", map[string]any{"file_path": "written", "content": "asked\n"}),
				bash("toolu_5", "touch all"), bash("toolu_6", "touch granted"), says("Done."),
			)
			args := []string{"Do it."}
			if w.hookless {
				args = append(args, prompted...)
			}
			r := d.start(args...)

			ask := d.Open(1)[0]
			if c := ask.Confirmation; c.ToolName != "Bash" || !strings.Contains(string(c.Input), `"touch approved"`) {
				t.Errorf("a person is asked for %+v", c)
			}
			if d.made("approved") {
				t.Error("it ran before anybody approved it")
			}
			d.Answer(ask.ID, askback.Answer{Decision: askback.Approve})
			d.told("toolu_1", "")
			if !d.made("approved") {
				t.Error("what was approved did not run")
			}

			d.Answer(d.Open(1)[0].ID, askback.Answer{Decision: askback.Approve, Input: json.RawMessage(`{"command":"touch changed"}`)})
			d.told("toolu_2", "")
			if !d.made("changed") || d.made("asked") {
				t.Error("it did not run as it was changed")
			}

			d.Answer(d.Open(1)[0].ID, askback.Answer{Decision: askback.Deny, Reason: "not on a Friday"})
			d.refused("toolu_3", "not on a Friday", "ana")

			ask = d.Open(1)[0]
			if ask.Confirmation.ToolName != "Write" {
				t.Errorf("got %+v, want Write", ask.Confirmation)
			}
			d.Answer(ask.ID, askback.Answer{Decision: askback.Deny, Reason: "no files"})
			d.refused("toolu_4", "no files")
			if d.made("denied") || d.made("written") {
				t.Error("what was denied ran")
			}

			d.Answer(d.Open(1)[0].ID, askback.Answer{Decision: askback.ApproveAll, Grant: &askback.GrantRequest{Scope: askback.ScopeTool}})
			d.told("toolu_6", "")
			if !d.made("all") || !d.made("granted") {
				t.Error("what was granted did not run")
			}
			d.onlyGranted()
			if e := r.end(); e.IsError || e.Result != "Done." {
				t.Errorf("got %+v", e)
			}
		})
	}
}

// onlyGranted checks that the last call was approved by the grant, and counted.
func (d *desk) onlyGranted() {
	d.t.Helper()
	page, err := d.Person.List(d.t.Context(), askback.Query{Status: askback.AnyStatus, Limit: 1})
	if err != nil || len(page.Items) != 1 {
		d.t.Fatalf("got %v, %v", page.Items, err)
	}
	if o := page.Items[0].Outcome; o == nil || o.Actor.Kind != askback.ActorPolicy || !o.Approved() {
		d.t.Errorf("got %+v, want it approved by the grant", o)
	}
}
