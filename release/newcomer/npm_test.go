package newcomer_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback/release/fresh"
	"github.com/askback/askback/release/npmtest"
)

// npmRegistry is the registry that npm uses by default.
const npmRegistry = "registry.npmjs.org"

// npmArtefacts returns the folder of the packages for npm. Without artefacts or npm, it skips the test.
func npmArtefacts(t *testing.T) string {
	t.Helper()
	dist := os.Getenv("ASKBACK_DIST")
	if dist == "" {
		t.Skip("LEFT OUT: the packages of npm (ASKBACK_DIST does not name the folder of the artefacts)")
	}
	for _, name := range []string{"node", "npm"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("LEFT OUT: the packages of npm (%s is missing)", name)
		}
	}
	return filepath.Join(dist, "npm")
}

// npmSystem returns a fresh system with Node and npm of this machine. The registry of npm has the artefacts
// and nothing else.
func npmSystem(t *testing.T, folder string) *fresh.System {
	t.Helper()
	s := fresh.New(t, "curl")
	node, err := exec.LookPath("node")
	if err == nil {
		node, err = filepath.EvalSymlinks(node)
	}
	if err != nil {
		t.Fatal(err)
	}
	cli, err := exec.LookPath("npm")
	if err == nil {
		cli, err = filepath.EvalSymlinks(cli)
	}
	if err != nil || filepath.Base(cli) != "npm-cli.js" {
		t.Skipf("LEFT OUT: npm in a fresh system (%s is not npm-cli.js: %v)", cli, err)
	}
	s.Copy(t, node, "/usr/local/bin/node")
	s.Copy(t, filepath.Dir(filepath.Dir(cli)), "/usr/local/lib/node_modules/npm")
	r := npmtest.New(t, "https://"+npmRegistry, folder)
	s.Serve(t, map[string]http.Handler{npmRegistry: r})
	// Node does not use the certificates of the system.
	s.Run(t, "root", `set -e
for name in npm npx; do ln -s ../lib/node_modules/npm/bin/$name-cli.js /usr/local/bin/$name; done
mkdir -p /usr/local/etc
echo 'cafile = "/etc/ssl/certs/ca-certificates.crt"' >/usr/local/etc/npmrc`)
	t.Cleanup(func() {
		for _, one := range r.Others() {
			// npm reports what it installs to learn of vulnerable versions, and looks for a newer npm.
			if !strings.Contains(one, "/-/npm/v1/security/") && !strings.HasSuffix(one, "/npm") {
				t.Errorf("another request: %s", one)
			}
		}
	})
	return s
}

// documented returns a command, which a page of the documentation must have.
func documented(t *testing.T, page, command string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(page)))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "\n"+command) && !strings.Contains(string(text), "`"+command+"`") {
		t.Errorf("%s has no command %q", page, command)
	}
	return command
}

// npmPage is the page of the package askback.
const npmPage = "packaging/npm/README.md"

// An mcpClient talks to a running askback mcp.
type mcpClient struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Reader
	// end ends the process.
	end func()
}

