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

	"github.com/askback/askback"
	"github.com/askback/askback/test/interop/clienttest"
)

// The tests wait for people and for time-outs much more than they compute, so more of
// them run beside each other than there are cores.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	clienttest.Main(m)
}

// patience bounds each wait. The SDK's own time-out of 60 s has room in it.
const patience = 90 * time.Second

// short is a client's time-out that passes before anybody answers.
const short = 1200 * time.Millisecond

// The client of each revision of the protocol, as a script of this folder.
const (
	legacy = "legacy.mjs" // SDK 1.x: sessions
	modern = "modern.mjs" // SDK 2.x: 2026-07-28
	tasks  = "tasks.mjs"  // the same with the tasks extension
)

// A setup is what somebody configures in an MCP client, and what that client can do.
type setup struct {
	Name         string            `json:"name"`
	URL          string            `json:"url,omitempty"` // HTTP, or
	Token        string            `json:"token,omitempty"`
	Command      string            `json:"command,omitempty"` // stdio
	Env          map[string]string `json:"env,omitempty"`
	Capabilities map[string]any    `json:"capabilities"`
	Looks        string            `json:"looks,omitempty"` // what it says of a page it is to show
}

// The two ways in.
func overHTTP(p *clienttest.Place) setup {
	return setup{Name: "tester", URL: p.URL + "/mcp", Token: p.AgentToken, Capabilities: map[string]any{}}
}

func overStdio(p *clienttest.Place) setup {
	env := map[string]string{}
	for _, e := range p.Environ() {
		name, value, _ := strings.Cut(e, "=")
		env[name] = value
	}
	return setup{Name: "tester", Command: p.Program, Env: env, Capabilities: map[string]any{}}
}

// as is the same client with the token of another agent.
func (s setup) as(token string) setup {
	if s.Token = token; s.Command != "" {
		s.Env = maps.Clone(s.Env)
		s.Env["ASKBACK_TOKEN"] = token
	}
	return s
}

// shows is the same client with a person before it who can be shown a page, under a
// name that is known to do so.
func (s setup) shows(looks string) setup {
	s.Name = "mcp-inspector"
	s.Looks, s.Capabilities = looks, map[string]any{"elicitation": map[string]any{"url": map[string]any{}}}
	return s
}

// A way is a client and how it comes in.
type way struct {
	script string
	in     func(*clienttest.Place) setup
}

// ways are all of them, by name.
var ways = map[string]way{
	"stdio/legacy":     {legacy, overStdio},
	"stdio/2026-07-28": {modern, overStdio},
	"HTTP/legacy":      {legacy, overHTTP},
	"HTTP/2026-07-28":  {modern, overHTTP},
}

// each runs a test for every way, each at a place of its own.
func each(t *testing.T, run func(t *testing.T, p *clienttest.Place, w way)) {
	t.Helper()
	clienttest.Packages(t)
	t.Parallel()
	for name, w := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, clienttest.New(t), w)
		})
	}
}

// An agent is a client that runs.
type agent struct {
	t     *testing.T
	stdin io.Writer

	mu      sync.Mutex
	last    int
	waiting map[int]chan reply
	over    bool
}

