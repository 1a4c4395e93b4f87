package channeltest_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/channeltest"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/text/safetext"
)

// chatLimit is the maximum length of a message in the chat.
const chatLimit = 12_000

// chatSecret is the secret that the chat adds to answers.
const chatSecret = "chat-secret-93ab"

// A chat is a service in memory: a room for each person, with messages that can be edited and answered. The
// chat and its channel have at most one defect, which the suite must find.
type chat struct {
	settings channeltest.Settings
	defect   string
	presses  chan press
	last     press

	begin   sync.Once
	running chan struct{}  // closed once engine is set
	engine  *engine.Engine // answers that Run takes

	mu       sync.Mutex
	messages []*posted
	how      channeltest.Failure
	skip     int
	count    int
	failed   *int
}

type posted struct {
	to string
	channeltest.Message
}

// A press is an answer as the chat passes it to the channel.
type press struct {
	secret string
	from   string
	id     string // id of the message
	ask    string
	answer askback.Answer
	looks  bool // a button that is not an answer
	reply  chan string
}

var (
	errRefused = &askback.SendError{Err: errors.New("HTTP status 429"), RetryAfter: 40 * time.Second}
	errBroken  = errors.New("HTTP status 500")
)

func (c *chat) Secrets() []string { return []string{chatSecret} }

func (c *chat) Receivers() []engine.Receiver {
	return []engine.Receiver{
		{Channel: "slack", Name: "room-ana", Person: "ana"}, {Channel: "slack", Name: "room-ben", Person: "ben"},
	}
}

func (c *chat) Address(person string) string { return "room-" + person }

func (c *chat) Join(context.Context, *engine.Engine, string) error { return nil }

func (c *chat) Messages(person string) (all []channeltest.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.messages {
		if m.to == "room-"+person {
			all = append(all, m.Message)
		}
	}
	return all
}

func (c *chat) Fail(how channeltest.Failure, skip, count int) func() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	failed := new(int)
	c.how, c.skip, c.count, c.failed = how, skip, count, failed
	return func() int {
		c.mu.Lock()
		defer c.mu.Unlock()
		return *failed
	}
}

// request performs a request whose effect is the function do. If the request must fail, request returns an
// error. It then calls do only if nothing but the reply is lost.
func (c *chat) request(ctx context.Context, do func()) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.skip > 0 || c.count == 0 {
		c.skip = max(0, c.skip-1)
		do()
		return nil
	}
	c.count--
	*c.failed++
	switch c.how {
	case channeltest.TooMany:
		if c.defect == "ignores the pause" {
			return errBroken
		}
		return errRefused
	case channeltest.Broken:
		if c.defect == "gives up" {
			return &askback.SendError{Err: errBroken, Final: true}
		}
		return errBroken
	case channeltest.LostReply:
		do()
		if c.defect == "leaks in an error" {
			return errors.New("no reply from https://chat.example/" + chatSecret)
		}
		return errors.New("no reply")
	}
	if c.defect == "waits for ever" {
		ctx = context.WithoutCancel(ctx)
	}
	c.mu.Unlock()
	<-ctx.Done()
	c.mu.Lock()
	return ctx.Err()
}

func (c *chat) post(ctx context.Context, to string, m channeltest.Message) (id string, err error) {
	err = c.request(ctx, func() {
		m.ID = fmt.Sprint(len(c.messages) + 1)
		c.messages = append(c.messages, &posted{to, m})
	})
	return m.ID, err
}

func (c *chat) edit(ctx context.Context, id string, to channeltest.Message) error {
	return c.request(ctx, func() {
		for _, m := range c.messages {
			if m.ID == id {
				to.ID = id
				m.Message = to
			}
		}
	})
}

func (c *chat) Open(testing.TB) channeltest.Channel {
	if c.defect == "forgets messages" {
		c.messages = slices.Clone(c.messages)
		for _, m := range c.messages {
			m.to = "room-none"
		}
	}
	return channeltest.Channel{Send: chatChannel{c}, Run: c.run}
}

// chatChannel is the channel to a chat.
type chatChannel struct{ *chat }

