package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/agent"
	"github.com/askback/askback/conversation"
)

func TestMistakesInDefinitionsAreExplained(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*agent.Definition)
		want   string
	}{
		{"name", func(d *agent.Definition) { d.Name = "Support!" }, `"Support!" is not a name of an agent`},
		{"model", func(d *agent.Definition) { d.Model = nil }, "agent support: model: no model is set; set a model"},
		{"limit", func(d *agent.Definition) { d.MaxAsks = -1 }, "agent support: max_asks: -1 is negative"},
		{"unknown tool", func(d *agent.Definition) {
			d.Tools = append(d.Tools, "ticket.search")
		}, `agent support: tools: no tool or server is named "ticket.search"; use one of tickets, `},
		{"misspelled tool", func(d *agent.Definition) {
			d.Tools = append(d.Tools, "todowrite")
		}, `use one of todo_write, `},
		{"no tool of a server", func(d *agent.Definition) {
			d.Tools = append(d.Tools, "tickets.")
		}, `no tool or server is named "tickets."`},
		{"repeated tool", func(d *agent.Definition) {
			d.Tools = append(d.Tools, "tickets")
		}, "tools: tickets is listed twice"},
		{"unused server", func(d *agent.Definition) {
			d.Tools = []string{"spawn_agents"}
		}, "no tool of the server tickets is used; add tickets to tools, or one of its tools as in tickets.NAME"},
		{"repeated server", func(d *agent.Definition) {
			d.Toolsets = append(d.Toolsets, tickets())
		}, "two servers have the name tickets; rename one of the servers"},
		{"name of a server", func(d *agent.Definition) {
			d.Toolsets = append(d.Toolsets, agent.Functions("a.b"))
		}, `"a.b" is not a name of a server`},
		{"server like a tool", func(d *agent.Definition) {
			d.Toolsets = append(d.Toolsets, agent.Functions("todo_write"))
		}, `"todo_write" is not a name of a server`},
		{"pattern", func(d *agent.Definition) { d.Allow = []string{"[a"} }, `allow: "[a" is not a pattern of tools`},
		{"sub-agents", func(d *agent.Definition) {
			d.Tools, d.Bubble = []string{"tickets"}, true
		}, "add spawn_agents to tools"},
		{"recipient", func(d *agent.Definition) { d.To = []string{"@"} }, `to: "@" has no name`},
		{"starter", func(d *agent.Definition) { d.StartBy = []string{"token:"} }, `start_by: "token:" `},
		{"time-out", func(d *agent.Definition) { d.OnTimeout = askback.OnTimeoutFail }, "write question_timeout: 24h"},
		{"unknown time-out", func(d *agent.Definition) {
			d.OnTimeout, d.Timeout = "explode", time.Hour
		}, "on_timeout: must be wait, fail, default or decline"},
		{"negative time-out", func(d *agent.Definition) {
			d.Timeout = -1
		}, "question_timeout: must be positive"},
		{"callback", func(d *agent.Definition) { d.Callback = "ftp://x" }, "question_callback: "},
	} {
		d, _ := support()
		c.change(&d)
		if err := d.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
	wrong, _ := support()
	wrong.Name, wrong.Model, wrong.MaxAsks, wrong.MaxTurns, wrong.Confirm, wrong.Allow = "A b", nil, -1, -2, []string{
		"[a",
	}, []string{"[b"}
	wrong.OnTimeout, wrong.Callback = askback.OnTimeoutFail, "ftp://x"
	err := wrong.Check()
	for _, want := range []string{
		"name: ", "model: ", "max_asks: ", "max_turns: ", "confirm: ", "allow: ",
		"on_timeout: this setting has no effect",
		"question_callback: ",
	} {
		if err == nil || strings.Count(err.Error(), want) != 1 {
			t.Errorf("got %v, want one problem of %s", err, want)
		}
	}
	d, _ := support()
	d.To, d.Timeout, d.OnTimeout, d.Callback, d.Bubble = []string{
		"ana", "@oncall",
	}, time.Hour, askback.OnTimeoutDefault, "https://example.com/x", true
	d.Confirm, d.Allow = []string{"tickets"}, []string{"*.list"}
	d.StartBy = []string{"ana", "@oncall", "token:ci", "agent:triage"}
	if err := d.Check(); err != nil {
		t.Error(err)
	}
}

func TestWrongDefinitionChangesNothing(t *testing.T) {
	d, _ := support()
	r := newRunner(t, d)
	wrong, other := d, d
	wrong.Name, wrong.Model = "wrong", nil
	other.Name = "other"
	err := r.Set([]agent.Definition{other, other, wrong})
	if want := "two agents have the name other\nagent wrong: model: no model is set; set a model"; err == nil ||
		err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := r.Limits("support"); err != nil {
		t.Errorf("support: %v", err)
	}
	if _, err := r.Limits("other"); !errors.Is(err, askback.ErrNotFound) {
		t.Errorf("other: %v", err)
	}
}

