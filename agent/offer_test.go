package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/agent"
	"github.com/askback/askback/asktool"
	"github.com/askback/askback/conversation"
)

// offered returns the names of the tools that the model of a run gets, and its system prompt.
func offered(t *testing.T, r *agent.Runner, m *model, run conversation.Run) (names []string, system string) {
	t.Helper()
	if in, ok := r.Reply(t.Context(), run, request, nil, nil).(conversation.ModelReplied); !ok {
		t.Fatalf("got %+v", in)
	}
	for _, tool := range m.got.Tools {
		names = append(names, tool.Name)
	}
	return names, m.got.System
}

var everyTicketTool = []string{
	"tickets__binary", "tickets__break", "tickets__close", "tickets__flood", "tickets__list", "tickets__panic",
	"tickets__search",
}

func TestRunIsOfferedOnlyAllowedTools(t *testing.T) {
	bubble := func(d *agent.Definition) { d.Bubble = true }
	async := func(d *agent.Definition) { d.AsyncQuestions = true }
	asks := []string{"ask_user_question", "confirm_action"}
	alone := conversation.Run{Agent: "support", Path: []string{"support"}, Unattended: true}
	for _, c := range []struct {
		name   string
		run    conversation.Run
		change []func(*agent.Definition)
		want   []string // the names of the built-in tools
	}{
		{"a person started it", attended, nil, slices.Concat(asks, []string{"todo_write", "spawn_agents"})},
		{"a program started it", unattended, nil, []string{"todo_write", "spawn_agents"}},
		{"a program started it, with async_questions", unattended, []func(*agent.Definition){async}, slices.Concat(asks,
			[]string{"todo_write", "spawn_agents"})},
		{"a child", child, nil, []string{"todo_write"}},
		{"a child, with async_questions", child, []func(*agent.Definition){async}, []string{"todo_write"}},
		{"a child, with bubble", child, []func(*agent.Definition){bubble}, slices.Concat(asks, []string{"todo_write"})},
		{"a child of a program, with bubble", alone, []func(*agent.Definition){bubble}, []string{"todo_write"}},
		{
			"a child of a program, with both", alone,
			[]func(*agent.Definition){bubble, async},
			slices.Concat(asks, []string{"todo_write"}),
		},
		{
			"a grandchild, with bubble",
			conversation.Run{Agent: "support", Path: []string{"support", "support"}},
			[]func(*agent.Definition){bubble},
			slices.Concat(asks, []string{"todo_write"}),
		},
		{
			"a child of an agent that is gone",
			conversation.Run{Agent: "support", Path: []string{"gone"}},
			[]func(*agent.Definition){bubble},
			[]string{"todo_write"},
		},
	} {
		d, m := support()
		for _, f := range c.change {
			f(&d)
		}
		got, system := offered(t, newRunner(t, d), m, c.run)
		if want := slices.Concat(c.want, everyTicketTool); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", c.name, got, want)
		}
		if asks := slices.Contains(c.want, "ask_user_question"); strings.Contains(system, "## Asking people") != asks {
			t.Errorf("%s: the prompt is\n%s", c.name, system)
		}
		if spawns := slices.Contains(c.want,
			"spawn_agents"); strings.Contains(system, "- support: Answers tickets.") != spawns {
			t.Errorf("%s: the prompt is\n%s", c.name, system)
		}
	}
}

func TestOutermostDefinitionDecidesAboutAsking(t *testing.T) {
	parent, _ := support()
	parent.Name, parent.Bubble, parent.To = "parent", true, []string{"ana"}
	d, m := support()
	d.To = []string{"ben"}
	r := newRunner(t, parent, d)
	run := conversation.Run{Agent: "support", Path: []string{"parent", "support"}}
	c := plan(t, r, m, run, call("confirm_action", `{"action":"Delete it"}`))
	q, err := r.Question(run, c)
	if err != nil || !slices.Equal(q.To, []string{"ana"}) {
		t.Errorf("got %q, %v", q.To, err)
	}
	run.Path = []string{"support", "parent"}
	if c := plan(t, r, m, run, call("confirm_action", `{"action":"Delete it"}`)); c.Kind != conversation.KindRejected {
		t.Errorf("got %+v", c)
	}
}

