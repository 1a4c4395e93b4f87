package hosting

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/askback/askback/agent"
	"github.com/askback/askback/agent/anthropic"
	"github.com/askback/askback/agent/mcptools"
	"github.com/askback/askback/agent/openai"
	"github.com/askback/askback/agent/scripted"
	"github.com/askback/askback/internal/hosted/demo"
	"github.com/askback/askback/internal/server/config"
)

// Connections are the models and MCP servers in the settings.
type Connections struct {
	models  map[string]agent.Model
	servers map[string]hostedServer
	idle    []func() // functions that close the connections of the models
}

// A hostedServer is an MCP server with its settings.
type hostedServer struct {
	settings config.MCPServer
	*mcptools.Server
}

// Connect returns the models and MCP servers in file, whose path is settings. Models and servers are not
// connected yet.
func Connect(settings string, file config.Config) (*Connections, error) {
	c, _, err := connect(settings, file, slog.New(slog.DiscardHandler), &Connections{})
	return c, err
}

// connect is like Connect, but keeps a server of before with its connection if its settings are the same. It
// also returns the servers of before that are no longer in the settings. A server that cannot be used is
// logged and left out.
func connect(
	settings string, file config.Config, log *slog.Logger, before *Connections,
) (c *Connections, unused map[string]hostedServer, err error) {
	c = &Connections{models: map[string]agent.Model{}, servers: map[string]hostedServer{}}
	if err := c.addModels(settings, file); err != nil {
		return nil, nil, err
	}
	unused = maps.Clone(before.servers)
	for name, s := range file.MCPServers {
		if old, found := before.servers[name]; found && reflect.DeepEqual(old.settings, s) {
			c.servers[name] = old
			delete(unused, name)
			continue
		}
		server, err := newMCPServer(name, s, settings, log)
		if err != nil { // the settings were valid when they were read
			log.Error("an MCP server cannot be used", "server", name, "error", err)
			continue
		}
		c.servers[name] = hostedServer{s, server}
	}
	return c, unused, nil
}

func (c *Connections) addModels(settings string, file config.Config) error {
	var problems []error
	all := file.AllModels(os.LookupEnv)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		m, err := newModel(all[name], settings)
		if err != nil {
			problems = append(problems, fmt.Errorf("models.%s: %w", name, err))
			continue
		}
		c.models[name] = m
		if m, ok := m.(interface{ Close() }); ok {
			c.idle = append(c.idle, m.Close)
		}
	}
	if err := errors.Join(problems...); err != nil {
		return Error(err.Error())
	}
	return nil
}

// Close ends the MCP servers and the connections to models.
func (c *Connections) Close() {
	closeServers(c.servers, nil)
	closeAll(c.idle)
}

// Definitions returns the definitions of agents with their models and servers. The error has a line for each
// problem, with the file of the agent.
func (c *Connections) Definitions(agents []config.Agent) (all []agent.Definition, err error) {
	var problems []string
	for _, a := range agents {
		d := agent.Definition{
			Name: a.Name, Description: a.Description, Prompt: a.Prompt,
			Model: c.models[cmp.Or(a.Model, config.DefaultModel)], Tools: a.Tools, AsyncQuestions: a.AsyncQuestions,
			To: a.To, Timeout: a.QuestionTimeout, OnTimeout: a.OnTimeout, Callback: a.QuestionCallback,
			MaxAsks: a.MaxAsks, MaxTurns: a.MaxTurns, Confirm: a.Confirm, Allow: a.Allow, Bubble: a.Bubble,
			Dangerous: a.Dangerous, StartBy: a.StartBy,
		}
		if !a.Schedule.IsZero() {
			d.Schedule = a.Schedule
		}
		for _, name := range a.Servers() {
			if s, found := c.servers[name]; found {
				d.Toolsets = append(d.Toolsets, s.Server)
			}
		}
		if err := d.Check(); err != nil {
			problems = append(problems, Located(a, err)...)
		}
		all = append(all, d)
	}
	if len(problems) > 0 {
		return nil, Error(strings.Join(problems, "\n"))
	}
	return all, nil
}

// Located returns the lines of err, the problems of an agent, with the file of the agent.
func Located(a config.Agent, err error) (lines []string) {
	for line := range strings.SplitSeq(err.Error(), "\n") {
		lines = append(lines, a.File+":1:1: "+strings.TrimPrefix(line, "agent "+a.Name+": "))
	}
	return lines
}

// newModel returns a model. The path of a script begins at the folder of the settings file.
func newModel(m config.Model, settings string) (agent.Model, error) {
	prices := agent.Prices(m.Prices)
	switch m.Provider {
	case "anthropic":
		return anthropic.New(m.Model, m.APIKey,
			&anthropic.Options{BaseURL: m.BaseURL, AllowHTTP: m.AllowHTTP, Prices: prices, MaxTokens: m.MaxTokens})
	case "openai":
		return openai.New(m.Model, m.APIKey,
			&openai.Options{BaseURL: m.BaseURL, AllowHTTP: m.AllowHTTP, Prices: prices, MaxTokens: m.MaxTokens})
	case config.DemoModel:
		return demo.Model{Pause: demoPause}, nil
	}
	path, err := config.InFolderOf(settings, m.Script)
	if err != nil {
		return nil, err
	}
	script, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return scripted.Parse(path, script)
}

// newMCPServer returns an MCP server. A command runs in the folder of the settings file.
func newMCPServer(name string, s config.MCPServer, settings string, log *slog.Logger) (*mcptools.Server, error) {
	return mcptools.New(name, mcptools.Options{
		Command: s.Command, Dir: filepath.Dir(settings), Env: s.Env, URL: s.URL, Headers: s.Headers, Log: log,
	})
}

// closeServers concurrently closes servers, except for the servers that are in use.
func closeServers(servers, used map[string]hostedServer) {
	var group sync.WaitGroup
	for name, s := range servers {
		if used[name].Server != s.Server {
			group.Go(s.Close)
		}
	}
	group.Wait()
}

func closeAll(closers []func()) {
	for _, c := range closers {
		c()
	}
}
