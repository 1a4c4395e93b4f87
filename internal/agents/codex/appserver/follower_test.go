package appserver

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/askbacktest"
	"github.com/askback/askback/internal/agents/hook"
)

// patience is the deadline of each wait.
const patience = 2 * time.Minute

// An attachment is a follower of an app-server, with a person.
type attachment struct {
	*appServer
	t        *testing.T
	instance *askbacktest.Instance
	person   *askbacktest.Person
	notes    chan string
	follows  chan string // the followed threads; "-" before a thread means that it is no longer followed
	detach   func()
}

func attach(t *testing.T) *attachment {
	t.Helper()
	a := &attachment{
		appServer: newAppServer(t), t: t, instance: askbacktest.New(t), notes: make(chan string, 99),
		follows: make(chan string, 99),
	}
	a.person = a.instance.Person("ana")
	a.start()
	a.follow()
	return a
}

func (a *attachment) follow() {
	ctx, cancel := context.WithCancel(a.t.Context())
	f := &Follower{Asks: a.instance.Agent("local"), Socket: a.socket, Version: "test", Note: func(text string) {
		a.notes <- text
	}, Retry: 10 * time.Millisecond}
	f.Following = func(thread string) func() {
		a.follows <- thread
		return func() { a.follows <- "-" + thread }
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := f.Run(ctx); err != nil {
			a.t.Errorf("Run: %v", err)
		}
	}()
	a.detach = func() { cancel(); <-ended }
	a.t.Cleanup(a.detach)
}

func (a *attachment) bounded() context.Context {
	ctx, cancel := context.WithTimeout(a.t.Context(), patience)
	a.t.Cleanup(cancel)
	return ctx
}

// next waits for the next ask and returns it.
func (a *attachment) next() askback.Ask {
	a.t.Helper()
	ask, err := a.person.Next(a.bounded())
	if err != nil {
		a.t.Fatalf("no ask: %v", err)
	}
	return ask
}

// answer answers an ask as the person.
func (a *attachment) answer(id string, with askback.Answer) {
	a.t.Helper()
	if _, err := a.person.Answer(a.bounded(), id, with); err != nil {
		a.t.Fatal(err)
	}
}

// receives requires that the next answer at the app-server is want.
func (a *attachment) receives(want answer) {
	a.t.Helper()
	if got := wait(a.t, a.answers, "an answer"); got != want {
		a.t.Errorf("the app-server got %+v, want %+v", got, want)
	}
}

// settled waits until an ask is settled and returns the ask.
func (a *attachment) settled(id string) askback.Ask {
	a.t.Helper()
	ask, err := a.person.Wait(a.bounded(), id)
	if err != nil {
		a.t.Fatal(err)
	}
	return ask
}

func wait[T any](t *testing.T, from <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatalf("%s did not arrive", what)
		panic("unreachable")
	}
}

var approve = askback.Answer{Decision: askback.Approve}

func TestOnlyApprovalsAreSent(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]struct{ yes, no answer }{
		commandAsk: {answer{0, `{"decision":"accept"}`}, answer{0, `{"decision":"decline"}`}},
		editAsk:    {answer{2, `{"decision":"accept"}`}, answer{2, `{"decision":"decline"}`}},
		grantAsk: {
			answer{4, `{"permissions":{"network":{"enabled":true},"fileSystem":null},"scope":"turn"}`},
			answer{4, `{"permissions":{},"scope":"turn"}`},
		},
		toolAsk: {answer{6, `{"action":"accept","content":{}}`}, answer{6, `{"action":"decline"}`}},
	} {
		a := attach(t)
		a.request(raw)
		ask := a.next()
		if ask.Agent != "codex · shop" || !ask.Confirmation.NoEdit ||
			!strings.Contains(string(ask.Context), `"cwd":"/srv/shop"`) {
			t.Errorf("got the ask %+v with the context %s", ask.Confirmation, ask.Context)
		}
		a.answer(ask.ID, approve)
		a.receives(want.yes)
		if got := a.settled(ask.ID); got.ConsumedAt.IsZero() {
			t.Error("the approval was not consumed")
		}

		a = attach(t)
		a.request(raw)
		a.answer(a.next().ID, askback.Answer{Decision: askback.Deny, Reason: "not on a Friday"})
		if text := wait(t, a.steered, "the reason"); !strings.Contains(text, "not on a Friday") {
			t.Errorf("the turn got %q", text)
		}
		a.receives(want.no)

		a = attach(t)
		a.request(raw)
		if _, err := a.person.Decline(a.bounded(), a.next().ID, "ask at the terminal"); err != nil {
			t.Fatal(err)
		}
		a.request(questionAsk)
		a.answer(a.next().ID, askback.Choose("SQLite"))
		a.receives(answer{5, `{"answers":{"db":{"answers":["SQLite"]}}}`}) // no answer was sent before
	}
}

