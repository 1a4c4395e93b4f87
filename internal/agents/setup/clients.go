package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/askback/askback/internal/agents/config"
)

// listTime is how long a client may take to list its MCP servers. Some clients start all servers first.
const listTime = 20 * time.Second

// askClients prints each client's own report about the MCP server askback. It asks all clients in parallel,
// because each can take listTime. It does nothing after --remove and after a dry run.
func (c *Setup) askClients(ctx context.Context, plans []clientPlan, named bool) {
	if c.Remove || c.DryRun {
		return
	}
	var asked []clientPlan
	var programs []string
	for _, p := range plans {
		if name, ok := serverList(p.setup.Agent); ok {
			asked, programs = append(asked, p), append(programs, name)
		}
	}
	if len(asked) == 0 {
		return
	}
	c.Note(fmt.Sprintf("running %s, which can take %g s", strings.Join(programs, ", "), listTime.Seconds()))
	reports := make([]chan string, len(asked))
	for i, p := range asked {
		reports[i] = make(chan string, 1)
		go func() { reports[i] <- p.listed(ctx) }()
	}
	for i, report := range reports {
		text := <-report
		if named && text != "" {
			text = asked[i].setup.Agent + ": " + text
		}
		c.Note(text)
	}
}

// requireServer prints a note if the hooks in the files ask only while a server runs, and no server answers.
// It does nothing after --remove and after a dry run.
func (c *Setup) requireServer(ctx context.Context, plans []clientPlan) {
	if c.Remove || c.DryRun {
		return
	}
	var clients []string
	for _, p := range plans {
		client := p.setup.config()
		if slices.ContainsFunc(p.plan.changes,
			func(one change) bool { return slices.ContainsFunc(client.HooksIn(one.after), client.NeedsServer) }) {
			clients = append(clients, p.setup.Agent)
		}
	}
	if len(clients) == 0 {
		return
	}
	if problem := c.MissingServer(ctx); problem != "" {
		c.Note(problem + ": keep askback serve running; without it, the hooks of " + strings.Join(clients, ", ") +
			" ask no person, and with --gate they block each call")
	}
}

// serverList returns the command with which a client lists its MCP servers. ok is false if the client has no
// such command or is not in the PATH.
func serverList(client string) (name string, ok bool) {
	t := tracesOf(client)
	if t.List == nil {
		return "", false
	}
	_, err := exec.LookPath(t.Programs[0])
	return strings.Join(append([]string{t.Programs[0]}, t.List...), " "), err == nil
}

// listed returns the client's own report about the MCP server askback. Some clients run the plugins and
// servers of a project when they list servers. Because a project may come from a stranger, such a client
// lists the servers of a folder that has only the files of askback init.
func (p clientPlan) listed(ctx context.Context) string {
	client := p.setup.Agent
	if !tracesOf(client).ListRuns {
		return listedByClient(ctx, client, ".", listTime)
	}
	folder, err := p.onlyAskback()
	if err != nil {
		return client + " was not asked: " + err.Error()
	}
	defer func() { _ = os.RemoveAll(folder) }()
	return listedByClient(ctx, client, folder, listTime)
}

// onlyAskback returns a new folder with the files that askback init writes into an empty project. The folder
// is empty if askback init writes into the user's home folder.
func (p clientPlan) onlyAskback() (folder string, err error) {
	state, err := p.setup.StateDir()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(state, 0o700); err != nil {
		return "", err
	}
	if folder, err = os.MkdirTemp(state, "project-"); err != nil || p.plan.scope != config.Project {
		return folder, err
	}
	files, err := p.setup.config().FilesFor(p.plan.scope, p.plan.options)
	for _, f := range files {
		var content []byte
		if content, err = f.Edit(nil); err != nil || content == nil {
			continue
		}
		path := filepath.Join(folder, filepath.FromSlash(f.Path))
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			err = os.WriteFile(path, content, 0o600)
		}
	}
	return folder, err
}

// listedByClient runs a client in a folder, for at most limit, and returns the client's report about the MCP
// server askback. If ctx ends, listedByClient returns "".
func listedByClient(ctx context.Context, client, folder string, limit time.Duration) string {
	t := tracesOf(client)
	name, _ := serverList(client)
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(limited, t.Programs[0], t.List...)
	cmd.Dir, cmd.WaitDelay = folder, time.Second
	out, err := cmd.CombinedOutput()
	found := lineAbout(string(out))
	switch {
	case found != "":
		return name + ": " + found
	case ctx.Err() != nil:
		return ""
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		return fmt.Sprintf("%s did not finish within %g s", name, limit.Seconds())
	case err != nil:
		return name + " failed: " + err.Error()
	}
	return name + " does not list the server askback yet: do the steps above first"
}

// escapes matches the escape sequences of colors.
var escapes = regexp.MustCompile(`\x1b\[[0-9;]*[A-Za-z]`)

// lineAbout returns the first line of an output that names the server askback, without the escape sequences
// of a terminal. If the line is a row in a table, it returns the status.
func lineAbout(out string) string {
	status := -1 // the offset of the column
	for line := range strings.Lines(escapes.ReplaceAllString(out, "")) {
		words := strings.Fields(line)
		switch {
		case len(words) > 1 && words[0] == "Name":
			status = strings.Index(line, "Status")
		case !strings.Contains(line, "askback"):
		case status > 0 && status < len(line) && line[status-1] == ' ' && words[0] == "askback":
			return "askback is " + strings.Fields(line[status:] + " listed")[0]
		default:
			return strings.Join(words, " ")
		}
	}
	return ""
}
