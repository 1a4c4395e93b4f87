package mcptools_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback/agent/mcptools"
	"github.com/askback/askback/test/kit/racedetector"
)

// serveCommand is the main function of a server that a test starts.
func serveCommand(mode string) {
	switch mode {
	case "broken":
		fmt.Fprintln(os.Stderr, "there is no configuration")
		os.Exit(3)
	case "leaks": // the secret begins after 295 bytes, and the text is cut after 300
		fmt.Fprintln(os.Stderr, os.Args[1:])
		fmt.Fprintln(os.Stderr, strings.Repeat("z", 295)+os.Getenv("KEY"))
		os.Exit(3)
	case "flood":
		serveFlood()
	case "silent":
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "stubborn": // the command does not end even after the end of its input
		_, _ = io.Copy(io.Discard, os.Stdin)
		select {}
	case "raw":
		serveRaw()
	default:
		server := newMCP()
		addCommandTools(server)
		_ = server.Run(context.Background(), &mcp.StdioTransport{})
	}
}

func addCommandTools(server *mcp.Server) {
	add := func(name string, f func(ctx context.Context, input map[string]any) string) {
		server.AddTool(&mcp.Tool{Name: name, InputSchema: object},
			func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				var input map[string]any
				if err := json.Unmarshal(r.Params.Arguments, &input); err != nil {
					return nil, err
				}
				return text(f(ctx, input)), nil
			})
	}
	add("pid", func(context.Context, map[string]any) string { return strconv.Itoa(os.Getpid()) })
	add("env", func(context.Context, map[string]any) string { return strings.Join(os.Environ(), "\n") })
	add("dir", func(context.Context, map[string]any) string { dir, _ := os.Getwd(); return dir })
	add("crash", func(context.Context, map[string]any) string {
		fmt.Fprintln(os.Stderr, "out of cheese")
		os.Exit(7)
		return ""
	})
	add("big", func(context.Context, map[string]any) string { return strings.Repeat("x", 17<<20) })
	add("child", func(context.Context, map[string]any) string {
		child := exec.Command("sleep", "600")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		if err := child.Start(); err != nil {
			return err.Error()
		}
		return strconv.Itoa(child.Process.Pid)
	})
	add("log", func(_ context.Context, input map[string]any) string {
		fmt.Fprint(os.Stderr, input["text"])
		return ""
	})
	add("wait", func(ctx context.Context, _ map[string]any) string {
		fmt.Fprintln(os.Stderr, "waiting")
		<-ctx.Done()
		fmt.Fprintln(os.Stderr, "cancelled")
		return ""
	})
}

// serveRaw serves one tool without the SDK. The result of the tool is not UTF-8.
func serveRaw() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		reply := func(result string) { fmt.Printf(`{"jsonrpc":"2.0","id":%s,%s}`+"\n", m.ID, result) }
		switch m.Method {
		case "initialize":
			reply(`"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"1"}}`)
		case "tools/list":
			reply(`"result":{"tools":[null,{"name":"bad\u202e/ name","inputSchema":{}},{"name":"a\u0000","inputSchema":{}},{"name":"","inputSchema":{}},{"name":"list","inputSchema":[]},{"name":"` +
				strings.Repeat("n", 200) + `","inputSchema":{}},{"name":"typed","inputSchema":{"type":"array"}},{"name":"none"},{"name":"long","description":"` + strings.Repeat("ä", 9000) + `","inputSchema":{}}]}`)
		case "tools/call":
			content := `{"type":"text","text":"a` + "\xff" + `b\u0000c"}`
			if strings.Contains(string(m.Params), "hologram") {
				content += `,{"type":"hologram"}`
			}
			if strings.Contains(string(m.Params), "print") {
				fmt.Println("starting the work")
			}
			reply(`"result":{"content":[` + content + `]}`)
		default:
			reply(`"error":{"code":-32601,"message":"no such method"}`)
		}
	}
}

