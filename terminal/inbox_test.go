package terminal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
	"github.com/askback/askback/terminal"
	"github.com/askback/askback/test/kit/golden"
)

// inboxWidths are the widths at which inboxes are tested. At 40 and 80 columns, an inbox shows the list or an
// ask, and at 200 columns both.
var inboxWidths = []int{40, 80, 200}

// An inboxFixture has an engine with asks, and an inbox of ana.
type inboxFixture struct {
	*terminal.TestInbox
	t        testing.TB
	passed   atomic.Int64 // nanoseconds since noon; a claim reads the time in another goroutine
	engine   *engine.Engine
	ana, ben askback.Client
	opened   []string
	height   int
}

func newInboxFixture(t testing.TB) *inboxFixture {
	f := &inboxFixture{t: t, height: 30}
	f.engine = engine.New(memstore.New(), &engine.Options{Now: f.now})
	as := func(name string, channel askback.Channel) askback.Client {
		return f.engine.As(askback.Principal{Kind: askback.Responder, Name: name, Channel: channel})
	}
	f.ana, f.ben = as("ana", askback.ChannelTerminal), as("ben", askback.ChannelWeb)
	return f
}

// now returns the time of the fixture's clock.
func (f *inboxFixture) now() time.Time { return noon.Add(time.Duration(f.passed.Load())) }

// ask advances the clock by a second, adds an ask, and returns its id.
func (f *inboxFixture) ask(agent string, r askback.Request) string {
	f.t.Helper()
	f.passed.Add(int64(time.Second))
	r.Agent = agent
	a, err := f.engine.As(askback.Principal{Kind: askback.Agent, Name: agent, Channel: askback.ChannelAPI}).Ask(
		context.Background(), r,
	)
	if err != nil {
		f.t.Fatal(err)
	}
	return a.ID
}

func callRequest(tool, input string, dangerous bool) askback.Request {
	return askback.Request{
		Confirmation: &askback.Confirmation{ToolName: tool, Input: json.RawMessage(input), Dangerous: dangerous},
	}
}

func questionRequest(text string, options ...string) askback.Request {
	return askback.Request{Questions: []askback.Question{{Text: text, Options: askback.Options(options...)}}}
}

// open opens the inbox of a client on a terminal of this width.
func (f *inboxFixture) open(client terminal.InboxClient, width int) {
	o := terminal.InboxOptions{Options: terminal.Options{
		Human: true, Style: true, Zone: time.UTC, Now: f.now,
		Width: func() int { return width }, Height: func() int { return f.height },
	}}
	o.Name = "ana"
	o.Open = func(_ context.Context, a askback.Ask) (string, error) {
		f.opened = append(f.opened, a.ID)
		return "http://localhost/asks/" + a.ID, nil
	}
	f.TestInbox = terminal.OpenTestInbox(client, o)
}

// pass advances the clock, and handles the messages that are due.
func (f *inboxFixture) pass(d time.Duration) {
	f.passed.Add(int64(d))
	f.Tick()
}

// press presses keys, and advances the clock by a second before each.
func (f *inboxFixture) press(keys ...string) {
	for _, key := range keys {
		f.pass(time.Second)
		f.Press(key)
	}
}

func (f *inboxFixture) screen(width int) string { return screenText(f.Drawn(), width, f.height) }

// shows requires that the screen at this width matches a pattern.
func (f *inboxFixture) shows(width int, pattern string) {
	f.t.Helper()
	if screen := f.screen(width); !matches(pattern, screen) {
		f.t.Errorf("%d columns: want %q on\n%s", width, pattern, screen)
	}
}

// outcome returns the decision, the arguments, the reason and the answers of an ask as one line. For an open
// ask, it returns "open". A status other than answered precedes the line.
func (f *inboxFixture) outcome(id string) string {
	f.t.Helper()
	a, err := f.ana.Get(context.Background(), id)
	if err != nil {
		f.t.Fatal(err)
	}
	if a.Outcome == nil {
		return "open"
	}
	o := a.Outcome
	words := []string{string(o.Decision), string(o.Input), o.Reason}
	for _, given := range o.Answers {
		words = append(words, given.String())
	}
	if o.Status != askback.Answered {
		words = append([]string{string(o.Status)}, words...)
	}
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}