func TestUnavailableToolsAreRejectedWithAdvice(t *testing.T) {
	d, m := support()
	r := newRunner(t, d)
	question := `{"question":"Which?"}`
	for _, c := range []struct {
		name        string
		run         conversation.Run
		tool, input string
		want        string
	}{
		{"child", child, "ask_user_question", question, "Sub-agents cannot ask people. Decide yourself"},
		{"child", child, "AskUserQuestion", question, "Sub-agents cannot ask people. Decide yourself"},
		{"child", child, "confirm_action", `{"action":"x"}`, "Sub-agents cannot ask people. Decide yourself"},
		{
			"child", child, "spawn_agents", `{"tasks":[{"prompt":"x"}]}`,
			"Sub-agents cannot start agents. Do this yourself",
		},
		{"child", child, "tickets__close", `{}`, "tickets__close was not called: it needs the approval of a person, " +
			"and sub-agents cannot ask for it. Do the rest without it"},
		{
			"program", unattended, "ask_user", question,
			"A program started this run, so no person can be asked. Decide yourself",
		},
		{
			"program", unattended, "tickets__close", `{}`,
			"tickets__close was not called: it needs the approval of a person, and no person can be asked",
		},
	} {
		got := plan(t, r, m, c.run, call(c.tool, c.input))
		if got.Kind != conversation.KindRejected || !strings.HasPrefix(got.Error, c.want) || len(got.Error) > 400 {
			t.Errorf("%s, %s: got %+v, want %q", c.name, c.tool, got.Plan, c.want)
		}
		reason := map[string]string{
			"child": "Sub-agents cannot ask people.", "program": "A program started this run,",
		}[c.name]
		if _, err := r.Question(c.run, call(c.tool, c.input)); err == nil || !strings.HasPrefix(err.Error(), reason) {
			t.Errorf("%s, %s: got %v", c.name, c.tool, err)
		}
	}
	for _, run := range []conversation.Run{child, unattended} {
		if got := plan(t, r, m, run, call("tickets__search", `{}`)); got.Kind != conversation.KindTool || got.Confirm {
			t.Errorf("got %+v", got)
		}
	}
	if len(m.got.Tools) == 0 ||
		!strings.Contains(m.got.Tools[4].Description, "No person can be asked in this run, so it is rejected") {
		t.Errorf("got %+v", m.got.Tools)
	}
}

func TestAskToolsMustBeNamedInDefinition(t *testing.T) {
	d, m := support()
	d.Tools = []string{"tickets"}
	r := newRunner(t, d)
	for _, run := range []conversation.Run{attended, unattended} {
		got := plan(t, r, m, run, call("ask_user_question", `{"question":"Which?"}`))
		if got.Kind != conversation.KindRejected ||
			!strings.HasPrefix(got.Error, `There is no tool "ask_user_question".`) {
			t.Errorf("got %+v", got)
		}
	}
	if m.got.System != "You answer tickets." {
		t.Errorf("the prompt is %q", m.got.System)
	}
	// With async_questions, no tool needs to be named.
	d.AsyncQuestions = true
	if err := r.Set([]agent.Definition{d}); err != nil {
		t.Fatal(err)
	}
	if got := plan(t, r, m, unattended,
		call("askUserQuestion", `{"question":"Which?"}`)); got.Kind != conversation.KindAsk {
		t.Errorf("got %+v", got)
	}
}

func TestPromptContainsSectionOfEachAskTool(t *testing.T) {
	for _, c := range []struct {
		tools    []string
		has, not string
	}{
		{[]string{"ask_user_question"}, "- before steps that are hard to undo\n", "confirm_action"},
		{[]string{"confirm_action"}, "Ask with confirm_action", "ask_user_question"},
	} {
		d, m := support()
		d.Tools, d.Toolsets = c.tools, nil
		_, system := offered(t, newRunner(t, d), m, attended)
		if !strings.HasPrefix(system, "You answer tickets.\n\n## Asking people\n\n") ||
			!strings.Contains(system, c.has) || strings.Contains(system, c.not) {
			t.Errorf("%q: got\n%s", c.tools, system)
		}
	}
}

func TestPromptStatesWhetherSubAgentsMayAsk(t *testing.T) {
	for _, c := range []struct {
		run    conversation.Run
		bubble bool
		want   string
	}{
		{attended, false, "cannot ask people: gather"},
		{attended, true, "They may ask people."},
		{unattended, false, "cannot ask people. They"},
		{unattended, true, "cannot ask people. They"},
	} {
		d, m := support()
		d.Bubble = c.bubble
		if _, system := offered(t, newRunner(t, d), m, c.run); !strings.Contains(system, c.want) {
			t.Errorf("%+v: got\n%s", c, system)
		}
	}
}

