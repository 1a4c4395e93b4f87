package telegram_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/channeltest"
	"github.com/askback/askback/channel/telegram"
	"github.com/askback/askback/channel/telegram/telegramtest"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/egress"
)

// Accounts of people. The account stranger is linked to no person.
var accounts = map[string]int64{"ana": 4001, "ben": 4002, "stranger": 4999}

// options returns the options of a channel to a fake server.
func options(t testing.TB, s *telegramtest.Server) telegram.Options {
	t.Helper()
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	allowed, err := egress.ParseAllowed(netip.MustParseAddrPort(u.Host).String())
	if err != nil {
		t.Fatal(err)
	}
	return telegram.Options{Token: telegramtest.Token, URL: s.URL, Allow: []egress.Allowed{allowed}, Burst: 1000}
}

func newChannel(t testing.TB, o telegram.Options) *telegram.Channel {
	t.Helper()
	c, err := telegram.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// service is the fake of Telegram for the suite.
type service struct {
	*telegramtest.Server
	settings channeltest.Settings
	contacts *contacts

	mu   sync.Mutex
	last func() error // repeats the last answer
}

func start(t testing.TB, s channeltest.Settings) channeltest.Service {
	server := telegramtest.NewServer(t)
	for _, id := range accounts {
		server.AddUser(id)
	}
	return &service{Server: server, settings: s, contacts: &contacts{}}
}

func (s *service) Open(t testing.TB) channeltest.Channel {
	o := options(t, s.Server)
	o.Log, o.Now, o.Link = s.settings.Log, s.settings.Now, s.settings.Link
	o.Zone = s.settings.Zone
	c := newChannel(t, o)
	return channeltest.Channel{
		Send: c, Run: func(ctx context.Context, e *engine.Engine) { c.Run(ctx, s.contacts.of(e)) },
	}
}

func (s *service) Join(_ context.Context, _ *engine.Engine, person string) error {
	id := accounts[person]
	s.Write(id, id, "/start "+s.contacts.code(person), 0)
	_, err := s.Wait(id, func(m telegramtest.Message) bool { return strings.HasPrefix(m.Text, "This chat is linked") })
	return err
}

func (s *service) Receivers() (all []engine.Receiver) {
	for _, person := range []string{"ana", "ben"} {
		all = append(all, engine.Receiver{Channel: telegram.Name, Name: s.Address(person), Person: person})
	}
	return all
}

func (s *service) Address(person string) string { return strconv.FormatInt(accounts[person], 10) }

func (s *service) Secrets() []string { return []string{telegramtest.Token} }

func (s *service) Fail(how channeltest.Failure, skip, count int) func() int {
	return s.Server.Fail(telegramtest.Failure(how), skip, count)
}

// Messages returns the messages with a link to an ask. A file belongs to the message to which
// it is a reply.
func (s *service) Messages(person string) (all []channeltest.Message) {
	at := map[int64]int{}
	for _, m := range s.Server.Messages(accounts[person]) {
		if i, ok := at[m.ReplyTo]; ok && m.File != "" {
			all[i].Text += "\n" + m.File
			continue
		}
		out := channeltest.Message{ID: strconv.FormatInt(m.ID, 10), Text: m.Text, Live: m.Live(), Damage: m.Damage}
		for _, link := range m.Links() {
			if strings.HasPrefix(link, channeltest.Pages) {
				out.Link = link
				out.AskID = strings.Split(strings.TrimPrefix(link, channeltest.Pages+"/a/"), "/")[0]
			}
		}
		if out.AskID == "" {
			continue
		}
		out.Settled = strings.HasPrefix(m.Text, "Done: ")
		at[m.ID] = len(all)
		all = append(all, out)
	}
	return all
}

// Answer presses buttons and writes replies, as a person does to give an answer.
func (s *service) Answer(_ context.Context, person string, m channeltest.Message, a askback.Answer) (string, error) {
	id, err := strconv.ParseInt(m.ID, 10, 64)
	if err != nil {
		return "", err
	}
	p := &thumb{s.Server, accounts[person], id, ""}
	s.mu.Lock()
	if data := p.first(); data != "" {
		s.last = func() error {
			_, err := s.PressData(p.user, p.user, p.message, data)
			return err
		}
	}
	s.mu.Unlock()
	err = p.answer(a)
	return p.popup, err
}

// Handle marks the first option, or removes the mark.
func (s *service) Handle(_ context.Context, person string, m channeltest.Message) error {
	id, err := strconv.ParseInt(m.ID, 10, 64)
	if err != nil {
		return err
	}
	return (&thumb{s.Server, accounts[person], id, ""}).option(1)
}

func (s *service) Attack(_ context.Context, how channeltest.Attack, m channeltest.Message, _ askback.Answer) error {
	id, err := strconv.ParseInt(m.ID, 10, 64)
	if err != nil {
		return err
	}
	ana := accounts["ana"]
	data := (&thumb{s.Server, ana, id, ""}).first()
	switch how {
	case channeltest.Stranger:
		_, err = s.PressData(accounts["stranger"], ana, id, data)
	case channeltest.Other:
		_, err = s.PressData(accounts["ben"], ana, id, data)
	case channeltest.Forged:
		_, err = s.PressData(ana, ana, id, strings.Repeat("A", len(data)))
	case channeltest.Tampered:
		changed, err := base64.RawURLEncoding.DecodeString(data)
		if err != nil {
			return err
		}
		changed[18] ^= 1 // number of the option
		_, err = s.PressData(ana, ana, id, base64.RawURLEncoding.EncodeToString(changed))
		return err
	case channeltest.Replayed:
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.last()
	}
	return err
}

// A thumb is a person who presses the buttons of a message and replies to the message.
type thumb struct {
	*telegramtest.Server
	user, message int64
	popup         string
}

// first returns the data of the first button with data, or "".
func (p *thumb) first() string {
	for _, row := range p.Message(p.user, p.message).Buttons {
		if row[0].Data != "" {
			return row[0].Data
		}
	}
	return ""
}

func (p *thumb) press(label string) error {
	before := p.Message(p.user, p.message).Edits
	popup, err := p.Press(p.user, p.user, p.message, label)
	p.popup = popup.Text
	if err == nil && popup.Text == "" {
		p.Idle()
		if label != "Write an answer…" && p.Message(p.user, p.message).Edits == before {
			return fmt.Errorf("nothing happened after %q", label)
		}
	}
	return err
}

// option presses the button with the number of an option.
func (p *thumb) option(n int) error {
	for _, row := range p.Message(p.user, p.message).Buttons {
		for _, b := range row {
			if text := strings.TrimLeft(b.Text, "☐☑● "); text == strconv.Itoa(n) ||
				strings.HasPrefix(text, strconv.Itoa(n)+". ") {
				popup, err := p.PressData(p.user, p.user, p.message, b.Data)
				p.popup = popup.Text
				p.Idle()
				return err
			}
		}
	}
	return fmt.Errorf("there is no button of option %d", n)
}

// write presses a button that requests a text, and replies to the prompt.
func (p *thumb) write(label, text string) error {
	last := p.Last(p.user).ID
	if _, err := p.Press(p.user, p.user, p.message, label); err != nil {
		return err
	}
	prompt, err := p.Wait(p.user, func(m telegramtest.Message) bool { return m.Force && m.ID > last })
	if err != nil {
		return err
	}
	_, update := p.Write(p.user, p.user, text, prompt.ID)
	p.Confirmed(update)
	p.popup = p.Last(p.user).Text
	return nil
}

// labels returns the numbered labels in the message or, if the message has a file, in the file. An empty
// label precedes the options of each question.
func (p *thumb) labels() (all []string) {
	text := p.Message(p.user, p.message).Text
	for _, m := range p.Messages(p.user) {
		if m.ReplyTo == p.message && m.File != "" {
			text = m.File
		}
	}
	for line := range strings.Lines(text) {
		number, label, ok := strings.Cut(strings.TrimSpace(line), ". ")
		if _, err := strconv.Atoi(number); ok && err == nil {
			if number == "1" {
				all = append(all, "")
			}
			all = append(all, label)
		}
	}
	return all
}

// answer gives an answer. A message may show a label in another form, so answer finds an option by its number
// among the options of all questions.
func (p *thumb) answer(a askback.Answer) error {
	switch a.Decision {
	case askback.Approve:
		return p.press("Approve")
	case askback.Deny:
		if a.Reason != "" {
			return p.write("Deny with a reason…", a.Reason)
		}
		return p.press("Deny")
	}
	var lists [][]string
	for _, label := range p.labels() {
		if label == "" {
			lists = append(lists, nil)
			continue
		}
		lists[len(lists)-1] = append(lists[len(lists)-1], label)
	}
	for i, q := range a.Answers {
		if err := p.question(q, lists, i < len(a.Answers)-1 || i > 0); err != nil {
			return fmt.Errorf("question %d: %w", i+1, err)
		}
	}
	if len(a.Answers) > 1 {
		return p.press("Send the answers")
	}
	return nil
}

func (p *thumb) question(q askback.QuestionAnswer, lists [][]string, several bool) error {
	if q.Notes != "" {
		if err := p.write("Add a note…", q.Notes); err != nil {
			return err
		}
	}
	multi := strings.Contains(fmt.Sprint(p.Message(p.user, p.message).Buttons), "☐")
	for _, value := range q.Selected {
		n := -1
		for _, list := range lists {
			if n = slices.IndexFunc(list, func(label string) bool { return visible(label) == visible(value) }); n >= 0 {
				break
			}
		}
		if err := p.option(n + 1); err != nil {
			return fmt.Errorf("%q: %w", value, err)
		}
	}
	if q.Other != "" {
		if err := p.write("Write an answer…", q.Other); err != nil {
			return err
		}
	}
	switch {
	case multi && several:
		return p.press("Next ›")
	case len(q.Selected) == 0 && q.Other == "":
		return p.press("Leave out")
	case multi:
		return p.press("Send the answer")
	}
	return nil
}

// visible returns the part of a label that a phone shows.
func visible(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '\u200b' {
			return -1
		}
		return r
	}, s)
	return strings.ReplaceAll(s, "⟨U+200B⟩", "")
}