// someAsks adds one ask of each kind, and returns their ids by name.
func (f *inboxFixture) someAsks() map[string]string {
	soon := callRequest("db.migrate", `{"sql":"drop table orders_2019"}`, true)
	soon.Timeout = 40 * time.Minute
	return map[string]string{
		"danger":   f.ask("deploy-bot", callRequest("rm", `{"path":"/srv"}`, true)),
		"question": f.ask("planner", questionRequest("Which database?", "PostgreSQL", "SQLite")),
		"mail":     f.ask("support", callRequest("mail.send", `{"to":"kim@example.com"}`, false)),
		"label":    f.ask("support", callRequest("tickets.label", `{"ticket":4711}`, false)),
		"text":     f.ask("writer", questionRequest("Any last words?")),
		"soon":     f.ask("deploy-bot", soon),
	}
}

// Inboxes are drawn at three widths as in the files in testdata (C5).
func TestInboxesMatchGoldenFiles(t *testing.T) {
	for _, s := range []struct {
		name string
		keys []string
	}{
		{"list", nil},
		{"question", []string{"j", "j", "enter", "2"}},
		{"approval", []string{"j", "j", "j", "enter"}},
		{"word", []string{"enter", "a", "appr"}},
		{"batch", []string{"j", "x", "j", "j", "x", "j", "x", "a"}},
		{"snooze", []string{"j", "s"}},
		{"reassign", []string{"j", "r", "ben, @oncall"}},
		{"search", []string{"/", "mail"}},
		{"help", []string{"?"}},
	} {
		for _, width := range inboxWidths {
			t.Run(fmt.Sprint(s.name, "_", width), func(t *testing.T) {
				f := newInboxFixture(t)
				f.someAsks()
				f.open(f.ana, width)
				f.press(s.keys...)
				f.pass(time.Second)
				golden.Check(t, fmt.Sprintf("testdata/inbox_%s_%d.txt", s.name, width), f.screen(width))
			})
		}
	}
}