func TestAgentsAreSortedByName(t *testing.T) {
	a, _ := support()
	b, c := a, a
	b.Name, c.Name = "b", "a"
	want := []askback.HostedAgent{
		{Name: "a", Description: "Answers tickets."},
		{Name: "b", Description: "Answers tickets."},
		{Name: "support", Description: "Answers tickets."},
	}
	if got := newRunner(t, a, b, c).Agents(); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestLimitsAreReadFromTheDefinition(t *testing.T) {
	d, _ := support()
	d.MaxTurns, d.MaxAsks = 7, 3
	got, err := newRunner(t, d).Limits("support")
	if want := (conversation.Limits{Requests: 7, Asks: 3}); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func TestPatternsOverrideAnnotations(t *testing.T) {
	for _, c := range []struct {
		confirm, allow string
		tool           string
		readOnly, want bool
	}{
		{"", "", "search", true, false},
		{"", "", "close", false, true},
		{"tickets.search", "", "search", true, true},
		{"tickets", "", "search", true, true},
		{"*.search", "*", "search", true, true},
		{"*", "*", "a/b", true, true},
		{"", "tickets.close", "close", false, false},
		{"", "tickets", "close", false, false},
		{"", "tickets.*", "a/b", false, false},
		{"", "tickets.clos", "close", false, true},
		{"", "ticket*", "close", false, false},
		{"close", "", "close", true, false},
	} {
		var d agent.Definition
		if c.confirm != "" {
			d.Confirm = []string{c.confirm}
		}
		if c.allow != "" {
			d.Allow = []string{c.allow}
		}
		if got := d.Confirms("tickets", c.tool, c.readOnly); got != c.want {
			t.Errorf("%+v: got %v", c, got)
		}
	}
	d := agent.Definition{Confirm: []string{"files.delete*", "mail"}, Allow: []string{"files.*"}}
	for _, c := range []struct {
		server, tool   string
		readOnly, want bool
	}{
		{"files", "read", true, false},
		{"files", "write", false, false},
		{"files", "delete_all", true, true},
		{"files", "delete/all", false, true},
		{"mail", "list", true, true},
		{"other", "files.read", false, true},
	} {
		if got := d.Confirms(c.server, c.tool, c.readOnly); got != c.want {
			t.Errorf("%+v: got %v", c, got)
		}
	}
}

// served is a toolset whose list of tools changes, and whose calls fail.
type served struct {
	agent.Toolset
	list func(context.Context) ([]agent.ToolInfo, error)
}

func (s *served) Tools(ctx context.Context) ([]agent.ToolInfo, error) { return s.list(ctx) }

func TestMissingToolsAreReported(t *testing.T) {
	d, _ := support()
	d.Tools = []string{"tickets.search", "tickets.serch", "tickets.close"}
	if err := d.CheckTools(t.Context()); err == nil || !strings.HasPrefix(err.Error(),
		`agent support: the server tickets has no tool "serch"; correct tools of the agent: it has search, `) {
		t.Errorf("got %v", err)
	}
	d.Tools, d.Confirm, d.Allow = []string{"tickets.close"}, []string{"tickets.close", "tickets.search"}, []string{
		"*.clos",
	}
	want := "agent support: confirm: \"tickets.search\" matches no tool of the agent\nagent support: allow: " +
		"\"*.clos\" matches no tool of the agent"
	if err := d.CheckTools(t.Context()); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	d.Toolsets = []agent.Toolset{&served{Toolset: tickets(), list: func(context.Context) ([]agent.ToolInfo, error) {
		return nil, errors.New("connection refused")
	}}}
	if err := d.CheckTools(t.Context()); err == nil ||
		err.Error() != "agent support: the tools of the server tickets cannot be listed: connection refused" {
		t.Errorf("got %v", err)
	}
	d, _ = support()
	if err := d.CheckTools(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestFunctionsAreTools(t *testing.T) {
	set := tickets()
	for _, c := range []struct {
		tool string
		want conversation.Executed
	}{
		{"search", conversation.Executed{Text: `did {"q":"x"}`}},
		{"break", conversation.Executed{Text: "no such ticket", IsError: true}},
		{"away", conversation.Executed{Text: "tickets has no tool away.", IsError: true}},
	} {
		if got := set.Call(t.Context(), c.tool, json.RawMessage(`{"q":"x"}`)); got.Text != c.want.Text ||
			got.IsError != c.want.IsError {
			t.Errorf("%s: got %+v, want %+v", c.tool, got, c.want)
		}
	}
	tools, err := set.Tools(t.Context())
	if err != nil || len(tools) != 7 || !tools[0].ReadOnly || tools[0].Destructive ||
		tools[1].ReadOnly || !tools[1].Destructive {
		t.Errorf("got %+v, %v", tools, err)
	}
}