// Send implements [engine.Channel].
func (c chatChannel) Send(ctx context.Context, n askback.Notification) (string, error) {
	if c.defect == "logs the question" {
		c.settings.Log.Info("a question is sent", "ask", n.Ask.Form())
	}
	if c.defect == "sees what it sends" {
		<-c.running
		see(ctx, c.engine, n.Person, n.AskID)
	}
	m := c.draw(n)
	id := n.Receipt
	if id == "" && c.defect != "posts each outcome" {
		id = n.Earlier
	}
	live := m.Live
	if id == "" && m.Settled && c.defect == "ignores what it does not know" {
		return "", nil
	}
	if id == "" {
		m.Live = live && c.defect == "sends buttons before it records"
		var err error
		if id, err = c.post(ctx, n.Address, m); err != nil {
			if c.defect == "forgets a lost reply" && c.how == channeltest.LostReply {
				return "", nil
			}
			return "", err
		}
		if err := n.Record(ctx, id); err != nil && c.defect != "ignores the record" {
			return "", err
		}
	}
	if c.defect == "posts each time" {
		_, err := c.post(ctx, n.Address, m)
		return id, err
	}
	m.Live = live
	return id, c.edit(ctx, id, m)
}

// draw returns the message for a notification.
func (c chatChannel) draw(n askback.Notification) channeltest.Message {
	a := n.Ask
	m := channeltest.Message{AskID: a.ID, Link: c.settings.Link(a, n.Person)}
	settled := a.Settled()
	switch c.defect {
	case "believes the event":
		settled = n.Event.Settles()
	case "takes each later event for an outcome":
		settled = n.Event != askback.EventQuestionPending
	case "does not mark":
		settled = settled && a.Status != askback.Expired
	}
	if settled {
		m.Text, m.Settled = "No answer is needed.", true
		if o := a.Outcome; o != nil && c.defect != "does not tell who" {
			m.Text = fmt.Sprintf("%s by %s", o.Status, o.Actor.Name)
		}
		return m
	}
	zone := c.settings.Zone(n.Person)
	if c.defect == "shows the time of the server" {
		zone = time.UTC
	}
	m.Text, m.Live = text(a, zone), a.Confirmation == nil || !a.Confirmation.Dangerous ||
		c.defect == "approves dangerous calls"
	switch {
	case len(m.Text) <= chatLimit:
	case c.defect == "cuts":
		m.Text = m.Text[:chatLimit]
	default:
		m.Text, m.Live = "The whole is on the page.", false
	}
	switch {
	case c.defect == "shows markup" && strings.Contains(m.Text, "**"):
		m.Damage = []string{"bold"}
	case c.defect == "has no mark before text":
		m.Text = strings.ReplaceAll(m.Text, "\n| ", "\n")
	case c.defect == "loses context":
		m.Text = strings.ReplaceAll(m.Text, "minutes", "")
	case c.defect == "has no link":
		m.Link = ""
	case c.defect == "hides a part in another form":
		m.Also = []string{"short"}
	}
	return m
}

// text returns the whole text of an ask.
func text(a askback.Ask, zone *time.Location) string {
	lines := []string{a.Title, a.Agent, string(a.Context)}
	for _, q := range a.Questions {
		lines = append(lines, q.Text, q.Header, strings.Join(q.Default, ", "))
		for _, o := range q.Options {
			lines = append(lines, o.Label, o.Description, o.Preview)
		}
	}
	if c := a.Confirmation; c != nil {
		lines = append(lines, c.ToolName, c.Server, c.Description, c.Context, string(c.Input))
	}
	if len(a.Approvers) > 0 {
		lines = append(lines, askback.NotApproverError{Who: a.Deciders()}.Error())
	}
	if !a.Deadline.IsZero() {
		lines = append(lines, a.Deadline.In(zone).Format("2 January 2006, 15:04 MST"))
	}
	var b strings.Builder
	for _, l := range lines {
		b.WriteString("\n| " + strings.ReplaceAll(safetext.Block(l).String(), "\n", "\n| "))
	}
	return b.String()
}

// see records that a person has seen an ask.
func see(ctx context.Context, e *engine.Engine, person, ask string) {
	if client, err := e.Person(ctx, person, askback.ChannelSlack); err == nil {
		_ = client.Seen(ctx, ask)
	}
}

