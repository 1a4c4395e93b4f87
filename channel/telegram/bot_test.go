package telegram_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/telegram"
	"github.com/askback/askback/channel/telegram/telegramtest"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
)

const (
	ana      = 4001
	ben      = 4002
	stranger = 4999
	room     = -1001234567890
)

// A bot is a channel with an engine that sends to a fake Telegram.
type bot struct {
	testing.TB
	*telegramtest.Server
	engine   *engine.Engine
	agent    askback.AgentClient
	contacts *contacts
	options  telegram.Options
	wrap     func(askback.PersonClient) askback.PersonClient // if not nil, wraps each client of a person
	log      *logBuffer
	sender   *current

	mu   sync.Mutex
	stop func()
}

// current is the channel of the process that takes answers.
type current struct {
	mu sync.Mutex
	c  *telegram.Channel
}

func (c *current) Send(ctx context.Context, n askback.Notification) (string, error) {
	c.mu.Lock()
	now := c.c
	c.mu.Unlock()
	return now.Send(ctx, n)
}

type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// newBot starts a bot. Ana and ben are linked.
func newBot(t testing.TB, change ...func(*telegram.Options)) *bot {
	t.Helper()
	s := telegramtest.NewServer(t)
	for _, id := range []int64{ana, ben, stranger} {
		s.AddUser(id)
	}
	s.AddGroup(room)
	b := &bot{TB: t, Server: s, contacts: &contacts{}, options: options(t, s), log: &logBuffer{}, sender: &current{}}
	b.options.Groups = []int64{room}
	b.options.Log = slog.New(slog.NewTextHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	for _, f := range change {
		f(&b.options)
	}
	b.engine = engine.New(memstore.New(), &engine.Options{
		Channels: map[string]engine.Channel{telegram.Name: b.sender},
		Settings: engine.Settings{
			People: []askback.Person{{Name: "ana"}, {Name: "ben"}},
			Receivers: []engine.Receiver{
				{Channel: telegram.Name, Name: "4001", Person: "ana"},
				{Channel: telegram.Name, Name: "4002", Person: "ben"},
				{Channel: telegram.Name, Name: "-1001234567890"},
			},
		},
	})
	b.agent = b.engine.As(askback.Principal{Kind: askback.Agent, Name: "robot"})
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	b.listen()
	group.Go(func() { _ = b.engine.Run(ctx) })
	t.Cleanup(func() {
		b.end()
		cancel()
		group.Wait()
		if strings.Contains(b.log.String(), telegramtest.Token) {
			t.Error("the token is in the log")
		}
	})
	for _, person := range []string{"ana", "ben"} {
		id := accounts[person]
		b.Write(id, id, "/start "+b.contacts.code(person), 0)
		b.wait(id, "This chat is linked")
	}
	return b
}

// listen starts a process that takes answers.
func (b *bot) listen() {
	c := newChannel(b.TB, b.options)
	b.sender.mu.Lock()
	b.sender.c = c
	b.sender.mu.Unlock()
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() { c.Run(ctx, wrapped{linked{b.contacts, b.engine}, b}) })
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stop = func() { cancel(); group.Wait() }
}

func (b *bot) end() {
	b.mu.Lock()
	stop := b.stop
	b.mu.Unlock()
	stop()
}

// restart replaces the process that takes answers.
func (b *bot) restart() {
	b.end()
	b.listen()
}

// A wrapped is the engine of a bot. It passes the client of each person through the function wrap of the bot.
type wrapped struct {
	linked
	b *bot
}

func (w wrapped) ContactClient(
	ctx context.Context, channel, address string, via askback.Channel,
) (askback.PersonClient, askback.Contact, error) {
	client, contact, err := w.linked.ContactClient(ctx, channel, address, via)
	if err == nil && w.b.wrap != nil {
		client = w.b.wrap(client)
	}
	return client, contact, err
}