// A command is started when it is first needed, and again after it has ended (D5).
func TestCommandIsStartedAgain(t *testing.T) {
	s, log := newCommand(t, "tools")
	if log.String() != "" {
		t.Error("it was started before it was needed")
	}
	first := call(t, s, "pid", `{}`)
	if second := call(t, s, "pid", `{}`); first != second {
		t.Errorf("got the processes %s and %s", first, second)
	}
	began := time.Now()
	fails(t, s, t.Context(), "crash", `{}`,
		"the effect of the tool is not known: the command ended: exit status 7: out of cheese")
	if d := time.Since(began); d > time.Minute {
		t.Errorf("it took %v", d)
	}
	if third := call(t, s, "pid", `{}`); third == first {
		t.Errorf("got the process %s again", third)
	}
	if !slices.Contains(names(t, s), "echo") {
		t.Errorf("got %q", names(t, s))
	}
}

// A process that is killed during a call ends the call.
func TestKilledCommandEndsTheCall(t *testing.T) {
	s, log := newCommand(t, "tools")
	pid, err := strconv.Atoi(call(t, s, "pid", `{}`))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		fails(t, s, t.Context(), "wait", `{}`,
			"ended before the result, so the effect of the tool is not known: the command ended: signal: killed")
	}()
	eventually(t, "the tool runs", func() bool { return strings.Contains(log.String(), "waiting") })
	p, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ended
	if got := call(t, s, "echo", `{"a":1}`); got != `{"a":1}` {
		t.Errorf("got %q", got)
	}
}

// A cancelled call returns immediately, and the server gets a cancellation.
func TestCancelledCallReturnsImmediately(t *testing.T) {
	s, log := newCommand(t, "tools")
	pid := call(t, s, "pid", `{}`)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		fails(t, s, ctx, "wait", `{}`, "The call was cancelled.")
	}()
	eventually(t, "the tool runs", func() bool { return strings.Contains(log.String(), "waiting") })
	began := time.Now()
	cancel()
	<-ended
	if d := time.Since(began); d > time.Minute {
		t.Errorf("it took %v", d)
	}
	eventually(t, "the tool is cancelled", func() bool { return strings.Contains(log.String(), "text=cancelled") })
	if now := call(t, s, "pid", `{}`); now != pid {
		t.Errorf("the server was started again: %s, %s", pid, now)
	}
}

// A command gets a few variables and the variables of its settings. The secrets of the server are not among
// them.
func TestCommandGetsNoSecrets(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "hunter2hunter2")
	t.Setenv("ASKBACK_TOKEN", "hunter2hunter2")
	t.Setenv("LANG", "en_GB.UTF-8")
	dir := t.TempDir()
	s, _ := newCommand(t, "tools", func(o *mcptools.Options) {
		o.Env["LANG"], o.Env["TOKEN_OF_IT"] = "de_DE.UTF-8", "its own secret"
		o.Dir = dir
	})
	var got []string
	for variable := range strings.Lines(call(t, s, "env", `{}`)) {
		name, value, _ := strings.Cut(strings.TrimSpace(variable), "=")
		if name == "LANG" && value != "de_DE.UTF-8" || name == "TOKEN_OF_IT" && value != "its own secret" {
			t.Errorf("%s is %q", name, value)
		}
		got = append(got, name)
	}
	for _, name := range got {
		if !slices.Contains(
			[]string{"PATH", "HOME", "LANG", "TMPDIR", "TOKEN_OF_IT", modeVariable, "PWD", "GOCOVERDIR"}, name,
		) {
			t.Errorf("the command has %s", name)
		}
	}
	if !slices.Contains(got, "PATH") || !slices.Contains(got, "TOKEN_OF_IT") {
		t.Errorf("got %q", got)
	}
	if got := call(t, s, "dir", `{}`); !strings.HasSuffix(got, dir) {
		t.Errorf("it runs in %s, want %s", got, dir)
	}
}

