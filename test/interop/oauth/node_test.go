package oauth_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback/test/interop/clienttest"
	"github.com/askback/askback/test/kit/proctest"
)

// A process runs a script of this folder that reads commands from stdin, one
// per line.
type process struct {
	t     *testing.T
	name  string
	cmd   *exec.Cmd
	stdin io.WriteCloser
	ended chan struct{} // closed when the script has ended

	mu      sync.Mutex
	last    int
	waiting map[int]chan reply
	over    bool
}

// A reply is the result or the error of a command.
type reply struct {
	ID     int             `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// run starts a script, which is stopped at the end of the test.
func run(t *testing.T, name string, setup any) *process {
	t.Helper()
	config, err := json.Marshal(setup)
	if err != nil {
		t.Fatal(err)
	}
	s := &process{t: t, name: name, waiting: map[int]chan reply{}, ended: make(chan struct{})}
	s.cmd = exec.Command("node", filepath.Join(scriptFolder(t), name), string(config))
	s.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	var output bytes.Buffer
	s.cmd.Stderr = &output
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	proctest.Bind(s.cmd)
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(s.ended)
		s.read(stdout)
		_ = s.cmd.Wait()
	}()
	t.Cleanup(func() {
		s.end()
		if t.Failed() && output.Len() > 0 {
			t.Logf("%s wrote:\n%s", name, output.String())
		}
	})
	return s
}

// end kills the script.
func (s *process) end() {
	_ = proctest.Kill(s.cmd)
	select {
	case <-s.ended:
	case <-time.After(patience):
		s.t.Errorf("%s was killed and has not ended: %s", s.name, s.state())
	}
}

// state returns the state of the process in /proc. It is logged when a wait has failed.
func (s *process) state() string {
	dir := fmt.Sprintf("/proc/%d/", s.cmd.Process.Pid)
	status, err := os.ReadFile(dir + "status")
	if err != nil {
		return err.Error()
	}
	text := ""
	for line := range strings.Lines(string(status)) {
		if key, _, _ := strings.Cut(line,
			":"); slices.Contains([]string{"State", "Threads", "VmRSS", "voluntary_ctxt_switches"}, key) {
			text += strings.TrimSpace(line) + "; "
		}
	}
	at, _ := os.ReadFile(dir + "wchan")
	return text + "it waits in " + string(at)
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
	for _, path := range append(paths, filepath.Join("..", "mcp", "drive.mjs")) {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(path)), raw, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// read sends each reply to the caller that waits for it, until the script ends.
func (s *process) read(from io.Reader) {
	for lines := bufio.NewReader(from); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		var r reply
		if json.Unmarshal(line, &r) != nil {
			continue // other output
		}
		s.mu.Lock()
		if c := s.waiting[r.ID]; c != nil {
			c <- r
			delete(s.waiting, r.ID)
		}
		s.mu.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	for _, c := range s.waiting {
		close(c)
	}
}

// start sends a command and returns a channel for its reply.
func (s *process) start(command string, with any) <-chan reply {
	s.t.Helper()
	c := make(chan reply, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		s.t.Fatalf("%s has ended", s.name)
	}
	s.last++
	s.waiting[s.last] = c
	line, err := json.Marshal(map[string]any{"id": s.last, "command": command, "with": with})
	if err == nil {
		_, err = s.stdin.Write(append(line, '\n'))
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// await waits for a reply and decodes it. If the script replied with an error, await returns this error.
func (s *process) await(c <-chan reply, into any) error {
	s.t.Helper()
	select {
	case r, ok := <-c:
		switch {
		case !ok:
			s.t.Fatalf("%s ended", s.name)
		case r.Error != nil:
			return fmt.Errorf("%s: %s", r.Error.Code, r.Error.Message)
		case into != nil:
			if err := json.Unmarshal(r.Result, into); err != nil {
				s.t.Fatalf("%s: %v", r.Result, err)
			}
		}
	case <-time.After(patience):
		s.t.Fatalf("%s does not reply: %s", s.name, s.state())
	}
	return nil
}

// run runs a command, which must succeed, and decodes its reply.
func (s *process) run(command string, with, into any) {
	s.t.Helper()
	if err := s.await(s.start(command, with), into); err != nil {
		s.t.Fatalf("%s: %v", command, err)
	}
}

// until calls try until it succeeds.
func until(t *testing.T, what string, try func() error) {
	t.Helper()
	over := time.After(patience)
	for {
		err := try()
		if err == nil {
			return
		}
		select {
		case <-over:
			t.Fatalf("waited until %s: %v", what, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// A statusError is an unexpected status.
type statusError int

func (s statusError) Error() string { return fmt.Sprintf("got %d", int(s)) }

func parsed(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