func TestOnlyNamedToolsAreOffered(t *testing.T) {
	d, m := support()
	d.Tools = []string{"tickets.search", "tickets.close"}
	r := newRunner(t, d)
	if got, _ := offered(t, r, m, attended); !slices.Equal(got, []string{"tickets__close", "tickets__search"}) {
		t.Errorf("got %q", got)
	}
	if got := r.Execute(t.Context(), attended, call("tickets__break", `{}`)); !got.IsError ||
		!strings.Contains(got.Text, "does not have this tool") {
		t.Errorf("got %+v", got)
	}
	if c := m.got.Tools[0]; !strings.HasPrefix(c.Description, "Closes a ticket.") ||
		!strings.Contains(c.Description, "must approve it") {
		t.Errorf("got %+v", c)
	}
	if c := m.got.Tools[1]; c.Description != "Searches tickets." || !strings.Contains(string(c.Schema), `"q"`) {
		t.Errorf("got %+v", c)
	}
}

func TestNamesForModelsAreValidAndDiffer(t *testing.T) {
	names := func(servers map[string][]string) (all []string) {
		d, m := support()
		d.Tools, d.Toolsets = nil, nil
		for _, server := range slices.Sorted(func(yield func(string) bool) {
			for s := range servers {
				if !yield(s) {
					return
				}
			}
		}) {
			var tools []agent.Function
			for _, name := range servers[server] {
				tools = append(tools, function(name, server, "", true,
					func(context.Context, json.RawMessage) (string, error) { return server + "." + name, nil }))
			}
			d.Tools, d.Toolsets = append(d.Tools, server), append(d.Toolsets, agent.Functions(server, tools...))
		}
		r := newRunner(t, d)
		all, _ = offered(t, r, m, attended)
		var results []string
		for _, name := range all {
			results = append(results, r.Execute(t.Context(), attended, call(name, `{}`)).Text)
		}
		slices.Sort(results)
		if n := len(slices.Compact(results)); n != len(all) {
			t.Errorf("%d names call %d tools: %q", len(all), n, all)
		}
		return all
	}
	long := strings.Repeat("x", 80)
	got := names(map[string][]string{
		"a":    {"b__c", "_b", "plain", "files/read", "files.read", "größe", "", long + "1", long + "2"},
		"a__b": {"c"}, "a_": {"b"},
	})
	if len(got) != 11 {
		t.Errorf("got %d names", len(got))
	}
	valid := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	for i, name := range got {
		if !valid.MatchString(name) || slices.Contains(got[:i], name) {
			t.Errorf("got %q in %q", name, got)
		}
	}
	if !slices.Contains(got, "a__plain") || !slices.Contains(got, "a__b__c") || slices.Contains(got, "a__") {
		t.Errorf("got %q", got)
	}
	// The name of a tool does not depend on the other tools.
	if alone := names(map[string][]string{"a__b": {"c"}}); !slices.Contains(got, alone[0]) {
		t.Errorf("got %q, then %q", got, alone)
	}
}

func TestChangedToolsAreOfferedInNextRequest(t *testing.T) {
	d, m := support()
	set := &served{Toolset: tickets()}
	set.list = set.Toolset.Tools
	d.Toolsets = []agent.Toolset{set}
	r := newRunner(t, d)
	search := plan(t, r, m, attended, call("tickets__search", `{}`))
	set.list = func(context.Context) ([]agent.ToolInfo, error) {
		return []agent.ToolInfo{
			{Tool: agent.Tool{Name: "search"}},
			{Tool: agent.Tool{Name: "new"}},
			{Tool: agent.Tool{Name: "new", Description: "Again."}},
		}, nil
	}
	if got, _ := offered(t, r, m, attended); !slices.Equal(got[4:], []string{"tickets__new", "tickets__search"}) {
		t.Errorf("got %q", got)
	}
	// The server no longer marks the tool as read-only.
	if got := r.Execute(t.Context(), attended, search); !got.IsError ||
		!strings.Contains(got.Text, "a person must approve it now") {
		t.Errorf("got %+v", got)
	}
}

