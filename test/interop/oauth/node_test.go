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
	"sync"
	"testing"
	"time"

	"github.com/askback/askback/test/interop/clienttest"
)

// A script is a program of this folder that runs and takes commands, one a line.
type script struct {
	t     *testing.T
	name  string
	cmd   *exec.Cmd
	stdin io.WriteCloser
	ended chan struct{}

	mu      sync.Mutex
	last    int
	waiting map[int]chan reply
	over    bool
}

// A reply is what a command came to.
type reply struct {
	ID     int             `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// run starts a script, which ends with the test.
func run(t *testing.T, name string, setup any) *script {
	t.Helper()
	config, err := json.Marshal(setup)
	if err != nil {
		t.Fatal(err)
	}
	s := &script{t: t, name: name, waiting: map[int]chan reply{}, ended: make(chan struct{})}
	s.cmd = exec.Command("node", filepath.Join(scripts(t), name), string(config))
	s.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	var said bytes.Buffer
	s.cmd.Stderr = &said
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
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
		if t.Failed() && said.Len() > 0 {
			t.Logf("%s said:\n%s", name, said.String())
		}
	})
	return s
}

// end ends the script, at once.
func (s *script) end() {
	_ = s.cmd.Process.Kill()
	<-s.ended
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

// read hands each reply to whoever waits for it, until the script ends.
func (s *script) read(from io.Reader) {
	for lines := bufio.NewReader(from); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		var r reply
		if json.Unmarshal(line, &r) != nil {
			continue // somebody else writes there too
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

// start gives a command and does not wait for what it comes to.
func (s *script) start(command string, with any) <-chan reply {
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

// soon is what comes of a command, in bounded time. An error is that of the script.
func (s *script) soon(c <-chan reply, into any) error {
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
		s.t.Fatalf("%s does not reply", s.name)
	}
	return nil
}

// must does a command that succeeds, and reads what it came to.
func (s *script) must(command string, with, into any) {
	s.t.Helper()
	if err := s.soon(s.start(command, with), into); err != nil {
		s.t.Fatalf("%s: %v", command, err)
	}
}

// until tries something until it works.
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

// statusError is a status that was not hoped for.
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