// onPage lists the cases with answers that must be decided on the page. They are long calls, whose end is
// easily overlooked.
var onPage = []string{"call of 20 kB", "call of 1 MB"}

func TestTelegramPassesTheSuite(t *testing.T) {
	var inPlace []string
	for _, c := range channeltest.Cases() {
		for _, a := range c.Answers {
			if !slices.Contains(onPage, c.Name) {
				inPlace = append(inPlace, c.Name+"/"+a.Name)
			}
		}
	}
	channeltest.Test(t, channeltest.Driver{
		Channel: telegram.Name, Via: askback.ChannelTelegram, Handled: "multi", Start: start, InPlace: inPlace,
		RetryAfter: telegramtest.RetryAfter,
	})
}

// contacts returns the contacts of people as the engine stores them.
type contacts struct {
	mu    sync.Mutex
	codes map[string]string
	all   map[string]askback.Contact
}

func (c *contacts) code(person string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.codes == nil {
		c.codes, c.all = map[string]string{}, map[string]askback.Contact{}
	}
	code := "code-of-" + person
	c.codes[code] = person
	return code
}

func (c *contacts) of(e *engine.Engine) telegram.Engine { return linked{c, e} }

type linked struct {
	*contacts
	engine *engine.Engine
}

func (l linked) ContactClient(
	ctx context.Context, channel, address string, via askback.Channel,
) (askback.PersonClient, askback.Contact, error) {
	contact, err := l.ContactAt(ctx, channel, address)
	if err != nil {
		return nil, contact, err
	}
	client, err := l.engine.Person(ctx, contact.Person, via)
	return client, contact, err
}

func (l linked) LinkContact(_ context.Context, channel, code, address, label string) (askback.Contact, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	person, ok := l.codes[code]
	if !ok {
		return askback.Contact{}, askback.ErrNotFound
	}
	delete(l.codes, code)
	l.all[address] = askback.Contact{Person: person, Channel: channel, Label: label, CreatedAt: time.Now()}
	return l.all[address], nil
}

func (l linked) ContactAt(_ context.Context, _, address string) (askback.Contact, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c, ok := l.all[address]; ok {
		return c, nil
	}
	return askback.Contact{}, askback.ErrNotFound
}

func (l linked) RemoveContact(_ context.Context, _, address string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.all[address]; !ok {
		return askback.ErrNotFound
	}
	delete(l.all, address)
	return nil
}