func (c *chat) run(ctx context.Context, e *engine.Engine) {
	c.begin.Do(func() {
		c.engine = e
		close(c.running)
	})
	for {
		select {
		case p := <-c.presses:
			p.reply <- c.take(ctx, e, p)
		case <-ctx.Done():
			return
		}
	}
}

// take handles a press and returns the reply to the person. It sends the answer to the engine unless the
// answer must be rejected.
func (c *chat) take(ctx context.Context, e *engine.Engine, p press) string {
	log := c.settings.Log
	if c.defect == "is silent about attacks" {
		log = slog.New(slog.DiscardHandler)
	}
	c.mu.Lock()
	i := slices.IndexFunc(c.messages, func(m *posted) bool { return m.ID == p.id })
	room, ask := c.messages[i].to, c.messages[i].AskID
	c.mu.Unlock()
	if c.defect == "sees what it refuses" {
		see(ctx, e, strings.TrimPrefix(room, "room-"), ask)
	}
	if p.secret != chatSecret && c.defect != "takes what is forged" ||
		p.ask != ask && c.defect != "takes what was changed" {
		log.Warn("an answer is not authentic")
		return "No."
	}
	person := strings.TrimPrefix(room, "room-")
	if p.from != person && c.defect != "takes every voice" {
		log.Warn("an answer of a stranger", "from", p.from)
		return "No."
	}
	if c.defect == "mixes people up" {
		person = "ben"
	}
	client, err := e.Person(ctx, person, askback.ChannelSlack)
	if err != nil {
		if c.defect == "asks the wrong person in" {
			client, _ = e.Person(ctx, "ben", askback.ChannelSlack)
		} else {
			log.Warn("an answer of a person who may not answer", "error", err)
			return "No."
		}
	}
	if p.looks {
		if c.defect != "does not know what is seen" {
			see(ctx, e, person, p.ask)
		}
		return "Look."
	}
	if c.defect == "loses notes" && len(p.answer.Answers) > 0 {
		p.answer.Answers = slices.Clone(p.answer.Answers)
		p.answer.Answers[0].Notes = ""
	}
	a, err := client.Answer(ctx, p.ask, p.answer)
	if errors.Is(err, askback.ErrSettled) && c.defect != "does not tell who" {
		return fmt.Sprintf("%s was first", a.Outcome.Actor.Name)
	} else if err != nil {
		log.Warn("an answer was not taken", "error", err)
		if other, ok := errors.AsType[askback.NotApproverError](err); ok && c.defect != "does not name the approvers" {
			return other.Error()
		}
		return "No."
	}
	return "Thanks."
}

func (c *chat) Answer(ctx context.Context, person string, m channeltest.Message, a askback.Answer) (string, error) {
	return c.press(ctx, press{secret: chatSecret, from: person, id: m.ID, ask: m.AskID, answer: a})
}

// Handle implements [channeltest.Handler].
func (c *chat) Handle(ctx context.Context, person string, m channeltest.Message) error {
	_, err := c.press(ctx, press{secret: chatSecret, from: person, id: m.ID, ask: m.AskID, looks: true})
	return err
}

func (c *chat) press(ctx context.Context, p press) (string, error) {
	p.reply = make(chan string, 1)
	c.mu.Lock()
	c.last = p
	c.mu.Unlock()
	c.presses <- p
	select {
	case s := <-p.reply:
		return s, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func (c *chat) Attack(ctx context.Context, how channeltest.Attack, m channeltest.Message, a askback.Answer) error {
	p := press{secret: chatSecret, from: "ana", id: m.ID, ask: m.AskID, answer: a}
	switch how {
	case channeltest.Forged:
		p.secret = ""
	case channeltest.Stranger:
		p.from = "eve"
	case channeltest.Other:
		p.from = "ben"
	case channeltest.Tampered:
		other := c.Messages("ana")[0]
		p.id, p.answer = other.ID, askback.Choose("Yes")
	case channeltest.Replayed:
		c.mu.Lock()
		p = c.last
		c.mu.Unlock()
	}
	_, err := c.press(ctx, p)
	return err
}
