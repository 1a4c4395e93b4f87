package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/internal/pause"
)

const (
	// hostedRuns is the number of concurrent runs. Each run has two children.
	hostedRuns = 4
	// hostedServeTime is the maximum lifetime of a server, in which the runs do some of their steps. Every
	// second server is killed as soon as a tool has changed something. The result of the tool is then often
	// not stored.
	hostedServeTime = 40 * time.Millisecond
	hostedPollTime  = 200 * time.Microsecond
	// hostedEndTime is how long the runs of a round may take after the last kill.
	hostedEndTime = time.Minute
)

// A hostedTest kills the server while it runs agents that read, write, ask people and start other
// agents. Each run must end in the same state, with each call that changes something made at most
// once, and each question asked once (A2, F2).
type hostedTest struct {
	serverProcess
	dir, agents, settings string
	filesServer, callLog  string
	rand                  *rand.Rand
	conn                  *connection
	agent, person         account

	checked     map[string]bool // the checked sessions
	kills, runs int
	interrupted int // calls with an unknown outcome
	bad         []violation
}

func newHostedTest(dir, program string, seed uint64) (*hostedTest, error) {
	dir = filepath.Join(dir, "hosted")
	t := &hostedTest{
		serverProcess: newServerProcess(dir, program, "hosted.db"), rand: rand.New(rand.NewPCG(seed, 7)), dir: dir,
		checked: map[string]bool{}, agents: filepath.Join(dir, "agents"), settings: filepath.Join(dir, "askback.yaml"),
		filesServer: filepath.Join(dir, "files-server"), callLog: filepath.Join(dir, "calls"),
	}
	t.env = append(t.env, "ASKBACK_CONFIG="+t.settings)
	place, err := instance.At(t.path)
	t.conn = &connection{place: place}
	return t, err
}

// run kills the server at least n times, in rounds of hostedRuns runs.
func (t *hostedTest) run(ctx context.Context, n int) (err error) {
	out, err := exec.CommandContext(ctx, "go", "build", "-o", t.filesServer,
		"github.com/askback/askback/examples/files-server").CombinedOutput()
	if err != nil {
		return fmt.Errorf("build the files server: %w: %s", err, out)
	}
	if err := t.writeAgents(nil); err != nil {
		return err
	}
	if t.agent, err = t.token(ctx, askback.Agent, "ada"); err != nil {
		return err
	}
	if t.person, err = t.token(ctx, askback.Responder, "ana"); err != nil {
		return err
	}
	for t.kills < n && ctx.Err() == nil && len(t.bad) == 0 {
		if err := t.round(ctx); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// round starts runs, kills servers until all runs have ended, and checks the runs.
func (t *hostedTest) round(ctx context.Context) error {
	var runs []string
	for range hostedRuns {
		t.runs++
		runs = append(runs, fmt.Sprintf("run-%d", t.runs))
	}
	if err := t.writeAgents(runs); err != nil {
		return err
	}
	working, stop := context.WithCancel(ctx)
	ended := make(chan error, 2)
	var answering sync.WaitGroup
	defer answering.Wait()
	defer stop()
	answering.Go(func() {
		if err := t.answer(working); working.Err() == nil {
			ended <- err
		}
	})
	answering.Go(func() { ended <- t.start(working, runs) })
	for done := false; !done && ctx.Err() == nil && len(t.bad) == 0; {
		err := t.serve(ctx, func() error {
			err, over := t.wait(ctx, ended)
			done = over
			return err
		})
		if err != nil {
			return err
		}
	}
	if ctx.Err() != nil || len(t.bad) > 0 {
		return ctx.Err()
	}
	return t.serve(ctx, func() error { return t.check(ctx, runs) })
}

// wait waits until the server is to be killed. over is true if all runs have ended, or a client has failed.
func (t *hostedTest) wait(ctx context.Context, ended chan error) (err error, over bool) {
	log, early := size(t.callLog), t.rand.IntN(2) == 0
	for limit := time.Now().Add(randomDuration(t.rand, hostedServeTime)); time.Now().Before(limit); {
		select {
		case err := <-ended:
			return err, true
		case <-ctx.Done():
			return nil, false
		case <-time.After(hostedPollTime):
		}
		if early && size(t.callLog) > log {
			return nil, false
		}
	}
	return nil, false
}

// size returns the size of a file, or 0 if it does not exist.
func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// serve starts a server and waits until the server has proved its identity. It then calls during, and kills
// the server.
func (t *hostedTest) serve(ctx context.Context, during func() error) error {
	c, err := t.serverProcess.start(ctx)
	if err != nil {
		return err
	}
	_, err = t.conn.place.Find(ctx, readyTime)
	if err != nil && ctx.Err() == nil {
		_, endErr := c.end(func([]byte) {})
		t.bad = append(t.bad, violated(failed, "the server did not start: %v: %s", err, c.notes.String()))
		return endErr
	}
	err = during()
	code, endErr := c.end(func([]byte) {})
	t.kills++
	if code >= 0 && ctx.Err() == nil {
		t.bad = append(t.bad,
			violated(failed, "a server ended with code %d before it was killed: %s", code, c.notes.String()))
	}
	return errors.Join(err, endErr)
}

// start starts the runs, with keys, and waits until all have ended.
func (t *hostedTest) start(ctx context.Context, runs []string) error {
	var sessions []string
	for _, run := range runs {
		s, _, err := call(ctx,
			t.conn, t.agent.token, func(ctx context.Context, c *httpapi.Client) (askback.Session, error) {
				return c.Start(ctx, askback.SessionRequest{Key: run, Agent: run, Prompt: "Begin."})
			})
		if err != nil {
			return fmt.Errorf("start %s: %w", run, err)
		}
		sessions = append(sessions, s.ID)
	}
	for _, id := range sessions {
		for {
			s, _, err := call(ctx, t.conn, t.agent.token,
				func(ctx context.Context, c *httpapi.Client) (askback.Session, error) { return c.Session(ctx, id) })
			if err != nil {
				return fmt.Errorf("read the session of a run: %w", err)
			}
			if s.Ended() {
				break
			}
			if err := pause.For(ctx, 10*retryPause); err != nil {
				return err
			}
		}
	}
	return nil
}

// answer answers every ask until ctx ends: questions with their first option, and confirmations
// with an approval.
func (t *hostedTest) answer(ctx context.Context) error {
	for {
		page, _, err := call(ctx,
			t.conn, t.person.token, func(ctx context.Context, c *httpapi.Client) (askback.Page, error) {
				return c.List(ctx, askback.Query{Limit: askback.MaxLimit})
			})
		if err != nil {
			return err
		}
		for _, a := range page.Items {
			given := askback.Answer{Decision: askback.Approve}
			if a.Kind == askback.Questions {
				given = askback.Choose(a.Questions[0].Options[0].Label)
			}
			_, _, err := call(ctx,
				t.conn, t.person.token, func(ctx context.Context, c *httpapi.Client) (askback.Ask, error) {
					return c.Answer(ctx, a.ID, given)
				})
			if err != nil && !errors.Is(err, askback.ErrSettled) {
				return fmt.Errorf("answer %s: %w", a.ID, err)
			}
		}
		if err := pause.For(ctx, 5*retryPause); err != nil {
			return err
		}
	}
}

func (t *hostedTest) report() report {
	return report{noun: "kills", what: "of hosted runs", n: t.kills, bad: t.bad, detail: fmt.Sprintf(
		"%d runs with %d sessions ended alike; %d calls that change something were interrupted and not repeated",
		t.runs, len(t.checked), t.interrupted)}
}
