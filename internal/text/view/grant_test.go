package view_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/text/view"
)

// The view shows which calls of which agent a grant covers, how often it was used, and whether it has ended
// (F8).
func TestGrantNamesItsAgentScopeAndLimits(t *testing.T) {
	g := askback.Grant{
		ID: "grt_1", Owner: "bot", Agent: "deploy\u202ebot", ToolName: "db.migrate\n", Server: "w", By: "ana",
		CreatedAt: noon, ExpiresAt: noon.Add(time.Hour), SessionID: "ses_1", Digest: "sha256:1",
	}
	for scope, want := range map[askback.Scope][2]string{
		askback.ScopeTool:    {"this tool, with any arguments", ""},
		askback.ScopeSession: {"this tool, with any arguments, in one session", "ses_1"},
		askback.ScopeInput:   {"exactly these arguments", "sha256:1"},
		"new":                {"", ""},
	} {
		g.Scope = scope
		v := view.OfGrant(g)
		if got := [2]string{v.Scope, v.Limit.String()}; got != want {
			t.Errorf("%s: got %q, want %q", scope, got, want)
		}
		if v.Agent.String() != "deploy⟨U+202E⟩bot" || v.Owner.String() != "bot" {
			t.Errorf("got agent %q and owner %q", v.Agent, v.Owner)
		}
	}
	g.Agent = "bot"
	if got := view.OfGrant(g).Owner.String(); got != "" {
		t.Errorf("the token is named twice: %q", got)
	}
	for uses, want := range map[int]string{0: "not used yet", 1: "used once", 2: "used 2 times"} {
		g.Uses = uses
		if got := view.OfGrant(g).Usage(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for _, c := range []struct {
		at      time.Time
		revoked time.Time
		want    bool
	}{{noon, time.Time{}, false}, {noon.Add(time.Hour), time.Time{}, true}, {noon, noon, true}} {
		g.RevokedAt = c.revoked
		if got := view.OfGrant(g).Ended(c.at); got != c.want {
			t.Errorf("%+v: over is %v", c, got)
		}
	}
}

// The sentence attributes the approval to the standing approval, and mentions edited arguments (D1, F8, F4).
func TestOutcomeNamesTheStandingApproval(t *testing.T) {
	for want, o := range map[string]askback.Outcome{
		"approved by the standing approval of ana (grt_1)": {
			Status: askback.Answered, Decision: askback.Approve,
			Actor: askback.Actor{Kind: askback.ActorPolicy, Name: "ana"}, GrantID: "grt_1",
		},
		"approved with other arguments by ana in the browser": {
			Status: askback.Answered, Decision: askback.Approve,
			Actor: askback.Actor{Kind: askback.ActorPerson, Name: "ana"}, Channel: askback.ChannelWeb,
			Input: json.RawMessage(`{"a":1}`),
		},
		"approved, also for later calls, by ana in the terminal": {
			Status: askback.Answered, Decision: askback.ApproveAll,
			Actor: askback.Actor{Kind: askback.ActorPerson, Name: "ana"}, Channel: askback.ChannelTerminal,
			GrantID: "grt_1",
		},
	} {
		v := view.Of(askback.Ask{Outcome: &o}).Outcome
		if got := v.Sentence.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if v.Grant.String() != o.GrantID || v.ByGrant != (o.Actor.Kind == askback.ActorPolicy) ||
			(v.Arguments.String() == "") != (len(o.Input) == 0) {
			t.Errorf("got %+v", v)
		}
	}
}

// Each decision in the form of a confirmation becomes an answer (F7, F8).
func TestFormReturnsTheDecision(t *testing.T) {
	a := view.Of(askback.Ask{Confirmation: &askback.Confirmation{ToolName: "t", Input: json.RawMessage(`{"a":1}`)}})
	for name, c := range map[string]struct {
		fill func(*view.Form)
		want askback.Answer
	}{
		"untouched": {func(f *view.Form) { f.Decision = askback.Approve }, askback.Answer{Decision: askback.Approve}},
		"edited": {
			func(f *view.Form) { f.Decision, f.Input = askback.Approve, " {\"a\":2}\n" },
			askback.Answer{Decision: askback.Approve, Input: json.RawMessage(`{"a":2}`)},
		},
		"denied": {
			func(f *view.Form) { f.Decision, f.Input = askback.Deny, "{" }, askback.Answer{Decision: askback.Deny},
		},
		"all": {
			func(f *view.Form) {
				f.Decision, f.Scope, f.ExpiresIn = askback.ApproveAll, askback.ScopeInput, time.Hour
			},
			askback.Answer{Decision: askback.ApproveAll, Grant: &askback.GrantRequest{
				Scope: askback.ScopeInput, ExpiresIn: time.Hour,
			}},
		},
		"only this": {
			func(f *view.Form) { f.Decision, f.Scope, f.ExpiresIn = askback.Approve, askback.ScopeTool, time.Hour },
			askback.Answer{Decision: askback.Approve},
		},
	} {
		f := view.NewForm(a)
		if !f.Empty() || f.Edited() {
			t.Error("an empty form is filled in")
		}
		c.fill(&f)
		if d := cmp.Diff(c.want, f.Answer(a)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		f.Check(a)
		if len(f.Problems) != 0 {
			t.Errorf("%s: %+v", name, f.Problems)
		}
	}
	f := view.NewForm(a)
	f.Decision = askback.ApproveAll
	want := &askback.GrantRequest{Scope: askback.ScopeInput, ExpiresIn: limits.DefaultGrant}
	if d := cmp.Diff(want, f.Answer(a).Grant); d != "" {
		t.Errorf("a standing approval without a choice: %s", d)
	}
}

// Markdown in names, labels and arguments is shown as the agent sent it (F3).
func TestOnlyTextForPeopleIsParsedAsMarkdown(t *testing.T) {
	const s = "**a**"
	raw, _ := json.Marshal(s)
	a := view.Of(askback.Ask{
		Title: s, Agent: s, Context: raw, Tags: []string{s},
		Questions: []askback.Question{{Text: s, Header: s, Default: []string{s + "!"}, Options: []askback.Option{
			{Label: s, Description: s, Preview: s},
		}}},
		Confirmation: &askback.Confirmation{
			ToolName: s, Server: s, Description: s, Context: s, InputPreview: s,
			Input: []byte(`{"x":` + string(raw) + `}`),
		},
	})
	q, c := a.Questions[0], a.Confirmation
	for where, words := range map[string]view.Markdown{
		"context": a.Context, "question": q.Text, "description of an option": q.Choices[0].Description,
		"description": c.Description, "its context": c.Context,
	} {
		if got := words.String(); got != "a" {
			t.Errorf("%s: got %q", where, got)
		}
	}
	for where, exact := range map[string]view.Text{
		"title": a.Title, "agent": a.Agent, "tag": a.Tags[0], "header": q.Header, "label": q.Choices[0].Label,
		"preview": q.Choices[0].Preview, "tool": c.Tool, "server": c.Server, "its preview": c.Preview,
	} {
		if got := exact.String(); got != s {
			t.Errorf("%s: got %q", where, got)
		}
	}
	if got, want := c.Arguments.String(), "{\n  \"x\": \"**a**\"\n}"; got != want {
		t.Errorf("got %s", got)
	}
	object := view.Of(askback.Ask{Context: json.RawMessage(`{"**a**": "*"}`)})
	if len(object.Context) != 0 || object.Data.String() != "{\n  \"**a**\": \"*\"\n}" {
		t.Errorf("got %q and %q", object.Context, object.Data)
	}
}

// An ask without a session gets a separate session, which ends with the ask. Their ids have the same number.
func TestSessionOfASingleAskIsRecognized(t *testing.T) {
	for session, want := range map[string]bool{"ses_1": true, "ses_2": false} {
		if got := view.Of(askback.Ask{ID: "ask_1", SessionID: session}).OwnSession; got != want {
			t.Errorf("in %s: got %v", session, got)
		}
	}
}

// A grant shows its arguments. A grant that covers any arguments of a free-text tool is marked.
func TestGrantShowsItsArguments(t *testing.T) {
	g := askback.Grant{
		ID: "grt_1", ToolName: "confirm_action", Scope: askback.ScopeInput, AskID: "ask_1",
		Input: json.RawMessage(`{"action":"List the files"}`),
	}
	if v := view.OfGrant(g); v.Arguments.String() != "{\n  \"action\": \"List the files\"\n}" ||
		v.Ask.String() != "ask_1" || !v.Exact || v.FreeText {
		t.Errorf("got %+v", v)
	}
	g.Scope, g.Input = askback.ScopeTool, nil
	if v := view.OfGrant(g); v.Arguments.String() != "" || v.Exact || !v.FreeText {
		t.Errorf("got %+v", v)
	}
}

func TestFreeTextDetectsToolsThatRunText(t *testing.T) {
	for tool, want := range map[string]bool{
		"Bash": true, "bash": true, "confirm_action": true, "mcp__db__execute_sql": true,
		"files.run_shell_command": true, "http-request": true, "WebFetch": true, " query ": true, "drop_table": false,
		"bashful": false, "Read": false, "": false, "executeSQL": true, "run command": true, "runInTerminal": true,
		"confirmAction": true, "ssh:launch-process": true, "_": false,
	} {
		if got := view.FreeText(tool); got != want {
			t.Errorf("%q: got %v, want %v", tool, got, want)
		}
	}
}
