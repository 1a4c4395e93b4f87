package doctor

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/askback/askback/internal/agents"
	"github.com/askback/askback/internal/agents/config"
	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/local/connection"
	"github.com/askback/askback/internal/local/instance"
)

// A File is a file of a client that exists or is to be written.
type File struct {
	Agent   agents.Agent
	Content []byte

	scope config.Scope
	shown string // its path for people
}

// clientFiles returns the existing files of all clients that askback init writes, in this folder and in the
// home folder.
func clientFiles() (files []File) {
	home, err := os.UserHomeDir()
	seen := map[string]bool{} // the home folder can be the folder of the project
	for _, agent := range agents.All() {
		for _, scope := range []config.Scope{config.Project, config.User} {
			folder := "."
			if scope == config.User {
				folder = home
			}
			all, unsupported := agent.Config.FilesFor(scope, config.Options{Remove: true})
			if unsupported != nil || scope == config.User && err != nil {
				continue
			}
			for _, f := range all {
				path := filepath.Join(folder, filepath.FromSlash(f.Path))
				content, err := agents.ReadFile(path)
				if key := agent.Name + " " + agents.RealPath(path); err == nil && content != nil && !seen[key] {
					seen[key] = true
					files = append(files, File{agent, content, scope, agents.HomePath(path)})
				}
			}
		}
	}
	return files
}

// hooks returns the hooks of Askback in the file.
func (f File) hooks() []config.Hook {
	return f.Agent.Config.HooksIn(f.Content)
}

// canaries returns the questions and permissions to ask through a hook in the file. Most hooks only withdraw
// asks, and have no canaries.
func (f File) canaries(h config.Hook) []hook.Canary {
	if f.Agent.Canaries == nil {
		return nil
	}
	return f.Agent.Canaries(h)
}

// NeedServer returns the clients that have a hook which asks nothing while no server runs.
func NeedServer(files []File) (clients []string) {
	for _, f := range files {
		if slices.ContainsFunc(f.hooks(), f.Agent.Config.NeedsServer) {
			clients = append(clients, f.Agent.Name)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(clients)))
}

// checkHooks checks that a server answers the hooks of clients that are configured in this folder or for the
// user. Without a server, the hooks ask no person, and their clients do not show this.
func (d *doctor) checkHooks(ctx context.Context) {
	const check = "hooks"
	clients := NeedServer(clientFiles())
	if len(clients) == 0 {
		return
	}
	names := strings.Join(clients, ", ")
	switch problem := MissingServer(ctx, d.program.Connector); {
	case problem != "":
		d.Warn(check, "run askback serve", "%s, so the hooks of %s ask no person, and with --gate they block each call",
			problem, names)
	case os.Getenv("ASKBACK_URL") == "" && d.proved && d.server.Kind != instance.KindServe:
		d.Warn(check, "run askback serve", "process %d (%s) answers the hooks of %s until it ends", d.server.PID,
			d.server.Kind, names)
	default:
		d.OK(check, "a server answers the hooks of %s", names)
	}
}

// MissingServer returns the reason why no server answers the commands of this user. It returns "" if a server
// answers, or if the reason is not known.
func MissingServer(ctx context.Context, connector func(kind string) (*connection.Connector, error)) string {
	conn, err := connector("")
	if err != nil {
		return ""
	}
	if conn.IsLocal() {
		if server, ok := conn.Place().Last(); !ok || server.Proves(ctx) != nil {
			return "no server is running"
		}
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, proveTime)
	defer cancel()
	url := strings.TrimRight(os.Getenv("ASKBACK_URL"), "/")
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/healthz", nil)
	if err != nil {
		return ""
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Sprintf("the server at %s does not answer", url)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Sprintf("%s is not a server of Askback: its /healthz has the status %d", url, res.StatusCode)
	}
	return ""
}
