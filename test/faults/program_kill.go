package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/user"
	"path/filepath"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/store"
)

// The agent name that the program asks with, and the beginning of its questions.
const (
	commandAsker    = "local"
	commandQuestion = "Which colour"
)

var colours = []string{"red", "green", "blue"}

// A programTest kills the program while it starts, asks, waits at its prompt
// and prints an answer, and while another process answers.
type programTest struct {
	program string
	path    string
	env     []string
	user    string
	rand    *rand.Rand
	ackLog  *ackLog
	checker *checker
	rounds  int
	kills   int
	bad     []violation
}

func newProgramTest(dir, program string, seed uint64) (*programTest, error) {
	u, err := user.Current()
	if err != nil {
		return nil, err
	}
	b := &programTest{
		program: program, path: filepath.Join(dir, "binary.db"), env: isolatedEnv(dir), user: u.Username,
		rand: rand.New(rand.NewPCG(seed, 2)), ackLog: newAckLog(),
	}
	b.checker = newChecker(b.path, b.ackLog)
	return b, nil
}

// run runs rounds until n processes were killed, there is a violation, or there were 10*n
// rounds. Without a violation, it then audits the database.
func (b *programTest) run(ctx context.Context, n int) error {
	for b.kills < n && b.rounds < 10*n && len(b.bad) == 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := b.round(ctx); err != nil {
			return err
		}
		b.rounds++
	}
	if n == 0 || len(b.bad) > 0 {
		return nil
	}
	bad, err := b.checker.audit(ctx)
	b.bad = append(b.bad, bad...)
	return err
}

// round asks with a key, which an earlier round may have used, and kills the process. If the ask is stored,
// most rounds settle it from another process, which is killed too. Then round checks the database, and some
// rounds also call finish.
func (b *programTest) round(ctx context.Context) error {
	n := b.rounds
	if n > 0 && b.rand.IntN(10) < 3 {
		n = b.rand.IntN(n)
	}
	key := fmt.Sprintf("round %d", n)
	if err := b.ask(ctx, key, randomDuration(b.rand, 40*time.Millisecond)); err != nil {
		return err
	}
	id, _, err := b.lookUp(ctx, key)
	if err != nil {
		return err
	}
	if id != "" && b.rand.IntN(10) < 7 {
		if err := b.settle(ctx, id); err != nil {
			return err
		}
	}
	bad, err := b.checker.check(ctx)
	if b.bad = append(b.bad, bad...); err != nil || len(b.bad) > 0 {
		return err
	}
	if b.rand.IntN(4) == 0 {
		return b.finish(ctx, key)
	}
	return nil
}

// lookUp returns the id and the outcome of the ask with a key. The id is "" if there is no
// such ask.
func (b *programTest) lookUp(ctx context.Context, key string) (id string, o *askback.Outcome, err error) {
	id, o, err = outcomeOf(ctx, b.path, ownedKey(commandAsker, key))
	if errors.Is(err, store.ErrNotFound) {
		return "", nil, nil
	}
	return id, o, err
}

// ask runs "askback ask" and kills it after some time. Its stdin has an answer,
// is closed, or stays open.
func (b *programTest) ask(ctx context.Context, key string, lifetime time.Duration) error {
	c, err := b.start(ctx, "ask", "--key", key, "--json", commandQuestion+", "+key+"?", colours[0], colours[1],
		colours[2])
	if err != nil {
		return err
	}
	var printed bytes.Buffer
	keep := func(line []byte) bool { printed.Write(line); return false }
	switch b.rand.IntN(4) {
	case 0: // stdin stays open
	case 1:
		_ = c.stdin.Close()
	default:
		c.until(ctx, randomDuration(b.rand, lifetime/2), keep)
		b.write(c)
	}
	c.until(ctx, lifetime, keep)
	code, err := c.end(func(line []byte) { keep(line) })
	if err != nil {
		return err
	}
	b.count(code, c, exitsOfAsk)
	return b.recordOutput(ctx, key, c.notes.Bytes(), printed.Bytes(), code)
}

// write writes an answer to stdin. It ignores errors, because the process may have ended.
func (b *programTest) write(c *child) {
	_, _ = io.WriteString(c.stdin, fmt.Sprintf("%d\n", 1+b.rand.IntN(len(colours))))
}

// The expected exit codes (docs/wire.md §9).
var (
	exitsOfAsk    = []int{0, 1, 4}
	exitsOfSettle = []int{0, 5} // 5: settled before
)

// count counts a kill, or checks the exit code of a process that ended by itself.
func (b *programTest) count(code int, c *child, expected []int) {
	if code < 0 {
		b.kills++
		return
	}
	for _, e := range expected {
		if code == e {
			return
		}
	}
	b.bad = append(b.bad, violated(failed, "%q ended with %d: %s", c.cmd.Args[1:], code, c.notes.String()))
}