// Every key of an inbox has the effect that the help describes, at each width (C5, D1, F7, F8).
func TestKeysOfTheInboxMatchItsHelp(t *testing.T) {
	for _, c := range []struct {
		keys  string
		about string // ask that is decided, or whose status is checked
		want  string // its outcome
		shows string // on the screen
	}{
		{"j down k up j enter d", "danger", "denied", "Sent: denied by ana"},
		{"end home j enter a a p p r o v e enter", "danger", "approved", "Sent: approved by ana"},
		{"j enter a y e s enter", "danger", "open", "not the word approve"},
		{"enter y a p p r o v e enter", "soon", "approved", ""},
		{"j j j enter a", "mail", "approved", ""},
		{"j j j enter y", "mail", "approved", ""},
		{"j j j enter n n o enter d", "mail", "denied no", ""},
		{"j j j enter A approve enter", "mail", "approve_all", ""},
		{"j j j enter D no enter", "mail", "declined no", ""},
		{"j j j enter enter", "mail", "open", "Enter does nothing yet"},
		{"j j enter 2 enter", "question", "SQLite", ""},
		{"j j 2 enter", "question", "SQLite", ""},
		{"j j enter down enter", "question", "SQLite", ""},
		{"j j enter ctrl+n why enter 1 enter", "question", "PostgreSQL", ""},
		{"j j o mine enter", "question", "mine", ""},
		{"j j enter 3 enter mine enter", "question", "mine", ""},
		{"j j enter / sql esc esc esc", "question", "open", `> +\d+s │ Which database`},
		{"j j enter j a", "mail", "approved", ""},
		{"j j j enter esc d enter d", "mail", "denied", ""},
		{"j j j enter u enter d", "mail", "denied", ""},
		{"end enter hello enter", "text", "hello", ""},
		{"end enter hello esc k enter k enter j j", "text", "open", "hello"},
		{"j j j s 1", "mail", "open", "Snoozed until 13:00"},
		{"j j j s 3", "mail", "open", "Snoozed until tomorrow 09:00"},
		{"j j j s 5 18:30 enter", "mail", "open", "Snoozed until 18:30"},
		{"j j j s 5 never enter", "mail", "open", "is not a time"},
		{"j j j s esc", "mail", "open", `> +\d+s │ mail.send`},
		{"/ mail enter enter a", "mail", "approved", ""},
		{"/ nothing", "mail", "open", "No open ask contains"},
		{"/ mail esc", "mail", "open", "6 open"},
		{"?", "mail", "open", "Any key goes back"},
		{"? x", "mail", "open", "6 open"},
		{"p", "mail", "open", "Opened http"},
		{"x", "mail", "open", "1 selected"},
		{"x esc", "mail", "open", "6 open ─"},
		{"j j j x j x a enter", "mail", "approved", "Approved: 2 calls"},
		{"j j j x j x d enter", "label", "denied", "Denied: 2 calls"},
		{"j j j x j x a esc", "label", "open", "2 selected"},
		{"j j j x j x d n not space now enter enter", "label", "denied not now", "Denied: 2 calls"},
		{"j j j x j x a n fine enter enter", "mail", "approved fine", "Approved: 2 calls"},
		{"j j j x j x d n not enter", "label", "open", `reason │ not`},
		{"j j j x j x d n not esc enter", "label", "denied", "Denied: 2 calls"},
		{"j j j x j x d n", "label", "open", "Enter keeps it"},
		{"x j x a", "danger", "open", "None of the selected"},
		{"z", "mail", "open", "does nothing here"},
	} {
		for _, width := range inboxWidths {
			t.Run(fmt.Sprint(c.keys, " ", width), func(t *testing.T) {
				f := newInboxFixture(t)
				ids := f.someAsks()
				f.open(f.ana, width)
				f.press(strings.Fields(c.keys)...)
				if got := f.outcome(ids[c.about]); got != c.want {
					t.Errorf("the outcome of %s is %q, want %q:\n%s", c.about, got, c.want, f.screen(width))
				}
				f.shows(width, c.shows)
			})
		}
	}
}

// typingTime is the time without a key after which a text has ended.
const typingTime = 2 * time.Second

// A key decides only a call that has been on the screen for half a second, so a double press does not decide
// the next call (C3, F7).
func TestDoublePressDecidesOnlyOneCall(t *testing.T) {
	for _, width := range inboxWidths {
		f := newInboxFixture(t)
		first, second := f.ask("a", callRequest("one", `{}`, false)), f.ask("a", callRequest("two", `{}`, false))
		f.open(f.ana, width)
		f.Press("enter", "a", "y", "d")
		if got := f.outcome(first); got != "open" {
			t.Errorf("%d columns: %s too early", width, got)
		}
		f.pass(1990 * time.Millisecond) // three letters are a text
		f.Press("a")
		if got := f.outcome(first); got != "open" {
			t.Errorf("%d columns: %s after 1990 ms", width, got)
		}
		f.pass(20 * time.Millisecond)
		f.Press("a")
		if got := f.outcome(first); got != "open" {
			t.Errorf("%d columns: %s after a key that was ignored", width, got)
		}
		f.pass(typingTime)
		f.Press("a", "a")
		if a, b := f.outcome(first), f.outcome(second); a != "approved" || b != "open" {
			t.Errorf("%d columns: got %s and %s, want only the first approved", width, a, b)
		}
	}
}

// A call that is not on the screen is not decided. If only the list fits, keys that decide open the call (C3,
// F7).
func TestKeysDoNotDecideUnseenCalls(t *testing.T) {
	f := newInboxFixture(t)
	id := f.ask("a", callRequest("one", `{}`, false))
	f.open(f.ana, 80)
	f.press("a")
	if got := f.outcome(id); got != "open" {
		t.Errorf("decided from the list: %s", got)
	}
	f.shows(80, "(?s)tool │ one.*Read it first")
	if f.press("a"); f.outcome(id) != "approved" {
		t.Errorf("not approved:\n%s", f.screen(80))
	}
}

