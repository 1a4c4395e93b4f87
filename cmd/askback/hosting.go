package main

import (
	"cmp"
	"crypto/rand"
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
	"time"

	"github.com/askback/askback/agent"
	"github.com/askback/askback/agent/anthropic"
	"github.com/askback/askback/agent/mcptools"
	"github.com/askback/askback/agent/openai"
	"github.com/askback/askback/agent/scripted"
	"github.com/askback/askback/channel/webhook"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/internal/hosted/demo"
	"github.com/askback/askback/internal/server/config"
)

// A hosting has the hosted agents of a server: their definitions, models and MCP servers.
type hosting struct {
	dir    string // with the definitions
	config string // the path of the settings file, in whose folder relative paths begin
	log    *slog.Logger
	runner *agent.Runner

	closing sync.WaitGroup // the servers that are not in the settings any more

	mu       sync.Mutex
	seen     []fileVersion // of the files, when they were last read
	scripts  []string      // of models
	servers  map[string]hostedServer
	idle     []func()          // close the connections of the models
	secrets  map[string]string // of webhooks, by agent
	rejected error             // why the files are not in use; nil if they are
}

// A hostedServer is an MCP server with the settings that it has.
type hostedServer struct {
	settings config.MCPServer
	*mcptools.Server
}

// newHosting returns the agents in the directory of the flag or of the settings. Without a
// directory, it returns nil. The error has every problem of their files.
func newHosting(flag string, all *commands, file config.Config, log *slog.Logger) (*hosting, error) {
	dir, err := agentsDir(flag, all.Config, file)
	if err != nil || dir == "" {
		return nil, err
	}
	runner, err := agent.NewRunner()
	if err != nil {
		return nil, err
	}
	h := &hosting{dir: dir, config: all.Config, log: log, runner: runner}
	if err := h.apply(file); err != nil {
		return nil, err
	}
	return h, nil
}

// agentsDir returns the directory with the definitions of agents: that of the flag, or that of
// the settings. Without either, it returns "".
func agentsDir(flag, path string, file config.Config) (string, error) {
	if flag != "" || file.Agents == "" {
		return flag, nil
	}
	return inFolderOf(path, file.Agents)
}

// apply reads the definitions, and runs the agents with these settings. If there is a problem in
// one of the files, it changes nothing.
func (h *hosting) apply(file config.Config) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.scripts = nil
	for _, m := range file.Models {
		if path, err := inFolderOf(h.config, m.Script); err == nil && m.Script != "" {
			h.scripts = append(h.scripts, path)
		}
	}
	slices.Sort(h.scripts)
	h.seen = h.versions() // before the read, to notice a write during it
	h.rejected = h.load(file)
	return h.rejected
}

func (h *hosting) load(file config.Config) error {
	agents, err := readAgents([]string{h.dir}, file)
	if err != nil {
		return err
	}
	models, idle, err := h.models(file)
	if err != nil {
		return err
	}
	servers, unused := h.connect(file)
	definitions, err := definitionsOf(agents, models, servers)
	if err == nil {
		err = h.runner.Set(definitions)
	}
	if err != nil {
		closeServers(servers, h.servers)
		closeAll(idle)
		return err
	}
	closeAll(h.idle)
	h.idle, h.servers, h.secrets = idle, servers, map[string]string{}
	for _, a := range agents {
		h.secrets[a.Name] = a.WebhookSecret
	}
	h.closing.Go(func() { closeServers(unused, nil) }) // which waits until their processes have ended
	return nil
}

// readAgents reads definitions in files and directories. Without any, it returns an error.
func readAgents(paths []string, file config.Config) ([]config.Agent, error) {
	var files []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, filesError(err.Error())
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		inside, err := config.AgentFiles(path)
		if err != nil {
			return nil, filesError(err.Error())
		}
		if len(inside) == 0 {
			return nil, filesError(path + " has no definition of an agent; askback agent new NAME writes one")
		}
		files = append(files, inside...)
	}
	agents, err := file.LoadAgents(files, os.LookupEnv)
	if err != nil {
		return nil, filesError(err.Error())
	}
	return agents, nil
}

// models returns all models, and functions that close their connections.
func (h *hosting) models(file config.Config) (map[string]agent.Model, []func(), error) {
	models := map[string]agent.Model{}
	var idle []func()
	var problems []error
	all := file.AllModels(os.LookupEnv)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		m, err := newModel(all[name], h.config)
		if err != nil {
			problems = append(problems, fmt.Errorf("models.%s: %w", name, err))
			continue
		}
		models[name] = m
		if c, ok := m.(interface{ Close() }); ok {
			idle = append(idle, c.Close)
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, nil, filesError(err.Error())
	}
	return models, idle, nil
}

// demoPause is the time between two words of the model of the demonstration, which people can
// read along.
const demoPause = 40 * time.Millisecond

