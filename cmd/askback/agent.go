package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/agent"
	"github.com/askback/askback/internal/local/connection"
	"github.com/askback/askback/internal/server/config"
	"github.com/askback/askback/internal/server/hosting"
	"github.com/askback/askback/internal/text/safetext"
)

type agentCommand struct {
	Check agentCheck `cmd:"" help:"Check the definitions of hosted agents and print which tools each agent may use."`
	Add   agentAdd   `cmd:"" help:"Add a hosted agent: write a file with its definition, for you to edit."`
	List  agentList  `cmd:"" help:"List the agents of the server."`
}

type agentCheck struct {
	Paths   []string `arg:"" optional:"" name:"path" complete:"file" help:"Check these files, or every definition in these directories. The default is the directory of the settings, or ./agents."`
	Connect bool     `help:"Connect to the MCP servers of the agents and list each tool."`
}

// defaultAgents is the directory of definitions if neither the command line nor the settings name another.
const defaultAgents = "agents"

// Run prints the permissions of the agents, or every problem in their definitions, models and servers.
func (c *agentCheck) Run(ctx context.Context, io streams, all *commands) error {
	file, err := all.settings()
	if err != nil {
		return err
	}
	paths := c.Paths
	if len(paths) == 0 {
		dir, err := hosting.Dir("", all.Config, file)
		if err != nil {
			return err
		}
		paths = []string{cmp.Or(dir, defaultAgents)}
	}
	agents, err := hosting.Read(paths, file)
	if err != nil {
		return err
	}
	connections, err := hosting.Connect(all.Config, file)
	if err != nil {
		return err
	}
	defer connections.Close()
	definitions, err := connections.Definitions(agents)
	if err != nil {
		return err
	}
	var problems []string
	for i, d := range definitions {
		if c.Connect {
			if err := d.CheckTools(ctx); err != nil {
				problems = append(problems, hosting.Located(agents[i], err)...)
				continue
			}
		}
		c.describe(ctx, io, agents[i], d, file)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if len(problems) > 0 {
		return hosting.Error(strings.Join(problems, "\n"))
	}
	return nil
}

// describe prints the model, the schedule and the permissions of an agent.
func (c *agentCheck) describe(ctx context.Context, io streams, a config.Agent, d agent.Definition, file config.Config) {
	name := cmp.Or(a.Model, config.DefaultModel)
	model := file.AllModels(os.LookupEnv)[name]
	printLine(io.out, fmt.Sprintf("%s (%s)", a.Name, a.File))
	printLine(io.out,
		fmt.Sprintf("  model %s: %s", name, strings.TrimSpace(model.Provider+" "+cmp.Or(model.Model, model.Script))))
	if d.Schedule != nil {
		printLine(io.out, fmt.Sprintf("  starts at %s (%s), next at %s", d.Schedule.Text(), d.Schedule.Zone(),
			d.Schedule.Next(time.Now()).Local().Format(time.DateTime)))
	}
	for _, line := range c.tools(ctx, a, d) {
		printLine(io.out, "  "+line)
	}
}

// tools returns a line for each tool. Unless the servers are asked for their tools, it returns a line for
// each server instead.
func (c *agentCheck) tools(ctx context.Context, a config.Agent, d agent.Definition) (lines []string) {
	if a.AsyncQuestions && !slices.Contains(a.Tools, agent.AskUserQuestion) {
		lines = append(lines, agent.AskUserQuestion+": "+asksPerson)
	}
	for _, entry := range a.Tools {
		switch {
		case slices.Contains(config.BuiltInTools, entry):
			lines = append(lines, entry+": "+builtInTier(entry))
		case !c.Connect && strings.Contains(entry, "."):
			lines = append(lines, entry+": "+unknownTier(a))
		case !c.Connect:
			lines = append(lines, "all tools of "+entry+": "+unknownTier(a))
		}
	}
	if !c.Connect {
		return lines
	}
	for _, set := range d.Toolsets {
		tools, err := set.Tools(ctx) // CheckTools has listed the tools
		if err != nil {
			lines = append(lines, set.Name()+": "+err.Error())
		}
		for _, t := range tools {
			full := set.Name() + "." + t.Name
			if !slices.Contains(a.Tools, set.Name()) && !slices.Contains(a.Tools, full) {
				continue
			}
			lines = append(lines, safetext.Name(full).String()+": "+tier(d, set.Name(), t))
		}
	}
	return lines
}

// Effects of tool calls.
const (
	asksPerson      = "asks a person"
	needsNoApproval = "runs without approval"
	personApproves  = "a person approves each call"
)

// builtInTier describes the effect of a call of a built-in tool.
func builtInTier(tool string) string {
	if tool == agent.AskUserQuestion || tool == agent.ConfirmAction {
		return asksPerson
	}
	return needsNoApproval
}

// tier describes the effect of a tool call.
func tier(d agent.Definition, server string, t agent.ToolInfo) string {
	switch {
	case !d.Confirms(server, t.Name, t.ReadOnly):
		return needsNoApproval
	case d.IsDangerous(server, t):
		return personApproves + " (dangerous)"
	}
	return personApproves
}

// unknownTier describes the effect of a call of a tool whose server was not asked for its tools.
func unknownTier(a config.Agent) string {
	text := personApproves + ", unless the server marks the tool as read-only"
	if len(a.Confirm)+len(a.Allow)+len(a.Dangerous) > 0 {
		text += "; a matching pattern in confirm, dangerous or allow has priority"
	}
	return text + "; --connect lists the tools"
}

type agentAdd struct {
	Name string `arg:"" help:"Name the agent with lower-case letters, digits, -, _ and dots."`
	Dir  string `complete:"file" placeholder:"DIR" help:"Write to this directory. The default is the directory of the settings, or ./agents."`
}

// Run writes a definition that is valid with the current settings.
func (c *agentAdd) Run(io streams, all *commands) error {
	file, err := all.settings()
	if err != nil {
		return err
	}
	dir, err := hosting.Dir(c.Dir, all.Config, file)
	if err != nil {
		return err
	}
	dir = cmp.Or(dir, defaultAgents)
	path := filepath.Join(dir, c.Name+".md")
	model, found := usableModel(file)
	text := newDefinition(c.Name, model)
	if _, err := config.LoadAgent(path, strings.NewReader(text), os.LookupEnv); err != nil ||
		c.Name != filepath.Base(c.Name) {
		return usage(
			fmt.Sprintf("%q is not a valid name: use at most 64 lower-case letters, digits, -, _ and dots", c.Name),
		)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return unusableFile(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return usage(path + " exists already: edit it, or choose another name")
	}
	if err != nil {
		return unusableFile(err)
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	printLine(io.out, path)
	flags := ""
	if all.Config != "" {
		flags = " --config " + all.Config
	}
	serve := flags
	if file.Agents == "" || c.Dir != "" {
		serve += " --agents " + dir
	}
	if needs := "it has no model yet: " + config.MissingModel(os.LookupEnv) +
		", or add default to models in the settings"; !found {
		note(io.err, needs)
	} else {
		m := file.AllModels(os.LookupEnv)[model]
		note(io.err, "its model is "+model+": "+strings.TrimSpace(m.Provider+" "+cmp.Or(m.Model, m.Script)))
	}
	note(io.err, "edit it, check it with askback"+flags+" agent check "+path+", and run it with askback serve"+serve)
	return nil
}

// usableModel returns the name of a model that needs no other settings: the default model if it is available,
// or else the first other model. The demo model does not read prompts. If there is no other model, found is
// false, and the name is the name of the default model.
func usableModel(file config.Config) (name string, found bool) {
	models := file.AllModels(os.LookupEnv)
	if _, found := models[config.DefaultModel]; found {
		return config.DefaultModel, true
	}
	for _, name := range slices.Sorted(maps.Keys(models)) {
		if models[name].Provider != config.DemoModel {
			return name, true
		}
	}
	return config.DefaultModel, false
}

// newDefinition returns the definition of a new agent.
func newDefinition(name, model string) string {
	return `---
# What the agent does, in one sentence. People see it, and so do agents that may start this one.
description: Says what ` + name + ` does

# A name under models in the settings. With ANTHROPIC_API_KEY in the environment, sonnet, opus and
# haiku need no settings; openai needs OPENAI_API_KEY and OPENAI_MODEL. default is sonnet, or else openai.
model: ` + model + `

# Built-in tools, MCP servers under mcp_servers in the settings, and single tools of them, as in
# tickets.search. With an ask tool, the agent can ask people.
tools: [ask_user_question, confirm_action, todo_write]

# Tools of servers that a person must approve, and tools that need no approval. Without a pattern
# that matches, a person approves each tool that is not marked as read-only.
# confirm: ["files.delete*"]
# allow: ["files.write"]

# Tools whose calls may destroy something: a person approves each, with a typed word.
# dangerous: ["files.move*"]

# Who is asked, and what happens when there is no answer in time.
# to: [ana, "@oncall"]
# question_timeout: 24h
# on_timeout: decline

# Who may start it and write to its runs; without start_by, everyone.
# start_by: [ana, "@oncall", "token:ci"]

# Runs that a webhook or a schedule starts may ask people only with async_questions.
# async_questions: true
# webhook_secret: "${` + variable(name) + `_WEBHOOK_SECRET}"
# schedule: "0 7 * * 1-5"
# time_zone: Europe/Berlin
---
You are ` + name + `. Do what the message of the person says, with your tools only.

Plan the work first, and keep the list of tasks up to date. Ask a person before you decide what they would want to
decide: unclear wishes, names, costs. Ask for confirmation before each step that is hard to undo. When the work is done,
or cannot be done, say so, and what you did.
`
}

// variable returns name in a form that can be part of an environment variable's name.
func variable(name string) string {
	return strings.NewReplacer("-", "_", ".", "_").Replace(strings.ToUpper(name))
}

type agentList struct {
	JSON bool `name:"json" help:"Print the agents as JSON."`
}

// Run prints the agents of the server.
func (c *agentList) Run(ctx context.Context, io streams, conn *connection.Connector) error {
	agents, err := conn.User.HostedAgents(ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(io.out, hostedAgents{Items: agents})
	}
	for _, a := range agents {
		printLine(io.out, agentLine(a))
	}
	if len(agents) == 0 {
		note(io.err, "no agents; to host some, start the server with askback serve --agents DIR")
	}
	return nil
}

// A hostedAgents is a list of agents as JSON.
type hostedAgents struct {
	Items []askback.HostedAgent `json:"items"`
}

// agentLine describes a hosted agent in one line.
func agentLine(a askback.HostedAgent) string {
	line := a.Name
	if a.Description != "" {
		line += "  " + a.Description
	}
	if a.Schedule != "" {
		line += fmt.Sprintf("; starts at %s (%s)", a.Schedule, a.TimeZone)
		if !a.NextRun.IsZero() {
			line += ", next at " + a.NextRun.Local().Format(time.DateTime)
		}
	}
	return line
}
