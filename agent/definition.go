package agent

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/asktool"
	"github.com/askback/askback/internal/directory"
)

// A Definition describes a hosted agent: its prompt, its model and its tools (E12). docs/hosted.md describes
// the file format of a definition.
type Definition struct {
	Name        string // at most 64 lower-case letters, digits, -, _ and .
	Description string // one sentence for people, and for agents that may start it
	Prompt      string // the system prompt

	Model     Model
	MaxTokens int // the maximum length of a reply, or 0 for the default of the model

	// Tools are the tools that the agent may use. An entry is a built-in tool, the name of a toolset for all
	// its tools, or a single tool as in "tickets.search".
	Tools    []string
	Toolsets []Toolset // Tools has an entry for each toolset

	// AsyncQuestions lets runs that a program started ask people, and offers the tool
	// ask_user_question even if Tools does not name it.
	AsyncQuestions bool

	// The values of these fields are used in the asks of the agent; see [askback.Request].
	To        []string
	Timeout   time.Duration
	OnTimeout askback.OnTimeout // if it is [askback.OnTimeoutDefault], a confirmation is declined
	Callback  string            // CallbackURL

	MaxAsks, MaxTurns int // limits of a run; 0 is the default of [conversation.Limits]

	// Confirm and Allow are patterns, as in [path.Match]. A pattern matches the name of a server, or the name
	// of a tool after its server and a dot. A person must approve the tools of Confirm. The tools of Allow
	// need no approval, unless Confirm matches as well. Other tools need an approval unless they are
	// read-only (D5).
	Confirm, Allow []string
	// Dangerous has patterns of tools whose effect is hard to undo. A person must approve each call, and reads
	// that it may destroy something.
	Dangerous []string

	// StartBy lists the people and programs that may start runs of the agent and write to these runs. An
	// entry is a person, "@" and a group, "token:" and a token of an agent, or "agent:" and an agent that may
	// start this agent as its sub-agent. If StartBy is nil, everyone may. If it is empty, only the schedule
	// and the signed webhooks of the agent start it.
	StartBy []string

	// Schedule has the times at which the server starts runs. If it is nil, the server starts no runs. See
	// [ParseSchedule].
	Schedule Schedule

	// Bubble lets sub-agents ask people, and use tools that a person must approve.
	Bubble bool
}

// The names of the built-in tools.
const (
	AskUserQuestion = asktool.AskUserQuestion
	ConfirmAction   = asktool.ConfirmAction
	TodoWrite       = "todo_write"
	SpawnAgents     = "spawn_agents"
)

var builtIn = []string{AskUserQuestion, ConfirmAction, TodoWrite, SpawnAgents}

var (
	definitionName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]{0,63}$`) })
	toolsetName    = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_-]{0,31}$`)
	})
)

// Check returns an error with a line for every mistake in the definition. It does not list the tools of the
// servers; see [Definition.CheckTools].
func (d *Definition) Check() error {
	var all []error
	add := func(format string, args ...any) {
		all = append(all, fmt.Errorf("agent %s: "+format, append([]any{d.Name}, args...)...))
	}
	if !definitionName().MatchString(d.Name) {
		all = append(all, fmt.Errorf(
			"name: %q is not a name of an agent: write at most 64 lower-case letters, digits, dots, - and _", d.Name,
		))
	}
	if d.Model == nil {
		add("model: no model is set; set a model")
	}
	for _, limit := range []struct {
		key string
		n   int
	}{{"max_tokens", d.MaxTokens}, {"max_asks", d.MaxAsks}, {"max_turns", d.MaxTurns}} {
		if limit.n < 0 {
			add("%s: %d is negative; write 0 for the default", limit.key, limit.n)
		}
	}
	d.checkToolsets(add)
	for i, name := range d.Tools {
		if slices.Contains(d.Tools[:i], name) {
			add("tools: %s is listed twice", name)
		} else if _, _, ok := d.find(name); !ok {
			add("tools: no tool or server is named %q; use one of %s", name,
				strings.Join(closestFirst(name, d.names()), ", "))
		}
	}
	checkPatterns := func(key string, patterns []string) {
		for _, pattern := range patterns {
			if problem := directory.ToolPatternProblem(pattern); problem != "" {
				add("%s: %q %s of tools, as in tickets.*", key, pattern, problem)
			}
		}
	}
	checkPatterns("confirm", d.Confirm)
	checkPatterns("allow", d.Allow)
	checkPatterns("dangerous", d.Dangerous)
	if d.Bubble && !slices.Contains(d.Tools, SpawnAgents) {
		add("subagents: this setting has no effect, because the agent cannot start any; add %s to tools", SpawnAgents)
	}
	d.checkAsks(add)
	return errors.Join(all...)
}