// The standard error of a command is in the log, in lines of a limited length and without the secrets of its
// settings.
func TestStandardErrorIsLogged(t *testing.T) {
	s, log := newCommand(t, "tools", func(o *mcptools.Options) { o.Env["KEY"] = "hunter2hunter2" })
	long := strings.Repeat("y", 3000)
	call(t, s, "log", `{"text": "one\ntwo hunter2hunter2\n`+long+`\nlast"}`)
	s.Close()
	got := log.String()
	for _, want := range []string{
		"text=one ", "text=one\n", `text="two …"`, "text=last", "text=" + strings.Repeat("y", 2000) + "\n",
		"text=" + strings.Repeat("y", 1000) + "\n",
	} {
		if want != "text=one " && !strings.Contains(got, want) {
			t.Errorf("the log lacks %.40q", want)
		}
	}
	if strings.Contains(got, "hunter2") {
		t.Error("the log has a secret")
	}
}

// A command that is not ready, does not start or ends immediately is an error with a reason.
func TestCommandThatDoesNotStartIsAnError(t *testing.T) {
	t.Parallel() // the test mostly waits
	for _, c := range []struct {
		mode string
		o    func(*mcptools.Options)
		want string
	}{
		{"broken", func(*mcptools.Options) {}, "the command ended: exit status 3: there is no configuration"},
		{"silent", func(o *mcptools.Options) { o.Start = 100 * time.Millisecond }, "it was not ready within 100ms"},
		{"stubborn", func(o *mcptools.Options) { o.Start = 100 * time.Millisecond }, "it was not ready within 100ms"},
		{"x", func(o *mcptools.Options) {
			o.Command = []string{"no-such-program-here", "hunter2hunter2"}
		}, "the command cannot be started: exec: \"no-such-program-here\": executable file not found in $PATH"},
	} {
		s, _ := newCommand(t, c.mode, c.o)
		_, err := s.Tools(t.Context())
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %v, want %q", c.mode, err, c.want)
		}
		fails(t, s, t.Context(), "echo", `{}`, "The tool was not called: the server files cannot be reached: "+c.want)
	}
}

// A result of more than 16 MB ends the connection; the server is started again.
func TestHugeResultEndsTheConnection(t *testing.T) {
	racedetector.Omit(t)
	s, _ := newCommand(t, "tools")
	fails(t, s, t.Context(), "big", `{}`, "ended before the result")
	if got := call(t, s, "echo", `{"a":1}`); got != `{"a":1}` {
		t.Errorf("got %q", got)
	}
}

// Texts that are not UTF-8, unknown kinds of content and unusual tools cause no error.
func TestUnusualTextsAndToolsAreAccepted(t *testing.T) {
	t.Parallel() // the test mostly waits
	s, log := newCommand(t, "raw")
	if got, want := names(t, s), []string{"bad\u202e/ name", "long"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q\n%s", got, want, log)
	}
	if d := find(t, s, "long").Description; len(d) > 9<<10 || !strings.HasSuffix(d, "ä…") {
		t.Errorf("got a description of %d bytes that ends with %q", len(d), d[len(d)-10:])
	}
	if got := string(find(t, s, "long").Schema); got != `{"type":"object"}` {
		t.Errorf("got the schema %s", got)
	}
	if got := call(t, s, "long", `{}`); got != "a�b�c" {
		t.Errorf("got %q", got)
	}
	fails(t, s, t.Context(), "long", `{"a":"hologram"}`, `The reply of the server files cannot be read, so the effect of the tool is not known: calling "tools/call": unrecognized content type "hologram"`)
	if strings.Contains(log.String(), "ended") {
		t.Errorf("the connection ended: %s", log)
	}
	fails(t, s, t.Context(), "long", `{"a":"print"}`, "ended before the result")
	if got := call(t, s, "long", `{}`); got != "a�b�c" {
		t.Errorf("got %q", got)
	}
}