// wait waits until a chat has a message of the bot that begins with text, and returns the message.
func (b *bot) wait(chatID int64, text string) telegramtest.Message {
	b.Helper()
	m, err := b.Wait(chatID, func(m telegramtest.Message) bool { return strings.HasPrefix(m.Text, text) })
	if err != nil {
		b.Fatalf("%d: no message %q: %v; there are %+v; the log:\n%s", chatID, text, err, b.Messages(chatID), b.log)
	}
	return m
}

// ask makes an ask, for ana unless the request names people. It returns the ask and the message to ana, once
// the message has buttons.
func (b *bot) ask(r askback.Request) (askback.Ask, telegramtest.Message) {
	b.Helper()
	r.Agent = "robot"
	if len(r.To) == 0 {
		r.To = []string{"ana"}
	}
	a, err := b.agent.Ask(b.Context(), r)
	if err != nil {
		b.Fatal(err)
	}
	return a, b.live(ana)
}

// live waits until a chat has a message with buttons that is not a list, and returns the message.
func (b *bot) live(chatID int64) telegramtest.Message {
	b.Helper()
	m, err := b.Wait(chatID, func(m telegramtest.Message) bool { return m.Live() && !strings.HasPrefix(m.Text, "1. ") })
	if err != nil {
		b.Fatalf("%d: no message has buttons: %+v; the log:\n%s", chatID, b.Messages(chatID), b.log)
	}
	return m
}

// press presses a button, and waits until the bot has confirmed all updates.
func (b *bot) press(user, chatID, message int64, label string) telegramtest.Popup {
	b.Helper()
	p, err := b.Press(user, chatID, message, label)
	if err != nil {
		b.Fatalf("%q: %v; the message is %+v; the log:\n%s", label, err, b.Message(chatID, message), b.log)
	}
	b.Idle()
	return p
}

// reply replies to a message, and waits until the bot has confirmed the update of the reply.
func (b *bot) reply(user, chatID, message int64, text string) {
	_, update := b.Write(user, chatID, text, message)
	b.Confirmed(update)
}

// outcome waits until an ask is settled, and returns its outcome.
func (b *bot) outcome(id string) askback.Outcome {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	a, err := b.agent.Wait(ctx, id)
	if err != nil {
		b.Fatalf("%v; the log:\n%s", err, b.log)
	}
	return *a.Outcome
}

func question(text string, labels ...string) askback.Question {
	return askback.Question{Text: text, Options: askback.Options(labels...)}
}

func questions(all ...askback.Question) askback.Request { return askback.Request{Questions: all} }

func call(tool, input string, dangerous bool) askback.Request {
	return askback.Request{
		Confirmation: &askback.Confirmation{ToolName: tool, Input: json.RawMessage(input), Dangerous: dangerous},
	}
}

// fourQuestions has one question of each kind.
func fourQuestions() askback.Request {
	checks := question("Which checks?", "lint", "unit", "race")
	checks.MultiSelect = true
	name := question("Which name?", "alpha", "beta")
	name.Optional = true
	return questions(question("Deploy?", "Yes", "No"), checks, name, askback.Question{Text: "Anything else?"})
}

