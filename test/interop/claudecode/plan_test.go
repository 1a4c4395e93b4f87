package claudecode_test

import (
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/askback/askback"
)

// planPath matches the path of the file in which Claude Code wants a plan.
var planPath = regexp.MustCompile(`/[^\s"\\]*/\.claude/plans/[\w-]+\.md`)

// writePlan returns the turn that writes the plan into the file that Claude Code chose.
func (f *fixture) writePlan(id, plan string) turn {
	return turn{later: func() turn {
		f.model.mu.Lock()
		defer f.model.mu.Unlock()
		return calls(id, "Write", map[string]any{"file_path": f.model.planFile, "content": plan})
	}}
}

func exitPlanMode(id string) turn { return calls(id, "ExitPlanMode", map[string]any{}) }

func enterPlanMode(id string) turn { return calls(id, "EnterPlanMode", map[string]any{}) }

// after returns a turn that begins when proceed is closed, or when the test ends. Until then no further dialog
// can get a key that is meant for the current one.
func (f *fixture) after(proceed <-chan struct{}, next turn) turn {
	return turn{later: func() turn {
		select {
		case <-proceed:
		case <-f.t.Context().Done():
		}
		return next
	}}
}

// openIn waits for an ask about a tool, which Claude Code must call in a permission mode.
func (f *fixture) openIn(mode, tool string) askback.Ask {
	f.t.Helper()
	ask := f.Open(1)[0]
	var origin struct {
		Mode string `json:"permission_mode"`
	}
	if err := json.Unmarshal(ask.Context, &origin); err != nil {
		f.t.Error(err)
	}
	if c := ask.Confirmation; c == nil || c.ToolName != tool || origin.Mode != mode {
		f.t.Fatalf("a person is asked for %+v in the mode %q, want %s in %s", c, origin.Mode, tool, mode)
	}
	return ask
}

const planned = "# Move the users\n\n1. Copy.\n2. Switch.\n"

// A plan that a person denies is not approved, and the model reads the reason. A plan that a person approves
// ends plan mode. With an edited plan, the model and the file get the edited text (D2, F9).
func TestPersonDecidesAboutPlans(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]setup{"by hook": local, "by the hook of an address": remoteHTTP} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, w)
			f.model.script = []turn{
				f.writePlan("toolu_1", planned), exitPlanMode("toolu_2"), exitPlanMode("toolu_3"),
				bash("toolu_4", "touch moved"), enterPlanMode("toolu_5"), exitPlanMode("toolu_6"),
				bash("toolu_7", "touch edited"), text("Done."),
			}
			s := f.startTerminal("--permission-mode", "plan", "Plan it.")

			ask := f.openIn("plan", "ExitPlanMode")
			var plan struct {
				Plan string `json:"plan"`
				Path string `json:"planFilePath"`
			}
			if c := ask.Confirmation; json.Unmarshal(c.Input, &plan) != nil || plan.Plan != planned ||
				c.Description != "Move the users" {
				t.Errorf("a person is asked for %s: %s", c.Description, c.Input)
			}
			s.waitFor("Would you like to proceed?")
			f.Answer(ask.ID, askback.Answer{Decision: askback.Deny, Reason: "do step 2 last"})
			f.wantErrorResult("toolu_2", `Denied by "ana"`, "do step 2 last")

			f.Answer(f.openIn("plan", "ExitPlanMode").ID, askback.Answer{Decision: askback.Approve})
			f.wantResult("toolu_3", "User has approved your plan", planned)
			f.Answer(f.openIn("default", "Bash").ID, askback.Answer{Decision: askback.Approve})
			f.wantResult("toolu_4", "")

			plan.Plan = strings.Replace(planned, "2. Switch.", "2. Test.\n3. Switch.", 1)
			input, err := json.Marshal(plan)
			if err != nil {
				t.Fatal(err)
			}
			f.Answer(f.openIn("plan", "ExitPlanMode").ID, askback.Answer{Decision: askback.Approve, Input: input})
			f.wantResult("toolu_6", "User has approved your plan", plan.Plan)
			if got, err := os.ReadFile(plan.Path); err != nil || string(got) != plan.Plan {
				t.Errorf("the file of the plan is %q, want %q; %v", got, plan.Plan, err)
			}
			f.Answer(f.openIn("default", "Bash").ID, askback.Answer{Decision: askback.Approve})
			s.waitFor("Done.")
			if !f.fileExists("moved") || !f.fileExists("edited") {
				t.Error("the approved plan was not carried out")
			}
		})
	}
}