// checkToolsets checks the names of the toolsets and the Go functions. It also checks that each toolset is
// used.
func (d *Definition) checkToolsets(add func(format string, args ...any)) {
	var names []string
	for _, t := range d.Toolsets {
		if f, ok := t.(functions); ok {
			for _, err := range f.check() {
				add("%w", err)
			}
		}
		switch name := t.Name(); {
		case !toolsetName().MatchString(name) || slices.Contains(builtIn, name):
			add("%q is not a name of a server: write at most 32 letters, digits, - and _", name)
		case slices.Contains(names, name):
			add("two servers have the name %s; rename one of the servers", name)
		case !slices.ContainsFunc(d.Tools,
			func(tool string) bool { return tool == name || strings.HasPrefix(tool, name+".") }):
			add("no tool of the server %s is used; add %s to tools, or one of its tools as in %s.NAME", name, name,
				name)
		default:
			names = append(names, name)
		}
	}
}

// checkAsks checks StartBy and the fields for the asks of the agent.
func (d *Definition) checkAsks(add func(format string, args ...any)) {
	if problem := directory.ListProblem(d.To); problem != "" {
		add("to: it %s", problem)
	}
	for _, name := range d.To {
		if problem := directory.RecipientProblem(name); problem != "" {
			add("to: %q %s", name, problem)
		}
	}
	for _, name := range d.StartBy {
		if problem := directory.StarterProblem(name); problem != "" {
			add("start_by: %q %s", name, problem)
		}
	}
	needsTime := d.OnTimeout != "" && d.OnTimeout != askback.OnTimeoutWait && d.Timeout == 0
	if needsTime {
		add("on_timeout: this setting has no effect without a timeout; write question_timeout: 24h")
	}
	example := askback.Request{Questions: []askback.Question{{Text: "Go on?", Default: []string{"yes"}}}}
	d.address(&example)
	_, err := example.Normalize()
	bad, _ := errors.AsType[askback.Invalid](err)
	keys := map[string]string{
		"/timeout": "question_timeout", "/callback_url": "question_callback", "/on_timeout": "on_timeout",
	}
	for _, p := range bad {
		if strings.HasPrefix(p.Pointer, "/to") || needsTime && p.Pointer == "/on_timeout" {
			continue // reported above
		}
		add("%s: %s", cmp.Or(keys[p.Pointer], strings.TrimPrefix(p.Pointer, "/")), p.Detail)
	}
}

// address sets the fields of r that all asks of the agent share. A confirmation is declined on a timeout if
// questions get their defaults.
func (d *Definition) address(r *askback.Request) {
	r.To, r.Timeout, r.OnTimeout, r.CallbackURL = slices.Clone(d.To), d.Timeout, d.OnTimeout, d.Callback
	if r.Confirmation != nil && r.OnTimeout == askback.OnTimeoutDefault {
		r.OnTimeout = askback.OnTimeoutDecline
	}
}

// find returns the toolset of an entry of Tools, and the tool if the entry is a single tool. The toolset of a
// built-in tool is nil.
func (d *Definition) find(name string) (set Toolset, tool string, ok bool) {
	if slices.Contains(builtIn, name) {
		return nil, name, true
	}
	for _, t := range d.Toolsets {
		if name == t.Name() {
			return t, "", true
		}
		if one, found := strings.CutPrefix(name, t.Name()+"."); found && one != "" {
			return t, one, true
		}
	}
	return nil, "", false
}

// names returns the names of the built-in tools and the toolsets.
func (d *Definition) names() []string {
	names := slices.Clone(builtIn)
	for _, t := range d.Toolsets {
		names = append(names, t.Name())
	}
	return names
}

// Confirms reports whether a person must approve a tool of a server. readOnly is the hint of the server,
// which counts if no pattern matches.
func (d *Definition) Confirms(server, tool string, readOnly bool) bool {
	matched := func(pattern string) bool { return matches(pattern, server, tool) }
	switch {
	case slices.ContainsFunc(d.Confirm, matched), slices.ContainsFunc(d.Dangerous, matched):
		return true
	case slices.ContainsFunc(d.Allow, matched):
		return false
	}
	return !readOnly
}

// matches reports whether a pattern matches a server or one of its tools.
func matches(pattern, server, tool string) bool {
	flat := func(s string) string { return strings.ReplaceAll(s, "/", "\x00") } // a "*" also matches a slash
	whole, _ := path.Match(flat(pattern), flat(server+"."+tool))
	all, _ := path.Match(flat(pattern), flat(server))
	return whole || all
}

// asks returns the names of the ask tools that the agent may use.
func (d *Definition) asks() (names []string) {
	if d.AsyncQuestions || slices.Contains(d.Tools, AskUserQuestion) {
		names = append(names, AskUserQuestion)
	}
	if slices.Contains(d.Tools, ConfirmAction) {
		names = append(names, ConfirmAction)
	}
	return names
}
