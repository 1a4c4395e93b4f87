package config

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/webhook"
	"github.com/askback/askback/internal/directory"
	"github.com/askback/askback/internal/hosted/schedule"
	"github.com/askback/askback/internal/settings"
)

// An Agent is the definition of a hosted agent: the front matter of agents/NAME.md, which is YAML, and the
// text after it (E12). The field of a key that is not in the file has its zero value.
type Agent struct {
	File        string // the path of the file
	Name        string // the name in the file, or else the name of the file without .md
	Description string
	Model       string   // the name of a model in the settings, or "" for the default model
	Tools       []string // servers and tools of servers in the settings, and [BuiltInTools]
	Prompt      string   // the system prompt

	// AsyncQuestions lets a run that a program started ask people.
	AsyncQuestions   bool
	QuestionCallback string        // the URL for the events of the agent's asks, or "" for the URL in the settings
	QuestionTimeout  time.Duration // the timeout of the agent's asks, or 0 to use the timeout of a route
	OnTimeout        askback.OnTimeout
	To               []string // people, and groups after "@", who get the agent's asks

	MaxAsks, MaxTurns int      // limits of a run, or 0 for the default
	Confirm, Allow    []string // patterns of tools that need approval or no approval; Confirm has priority
	Dangerous         []string // patterns of tools that need approval and may destroy something
	Bubble            bool     // sub-agents may ask people
	// StartBy lists the people and agents who may start runs and write to these runs. If it is nil, everyone
	// may.
	StartBy       []string
	WebhookSecret string // verifies webhooks that start a run; if "", only tokens start runs
	// Schedule has the times at which runs start; the zero value has no times (E15).
	Schedule schedule.Schedule
}

// BuiltInTools are the tools that no server has.
var BuiltInTools = []string{"ask_user_question", "confirm_action", "todo_write", "spawn_agents"}

