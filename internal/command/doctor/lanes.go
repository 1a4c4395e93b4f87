package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/askback/askback/agent/mcptools"
	"github.com/askback/askback/internal/agents/claudecode"
	"github.com/askback/askback/internal/agents/config"
	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/agents/opencode"
	"github.com/askback/askback/internal/local/connection"
	"github.com/askback/askback/internal/local/instance"
)

// laneTime is how long a question through the entry of a client may take, from the start of the command in
// the entry.
const laneTime = 20 * time.Second

// A laneCheck checks the entries of clients.
type laneCheck struct {
	*doctor
	conn  *connection.Connector
	own   ownEntries
	quiet bool // asks notify no person
}

// checkLanes asks a question through each client that is configured in this folder or for the user, and
// answers the question. It asks as the client would, with the client's command or URL, and with the
// environment that the client passes on. Through the hooks of the client, it also asks for a permission. If
// people would be notified, it only lists the open questions. It uses only entries that askback init writes,
// because the folder can be a stranger's project.
func (d *doctor) checkLanes(ctx context.Context) {
	const check = "lanes"
	conn, err := d.program.Connector(instance.KindAsk)
	if err != nil {
		d.Fail(check, "", "%v", err)
		return
	}
	l := laneCheck{d, conn, d.ownEntries(), conn.IsLocal() && reflect.ValueOf(d.file.Channels).IsZero()}
	before := len(d.Findings)
	ownClaude := false // a file of Claude Code has an entry
	for _, f := range clientFiles() {
		lane, ok := f.Agent.Config.LaneIn(f.Content)
		ownClaude = ownClaude || f.Agent.Name == claudecode.Name && (ok || len(f.hooks()) > 0)
		if ok {
			l.checkServer(ctx, f, lane)
			if f.Agent.Name == opencode.Name {
				l.checkOpenCode(ctx, f)
			}
		}
		l.checkHooks(ctx, f)
	}
	if !ownClaude {
		l.checkClaudePlugin(ctx)
	}
	if len(d.Findings) == before {
		d.Warn(check, "askback init", "no agent is configured in this folder or for this user")
	}
	if err := conn.Close(); err != nil {
		d.Fail(check, "", "%v", err)
	}
}

// laneFix is the advice about an entry that does not work.
const laneFix = "run the command in the file yourself; askback init writes the entry again"

// checkServer asks a question through the MCP server in a file. If people could be notified, it only lists
// the open questions.
func (l laneCheck) checkServer(ctx context.Context, f File, lane config.Lane) {
	const check = "lane"
	if !l.own.written.HasLane(f.Agent.Config, f.scope, lane) {
		l.refuse(l.own, f.String(), strings.Join(lane.Command, " "), lane.URL)
		return
	}
	headers, expanded := lane.Expand(os.Getenv)
	if !expanded {
		l.Warn(check, "set "+config.TokenVariable+" where the client starts; check again with it",
			"%s needs a token that is not set here", f)
		return
	}
	command := slices.Clone(lane.Command)
	if len(command) > 0 {
		command[0] = l.own.paths[command[0]]
	}
	server, err := mcptools.New("askback", mcptools.Options{
		Command: command, URL: lane.URL, Headers: headers, Env: lane.Environment(os.Environ()), Start: laneTime,
		Call: laneTime,
	})
	if err != nil {
		l.Fail(check, "askback init writes the entry again", "%s: %v", f, err)
		return
	}
	defer server.Close()
	ctx, cancel := context.WithTimeout(ctx, laneTime)
	defer cancel()
	call := func(ctx context.Context, tool string, input any) (string, error) {
		raw, err := json.Marshal(input)
		if err != nil {
			return "", err
		}
		out := server.Call(ctx, tool, raw)
		if out.IsError {
			return "", errors.New(out.Text)
		}
		return out.Text, nil
	}
	if !l.quiet || lane.URL != "" {
		if _, err := call(ctx, "list_open_questions", struct{}{}); err != nil {
			l.Fail(check, laneFix, "%s: %v", f, err)
			return
		}
		l.OK(check, "%s: its MCP server is connected; doctor sent no test question, because it could notify people", f)
		return
	}
	c := newCanary(f.Agent.Name+", MCP ("+f.shown+")", false)
	err = c.ask(ctx, l.conn, "", func(ctx context.Context) (string, error) {
		question := map[string]any{"question": c.text, "options": hook.CanaryOptions()}
		return call(ctx, "ask_user_question", map[string]any{"questions": []any{question}})
	})
	l.report(f, "a question by MCP", false, err)
}

// report adds the finding about an ask.
func (l laneCheck) report(f File, asked string, permission bool, err error) {
	const check = "lane"
	settled := "was answered, and the answer arrived"
	if permission {
		settled = "was denied, and the denial arrived"
	}
	if err != nil {
		l.Fail(check, laneFix, "%s: %s: %v", f, asked, err)
		return
	}
	l.OK(check, "%s: %s %s", f, asked, settled)
}

// String returns the client and the file, for people.
func (f File) String() string { return fmt.Sprintf("%s (%s)", f.Agent.Name, f.shown) }