// A reply is what a command came to.
type reply struct {
	ID     int             `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *failure        `json:"error"`
}

// A failure is an error of the client, not a result that says one.
type failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (f *failure) Error() string { return f.Code + ": " + f.Message }

// timedOut says whether the client lost patience.
func (f *failure) timedOut() bool {
	return f != nil && (f.Code == "-32001" || f.Code == "REQUEST_TIMEOUT")
}

// begin starts a client and connects it.
func begin(t *testing.T, script string, s setup) *agent {
	t.Helper()
	config, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join(scripts(t), script), string(config))
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	var said bytes.Buffer
	cmd.Stderr = &said
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	a := &agent{t: t, stdin: stdin, waiting: map[int]chan reply{}}
	read := make(chan struct{})
	go func() { defer close(read); a.read(stdout) }()
	t.Cleanup(func() {
		_ = stdin.Close() // its end, and so that of a server it started
		<-read
		_ = cmd.Wait()
		if t.Failed() && said.Len() > 0 {
			t.Logf("%s said:\n%s", script, said.String())
		}
	})
	a.must("connect", nil)
	return a
}

// scripts is a folder with the scripts of this one, where they find their packages.
func scripts(t *testing.T) string {
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

// read hands each reply to whoever waits for it, until the client ends.
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

// start gives a command and does not wait for what it comes to.
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

// soon is what comes of a command, in bounded time.
func (a *agent) soon(c <-chan reply) reply {
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

// must does a command that succeeds.
func (a *agent) must(command string, with any) json.RawMessage {
	a.t.Helper()
	r := a.soon(a.start(command, with))
	if r.Error != nil {
		a.t.Fatalf("%s: %v", command, r.Error)
	}
	return r.Result
}

// about is what a client knows of its connection.
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
	read(a.t, a.must("about", nil), &out)
	return out
}

// kill kills the server that this client started, with SIGKILL, and connects anew.
func (a *agent) kill() {
	a.t.Helper()
	server, err := os.FindProcess(a.about().Process)
	if err != nil {
		a.t.Fatal(err)
	}
	if err := server.Kill(); err != nil {
		a.t.Fatal(err)
	}
	a.must("connect", nil)
}

// A call is one call of a tool, as a model writes it.
type call struct {
	Tool    string            `json:"tool"`
	Input   string            `json:"input"`
	Timeout int64             `json:"timeout,omitempty"` // in ms; 0: the SDK's own
	Meta    map[string]string `json:"meta,omitempty"`
}

// within is the same call with another time-out of the client.
func (c call) within(d time.Duration) call {
	c.Timeout = d.Milliseconds()
	return c
}

// ask is a call that asks one question.
func ask(question string, options ...string) call {
	input := map[string]any{"question": question}
	if len(options) > 0 {
		input["options"] = options
	}
	return call{Tool: "ask_user_question", Input: written(input), Timeout: patience.Milliseconds()}
}

// later is a call of a small tool about one question.
func later(tool, id string) call {
	return call{Tool: tool, Input: written(map[string]any{"question_id": id}), Timeout: patience.Milliseconds()}
}

// written is a value as JSON, as JavaScript writes it too.
func written(v any) string {
	var b strings.Builder
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	if err := out.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func read(t *testing.T, raw []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
}

// A result is what a tool gave: text for some clients, the same as JSON for others.
type result struct {
	Content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
	Structured struct {
		Status    askback.Status `json:"status"`
		ID        string         `json:"question_id"`
		PageURL   string         `json:"page_url"`
		Next      string         `json:"next"`
		Answers   map[string]any `json:"answers"` // by question
		Confirmed *bool          `json:"confirmed"`
		Questions []struct {
			ID   string   `json:"question_id"`
			Asks []string `json:"asks"`
		} `json:"questions"`
		Outcome *struct {
			Status askback.Status  `json:"status"`
			Input  json.RawMessage `json:"input"`
			Via    string          `json:"via"`
		} `json:"outcome"`
	} `json:"structuredContent"`
	IsError bool `json:"isError"`
}

// text is all of its text.
func (r result) text() string {
	var b strings.Builder
	for _, c := range r.Content {
		b.WriteString(c.Text)
	}
	return b.String()
}

// call calls a tool, which gives a result.
func (a *agent) call(c call) result {
	a.t.Helper()
	return a.result(a.start("call", c))
}

// result is that of a call which was started.
func (a *agent) result(c <-chan reply) result {
	a.t.Helper()
	r := a.soon(c)
	if r.Error != nil {
		a.t.Fatalf("no result: %v", r.Error)
	}
	var out result
	read(a.t, r.Result, &out)
	return out
}

// loses calls a tool and gives up before there is a result. On a busy machine the client
// can give up before the question is asked: then it calls again, and waits longer.
func (a *agent) loses(c call) {
	a.t.Helper()
	a.loseAll(1, func(within time.Duration) []<-chan reply {
		return []<-chan reply{a.start("call", c.within(within))}
	})
}

// loseAll starts calls that time out, until at least so many questions are open.
func (a *agent) loseAll(open int, start func(within time.Duration) []<-chan reply) {
	a.t.Helper()
	for within := short; ; within *= 2 {
		for _, c := range start(within) {
			if r := a.soon(c); !r.Error.timedOut() {
				a.t.Fatalf("the client did not time out: %s %v", r.Result, r.Error)
			}
		}
		a.heard()
		got := len(a.open())
		if got >= open {
			return
		}
		if within > 20*short {
			a.t.Fatalf("%d questions are open after a call of %v, want %d", got, within, open)
		}
	}
}

// heard gives the server time to hear that the client gave up. Some clients say so in
// a message of its own, which nothing waits for; an answer that crosses with it counts
// as given.
func (a *agent) heard() {
	a.t.Helper()
	a.open()
	<-time.After(300 * time.Millisecond)
}

// said checks that a result is the answer to a question, in both of its forms.
func (a *agent) said(r result, question, want string) {
	a.t.Helper()
	if got := r.Structured.Answers[question]; got != want || r.IsError {
		a.t.Errorf("structured: got %v, want %q (%+v)", got, want, r)
	}
	if part := fmt.Sprintf("%q = %q", question, want); !strings.Contains(r.text(), part) {
		a.t.Errorf("text: got %q, want %s in it", r.text(), part)
	}
}

// open are the questions that the agent's list shows, oldest first.
func (a *agent) open() []string {
	a.t.Helper()
	r := a.call(call{Tool: "list_open_questions", Input: "{}", Timeout: patience.Milliseconds()})
	ids := []string{}
	for _, q := range r.Structured.Questions {
		if ids = append(ids, q.ID); !strings.Contains(r.text(), q.ID) {
			a.t.Errorf("the text lacks %s: %q", q.ID, r.text())
		}
	}
	return ids
}