// newModel returns a model. The path of its script begins at the folder of the settings file.
func newModel(m config.Model, settings string) (agent.Model, error) {
	prices := agent.Prices(m.Prices)
	switch m.Provider {
	case "anthropic":
		return anthropic.New(m.Model, m.APIKey, &anthropic.Options{BaseURL: m.BaseURL, AllowHTTP: m.AllowHTTP, Prices: prices, MaxTokens: m.MaxTokens})
	case "openai":
		return openai.New(m.Model, m.APIKey, &openai.Options{BaseURL: m.BaseURL, AllowHTTP: m.AllowHTTP, Prices: prices, MaxTokens: m.MaxTokens})
	case config.DemoModel:
		return demo.Model{Pause: demoPause}, nil
	}
	path, err := inFolderOf(settings, m.Script)
	if err != nil {
		return nil, err
	}
	script, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return scripted.Parse(path, script)
}

// connect returns the MCP servers of the settings, and those that are not in them any more. One
// whose settings are the same is kept with its connection.
func (h *hosting) connect(file config.Config) (servers, unused map[string]hostedServer) {
	servers, unused = map[string]hostedServer{}, maps.Clone(h.servers)
	for name, s := range file.MCPServers {
		if old, found := h.servers[name]; found && reflect.DeepEqual(old.settings, s) {
			servers[name] = old
			delete(unused, name)
			continue
		}
		server, err := newMCPServer(name, s, h.config, h.log)
		if err != nil { // the settings were valid when they were read
			h.log.Error("an MCP server cannot be used", "server", name, "error", err)
			continue
		}
		servers[name] = hostedServer{s, server}
	}
	return servers, unused
}

// newMCPServer returns an MCP server. A command runs in the folder of the settings file.
func newMCPServer(name string, s config.MCPServer, settings string, log *slog.Logger) (*mcptools.Server, error) {
	return mcptools.New(name, mcptools.Options{
		Command: s.Command, Dir: filepath.Dir(settings), Env: s.Env, URL: s.URL, Headers: s.Headers, Log: log,
	})
}

// closeServers closes servers, except for those that are in use, all at once.
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

// definitionsOf returns the definitions with their models and servers. The error has the
// problems of all, each with its file.
func definitionsOf(agents []config.Agent, models map[string]agent.Model, servers map[string]hostedServer) (all []agent.Definition, err error) {
	var problems []string
	for _, a := range agents {
		d := agent.Definition{
			Name: a.Name, Description: a.Description, Prompt: a.Prompt, Model: models[cmp.Or(a.Model, config.DefaultModel)], Tools: a.Tools,
			AsyncQuestions: a.AsyncQuestions, To: a.To, Timeout: a.QuestionTimeout, OnTimeout: a.OnTimeout, Callback: a.QuestionCallback,
			MaxAsks: a.MaxAsks, MaxTurns: a.MaxTurns, Confirm: a.Confirm, Allow: a.Allow, Bubble: a.Bubble, StartBy: a.StartBy,
		}
		if !a.Schedule.IsZero() {
			d.Schedule = a.Schedule
		}
		for _, name := range a.Servers() {
			if s, found := servers[name]; found {
				d.Toolsets = append(d.Toolsets, s.Server)
			}
		}
		if err := d.Check(); err != nil {
			problems = append(problems, located(a, err)...)
		}
		all = append(all, d)
	}
	if len(problems) > 0 {
		return nil, filesError(strings.Join(problems, "\n"))
	}
	return all, nil
}

// versions returns the versions of the files of the agents: definitions and scripts of models.
func (h *hosting) versions() (all []fileVersion) {
	files, _ := config.AgentFiles(h.dir) // an error is one when they are read
	for _, path := range slices.Concat(files, h.scripts) {
		v := versionOf(path)
		v.path = path
		all = append(all, v)
	}
	return all
}

// changed reports whether a file was changed, added or removed since they were last read. It
// returns false if h is nil.
func (h *hosting) changed() bool {
	if h == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return !slices.Equal(h.versions(), h.seen)
}

// isRejected reports whether files have errors, so that older definitions apply. It returns false
// if h is nil.
func (h *hosting) isRejected() bool {
	if h == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.rejected != nil
}

// join makes an engine run the agents. It returns the verifier of webhooks that start them. It
// does nothing if h is nil.
func (h *hosting) join(o *engine.Options) (httpapi.HookVerifier, error) {
	if h == nil {
		return nil, nil
	}
	o.Runner = h.runner
	decoy, err := webhook.NewSecret(rand.Reader)
	if err != nil {
		return nil, err
	}
	return webhook.NewVerifier(func(name string) string {
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.secrets[name]
	}, decoy, time.Now), nil
}

// Close ends the MCP servers and the connections to models.
func (h *hosting) Close() {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	closeServers(h.servers, nil)
	closeAll(h.idle)
	h.closing.Wait()
}
