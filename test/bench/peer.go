package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// How long a peer may take for a measurement, beyond its duration, and how long it may take to end.
const (
	peerPatience = time.Minute
	peerEnd      = 5 * time.Second
)

// A peerProcess is the running program of a peer, and all processes that the program starts.
type peerProcess struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines chan string // the lines of stdout; closed at EOF
	errs  *tail
	ended chan struct{}
	once  sync.Once
	grace time.Duration // from the end of stdin until SIGKILL
}

// A peerLine is a line of a peer on stdout.
type peerLine struct {
	Ready   bool    `json:"ready"`
	Version string  `json:"version"`
	Error   string  `json:"error"`
	Cycles  int     `json:"cycles"`
	Seconds float64 `json:"seconds"`
	P50     float64 `json:"p50_ms"`
	P99     float64 `json:"p99_ms"`
}

// startPeer starts a program in folder, which stores its data in the folder data. It returns once the peer is
// ready, with the version of the peer.
func startPeer(
	ctx context.Context, command []string, folder, data string, within time.Duration,
) (*peerProcess, string, error) {
	c := &peerProcess{
		cmd:   exec.Command(command[0], command[1:]...),
		lines: make(chan string, 1), errs: &tail{}, ended: make(chan struct{}), grace: peerEnd,
	}
	c.cmd.Dir, c.cmd.Env = folder, append(os.Environ(), "PEER_DATA="+data)
	c.cmd.Stderr = c.errs
	c.cmd.WaitDelay = peerEnd // processes that it started may keep stderr open
	separateGroup(c.cmd)
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return nil, "", err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, "", err
	}
	go c.read(stdout)
	l, err := c.next(ctx, within)
	if err == nil && !l.Ready {
		err = errors.New("its first line does not report that it is ready")
	}
	if err != nil {
		c.stop()
		return nil, "", fmt.Errorf("start %s: %w", strings.Join(command, " "), err)
	}
	return c, l.Version, nil
}

// read sends the lines of stdout, and waits for the process when stdout ends.
func (c *peerProcess) read(stdout io.Reader) {
	in := bufio.NewScanner(stdout)
	for in.Scan() {
		c.lines <- in.Text()
	}
	_ = c.cmd.Wait() // the last lines on stderr, which are now complete, explain how it ended
	close(c.lines)
	close(c.ended)
}

// next returns the next line of JSON, or the error that the line reports. It skips other lines, because
// libraries print them.
func (c *peerProcess) next(ctx context.Context, within time.Duration) (l peerLine, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("no reply within %s", within))
	defer cancel()
	for {
		select {
		case text, ok := <-c.lines:
			if !ok {
				return l, c.failure(errors.New("it has ended"))
			}
			if !strings.HasPrefix(text, "{") {
				continue
			}
			if err := json.Unmarshal([]byte(text), &l); err != nil {
				return l, fmt.Errorf("read %q: %w", text, err)
			}
			if l.Error != "" {
				return l, errors.New(l.Error)
			}
			return l, nil
		case <-ctx.Done():
			return l, c.failure(context.Cause(ctx))
		}
	}
}

// failure returns err with the last lines of stderr.
func (c *peerProcess) failure(err error) error {
	if last := c.errs.String(); last != "" {
		return fmt.Errorf("%w: %s", err, last)
	}
	return err
}

// measure runs cycles for the duration d.
func (c *peerProcess) measure(ctx context.Context, runs int, d time.Duration) (measurement, error) {
	if _, err := fmt.Fprintf(c.stdin, `{"runs":%d,"ms":%d}`+"\n", runs, max(d.Milliseconds(), 1)); err != nil {
		return measurement{}, c.failure(err)
	}
	l, err := c.next(ctx, d+peerPatience)
	if err != nil {
		return measurement{}, err
	}
	return l.measurement()
}

func (l peerLine) measurement() (measurement, error) {
	if l.Cycles <= 0 || l.Seconds <= 0 || l.P50 < 0 || l.P99 < l.P50 {
		return measurement{}, fmt.Errorf("the peer reports %d cycles in %g seconds with p50 %g ms and p99 %g ms",
			l.Cycles, l.Seconds, l.P50, l.P99)
	}
	milliseconds := func(v float64) time.Duration { return time.Duration(v * float64(time.Millisecond)) }
	return measurement{
		PerSecond: float64(l.Cycles) / l.Seconds, P50: milliseconds(l.P50), P99: milliseconds(l.P99),
	}, nil
}

// stop ends the peer and the processes that it started: first by the end of stdin, and then with SIGKILL. It
// may be called repeatedly.
func (c *peerProcess) stop() {
	c.once.Do(func() {
		_ = c.stdin.Close() // the process may have ended
		go func() {
			for range c.lines { // so that read is not blocked
			}
		}()
		end := time.NewTimer(c.grace)
		defer end.Stop()
		select {
		case <-c.ended:
		case <-end.C:
		}
		killGroup(c.cmd)
		<-c.ended
	})
}

// A tail keeps the last bytes that were written. It is safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	last []byte
}

// tailLength is how many bytes of stderr an error contains.
const tailLength = 500

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, b...)
	t.last = t.last[max(0, len(t.last)-tailLength):]
	return len(b), nil
}

// String returns the last bytes in one line.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(strings.Fields(string(t.last)), " ")
}

// peerData creates a folder for the data of a peer and returns its path. The user that runs PostgreSQL can
// open the folder.
func peerData(in string) (string, error) {
	dir, err := os.MkdirTemp(in, ".bench-peer-*")
	if err != nil {
		return "", err
	}
	dir, err = filepath.Abs(dir)
	return dir, errors.Join(err, os.Chmod(dir, 0o711))
}
