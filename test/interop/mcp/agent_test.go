package mcp_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback/test/interop/clienttest"
	"github.com/askback/askback/test/kit/proctest"
)

// TestMain runs more tests in parallel than there are cores, because they
// mostly wait.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	clienttest.Main(m)
}

// patience is the deadline of each wait. It is longer than the default timeout
// of the SDK.
const patience = 3 * time.Minute

// short is a client timeout that passes before there is an answer.
const short = 1200 * time.Millisecond

// The clients are scripts in this folder, one for each revision of the
// protocol.
const (
	legacy = "legacy.mjs" // SDK 1.x: sessions
	modern = "modern.mjs" // SDK 2.x: 2026-07-28
	tasks  = "tasks.mjs"  // SDK 2.x with the tasks extension
)

// A setup is the configuration of an MCP client, and its capabilities.
type setup struct {
	Name         string            `json:"name"`
	URL          string            `json:"url,omitempty"` // with HTTP
	Token        string            `json:"token,omitempty"`
	Command      string            `json:"command,omitempty"` // with stdio
	Env          map[string]string `json:"env,omitempty"`
	Capabilities map[string]any    `json:"capabilities"`
	Looks        string            `json:"looks,omitempty"` // reply to a request to show a page
}

// overHTTP returns the setup for MCP over HTTP.
func overHTTP(p *clienttest.Instance) setup {
	return setup{Name: "tester", URL: p.URL + "/mcp", Token: p.AgentToken, Capabilities: map[string]any{}}
}

// overStdio returns the setup for askback mcp over stdio.
func overStdio(p *clienttest.Instance) setup {
	env := map[string]string{}
	for _, e := range p.Environ() {
		name, value, _ := strings.Cut(e, "=")
		env[name] = value
	}
	return setup{Name: "tester", Command: p.Program, Env: env, Capabilities: map[string]any{}}
}

// as returns the setup with another token.
func (s setup) as(token string) setup {
	if s.Token = token; s.Command != "" {
		s.Env = maps.Clone(s.Env)
		s.Env["ASKBACK_TOKEN"] = token
	}
	return s
}

// withPage returns the setup of a client that can show pages and is known to show them.
func (s setup) withPage(looks string) setup {
	s.Name = "mcp-inspector"
	s.Looks, s.Capabilities = looks, map[string]any{"elicitation": map[string]any{"url": map[string]any{}}}
	return s
}

// A setupCase is a client script with a transport.
type setupCase struct {
	script string
	in     func(*clienttest.Instance) setup
}

// setupCases are all cases, by name.
var setupCases = map[string]setupCase{
	"stdio/legacy":     {legacy, overStdio},
	"stdio/2026-07-28": {modern, overStdio},
	"HTTP/legacy":      {legacy, overHTTP},
	"HTTP/2026-07-28":  {modern, overHTTP},
}

// forEachSetup runs a test for every case, each with its own instance.
func forEachSetup(t *testing.T, run func(t *testing.T, p *clienttest.Instance, w setupCase)) {
	t.Helper()
	clienttest.Packages(t)
	t.Parallel()
	for name, w := range setupCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, clienttest.New(t), w)
		})
	}
}

// An agent is a running client.
type agent struct {
	t     *testing.T
	stdin io.Writer

	mu      sync.Mutex
	last    int
	waiting map[int]chan reply
	over    bool
}

// A reply is the result or the error of a command.
type reply struct {
	ID     int             `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *failure        `json:"error"`
}

// A failure is an error of the client, not a result with an error.
type failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (f *failure) Error() string { return f.Code + ": " + f.Message }

// isTimeout reports whether the client timed out.
func (f *failure) isTimeout() bool {
	return f != nil && (f.Code == "-32001" || f.Code == "REQUEST_TIMEOUT")
}

// newAgent starts a client, connects it, and returns the agent.
func newAgent(t *testing.T, script string, s setup) *agent {
	t.Helper()
	config, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join(scriptFolder(t), script), string(config))
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	proctest.Bind(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	a := &agent{t: t, stdin: stdin, waiting: map[int]chan reply{}}
	read := make(chan struct{})
	go func() { defer close(read); a.read(stdout) }()
	t.Cleanup(func() {
		_ = stdin.Close() // ends the client and its server
		<-read
		_ = cmd.Wait()
		if t.Failed() && stderr.Len() > 0 {
			t.Logf("%s wrote:\n%s", script, stderr.String())
		}
	})
	a.run("connect", nil)
	return a
}

// scriptFolder returns a folder with the scripts and their packages.
func scriptFolder(t *testing.T) string {
	t.Helper()
	packages, dir := clienttest.Packages(t), t.TempDir()
	if err := os.Symlink(filepath.Join(packages, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob("*.mjs")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, path), raw, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// read sends each reply to the caller that waits for it, until the client ends.
func (a *agent) read(from io.Reader) {
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		var r reply
		if err := json.Unmarshal(line, &r); err != nil {
			r = reply{Error: &failure{"", fmt.Sprintf("%s: %v", line, err)}}
		}
		a.mu.Lock()
		if c := a.waiting[r.ID]; c != nil {
			c <- r
			delete(a.waiting, r.ID)
		}
		a.mu.Unlock()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
	for _, c := range a.waiting {
		close(c)
	}
}

// start sends a command and returns a channel for its reply.
func (a *agent) start(command string, with any) <-chan reply {
	a.t.Helper()
	c := make(chan reply, 1)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		a.t.Fatal("the client has ended")
	}
	a.last++
	a.waiting[a.last] = c
	line, err := json.Marshal(map[string]any{"id": a.last, "command": command, "with": with})
	if err == nil {
		_, err = a.stdin.Write(append(line, '\n'))
	}
	if err != nil {
		a.t.Fatal(err)
	}
	return c
}

// await waits for the reply of a command and returns it.
func (a *agent) await(c <-chan reply) reply {
	a.t.Helper()
	select {
	case r, ok := <-c:
		if !ok {
			a.t.Fatal("the client ended")
		}
		return r
	case <-time.After(patience):
		a.t.Fatal("the client does not reply")
	}
	return reply{}
}

// run runs a command, requires success, and returns the result.
func (a *agent) run(command string, with any) json.RawMessage {
	a.t.Helper()
	r := a.await(a.start(command, with))
	if r.Error != nil {
		a.t.Fatalf("%s: %v", command, r.Error)
	}
	return r.Result
}

// about describes the connection of a client.
type about struct {
	Protocol     string           `json:"protocol"`
	Session      string           `json:"session"`
	Instructions string           `json:"instructions"`
	Process      int              `json:"process"`
	Elicited     []map[string]any `json:"elicited"`
}

func (a *agent) about() about {
	a.t.Helper()
	var out about
	read(a.t, a.run("about", nil), &out)
	return out
}

// killServer sends SIGKILL to the server that this client started, and connects again.
func (a *agent) killServer() {
	a.t.Helper()
	server, err := os.FindProcess(a.about().Process)
	if err != nil {
		a.t.Fatal(err)
	}
	if err := server.Kill(); err != nil {
		a.t.Fatal(err)
	}
	a.run("connect", nil)
}