// A restart after each step loses nothing. The progress is shown, and the person can go back to earlier
// questions (E3).
func TestFourQuestionsSurviveRestarts(t *testing.T) {
	b := newBot(t)
	a, m := b.ask(fourQuestions())
	at := func(want string) {
		t.Helper()
		if got := b.Message(ana, m.ID).Text; !strings.Contains(got, want) {
			t.Fatalf("the message does not have %q:\n%s", want, got)
		}
		b.restart()
	}
	at("Question 1 of 4 Deploy?")
	b.press(ana, ana, m.ID, "No")
	at("Question 2 of 4 Which checks?")
	b.press(ana, ana, m.ID, "lint")
	at("Your answer: lint\n")
	b.press(ana, ana, m.ID, "race")
	at("Your answer: lint, race\n")
	b.press(ana, ana, m.ID, "lint")
	at("Your answer: race\n")
	b.press(ana, ana, m.ID, "‹ Back")
	at("Question 1 of 4")
	b.press(ana, ana, m.ID, "Yes")
	at("Your answer: race")
	b.press(ana, ana, m.ID, "Add a note…")
	b.restart()
	b.reply(ana, ana, b.wait(ana, "Write your note on question 2 of 4").ID, "the others are slow")
	at("note: the others are slow")
	b.press(ana, ana, m.ID, "Next ›")
	at("Question 3 of 4 Which name?")
	b.press(ana, ana, m.ID, "Leave out")
	at("Question 4 of 4 Anything else?")
	b.reply(ana, ana, m.ID, "no 👍") // as a reply to the message itself
	at("Your answers\n1. Yes\n2. race; note: the others are slow\n3. left out\n4. no 👍\n")
	b.press(ana, ana, m.ID, "Send the answers")
	got := b.outcome(a.ID)
	want := []askback.QuestionAnswer{
		{ID: "q1", Question: "Deploy?", Selected: []string{"Yes"}},
		{ID: "q2", Question: "Which checks?", Selected: []string{"race"}, Notes: "the others are slow"},
		{ID: "q3", Question: "Which name?"},
		{ID: "q4", Question: "Anything else?", Other: "no 👍"},
	}
	if !slices.EqualFunc(got.Answers, want, func(a, b askback.QuestionAnswer) bool {
		return a.ID == b.ID && slices.Equal(a.Selected, b.Selected) && a.Other == b.Other && a.Notes == b.Notes
	}) || got.Actor.Name != "ana" || got.Channel != askback.ChannelTelegram {
		t.Errorf("got %+v, want %+v", got, want)
	}
	b.wait(ana, "Done: “Deploy?” +3 more")
	if b.Message(ana, m.ID).Live() {
		t.Error("the message still has buttons")
	}
}

// An answer that is sent before all questions are answered shows the missing question.
func TestMissingAnswerIsShown(t *testing.T) {
	b := newBot(t)
	a, m := b.ask(questions(question("One?", "Yes", "No"), question("Two?", "Yes", "No")))
	b.press(ana, ana, m.ID, "Yes")
	b.press(ana, ana, m.ID, "Yes")
	overview := b.Message(ana, m.ID).Buttons
	b.press(ana, ana, m.ID, "‹ Back")
	draft := json.RawMessage(`{"form":{"q1":["0"]}}`) // the person removes the second answer on the page
	if err := b.engine.As(askback.Principal{Kind: askback.Responder, Name: "ana"}).SaveDraft(t.Context(), a.ID,
		draft); err != nil {
		t.Fatal(err)
	}
	p, err := b.PressData(ana, ana, m.ID, overview[1][0].Data)
	if err != nil || !p.Alert || !strings.Contains(p.Text, "not answered") {
		t.Errorf("got %+v, %v", p, err)
	}
	b.Idle()
	if got := b.Message(ana, m.ID).Text; !strings.Contains(got, "Question 2 of 2") {
		t.Errorf("the message does not show the question that is missing:\n%s", got)
	}
}

// Deny and Approve are in separate rows, Deny first, and a text decides nothing.
func TestDenyAndApproveAreInSeparateRows(t *testing.T) {
	b := newBot(t, func(o *telegram.Options) {
		o.Link = func(a askback.Ask, person string) string { return "https://ask.example.com/a/" + a.ID + "-" + person }
	})
	a, m := b.ask(call("deploy", `{"target":"staging"}`, false))
	var labels []string
	for _, row := range m.Buttons {
		if len(row) != 1 {
			t.Errorf("a row has %+v", row)
		}
		labels = append(labels, row[0].Text)
	}
	if want := []string{"Deny", "Deny with a reason…", "Open the page", "Approve"}; !slices.Equal(labels, want) {
		t.Errorf("got %q, want %q", labels, want)
	}
	b.reply(ana, ana, m.ID, "yes, do it")
	b.wait(ana, "Decide with the buttons")
	page, err := b.agent.Deliveries(t.Context(), askback.DeliveryQuery{AskID: a.ID})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range page.Items {
		if d.SeenAt.IsZero() != (d.Person != "ana") {
			t.Errorf("after the reply, the delivery to %q of %q was seen %v", d.Target, d.Person, d.SeenAt)
		}
	}
	b.press(ana, ana, m.ID, "Deny with a reason…")
	b.reply(ana, ana, b.wait(ana, "Write why you deny this call").ID, "not on Fridays")
	if got := b.outcome(a.ID); got.Decision != askback.Deny || got.Reason != "not on Fridays" {
		t.Errorf("got %+v", got)
	}
}

