package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"os/user"
	"path/filepath"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/store"
)

// The name under which the command asks, its question, and the answers.
const (
	commandAsker    = "local"
	commandQuestion = "Which colour"
)

var colours = []string{"red", "green", "blue"}

// A binary kills the real program: while it starts, asks, waits at its prompt,
// takes an answer and prints it, and while another run of it answers.
type binary struct {
	program string
	path    string
	env     []string
	user    string
	rand    *rand.Rand
	ledger  *ledger
	checker *checker
	stories int
	kills   int
	bad     []violation
}

// build makes the program once. It is built from the module this one runs in.
func build(ctx context.Context, dir string) (string, error) {
	program := filepath.Join(dir, "askback")
	out, err := exec.CommandContext(ctx, "go", "build", "-o", program, "github.com/askback/askback/cmd/askback").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the program: %w: %s", err, out)
	}
	return program, nil
}

func newBinary(dir, program string, seed uint64) (*binary, error) {
	u, err := user.Current()
	if err != nil {
		return nil, err
	}
	b := &binary{
		program: program, path: filepath.Join(dir, "binary.db"), env: alone(dir), user: u.Username,
		rand: rand.New(rand.NewPCG(seed, 2)), ledger: newLedger(),
	}
	b.checker = newChecker(b.path, b.ledger)
	return b, nil
}

// run tells stories until n processes were killed, or something is wrong. Some
// runs are quicker than their killer, so there are more stories than kills.
func (b *binary) run(ctx context.Context, n int) error {
	for b.kills < n && b.stories < 10*n && len(b.bad) == 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := b.story(ctx); err != nil {
			return err
		}
		b.stories++
	}
	if n == 0 || len(b.bad) > 0 {
		return nil
	}
	bad, err := b.checker.audit(ctx)
	b.bad = append(b.bad, bad...)
	return err
}