// startClient starts a command that serves MCP, and waits for its first reply.
func startClient(t *testing.T, cmd *exec.Cmd) *mcpClient {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end := sync.OnceFunc(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	t.Cleanup(end)
	c := &mcpClient{t: t, in: in, out: bufio.NewReader(out), end: end}
	c.send("initialize", 1, `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
	c.reply(1)
	return c
}

// send writes a request.
func (c *mcpClient) send(method string, id int, params string) {
	c.t.Helper()
	const form = `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}` + "\n"
	if _, err := fmt.Fprintf(c.in, form, id, method, params); err != nil {
		c.t.Fatal(err)
	}
}

// reply returns the reply to a request.
func (c *mcpClient) reply(id int) string {
	c.t.Helper()
	for {
		line, err := c.out.ReadString('\n')
		if err != nil {
			c.t.Fatalf("no reply from askback mcp: %v", err)
		}
		var message struct {
			ID     any
			Method string
		}
		if json.Unmarshal([]byte(line), &message) == nil && message.Method == "" && message.ID == float64(id) {
			return line
		}
	}
}

// npx sets up Claude Code as the documentation has it, and a question that the agent asks is answered. The
// agent can ask after npm has emptied its cache, too.
func TestNewcomerAsksByNpx(t *testing.T) {
	t.Parallel()
	s := npmSystem(t, npmArtefacts(t))
	begin := time.Now()
	documented(t, "README.md", "npx -y askback")
	server := s.Command(t.Context(), "ana", "exec "+documented(t, npmPage, "npx -y askback serve"))
	server.Stderr = t.Output()
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	s.Run(t, "ana", "mkdir project && cd project && "+documented(t, npmPage, "npx -y askback init claude-code"))
	first := time.Since(begin)

	var settings struct {
		MCPServers map[string]struct {
			Command string
			Args    []string
		}
	}
	text := s.Run(t, "ana", "cat project/.mcp.json")
	if err := json.Unmarshal([]byte(text), &settings); err != nil {
		t.Fatal(err)
	}
	own := settings.MCPServers["askback"]
	if own.Command != "/home/ana/.local/state/askback/bin/askback" {
		t.Errorf("Claude Code runs %q, which npm may remove", own.Command)
	}
	client := startClient(t,
		s.Command(t.Context(), "ana", "cd project; exec "+own.Command+" "+strings.Join(own.Args, " ")))
	client.send("tools/call", 2, `{"name":"ask_user_question","arguments":{"questions":[{"question":"Which database?",`+
		`"header":"Database","options":[{"label":"PostgreSQL"},{"label":"SQLite"}]}]}}`)
	for deadline := time.Now().Add(time.Minute); ; {
		if strings.Contains(s.Run(t, "ana", "npx -y askback list"), "Which database?") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the question is not in the list")
		}
	}
	s.Run(t, "ana", "npx -y askback answer latest SQLite")
	if got := client.reply(2); !strings.Contains(got, "SQLite") {
		t.Errorf("the agent got %s", got)
	}
	t.Logf("npx: %.1f s until init had set up Claude Code, %.1f s until the answer", first.Seconds(),
		time.Since(begin).Seconds())

	if out := s.Run(t, "ana", "cd project; npx -y askback doctor --lanes || true"); strings.Contains(out, "would run") {
		t.Errorf("askback doctor --lanes does not ask through the settings: %s", out)
	}
	s.Run(t, "ana", "rm -rf .npm")
	startClient(t, s.Command(t.Context(), "ana", "exec "+own.Command+" mcp"))
}

// npm installs askback for root, and an ordinary user asks and answers with it. Files of agents have its name.
func TestNewcomerInstallsByNpm(t *testing.T) {
	t.Parallel()
	s := npmSystem(t, npmArtefacts(t))
	begin := time.Now()
	documented(t, npmPage, "npm install -g askback")
	s.Run(t, "root", documented(t, "README.md", "npm install -g askback"))
	installed := time.Since(begin)
	asked := s.Command(t.Context(), "ana", `exec askback ask "Which database should we use?" PostgreSQL SQLite`)
	out, err := asked.StdoutPipe()
	if err == nil {
		err = asked.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	s.Run(t, "ana", `for i in $(seq 600); do askback answer latest SQLite && exit; sleep 0.1; done; exit 1`)
	if got, err := io.ReadAll(out); err != nil || string(got) != "SQLite\n" {
		t.Errorf("got %q, %v", got, err)
	}
	t.Logf("npm install -g: %.1f s, %.1f s until the answer", installed.Seconds(), time.Since(begin).Seconds())
	_ = asked.Wait()
	s.Run(t, "ana", "mkdir project && cd project && askback init claude-code")
	if got := s.Run(t, "ana", "cat project/.mcp.json"); !strings.Contains(got, `"command": "askback"`) {
		t.Errorf("got %s, want the name of the program", got)
	}
	s.Run(t, "root", "npm uninstall -g askback")
	if _, _, err := s.Try(t, "ana", "askback version"); err == nil {
		t.Error("askback is there after npm uninstall")
	}
}

// The program of docs/programs.md asks with the client from npm.
func TestNewcomerAsksFromTypeScript(t *testing.T) {
	t.Parallel()
	const page = "docs/programs.md"
	s := npmSystem(t, npmArtefacts(t))
	s.Run(t, "root", "npm install -g askback")
	server := s.Command(t.Context(), "ana", "exec askback serve")
	server.Stderr = t.Output()
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../" + page)
	if err != nil {
		t.Fatal(err)
	}
	_, program, _ := strings.Cut(string(text), "\n```ts\n")
	program, _, ok := strings.Cut(program, "\n```")
	if !ok {
		t.Fatalf("%s has no program in TypeScript", page)
	}
	script := documented(t, page, "npm install @askback/sdk") + " >&2\n" +
		"for i in $(seq 600); do askback doctor --ready >&2 && break; sleep 0.1; done\n" +
		documented(t, page, "export ASKBACK_URL=http://127.0.0.1:7575") + "\n" +
		documented(t, page, "export ASKBACK_TOKEN=$(askback token add --kind agent --name shop)") + "\n" +
		"cat >style.mjs <<'END'\n" + program + "\nEND\nexec node style.mjs\n"
	asked := s.Command(t.Context(), "ana", script)
	asked.Stderr = t.Output()
	out, err := asked.StdoutPipe()
	if err == nil {
		err = asked.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	s.Run(t, "ana", `for i in $(seq 900); do askback answer latest haiku && exit; sleep 0.1; done; exit 1`)
	if got, err := io.ReadAll(out); err != nil || string(got) != "haiku\n" {
		t.Errorf("got %q, %v", got, err)
	}
	_ = asked.Wait()
}

// Installed by npm, the command is the program of the package itself, so askback mcp starts as fast as the
// program. The times are printed. npx starts npm first.
func TestInstalledByNpmStartsLikeTheProgram(t *testing.T) {
	folder := npmArtefacts(t)
	packages, err := filepath.Glob(filepath.Join(folder, "askback-linux-x64-*.tgz"))
	if err != nil || len(packages) != 1 {
		t.Fatalf("got %v, %v", packages, err)
	}
	data, err := os.ReadFile(packages[0])
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	program := filepath.Join(home, "askback")
	if err := os.WriteFile(program, npmtest.Archived(t, data)["package/bin/askback"], 0o755); err != nil {
		t.Fatal(err)
	}
	r := npmtest.Start(t, folder)
	prefix := filepath.Join(home, "prefix")
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = home
		cmd.Env = []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + home, "npm_config_registry=" + r.URL, "npm_config_audit=false",
			"npm_config_update_notifier=false", "npm_config_globalconfig=" + filepath.Join(home, "npmrc"),
		}
		return cmd
	}
	if out, err := command("npm", "install", "-g", "--prefix", prefix, "askback").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	installed := filepath.Join(prefix, "bin", "askback")
	one, err1 := os.Stat(installed)
	modules := filepath.Join(prefix, "lib/node_modules/askback/node_modules")
	other, err2 := os.Stat(filepath.Join(modules, "@askback/linux-x64/bin/askback"))
	if err1 != nil || err2 != nil || !os.SameFile(one, other) {
		t.Fatalf("%s is not the program of the package: %v, %v", installed, err1, err2)
	}
	ways := []struct {
		name string
		args []string
	}{
		{"the program", []string{program, "mcp"}},
		{"npm install -g", []string{installed, "mcp"}},
		{"npx", []string{"npx", "-y", "askback", "mcp"}},
	}
	start := func(args []string) time.Duration {
		begin := time.Now()
		client := startClient(t, command(args[0], args[1:]...))
		defer client.end()
		return time.Since(begin)
	}
	times := make([][]time.Duration, len(ways))
	median := func(i int) time.Duration {
		sorted := slices.Sorted(slices.Values(times[i]))
		return sorted[len(sorted)/2]
	}
	for n := range 41 {
		for k := range ways {
			i := (n + k) % len(ways) // each way is the first in turn
			if ways[i].args[0] != "npx" || n < 8 {
				times[i] = append(times[i], start(ways[i].args))
			}
		}
	}
	for i, way := range ways {
		t.Logf("%s: askback mcp replies after %.1f ms (median of %d)", way.name, median(i).Seconds()*1000,
			len(times[i]))
	}
	t.Logf("installed by npm, askback mcp takes %.2f times as long as the program",
		float64(median(1))/float64(median(0)))
}