// A person declines questions with two presses, with a reason as a reply, or with a command.
func TestQuestionsAreDeclined(t *testing.T) {
	b := newBot(t)
	var a askback.Ask
	var m telegramtest.Message
	declined := func(reason string) {
		t.Helper()
		if got := b.outcome(a.ID); got.Status != askback.Declined || got.Reason != reason || got.Actor.Name != "ana" {
			t.Errorf("got %+v, want it declined with the reason %q", got, reason)
		}
		over := func(now telegramtest.Message) bool { return now.ID == m.ID && !now.Live() }
		if _, err := b.Wait(ana, over); err != nil {
			t.Fatal(err)
		}
	}
	a, m = b.ask(questions(question("One?", "Yes", "No")))
	b.press(ana, ana, m.ID, "Decline…")
	if got := b.Message(ana, m.ID); !strings.Contains(got.Text, "Decline to answer?") {
		t.Errorf("got %q", got.Text)
	}
	b.press(ana, ana, m.ID, "‹ Back")
	b.press(ana, ana, m.ID, "Decline…")
	b.reply(ana, ana, m.ID, "Yes") // not the answer to a question that the message does not show
	b.wait(ana, "Please press a button")
	if p := b.press(ana, ana, m.ID, "Decline to answer"); p.Text != "You declined to answer." {
		t.Errorf("got %+v", p)
	}
	declined("")

	a, m = b.ask(questions(question("Two?", "Yes", "No"), question("Three?")))
	b.press(ana, ana, m.ID, "Decline…")
	b.press(ana, ana, m.ID, "Decline with a reason…")
	b.reply(ana, ana, b.wait(ana, "Write why you decline to answer these questions").ID, "not mine")
	declined("not mine")

	a, m = b.ask(questions(question("Four?", "Yes", "No")))
	b.Write(ana, ana, "/decline", 0)
	b.wait(ana, "Reply to the message of the question with /decline")
	b.reply(ana, ana, m.ID, "/decline ask Ben")
	declined("ask Ben")
	a, m = b.ask(call("deploy", `{"target":"staging"}`, false))
	b.reply(ana, ana, m.ID, "/decline")
	declined("")
}

// A dangerous call is decided only on its page, even if the data of a button is authentic (T12).
func TestDangerousCallHasOnlyALink(t *testing.T) {
	b := newBot(t, func(o *telegram.Options) {
		o.Link = func(a askback.Ask, _ string) string { return "https://ask.example.com/a/" + a.ID }
	})
	r := call("shell", `{"command":"rm -rf build"}`, true)
	r.To = []string{"ana"}
	a, err := b.agent.Ask(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	m, err := b.Wait(ana, func(m telegramtest.Message) bool { return len(m.Buttons) > 0 })
	if err != nil || m.Live() || m.Buttons[0][0].URL != "https://ask.example.com/a/"+a.ID {
		t.Fatalf("got %+v, %v", m, err)
	}
	for _, action := range []byte("ad") {
		data := telegram.Data(telegramtest.Token, ana, action, a.ID, m.ID, 0, 0)
		if p, err := b.PressData(ana, ana, m.ID, data); err != nil || !p.Alert {
			t.Errorf("%c: got %+v, %v", action, p, err)
		}
	}
	if got, _ := b.agent.Get(t.Context(), a.ID); got.Settled() ||
		!strings.Contains(b.log.String(), "a button that the message does not have was refused") {
		t.Errorf("got %+v; the log:\n%s", got.Outcome, b.log)
	}
}
