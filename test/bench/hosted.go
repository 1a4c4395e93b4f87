package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/askback/askback"
	agents "github.com/askback/askback/agent"
	"github.com/askback/askback/conversation"
)

// The goals for hosted runs that wait for people: the bytes on the disk per run beyond its messages, and the
// time of a new process until the first run continues.
const (
	goalHostedDisk  = 2100
	goalHostedStart = 2 * time.Second
)

// A hostedWaiting is the cost of hosted runs that wait for people.
type hostedWaiting struct {
	What       string `json:"what"`
	Runs       int    `json:"runs"`
	Goroutines int    `json:"goroutines"` // goroutines that the runs add
	Resident   int64  `json:"resident"`   // bytes of memory that the runs add
	Disk       int64  `json:"disk"`       // bytes on the disk that the runs add
	Messages   int64  `json:"messages"`   // the part of Disk for messages; see messagesOf
	Start      spread `json:"start_ms"`   // time of a new process until a run has continued and ended
}

// each returns the bytes on the disk for each run, beyond its messages.
func (h hostedWaiting) each() float64 { return float64(h.Disk-h.Messages) / float64(h.Runs) }

// hostedPrompt, hostedText and hostedInput are the messages of a waiting run.
const (
	hostedPrompt = "Prepare the release of this week. The notes are in the folder notes, and the tickets in the " +
		"tracker. Do not publish anything before I have agreed."
	hostedText = "I have read the notes and the tickets. Two of them are still open, and both change what the " +
		"release notes promise, so I need a decision."
	hostedInput  = `{"questions":[{"question":"Two tickets are open. How do I go on?","header":"Release","options":[{"label":"Wait for them","description":"The release moves to Thursday"},{"label":"Leave them out","description":"The notes promise less"}]}]}`
	hostedResult = "The release is prepared."
)

// A hostedModel asks, and ends with the answer.
type hostedModel struct{}

// Reply implements [agents.Model].
func (hostedModel) Reply(_ context.Context, r agents.ModelRequest, _ func(string)) (agents.ModelReply, error) {
	if r.Messages[len(r.Messages)-1].Result != nil {
		return agents.ModelReply{Text: hostedResult}, nil
	}
	return agents.ModelReply{
		Text: hostedText, Usage: conversation.Usage{InputTokens: 1532, OutputTokens: 187, CostUSD: 0.0074},
		Calls: []conversation.Call{{ID: "call_1", Tool: agents.AskUserQuestion, Input: json.RawMessage(hostedInput)}},
	}, nil
}

// openHost opens an engine that runs the agent of the benchmark.
func openHost(ctx context.Context, path string) (*product, error) {
	runner, err := agents.NewRunner(agents.Definition{
		Name: "release", Prompt: "You prepare releases.", Model: hostedModel{}, Tools: []string{agents.AskUserQuestion},
	})
	if err != nil {
		return nil, err
	}
	o := serverOptions()
	o.Runner = runner
	return openEngine(ctx, path, o)
}

// A hostedState is the report of a child that hosts runs.
type hostedState struct {
	Goroutines int     `json:"goroutines"`
	Resident   int64   `json:"resident"`
	Start      float64 `json:"start_ms"`
}

// hostChild starts runs. It reports its state before the start and once all runs wait, and closes the
// database when its input ends.
func hostChild(ctx context.Context, out *json.Encoder, path string, numbers []int) error {
	p, err := openHost(ctx, path)
	if err != nil {
		return err
	}
	person := p.engine.As(answerer)
	if err := out.Encode(hostedState{Goroutines: settledGoroutines(), Resident: settledMemory()}); err != nil {
		return err
	}
	if len(numbers) > 0 {
		err = startHosted(ctx, person, numbers[0])
	}
	if err := errors.Join(err,
		out.Encode(hostedState{Goroutines: settledGoroutines(), Resident: settledMemory()})); err != nil {
		return err
	}
	<-ctx.Done()
	return p.close()
}

