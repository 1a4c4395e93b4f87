// Package hosting runs the hosted agents of a server. It reads their definitions, and connects their models
// and MCP servers.
package hosting

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/askback/askback/agent"
	"github.com/askback/askback/channel/webhook"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/internal/server/config"
)

// A Host has the hosted agents of a server: their definitions, models and MCP servers.
type Host struct {
	dir      string // the directory with the definitions
	settings string // the path of the settings file; relative paths begin in its folder
	log      *slog.Logger
	runner   *agent.Runner

	closing sync.WaitGroup // the closing of servers that are not in the settings any more

	mu       sync.Mutex
	seen     []config.FileVersion // the versions of the files when they were last read
	scripts  []string             // the paths of the scripts of models
	current  *Connections
	secrets  map[string]string // the secrets of webhooks, keyed by agent
	rejected error             // the reason why the files are not in use, or nil
}

// New returns a Host for the agents in a directory. Relative paths begin in the folder of the settings file.
// If dir is "", New returns nil. The error has a line for each problem in the files.
func New(dir, settings string, file config.Config, log *slog.Logger) (*Host, error) {
	if dir == "" {
		return nil, nil
	}
	runner, err := agent.NewRunner()
	if err != nil {
		return nil, err
	}
	h := &Host{dir: dir, settings: settings, log: log, runner: runner, current: &Connections{}}
	if err := h.Apply(file); err != nil {
		return nil, err
	}
	return h, nil
}

// Dir returns the directory with the definitions of agents. This is flag or, if flag is "", the directory in
// the settings file at path. If neither has a directory, Dir returns "".
func Dir(flag, path string, file config.Config) (string, error) {
	if flag != "" || file.Agents == "" {
		return flag, nil
	}
	return config.InFolderOf(path, file.Agents)
}

// Apply reads the definitions, and runs the agents with these settings. If a file has a problem, Apply
// returns the error, and the earlier definitions apply.
func (h *Host) Apply(file config.Config) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.scripts = nil
	for _, m := range file.Models {
		if path, err := config.InFolderOf(h.settings, m.Script); err == nil && m.Script != "" {
			h.scripts = append(h.scripts, path)
		}
	}
	slices.Sort(h.scripts)
	h.seen = h.versions() // before the read, so that a write during the read changes the versions
	h.rejected = h.load(file)
	return h.rejected
}

func (h *Host) load(file config.Config) error {
	agents, err := Read([]string{h.dir}, file)
	if err != nil {
		return err
	}
	next, unused, err := connect(h.settings, file, h.log, h.current)
	if err != nil {
		return err
	}
	definitions, err := next.Definitions(agents)
	if err == nil {
		err = h.runner.Set(definitions)
	}
	if err != nil {
		closeServers(next.servers, h.current.servers)
		closeAll(next.idle)
		return err
	}
	closeAll(h.current.idle)
	h.current, h.secrets = next, map[string]string{}
	for _, a := range agents {
		h.secrets[a.Name] = a.WebhookSecret
	}
	// closeServers waits until the processes of the servers have ended
	h.closing.Go(func() { closeServers(unused, nil) })
	return nil
}

// Read reads the definitions in files and directories. A path without a definition is an error.
func Read(paths []string, file config.Config) ([]config.Agent, error) {
	var files []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, Error("there is no file or directory " + path +
				" with definitions of agents; askback agent add NAME writes a definition")
		}
		if err != nil {
			return nil, Error(err.Error())
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		inside, err := config.AgentFiles(path)
		if err != nil {
			return nil, Error(err.Error())
		}
		if len(inside) == 0 {
			return nil, Error(path + " has no definition of an agent; askback agent add NAME writes one")
		}
		files = append(files, inside...)
	}
	agents, err := file.LoadAgents(files, os.LookupEnv)
	if err != nil {
		return nil, Error(err.Error())
	}
	return agents, nil
}

// versions returns the versions of the files of the agents: the definitions, and the scripts of models.
func (h *Host) versions() (all []config.FileVersion) {
	files, _ := config.AgentFiles(h.dir) // the reader of the file returns the error
	for _, path := range slices.Concat(files, h.scripts) {
		v := config.VersionOf(path)
		v.Path = path
		all = append(all, v)
	}
	return all
}

// Changed reports whether a file was changed, added or removed since the files were last read. It returns
// false if h is nil.
func (h *Host) Changed() bool {
	if h == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return !slices.Equal(h.versions(), h.seen)
}

// IsRejected reports whether files have errors, so that the earlier definitions apply. It returns false if h
// is nil.
func (h *Host) IsRejected() bool {
	if h == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.rejected != nil
}

// Join makes an engine run the agents. It returns the verifier for webhooks that start the agents. If h is
// nil, Join does nothing and returns nil.
func (h *Host) Join(o *engine.Options) (httpapi.HookVerifier, error) {
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
func (h *Host) Close() {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.current.Close()
	h.closing.Wait()
}

// Dir returns the directory with the definitions.
func (h *Host) Dir() string { return h.dir }

// Agents returns the number of agents.
func (h *Host) Agents() int { return len(h.runner.Agents()) }

// An Error is the error for files with problems. Each line of its text is a problem.
type Error string

// Error returns the problems.
func (e Error) Error() string { return string(e) }