func TestFormOfMCPServerIsAsked(t *testing.T) {
	t.Parallel()
	a := attach(t)
	a.request(`{"method":"mcpServer/elicitation/request","id":1,"params":{"threadId":"t","turnId":"u","serverName":"probe","mode":"form","_meta":null,"message":"Where to?","requestedSchema":{"type":"object","properties":{"n":{"type":"integer"},"region":{"type":"string","title":"Region","enum":["eu","us"]}},"required":["region"]}}}`)
	ask := a.next()
	if ask.Title != "probe: Where to?" || len(ask.Questions) != 2 {
		t.Fatalf("got %q: %+v", ask.Title, ask.Questions)
	}
	a.answer(ask.ID,
		askback.Answer{Answers: []askback.QuestionAnswer{{ID: "q1", Other: "3"}, {ID: "q2", Selected: []string{"eu"}}}})
	a.receives(answer{1, `{"action":"accept","content":{"n":3,"region":"eu"}}`})
}

func TestAnswerAtTerminalWithdrawsAsk(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]string{
		"answered":      `{"method":"serverRequest/resolved","params":{"threadId":"t","requestId":0}}`,
		"turn ended":    `{"method":"turn/completed","params":{"threadId":"t","turn":{"id":"u"}}}`,
		"thread closed": `{"method":"thread/closed","params":{"threadId":"t"}}`,
	} {
		a := attach(t)
		a.request(commandAsk)
		ask := a.next()
		a.notify(end)
		if got := a.settled(ask.ID); !got.Withdrawn() || got.Outcome.Reason != "Decided at the terminal of Codex" {
			t.Errorf("%s: the ask is %s: %+v", name, got.Status, got.Outcome)
		}
	}
}

// Exactly the edits that people saw are approved.
func TestChangedEditsAreNotApproved(t *testing.T) {
	t.Parallel()
	a := attach(t)
	a.request(editAsk)
	ask := a.next()
	if !strings.Contains(string(ask.Confirmation.Input), `"diff":"x\n"`) {
		t.Errorf("got the edits %s", ask.Confirmation.Input)
	}
	a.notify(`{"method":"item/fileChange/patchUpdated","params":{"threadId":"t","turnId":"u","itemId":"i","changes":[{"path":"/srv/b","kind":{"type":"add"},"diff":"y\n"}]}}`)
	if got := a.settled(ask.ID); !got.Withdrawn() {
		t.Errorf("the ask is %s", got.Status)
	}
}

// The model makes the ids of items. A request about an item is not shown with the edits of another item that
// has the same id.
func TestItemsWithTheSameIDAreNotConfused(t *testing.T) {
	t.Parallel()
	a := attach(t)
	a.request(commandAsk)
	a.next()
	for _, diff := range []string{"x", "y"} {
		a.notify(`{"method":"item/started","params":{"threadId":"t","turnId":"u","item":{"type":"fileChange","id":"i","changes":[{"path":"/srv/b","kind":{"type":"add"},"diff":"` + diff + `"}]}}}`)
	}
	a.request(editAsk)
	a.request(questionAsk)
	if ask := a.next(); ask.Confirmation != nil {
		t.Errorf("asked about %s", ask.Confirmation.Input)
	}
}

// After a reconnect, the same request has the same ask. If an approval was consumed but its answer was lost,
// people are asked again.
func TestRequestSurvivesLostConnection(t *testing.T) {
	t.Parallel()
	a := attach(t)
	a.request(commandAsk)
	ask := a.next()
	a.stop()
	for !strings.Contains(wait(t, a.notes, "a note"), "is not running") {
	}
	a.start()
	a.mu.Lock()
	a.lose = true
	a.mu.Unlock()
	a.answer(ask.ID, approve)
	a.receives(answer{0, `{"decision":"accept"}`}) // this answer is lost
	again := a.next()
	if again.ID == ask.ID {
		t.Fatal("the consumed approval was used again")
	}
	a.answer(again.ID, approve)
	a.receives(answer{0, `{"decision":"accept"}`})
	if asks := a.instance.Asks(); len(asks) != 2 {
		t.Errorf("there are %d asks, want 2", len(asks))
	}
}

