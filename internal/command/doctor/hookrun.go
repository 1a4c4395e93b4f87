package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/askback/askback/internal/agents"
	"github.com/askback/askback/internal/agents/claudecode"
	"github.com/askback/askback/internal/agents/config"
	"github.com/askback/askback/internal/agents/hook"
)

// checkHooks asks through each hook in a file that asks people, and reports the result. It only reports hooks
// that askback init does not write, hooks that need a server or a token, and all hooks if people could be
// notified.
func (l laneCheck) checkHooks(ctx context.Context, f File) {
	const check = "lane"
	refused := map[string]bool{}
	for _, h := range f.hooks() {
		what := h.Command + h.URL
		if h.Matcher == claudecode.PluginTools {
			continue // the hook only allows the tools of Askback
		}
		if !l.own.hooks.HasHook(f.Agent.Config, f.scope, h) {
			if !refused[what] { // several events can have the same command
				refused[what] = true
				l.refuse(l.own, f.String(), h.Command, h.URL)
			}
			continue
		}
		checks := f.canaries(h)
		switch {
		case len(checks) == 0:
		case !l.quiet:
			l.Warn(check, "to try it, ask something in the agent itself",
				"%s: the hook %s was not tried, because it could notify people", f, h.Event)
		case f.Agent.Config.NeedsServer(h) && !l.proved:
			l.Warn(check, "run askback serve, and check again",
				"%s: the hook %s asks no person, because no server is running", f, h.Event)
		case h.URL != "" && os.Getenv(config.TokenVariable) == "":
			l.Warn(check, "set "+config.TokenVariable+" where the client starts; check again with it",
				"%s: the hook %s needs a token that is not set here", f, h.Event)
		default:
			for _, one := range checks {
				l.checkHook(ctx, f, h, one)
			}
		}
	}
}

// checkHook sends an event to a hook as the client of the hook does, and reports the result.
func (l laneCheck) checkHook(ctx context.Context, f File, h config.Hook, check hook.Canary) {
	ctx, cancel := context.WithTimeout(ctx, laneTime)
	defer cancel()
	c := newCanary(f.Agent.Name+", hook "+h.Event+" ("+f.shown+")", check.Permission)
	err := c.ask(ctx, l.conn, check.Want, func(ctx context.Context) (string, error) {
		if h.URL != "" {
			return l.post(ctx, h, check, check.Payload(c.text, c.token))
		}
		return hookRun{
			command: []string{"sh", "-c", h.Command}, env: check.Env, in: check.Payload(c.text, c.token),
		}.output(ctx)
	})
	l.report(f, check.What+" by the hook "+h.Event, check.Permission, err)
}

// A hookRun runs the command of a hook as its client does.
type hookRun struct {
	command []string
	env     map[string]string // the variables that the client adds to the environment
	in      []byte
	open    bool // the client keeps the input open until the command ends
}

// output runs the command and returns its output. It returns an error if the command fails or only writes to
// standard error.
func (h hookRun) output(ctx context.Context) (string, error) {
	cmd := exec.CommandContext(ctx, h.command[0], h.command[1:]...)
	cmd.Env = hookEnvironment(h.env)
	cmd.WaitDelay = time.Second
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	_, err = in.Write(append(h.in, '\n')) // the command has ended if this fails
	if err == nil && !h.open {
		err = in.Close()
	}
	if ended := cmd.Wait(); ended != nil {
		return "", errors.Join(fmt.Errorf("the hook failed: %w", ended), textError(said.String()))
	}
	if out.Len() == 0 && said.Len() > 0 {
		return "", fmt.Errorf("the hook decided nothing: %s", strings.TrimSpace(said.String()))
	}
	return out.String(), err
}

// textError returns an error with a text, or nil if the text is "".
func textError(text string) error {
	if text = strings.TrimSpace(text); text == "" {
		return nil
	}
	return errors.New(text)
}

// hookEnvironment returns the environment of this process with some variables. It removes the variables that
// an agent sets for its programs, because doctor may run in an agent. It also removes relative folders from
// PATH, so that a shell cannot find a program of the project there.
func hookEnvironment(more map[string]string) []string {
	without := []string{"PATH"}
	for _, a := range agents.All() {
		without = append(without, a.Config.Variables...)
	}
	env := slices.DeleteFunc(os.Environ(), func(one string) bool {
		name, _, _ := strings.Cut(one, "=")
		return slices.Contains(without, name)
	})
	folders := slices.DeleteFunc(filepath.SplitList(os.Getenv("PATH")),
		func(folder string) bool { return !filepath.IsAbs(folder) })
	env = append(env, "PATH="+strings.Join(folders, string(filepath.ListSeparator)))
	for name, value := range more {
		env = append(env, name+"="+value)
	}
	return env
}

// post sends an event to the URL of a hook and returns the output. The URL must be on the server of this
// database. Each connection is to the server that proved its identity.
func (l laneCheck) post(ctx context.Context, h config.Hook, check hook.Canary, event []byte) (string, error) {
	if !l.proved || h.URL != l.server.URL+claudecode.Path {
		return "", fmt.Errorf("%s is not the address of the server that runs on this machine", h.URL)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(event))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+os.Getenv(config.TokenVariable))
	req.Header.Set(claudecode.EntrypointHeader, check.Env[claudecode.EntrypointVariable])
	res, err := l.server.Client().Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	out, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %s", res.StatusCode, strings.TrimSpace(string(out)))
	}
	return string(out), err
}