// A call that is longer than the screen needs the typed word until all its rows were shown (F3, T3).
func TestInboxRequiresTheTypedWordForPartlyShownCalls(t *testing.T) {
	for _, width := range inboxWidths {
		f := newInboxFixture(t)
		f.height = 24
		id := f.ask("a", callRequest("one", `{"list":[`+strings.Repeat(`"x",`, 30)+`"x"]}`, false))
		f.open(f.ana, width)
		f.press("enter")
		f.pass(time.Second)
		f.shows(width, `typed\s+word`)
		f.press("a")
		f.shows(width, "were not shown")
		f.press("esc", "pgdown", "pgdown")
		f.shows(width, ": PgUp")
		if f.press("a"); f.outcome(id) != "approved" {
			t.Errorf("not approved after all rows were shown:\n%s", f.screen(width))
		}
	}
}

// Arguments that were changed in the editor are shown, and approved (F7).
func TestInboxApprovesChangedArguments(t *testing.T) {
	for _, width := range inboxWidths {
		f := newInboxFixture(t)
		id := f.someAsks()["mail"]
		f.open(f.ana, width)
		f.press("j", "j", "j", "enter")
		f.Edited(`{"to":"pat@example.com"}`)
		f.Press("a")
		f.shows(width, "you changed the arguments")
		if f.press("a"); f.outcome(id) != `approved {"to":"pat@example.com"}` {
			t.Errorf("got %s", f.outcome(id))
		}
	}
}

// A changedClient returns calls that differ from the list.
type changedClient struct{ askback.Client }

func (c changedClient) Get(ctx context.Context, id string) (askback.Ask, error) {
	a, err := c.Client.Get(ctx, id)
	if err == nil && a.Confirmation != nil {
		confirmation := *a.Confirmation
		confirmation.Digest = "sha256:other"
		a.Confirmation = &confirmation
	}
	return a, err
}

// Only the displayed call is decided (F7).
func TestOnlyTheDisplayedCallIsDecided(t *testing.T) {
	f := newInboxFixture(t)
	id := f.ask("a", callRequest("one", `{}`, false))
	f.open(changedClient{f.ana}, 80)
	f.press("enter", "a")
	f.shows(80, "not the call that was shown to you")
	f.press("esc", "x", "a", "enter")
	f.shows(80, "not the call that was shown to you")
	if got := f.outcome(id); got != "open" {
		t.Errorf("decided another call: %s", got)
	}
}

// A failingClient cannot send answers until it is repaired.
type failingClient struct {
	askback.Client
	mended atomic.Bool
}

func (c *failingClient) Hold(ctx context.Context, id string, a askback.Answer) (askback.Ask, error) {
	if !c.mended.Load() {
		return askback.Ask{}, errors.New("the disk is full")
	}
	return c.Client.Answer(ctx, id, a)
}

// An answer that could not be sent can be sent again: no typed text is lost (B6).
func TestTypedTextStaysAfterAnError(t *testing.T) {
	f := newInboxFixture(t)
	id := f.ask("a", questionRequest("Why?"))
	client := &failingClient{Client: f.ana}
	f.open(client, 80)
	f.press("enter", "because", "enter")
	f.shows(80, "(?s)because.*not sent: the disk is full")
	client.mended.Store(true)
	if f.press("enter"); f.outcome(id) != "because" {
		t.Errorf("got %s", f.outcome(id))
	}
}

// A call that is asked for again names the person who changed the call before.
func TestInboxShowsTheChangeBeforeTheSameCall(t *testing.T) {
	f := newInboxFixture(t)
	r := callRequest("mail.send", `{"to":"all@example.com"}`, false)
	id := f.ask("support", r)
	if _, err := f.ana.Answer(t.Context(), id, askback.Answer{
		Decision: askback.Approve, Input: json.RawMessage(`{"to":"ana@example.com"}`),
	}); err != nil {
		t.Fatal(err)
	}
	f.ask("support", r)
	f.open(f.ana, 80)
	f.press("enter")
	f.shows(80, "You changed this call before approving it")
}
