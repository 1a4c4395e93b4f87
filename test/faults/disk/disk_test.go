//go:build unix

package disk_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/askback/askback/test/faults/disk"
	"github.com/askback/askback/test/kit/leftout"
	"github.com/askback/askback/test/program"
)

func TestEarlyRepliesAreDetected(t *testing.T) {
	const read = `7  read(9<TCP:[127.0.0.1:1->127.0.0.1:2]>, "POST /api/v1/asks HTTP/1.1\r\n"..., 4096) = 300`
	const write = `7  write(9<TCP:[127.0.0.1:1->127.0.0.1:2]>, "HTTP/1.1 201 Created\r\n"..., 200) = 200`
	const sync = `8  fsync(5</x/askback.db-wal>) = 0`
	for name, c := range map[string]struct {
		lines string
		early int
	}{
		"in order":               {read + "\n" + sync + "\n" + write, 0},
		"no sync":                {read + "\n" + write, 1},
		"sync before":            {sync + "\n" + read + "\n" + write, 1},
		"sync of something else": {read + "\n8  fsync(5</x/askback.db>) = 0\n" + write, 1},
		"sync failed": {
			read + "\n8  fsync(5</x/askback.db-wal>) = -1 EIO (Input/output error)\n" + write, 1,
		},
		"sync begun before the request": {
			"8  fsync(5</x/askback.db-wal> <unfinished ...>\n" + read + "\n8  <... fsync resumed>) = 0\n" + write, 1,
		},
		"sync not over": {
			read + "\n8  fsync(5</x/askback.db-wal> <unfinished ...>\n" + write + "\n8  <... fsync resumed>) = 0", 1,
		},
		"read in two lines": {
			`7  read(9<TCP:[127.0.0.1:1->127.0.0.1:2]>,  <unfinished ...>` + "\n" + sync + "\n" +
				`7  <... read resumed>"POST /api/v1/asks/ask_01/answer HTTP"..., 4096) = 99` + "\n" + write, 1,
		},
		"only reading": {strings.Replace(read, "POST", "GET", 1) + "\n" + write, 0},
	} {
		got, err := disk.Read(strings.NewReader(c.lines))
		if err != nil || len(got.Early) != c.early {
			t.Errorf("%s: got %+v, %v; want %d early replies", name, got, err, c.early)
		}
	}
}

// Between the read of a request that asks or answers and the write of its reply,
// there is at least one sync of the write-ahead log (F2).
func TestServerSyncsBeforeItReplies(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		leftout.Skip(t, "system calls of a commit (strace is not installed)")
	}
	dir := t.TempDir()
	if out, err := exec.Command(strace, "-o", "/dev/null", "true").CombinedOutput(); err != nil {
		leftout.Skip(t, "system calls of a commit (ptrace is refused here: %v: %s)", err, out)
	}
	binary, err := program.Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "trace")
	stop := serve(t, dir, strace, "-f", "-yy", "-s", "80", "-e", "trace=read,write,fsync,fdatasync", "-o", file,
		binary, "serve", "--listen", "127.0.0.1:0")
	url, secret := address(t, dir)
	load(t, url, secret, filepath.Join(dir, "askback", "agent.token"))
	stop()
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	found, err := disk.Read(in)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d requests, %d syncs", found.Requests, found.Syncs)
	if want := 2 * runs * cycles; found.Requests != want {
		t.Errorf("the trace shows %d requests, want %d", found.Requests, want)
	}
	for _, early := range found.Early {
		t.Error(early)
	}
}

const (
	runs   = 16
	cycles = 5
)

// serve starts a command with a state directory, and returns a function that stops
// it.
func serve(t *testing.T, dir string, name string, args ...string) (stop func()) {
	t.Helper()
	var log bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+dir)
	cmd.Stderr = &log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	stop = func() {
		once.Do(func() {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
			if err := cmd.Wait(); err != nil {
				t.Errorf("%s: %v\n%s", name, err, log.String())
			}
		})
	}
	t.Cleanup(stop)
	return stop
}

// address waits for the server, and returns its address and the token of the
// user.
func address(t *testing.T, dir string) (url, secret string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		raw, err := os.ReadFile(filepath.Join(dir, "askback", "server.json"))
		var server struct{ URL string }
		if err == nil && json.Unmarshal(raw, &server) == nil {
			token, err := os.ReadFile(filepath.Join(dir, "askback", "user.token"))
			if err != nil {
				t.Fatal(err)
			}
			return server.URL, strings.TrimSpace(string(token))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("the server has not written server.json after a minute")
		}
	}
}

// load sends asks and answers on many connections.
func load(t *testing.T, url, user, agentFile string) {
	t.Helper()
	raw, err := os.ReadFile(agentFile)
	if err != nil {
		t.Fatal(err)
	}
	agent := strings.TrimSpace(string(raw))
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2 * runs}, Timeout: time.Minute}
	defer client.CloseIdleConnections()
	post := func(path, token, body string) ([]byte, error) {
		r, err := http.NewRequest("POST", url+path, strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		res, err := client.Do(r)
		if err != nil {
			return nil, err
		}
		defer res.Body.Close()
		out, err := io.ReadAll(res.Body)
		if res.StatusCode >= 300 {
			err = errors.Join(err, fmt.Errorf("%s: %s %s", path, res.Status, out))
		}
		return out, err
	}
	var group sync.WaitGroup
	for range runs {
		group.Go(func() {
			for range cycles {
				out, err := post("/api/v1/asks", agent, `{"question": "Go on?", "options": ["yes", "no"]}`)
				var ask struct{ ID string }
				err = errors.Join(err, json.Unmarshal(out, &ask))
				if err == nil {
					_, err = post("/api/v1/asks/"+ask.ID+"/answer", user, `{"answer": "yes"}`)
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
}