// agentName is the form of the name of an agent, which is a part of an address.
var agentName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]{0,63}$`) })

// LoadAgent reads the definition of an agent from a file with this name. As in [Load], its error is an
// [settings.Invalid] unless reading fails, and ${NAME} is replaced in the front matter. The prompt is not
// changed.
func LoadAgent(name string, r io.Reader, env func(string) (string, bool)) (Agent, error) {
	a, _, err := loadAgent(name, r, env, nil)
	return a, err
}

// loadAgent reads a definition and the places in it. If c is not nil, c must have the models and servers that
// the definition names.
func loadAgent(name string, r io.Reader, env func(string) (string, bool), c *Config) (Agent, agentPlaces, error) {
	start := settings.Position{Line: 1, Column: 1}
	p := agentPlaces{at: start, model: start}
	src, err := io.ReadAll(io.LimitReader(r, maxSize+1))
	if err != nil {
		return Agent{}, p, fmt.Errorf("read %s: %w", name, err)
	}
	l := &loader{Reader: settings.Reader{Name: name, Env: env, Renamed: renamedSettings}}
	a := Agent{Name: strings.TrimSuffix(filepath.Base(name), ".md"), File: name}
	front, prompt, line := l.frontMatter(src)
	var times agentTimes
	if root := l.parse(front); root != nil && l.Problems() == 0 {
		l.Fields(*root, "", append(l.agent(&a, &p), times.settings(l)...))
	}
	if l.Problems() == 0 {
		a.Schedule = times.schedule(l)
	}
	a.Prompt = strings.TrimSpace(string(prompt))
	if agentNameProblem(a.Name) == "" {
		p.name = a.Name
	}
	valid := l.Problems() == 0
	if valid {
		l.checkAgent(a, line)
		l.checkRules(a, p)
	}
	if valid && c != nil {
		l.checkUse(c, a, p)
	}
	if err := l.Err(); err != nil {
		return Agent{}, p, err
	}
	return a, p, nil
}

// frontMatter returns the front matter of a file at its original lines, the text after it, and the number of
// the first line of the text. A file without front matter has only text.
func (l *loader) frontMatter(src []byte) (front, prompt []byte, line int) {
	src = bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))
	rest, found := bytes.CutPrefix(src, []byte("---\n"))
	if !found {
		return nil, src, 1
	}
	lines := bytes.SplitAfter(rest, []byte("\n"))
	for i, s := range lines {
		if string(bytes.TrimRight(s, " \n")) == "---" {
			front = append([]byte("\n"), bytes.Join(lines[:i], nil)...)
			return front, bytes.Join(lines[i+1:], nil), i + 3
		}
	}
	l.AddProblem(settings.Position{Line: 1, Column: 1}, "write --- on a line of its own before the prompt",
		"the front matter does not end")
	return nil, nil, 1
}

// agent returns the keys of the front matter, which are read into a.
func (l *loader) agent(a *Agent, p *agentPlaces) []settings.Setting {
	var onTimeout, subagents string
	return []settings.Setting{
		{Key: "name", Read: func(v settings.Value) {
			p.at = v.At
			l.TextTo(&a.Name, "a name as in release-notes", agentNameProblem)(v)
		}},
		{Key: "description", Read: l.TextTo(&a.Description, "one sentence")},
		{Key: "model", Read: func(v settings.Value) {
			p.model = v.At
			l.TextTo(&a.Model, "a name of models in the settings")(v)
		}},
		{Key: "tools", Read: func(v settings.Value) {
			a.Tools, p.tools = l.namesAt(v, "a server, a tool of one as in tickets.search, or ask_user_question",
				func(string) string { return "" })
		}},
		{Key: "async_questions", Read: l.Boolean(&a.AsyncQuestions)},
		{Key: "question_callback", Read: l.TextTo(&a.QuestionCallback,
			"an address, as in https://agents.example.com/answers", settings.CallbackProblem)},
		{Key: "question_timeout", Read: l.Duration(&a.QuestionTimeout)},
		{Key: "on_timeout", Read: func(v settings.Value) {
			l.OneOf(&onTimeout, "fail", "decline", "default", "wait")(v)
			a.OnTimeout = askback.OnTimeout(onTimeout)
		}},
		{Key: "to", Read: func(v settings.Value) { a.To = l.names(v, directory.RecipientProblem) }},
		{Key: "max_asks", Read: l.Count(&a.MaxAsks)},
		{Key: "max_turns", Read: l.Count(&a.MaxTurns)},
		{Key: "confirm", Read: func(v settings.Value) {
			a.Confirm, p.confirm = l.namesAt(v, toolPattern, directory.ToolPatternProblem)
		}},
		{Key: "allow", Read: func(v settings.Value) {
			a.Allow, p.allow = l.namesAt(v, toolPattern, directory.ToolPatternProblem)
		}},
		{Key: "dangerous", Read: func(v settings.Value) {
			a.Dangerous, p.dangerous = l.namesAt(v, toolPattern, directory.ToolPatternProblem)
		}},
		{Key: "subagents", Read: func(v settings.Value) {
			l.OneOf(&subagents, "forbid", "bubble")(v)
			a.Bubble = subagents == "bubble"
		}},
		{Key: "start_by", Read: func(v settings.Value) {
			a.StartBy = append([]string{}, l.names(v, directory.StarterProblem)...) // [] does not mean everyone
		}},
		{Key: "webhook_secret", Read: webhook.ReadSecret(&l.Reader, &a.WebhookSecret, "POEM_WEBHOOK_SECRET")},
	}
}

// agentTimes are the keys of the front matter for the schedule of an agent.
type agentTimes struct{ line, zone string }

func (t *agentTimes) settings(l *loader) []settings.Setting {
	return []settings.Setting{
		{Key: "schedule", Read: l.TextTo(&t.line, `five fields of cron, as in "0 7 * * 1-5"`, scheduleProblem)},
		{Key: "time_zone", Read: l.TextTo(&t.zone, "a time zone, as in Europe/Berlin", directory.ZoneProblem)},
	}
}

func scheduleProblem(s string) string {
	if _, err := schedule.Parse(s, time.UTC); err != nil {
		return "is not a schedule: " + err.Error()
	}
	return ""
}

// schedule returns the schedule that the valid keys describe. Without a time zone, the schedule is in UTC. A
// time zone without a schedule is a problem.
func (t *agentTimes) schedule(l *loader) schedule.Schedule {
	if t.line == "" {
		if t.zone != "" {
			l.AddProblem(settings.Position{Line: 1, Column: 1}, `write schedule: "0 7 * * 1-5", or remove time_zone`,
				"there is time_zone but no schedule")
		}
		return schedule.Schedule{}
	}
	zone, errZone := time.LoadLocation(t.zone) // "" is UTC
	s, err := schedule.Parse(t.line, zone)
	if err = cmp.Or(errZone, err); err != nil { // both were valid when they were read
		l.AddProblem(settings.Position{Line: 1, Column: 1}, "start again", "schedule: %v", err)
	}
	return s
}

// toolPattern is an example of a pattern of tools.
const toolPattern = "a pattern of tools, as in files.delete*"

// checkAgent adds the problems of a definition whose keys are valid by themselves. The prompt begins in the
// given line.
func (l *loader) checkAgent(a Agent, line int) {
	at := settings.Position{Line: line, Column: 1}
	switch {
	case agentNameProblem(a.Name) != "":
		l.AddProblem(settings.Position{Line: 1, Column: 1}, "rename the file, or write name: in its front matter",
			"%s, the name of the file, %s", settings.Quote(a.Name), agentNameProblem(a.Name))
	case a.Prompt == "":
		l.AddProblem(at, "write what the agent is and does, after the front matter", "there is no prompt")
	case a.OnTimeout != "" && a.OnTimeout != askback.OnTimeoutWait && a.QuestionTimeout == 0:
		l.AddProblem(settings.Position{Line: 1, Column: 1}, "write question_timeout: 24h",
			"there is on_timeout but no question_timeout")
	case a.Name == hookOfClaudeCode && a.WebhookSecret != "":
		l.AddProblem(settings.Position{Line: 1, Column: 1}, "write another name",
			"no webhook can start an agent with the name %s: its path is the one for hooks of Claude Code", a.Name)
	case a.Bubble && !slices.Contains(a.Tools, "spawn_agents"):
		l.AddProblem(settings.Position{Line: 1, Column: 1}, "add spawn_agents to tools, or remove subagents",
			"subagents has no effect, because the agent cannot start any")
	}
}

// hookOfClaudeCode is the end of the path of the hooks of Claude Code, /hooks/claude-code.
const hookOfClaudeCode = "claude-code"

func agentNameProblem(s string) string {
	if !agentName().MatchString(s) {
		return "is not a name of at most 64 lower-case letters, digits, -, _ and ."
	}
	return ""
}