// startHosted starts n runs, and returns when all of them wait.
func startHosted(ctx context.Context, person askback.Client, n int) error {
	const atOnce = 16
	err := each(atOnce, func(worker int) error {
		for i := worker; i < n; i += atOnce {
			if _, err := person.Start(ctx, askback.SessionRequest{Agent: "release", Prompt: hostedPrompt}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	waiting := 0
	for ev, err := range person.Events(ctx, "", askback.Beginning) {
		if err != nil {
			return err
		}
		if ev.Type == askback.EventQuestionPending {
			waiting++
		}
		if waiting == n {
			return nil
		}
	}
	return nil
}

// settledGoroutines returns the number of goroutines once the number has not fallen for some time.
func settledGoroutines() int {
	least := runtime.NumGoroutine()
	for quiet := 0; quiet < 20; quiet++ {
		time.Sleep(10 * time.Millisecond)
		if n := runtime.NumGoroutine(); n < least {
			least, quiet = n, 0
		}
	}
	return least
}

// rehostChild opens the database, answers the question of a run, and reports the time until the run has
// ended.
func rehostChild(ctx context.Context, out *json.Encoder, path string, _ []int) error {
	began := time.Now()
	p, err := openHost(ctx, path)
	if err != nil {
		return err
	}
	person := p.engine.As(answerer)
	page, err := person.List(ctx, askback.Query{Limit: 1})
	if err != nil || len(page.Items) == 0 {
		return errors.Join(err, errors.New("there is no run that waits"))
	}
	if _, err := person.Answer(ctx, page.Items[0].ID, askback.Choose("Leave them out")); err != nil {
		return err
	}
	for ev, err := range person.Events(ctx, page.Items[0].SessionID, askback.Beginning) {
		if err != nil {
			return err
		}
		if ev.Type.EndsSession() {
			break
		}
	}
	if err := out.Encode(hostedState{Start: millis(time.Since(began))}); err != nil {
		return err
	}
	<-ctx.Done()
	return p.close()
}

// measureHosted measures n hosted runs that wait for people.
func measureHosted(ctx context.Context, p plan, n int) (h hostedWaiting, err error) {
	dir, err := os.MkdirTemp(p.dir, ".bench-hosted-*")
	if err != nil {
		return h, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path, empty := filepath.Join(dir, "hosted.db"), filepath.Join(dir, "empty.db")
	h = hostedWaiting{What: "hosted", Runs: n}
	before, err := hostedStates(ctx, empty, 0)
	if err != nil {
		return h, err
	}
	after, err := hostedStates(ctx, path, n)
	if err != nil {
		return h, err
	}
	h.Goroutines, h.Resident = after.Goroutines-before.Goroutines, after.Resident-before.Resident
	without, err := sizeOf(empty)
	with, sizeErr := sizeOf(path)
	if err := errors.Join(err, sizeErr); err != nil {
		return h, err
	}
	h.Disk = with - without
	if h.Messages, err = messagesOf(path, empty); err != nil {
		return h, err
	}
	var starts []float64
	for range p.rounds {
		c, err := start(ctx, "rehost", path)
		if err != nil {
			return h, err
		}
		var s hostedState
		if err := errors.Join(c.read(&s), c.kill()); err != nil {
			return h, err
		}
		starts = append(starts, s.Start)
	}
	h.Start = spreadOf(starts)
	return h, nil
}

// messagesOf returns the size of the messages of the runs in a database. The messages are the events that the
// model reads, including its calls. messagesOf adds the rows and index entries of the messages to an empty
// database, and returns the growth of that database in bytes.
func messagesOf(path, empty string) (bytes int64, err error) {
	before, err := sizeOf(empty)
	if err != nil {
		return 0, err
	}
	conn, err := connectRecord(empty)
	if err != nil {
		return 0, err
	}
	err = runStatement(conn, "attach '"+strings.ReplaceAll(path, "'", "''")+"' as runs")
	if err == nil {
		err = runStatement(conn, `insert into history select * from runs.history where type in ('message', 'tool_input_ready') order by seq`)
	}
	if err := errors.Join(err, conn.Close()); err != nil { // the last connection leaves no write-ahead log
		return 0, err
	}
	after, err := sizeOf(empty)
	return after - before, err
}

// hostedStates runs a child until n runs wait, and returns its last state.
func hostedStates(ctx context.Context, path string, n int) (s hostedState, err error) {
	numbers := []int{}
	if n > 0 {
		numbers = append(numbers, n)
	}
	c, err := start(ctx, "host", path, numbers...)
	if err != nil {
		return s, err
	}
	for range 2 {
		if err := c.read(&s); err != nil {
			return s, errors.Join(err, c.kill())
		}
	}
	return s, c.stop()
}

func printHosted(w io.Writer, h hostedWaiting) error {
	verdict := func(held bool) string {
		if held {
			return "held"
		}
		return "MISSED"
	}
	fmt.Fprintf(w, "\n%d hosted runs that wait for people.\n", h.Runs)
	t := newTable(w)
	fmt.Fprintln(t, "what\tvalue\tgoal\tresult")
	fmt.Fprintf(t, "goroutines of all runs\t%d\t≤ 0\t%s\n", h.Goroutines, verdict(h.Goroutines <= 0))
	fmt.Fprintf(t, "bytes on the disk for each, beyond its messages\t%s\t≤ %d\t%s\n", short(h.each()), goalHostedDisk,
		verdict(h.each() <= goalHostedDisk))
	fmt.Fprintf(t, "ms from the start of a new process to the end of the first run that is answered\t%s\t≤ %s\t%s\n",
		h.Start, short(millis(goalHostedStart)), verdict(h.Start.Median <= millis(goalHostedStart)))
	fmt.Fprintf(t, "resident bytes for each\t%s\t\t\n", short(float64(h.Resident)/float64(h.Runs)))
	return t.Flush()
}

func hostedPart(ctx context.Context, p plan, tables, lines, _ io.Writer) error {
	h, err := measureHosted(ctx, p, p.hosted)
	if err != nil {
		return err
	}
	return errors.Join(writeLines(lines, []hostedWaiting{h}), printHosted(tables, h))
}