// recordOutput records the acknowledgements of "askback ask": the ask if it printed the question, and the
// outcome if it printed the outcome.
func (b *programTest) recordOutput(ctx context.Context, key string, notes, printed []byte, code int) error {
	var o askback.Outcome
	whole := json.Unmarshal(printed, &o) == nil
	if code == 0 && !whole {
		b.bad = append(b.bad, violated(failed, "%s: exit code 0 without an outcome: %q", key, printed))
	}
	if !whole && !bytes.Contains(notes, []byte(commandQuestion)) {
		return nil
	}
	id, _, err := b.lookUp(ctx, key)
	if err != nil {
		return err
	}
	b.bad = append(b.bad, b.ackLog.add(ack{Op: opAsked, Key: ownedKey(commandAsker, key), ID: id})...)
	if whole && id != "" {
		b.bad = append(b.bad, b.ackLog.add(ack{Op: opSettled, ID: id, Text: outcomeText(&o)})...)
	}
	return nil
}

// settle runs "askback answer", "decline" or "cancel" and kills it after some time. Exit code 0 acknowledges
// the outcome, except after a repeated cancel.
func (b *programTest) settle(ctx context.Context, id string) error {
	o := askback.Outcome{
		Channel: askback.ChannelTerminal, Actor: askback.Actor{Kind: askback.ActorPerson, Name: b.user},
	}
	var args []string
	switch colour := colours[b.rand.IntN(len(colours))]; b.rand.IntN(8) {
	case 0:
		o.Status, o.Reason, args = askback.Declined, "not now", []string{"decline", id, "--reason", "not now"}
	case 1:
		o.Status, o.Actor, args = askback.Cancelled, askback.Actor{
			Kind: askback.ActorAgent, Name: commandAsker,
		}, []string{"cancel", id}
	default:
		o.Status, args = askback.Answered, []string{"answer", id, colour}
		o.Answers = []askback.QuestionAnswer{{ID: "q1", Selected: []string{colour}}}
	}
	c, err := b.start(ctx, args...)
	if err != nil {
		return err
	}
	_, before := b.ackLog.outcomes[id]
	c.until(ctx, randomDuration(b.rand, 25*time.Millisecond), func([]byte) bool { return false })
	code, err := c.end(func([]byte) {})
	b.count(code, c, exitsOfSettle)
	// A repeated cancel succeeds and acknowledges nothing new.
	if repeat := before && o.Status == askback.Cancelled; code == 0 && !repeat {
		b.bad = append(b.bad, b.ackLog.add(ack{Op: opSettled, ID: id, Text: outcomeText(&o)})...)
	}
	return err
}

// finish runs "askback ask" twice with a key, without a kill. Both processes must print
// the same outcome.
func (b *programTest) finish(ctx context.Context, key string) error {
	var first askback.Outcome
	for turn := range 2 {
		c, err := b.start(ctx, "ask", "--key", key, "--json", commandQuestion+", "+key+"?", colours[0], colours[1],
			colours[2])
		if err != nil {
			return err
		}
		b.write(c)
		var printed bytes.Buffer
		c.until(ctx, readyTime, func(line []byte) bool { printed.Write(line); return false })
		code, err := c.end(func(line []byte) { printed.Write(line) })
		if err != nil {
			return err
		}
		if ctx.Err() != nil { // the end of the tests interrupted the round
			return ctx.Err()
		}
		if code < 0 {
			b.bad = append(b.bad, violated(failed, "%s: still running after %s: %s", key, readyTime, c.notes.String()))
			return nil
		}
		b.count(code, c, exitsOfAsk)
		var o askback.Outcome
		if err := json.Unmarshal(printed.Bytes(), &o); err != nil {
			b.bad = append(b.bad, violated(failed, "%s: printed %q", key, printed.Bytes()))
			return nil
		}
		if turn == 0 {
			first = o
		}
		if outcomeText(&o) != outcomeText(&first) {
			b.bad = append(b.bad,
				violated(duplicated, "%s: printed %s and then %s", key, outcomeText(&first), outcomeText(&o)))
		}
		if err := b.recordOutput(ctx, key, c.notes.Bytes(), printed.Bytes(), code); err != nil {
			return err
		}
	}
	return nil
}

// start starts the program with the database of the test, and returns the process.
func (b *programTest) start(ctx context.Context, args ...string) (*child, error) {
	return startChild(ctx, b.env, b.program, append(args, "--db", b.path)...)
}

func (b *programTest) report() report {
	return report{noun: "kills", what: "of the program", n: b.kills, detail: b.checker.compared(), bad: b.bad}
}