// The terminal and Askback show a plan at the same time, and the first decision counts: the dialog closes, or
// the ask is cancelled (D2, F9).
func TestFirstDecisionAboutPlanCounts(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]setup{"by hook": local, "by the hook of an address": remoteHTTP} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, w)
			decided := make(chan struct{})
			f.model.script = []turn{
				f.writePlan("toolu_1", planned), exitPlanMode("toolu_2"), enterPlanMode("toolu_3"),
				exitPlanMode("toolu_4"), f.after(decided, bash("toolu_5", "touch moved")), enterPlanMode("toolu_6"),
				exitPlanMode("toolu_7"),
			}
			s := f.startTerminal("--permission-mode", "plan", "Plan it.")

			ask := f.openIn("plan", "ExitPlanMode")
			s.waitFor("Would you like to proceed?")
			f.Answer(ask.ID, askback.Answer{Decision: askback.Approve})
			s.waitFor("Entered plan mode")

			ask = f.openIn("plan", "ExitPlanMode")
			s.waitFor("Would you like to proceed?", "❯ 1. Yes")
			s.pressUntil("Down", contains("❯ 2. Yes, manually approve edits"))
			f.pressUntilCancelled(s, "Enter", ask)
			f.wantResult("toolu_4", "User has approved your plan")
			close(decided)
			f.Answer(f.openIn("default", "Bash").ID, askback.Answer{Decision: askback.Approve})
			f.wantResult("toolu_5", "")

			ask = f.openIn("plan", "ExitPlanMode")
			s.waitFor("Would you like to proceed?", "❯ 1. Yes")
			f.pressUntilCancelled(s, "Escape", ask)
			s.waitFor("plan mode on")
		})
	}
}

// pressUntilCancelled presses a key in the dialog of an ask until the agent has cancelled the ask.
func (f *fixture) pressUntilCancelled(s *screen, key string, ask askback.Ask) {
	f.t.Helper()
	s.pressUntil(key, func(string) error {
		got, err := f.Person.Get(bounded(f.t), ask.ID)
		if err == nil && !got.Settled() {
			err = errors.New("the ask is open")
		}
		return err
	})
	f.wantCancelled(ask)
}

// Without a terminal, Claude Code asks about plans only with the permission tool. Without it, the model cannot
// leave plan mode (D2, F9).
func TestPersonDecidesAboutPlansWithoutTerminal(t *testing.T) {
	t.Parallel()
	for name, w := range permissionSetups() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, w)
			f.model.script = []turn{
				f.writePlan("toolu_1", planned), exitPlanMode("toolu_2"), exitPlanMode("toolu_3"), text("Done."),
			}
			args := []string{"--permission-mode", "plan", "Plan it."}
			if w.noHooks {
				args = append(args, withPermissionTool...)
			}
			r := f.start(args...)
			if w.noHooks {
				f.Answer(f.Open(1)[0].ID, askback.Answer{Decision: askback.Deny, Reason: "do step 2 last"})
				f.wantErrorResult("toolu_2", `Denied by "ana"`, "do step 2 last")
				ask := f.Open(1)[0]
				input := strings.Replace(string(ask.Confirmation.Input), "2. Switch.", "2. Test.", 1)
				f.Answer(ask.ID, askback.Answer{Decision: askback.Approve, Input: json.RawMessage(input)})
				f.wantResult("toolu_3", "User has approved your plan", "2. Test.")
			} else {
				f.wantErrorResult("toolu_3", "No such tool available: ExitPlanMode")
			}
			if e := r.end(); e.IsError || e.Result != "Done." {
				t.Errorf("got %+v", e)
			}
		})
	}
}