// story asks with a key, perhaps one of an earlier story, and is killed; then
// mostly settles the ask from another process, and is killed; then looks at the
// database. At the end of some stories nobody is killed.
func (b *binary) story(ctx context.Context) error {
	n := b.stories
	if n > 0 && b.rand.IntN(10) < 3 {
		n = b.rand.IntN(n)
	}
	key := fmt.Sprintf("story %d", n)
	if err := b.ask(ctx, key, upTo(b.rand, 40*time.Millisecond)); err != nil {
		return err
	}
	id, _, err := b.standing(ctx, key)
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

// standing is where the ask with a key stands; id is "" if there is none, also
// before there is a database.
func (b *binary) standing(ctx context.Context, key string) (id string, o *askback.Outcome, err error) {
	id, o, err = outcomeOf(ctx, b.path, ownedKey(commandAsker, key))
	if errors.Is(err, store.ErrNotFound) {
		return "", nil, nil
	}
	return id, o, err
}

// ask runs "askback ask", killed after a while, with somebody at its input who
// answers at some moment, is gone, or says nothing.
func (b *binary) ask(ctx context.Context, key string, life time.Duration) error {
	c, err := b.start(ctx, "ask", "--key", key, "--json", commandQuestion+", "+key+"?", colours[0], colours[1], colours[2])
	if err != nil {
		return err
	}
	var printed bytes.Buffer
	keep := func(line []byte) bool { printed.Write(line); return false }
	switch b.rand.IntN(4) {
	case 0: // the prompt waits
	case 1:
		_ = c.stdin.Close()
	default:
		c.until(ctx, upTo(b.rand, life/2), keep)
		b.write(c)
	}
	c.until(ctx, life, keep)
	code, err := c.end(func(line []byte) { keep(line) })
	if err != nil {
		return err
	}
	b.count(code, c, exitsOfAsk)
	return b.heard(ctx, key, c.notes.Bytes(), printed.Bytes(), code)
}

// write answers at the input. The process may be gone already.
func (b *binary) write(c *child) {
	_, _ = io.WriteString(c.stdin, fmt.Sprintf("%d\n", 1+b.rand.IntN(len(colours))))
}

// Exit codes of wire.md §9 that a run may end with.
var (
	exitsOfAsk    = []int{0, 1, 4}
	exitsOfSettle = []int{0, 5} // 5: too late
)

// count counts a kill, or looks at the exit code of a run that was quicker.
func (b *binary) count(code int, c *child, expected []int) {
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

// heard writes down what a run of "askback ask" acknowledged: by showing the
// question, that it is kept; by printing the outcome, that this is the outcome.
func (b *binary) heard(ctx context.Context, key string, notes, printed []byte, code int) error {
	var o askback.Outcome
	whole := json.Unmarshal(printed, &o) == nil
	if code == 0 && !whole {
		b.bad = append(b.bad, violated(failed, "%s: exit code 0 without an outcome: %q", key, printed))
	}
	if !whole && !bytes.Contains(notes, []byte(commandQuestion)) {
		return nil
	}
	id, _, err := b.standing(ctx, key)
	if err != nil {
		return err
	}
	b.bad = append(b.bad, b.ledger.note(ack{Op: opAsked, Key: ownedKey(commandAsker, key), ID: id})...)
	if whole && id != "" {
		b.bad = append(b.bad, b.ledger.note(ack{Op: opSettled, ID: id, Said: said(&o)})...)
	}
	return nil
}

// settle runs "askback answer", "decline" or "cancel", killed after a while.
// Exit code 0 acknowledges it.
func (b *binary) settle(ctx context.Context, id string) error {
	o := askback.Outcome{Channel: askback.ChannelTerminal, Actor: askback.Actor{Kind: askback.ActorPerson, Name: b.user}}
	var args []string
	switch colour := colours[b.rand.IntN(len(colours))]; b.rand.IntN(8) {
	case 0:
		o.Status, o.Reason, args = askback.Declined, "not now", []string{"decline", id, "--reason", "not now"}
	case 1:
		o.Status, o.Actor, args = askback.Cancelled, askback.Actor{Kind: askback.ActorAgent, Name: commandAsker}, []string{"cancel", id}
	default:
		o.Status, args = askback.Answered, []string{"answer", id, colour}
		o.Answers = []askback.QuestionAnswer{{ID: "q1", Selected: []string{colour}}}
	}
	c, err := b.start(ctx, args...)
	if err != nil {
		return err
	}
	_, before := b.ledger.outcomes[id]
	c.until(ctx, upTo(b.rand, 25*time.Millisecond), func([]byte) bool { return false })
	code, err := c.end(func([]byte) {})
	b.count(code, c, exitsOfSettle)
	// Withdrawing what was withdrawn before is no error and says nothing new.
	if repeat := before && o.Status == askback.Cancelled; code == 0 && !repeat {
		b.bad = append(b.bad, b.ledger.note(ack{Op: opSettled, ID: id, Said: said(&o)})...)
	}
	return err
}

// finish asks once more with a key and kills nobody: the same ask gives its
// outcome, twice the same.
func (b *binary) finish(ctx context.Context, key string) error {
	var first askback.Outcome
	for turn := range 2 {
		c, err := b.start(ctx, "ask", "--key", key, "--json", commandQuestion+", "+key+"?", colours[0], colours[1], colours[2])
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
		if code < 0 {
			b.bad = append(b.bad, violated(failed, "%s: no end after %s: %s", key, readyTime, c.notes.String()))
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
		if said(&o) != said(&first) {
			b.bad = append(b.bad, violated(doubled, "%s: printed %s and then %s", key, said(&first), said(&o)))
		}
		if err := b.heard(ctx, key, c.notes.Bytes(), printed.Bytes(), code); err != nil {
			return err
		}
	}
	return nil
}

// start runs the program on the database of these stories.
func (b *binary) start(ctx context.Context, args ...string) (*child, error) {
	return startChild(ctx, b.env, b.program, append(args, "--db", b.path)...)
}

// found is the outcome of a proof.
func (b *binary) found() part {
	return part{noun: "kills", what: "of the program", n: b.kills, detail: b.checker.compared(), bad: b.bad}
}