// A daemon that is shutting down accepts a connection and closes it.
func TestBrokenConnectionIsRetried(t *testing.T) {
	t.Parallel()
	a := attachment{
		appServer: newAppServer(t), t: t, instance: askbacktest.New(t), notes: make(chan string, 99),
		follows: make(chan string, 99),
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: a.socket})
	if err == nil {
		err = l.SetDeadline(time.Now().Add(patience))
	}
	if err != nil {
		t.Fatal(err)
	}
	a.follow()
	for range 2 {
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.Close()
	}
	_ = l.Close()
	a.start()
	var notes []string
	for len(notes) == 0 || !strings.Contains(notes[len(notes)-1], "Attached") {
		notes = append(notes, wait(t, a.notes, "a note"))
	}
	if !strings.HasPrefix(notes[0], "No connection to Codex's daemon: ") || len(notes) > 3 {
		t.Errorf("got the notes %q", notes)
	}
}

// unreachable is a client whose server cannot be reached.
type unreachable struct{ hook.Client }

func (unreachable) Ack(context.Context, string) (askback.Ask, error) {
	return askback.Ask{}, askback.ErrUnreachable
}

// While Askback cannot be reached, the notes do not claim that its inbox has the requests.
func TestNotesDescribeTheAttachment(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		asks hook.Client
		want []string
	}{
		"reached": {askbacktest.New(t).Agent("local"), []string{
			"Attached to Codex 0.169.0. Its requests are in the inbox as well as at its terminal.",
		}},
		"away": {unreachable{}, []string{
			"Askback cannot be reached, so Codex asks only at its terminal: the server cannot be reached",
			"Attached to Codex 0.169.0.",
		}},
	} {
		a := newAppServer(t)
		a.start()
		notes := make(chan string, 9)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		f := &Follower{Asks: c.asks, Socket: a.socket, Note: func(text string) { notes <- text }}
		go func() { ended <- f.Run(ctx) }()
		for _, want := range c.want {
			if got := wait(t, notes, want); got != want {
				t.Errorf("%s: got the note %q, want %q", name, got, want)
			}
		}
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOtherProgramIsRejected(t *testing.T) {
	t.Parallel()
	a := newAppServer(t)
	l, err := net.Listen("unix", a.socket)
	if err != nil {
		t.Fatal(err)
	}
	a.server = &http.Server{Handler: http.NotFoundHandler()}
	go func() { _ = a.server.Serve(l) }()
	f := &Follower{Asks: askbacktest.New(t).Agent("local"), Socket: a.socket, Note: func(text string) {
		t.Errorf("got the note %q", text)
	}}
	if err := f.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "not the app-server of Codex") {
		t.Errorf("got %v", err)
	}
}

func TestDetachingWithdrawsAsks(t *testing.T) {
	t.Parallel()
	a := attach(t)
	a.request(commandAsk)
	ask := a.next()
	a.detach()
	if got := a.settled(ask.ID); !got.Withdrawn() || got.Outcome.Reason != "Askback was detached from Codex" {
		t.Errorf("the ask is %s: %+v", got.Status, got.Outcome)
	}
	a.follow()
	if again := a.next(); again.ID == ask.ID {
		t.Error("the withdrawn ask is asked again under its id")
	}
	a.resolve(0)
}

// A thread is followed until it is closed or Askback is detached.
func TestFollowedThreadsAreReported(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*attachment){
		"closed":   func(a *attachment) { a.notify(`{"method":"thread/closed","params":{"threadId":"t"}}`) },
		"detached": func(a *attachment) { a.detach() },
		"lost":     func(a *attachment) { a.stop() },
	} {
		a := attach(t)
		if got := wait(t, a.follows, "the thread"); got != "t" {
			t.Errorf("%s: got %s, want the thread t", name, got)
		}
		end(a)
		if got := wait(t, a.follows, "the end of the thread"); got != "-t" {
			t.Errorf("%s: got %s, want the end of the thread t", name, got)
		}
	}
}