func TestUnreachableServerIsTriedAgain(t *testing.T) {
	d, m := support()
	away := errors.New("connection refused")
	set := &served{
		Toolset: agent.Functions("docs"), list: func(context.Context) ([]agent.ToolInfo, error) { return nil, away },
	}
	d.Tools, d.Toolsets = append(d.Tools, "docs"), append(d.Toolsets, set)
	r := newRunner(t, d)
	want := conversation.ModelFailed{
		Request: 3, Attempt: 2, Error: "the tools of the server docs cannot be listed: connection refused", Retry: true,
	}
	if got := r.Reply(t.Context(), attended, request, nil, nil); got != conversation.Input(want) {
		t.Errorf("got %+v", got)
	}
	if got := r.Execute(t.Context(), attended, call("docs__read", `{}`)); !got.IsError ||
		got.Text != "docs__read was not called: "+want.Error {
		t.Errorf("got %+v", got)
	}
	if got := r.Execute(t.Context(), attended, call("tickets__search", `{}`)); got.IsError {
		t.Errorf("got %+v of another server", got)
	}
	set.list = func(context.Context) ([]agent.ToolInfo, error) { panic("boom") }
	if got, ok := r.Reply(t.Context(), attended, request, nil, nil).(conversation.ModelFailed); !ok || got.Retry ||
		got.Error != "the server docs panicked: boom" {
		t.Errorf("got %+v", got)
	}
	set.list = func(context.Context) ([]agent.ToolInfo, error) { return nil, nil }
	offered(t, r, m, attended)
}

func TestQuestionWithoutDefaultIsRejectedIfTimeoutsUseDefaults(t *testing.T) {
	d, m := support()
	d.Timeout, d.OnTimeout = time.Hour, askback.OnTimeoutDefault
	r := newRunner(t, d)
	got := plan(t, r, m, attended,
		call("ask_user_question", `{"questions":[{"question":"Which?","options":[{"label":"A"},{"label":"B"}]}]}`))
	if got.Kind != conversation.KindRejected ||
		!strings.HasPrefix(got.Error, "/questions/0/default: ") || len(got.Error) > 400 {
		t.Errorf("got %+v", got)
	}
	_, example, _ := strings.Cut(got.Error, "Example: ")
	c := plan(t, r, m, attended, call("ask_user_question", example))
	q, err := r.Question(attended, c)
	if c.Kind != conversation.KindAsk || err != nil || q.OnTimeout != askback.OnTimeoutDefault ||
		!slices.Equal(q.Questions[0].Default, []string{"SQLite"}) {
		t.Errorf("got %+v, %+v, %v", c, q, err)
	}
	q, err = r.Question(attended, plan(t, r, m, attended, call("confirm_action", `{"action":"Delete it"}`)))
	if err != nil || q.OnTimeout != askback.OnTimeoutDecline {
		t.Errorf("got %+v, %v", q, err)
	}
	var schema struct {
		Properties struct {
			Questions struct {
				Items struct {
					Properties map[string]any
					Required   []string
				}
			}
		}
	}
	offered(t, r, m, attended)
	if err := json.Unmarshal(m.got.Tools[0].Schema, &schema); err != nil {
		t.Fatal(err)
	}
	if items := schema.Properties.Questions.Items; items.Properties["default"] == nil ||
		items.Properties["multiSelect"] == nil || !slices.Equal(items.Required, []string{"question", "default"}) {
		t.Errorf("got %+v", items)
	}
	d, m = support()
	offered(t, newRunner(t, d), m, attended)
	if string(m.got.Tools[0].Schema) != string(asktool.Schema("ask_user_question")) {
		t.Errorf("got %s", m.got.Tools[0].Schema)
	}
}

// A run is offered the agents that it may start, and itself.
func TestRunStartsOnlyAllowedAgents(t *testing.T) {
	d, m := support()
	d.StartBy = []string{"ana"}
	open, named, closed := d, d, d
	open.Name, open.StartBy = "open", nil
	named.Name, named.StartBy = "named", []string{"ana", "agent:support"}
	closed.Name, closed.StartBy = "closed", []string{"agent:open", "token:support", "support"}
	none := d
	none.Name, none.StartBy = "none", []string{}
	r := newRunner(t, d, open, named, closed, none)
	for name, want := range map[string]bool{
		"support": true, "open": true, "named": true, "closed": false, "none": false,
	} {
		got := plan(t, r, m, attended, call("spawn_agents", `{"tasks":[{"prompt":"a","agent":"`+name+`"}]}`))
		if (got.Kind == conversation.KindDelegate) != want || strings.Contains(m.got.System, "\n- "+name+":") != want {
			t.Errorf("%s: got %+v with the prompt %s", name, got.Plan, m.got.System)
		}
	}
	for name, want := range map[string]bool{"open": false, "closed": true, "none": true, "gone": false} {
		if _, restricted := r.StartBy(name); restricted != want {
			t.Errorf("%s is restricted: %t", name, restricted)
		}
	}
}
