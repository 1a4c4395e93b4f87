package posttest

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/channeltest"
	"github.com/askback/askback/channel/post"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/egress"
	"github.com/askback/askback/internal/message/answerlink"
)

// long lists the cases that do not fit into a message of any service.
var long = []string{"1 MB", "call of 20 kB", "call of 1 MB"}

// short lists the other cases that do not fit, by template.
var short = map[post.Template][]string{
	post.Ntfy:       {"quotes and newlines", "10 000 characters"},
	post.Gotify:     nil,
	post.Teams:      {"quotes and newlines"},
	post.Mattermost: nil,
	post.Discord:    {"quotes and newlines", "10 000 characters", "3 800 characters"},
	post.Pushover:   {"quotes and newlines", "10 000 characters", "3 800 characters", "50 options", "hostile"},
	post.HomeAssistant: {
		"quotes and newlines", "10 000 characters", "3 800 characters", "hostile", "hostile call", "call with lines",
	},
}

// replaces lists the templates whose messages about an ask replace each other.
var replaces = []post.Template{post.Ntfy, post.HomeAssistant}

// inPlace lists the answers that the buttons of ntfy give.
var inPlace = []string{
	"single/choice", "other/choice", "previews/choice", "right to left/choice", "context/choice",
	"context object/choice", "long label/choice", "3 800 characters/choice", "call/approve", "call/deny",
	"call with lines/approve", "call with lines/deny", "hostile call/approve", "action/approve", "action/deny",
}

// Driver returns the driver for a service.
func Driver(template post.Template) channeltest.Driver {
	d := channeltest.Driver{
		Channel: "post", Short: slices.Concat(long, short[template]), RetryAfter: RetryAfter,
		Appends: !slices.Contains(replaces, template),
		Start:   func(t testing.TB, s channeltest.Settings) channeltest.Service { return newPhones(t, template, s) },
	}
	if template == post.Ntfy {
		d.Via, d.InPlace = askback.ChannelPush, inPlace
		d.Without = map[string]string{
			string(channeltest.Other): "ntfy knows no people: who can read the topic of ana can press her buttons",
		}
	}
	return d
}

// Receiver returns the settings of a receiver for the fake of a service at an address.
func Receiver(t testing.TB, template post.Template, address string) post.Receiver {
	t.Helper()
	r := post.Receiver{Template: template, URL: address}
	switch template {
	case post.Pushover:
		r.Token, r.User = strings.Repeat("a", 30), strings.Repeat("u", 30)
	case post.Gotify, post.HomeAssistant:
		r.Token = "a-token"
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	a, err := egress.ParseAllowed(netip.MustParseAddrPort(u.Host).String())
	if err != nil {
		t.Fatal(err)
	}
	r.Allow = []egress.Allowed{a}
	return r
}

// phones is a fake service with a receiver for each person.
type phones struct {
	template  post.Template
	settings  channeltest.Settings
	receivers map[string]post.Receiver
	services  map[string]*Service
	published string // the last reply that was published
}

func newPhones(t testing.TB, template post.Template, s channeltest.Settings) *phones {
	t.Helper()
	p := &phones{
		template: template, settings: s, receivers: map[string]post.Receiver{}, services: map[string]*Service{},
	}
	for _, person := range []string{"ana", "ben"} {
		service := NewService(t, string(template))
		p.services[person] = service
		r := Receiver(t, template, service.URL)
		if r.Person = person; template == post.Ntfy {
			r.ReplyTopic = replyTopic
		}
		p.receivers[p.Address(person)] = r
	}
	return p
}

func linkKey() ([]byte, error) { return bytes.Repeat([]byte{7}, 32), nil }

// pageSigner signs the links of messages.
var pageSigner = answerlink.New(linkKey, answerlink.Page)

// Open implements [channeltest.Service].
func (p *phones) Open(t testing.TB) channeltest.Channel {
	c, err := post.New(post.Options{
		Receivers: p.receivers, Zone: p.settings.Zone, Now: p.settings.Now, Log: p.settings.Log, Version: "test",
		Pages: pageSigner, Replies: answerlink.New(linkKey, answerlink.Reply),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return channeltest.Channel{Send: c, Run: func(ctx context.Context, e *engine.Engine) { c.Run(ctx, e) }}
}

// Receivers implements [channeltest.Service].
func (p *phones) Receivers() (all []engine.Receiver) {
	for _, person := range []string{"ana", "ben"} {
		all = append(all, engine.Receiver{Channel: "post", Name: p.Address(person), Person: person})
	}
	return all
}

// Address implements [channeltest.Service].
func (p *phones) Address(person string) string { return person + "-phone" }

// Join implements [channeltest.Service].
func (p *phones) Join(context.Context, *engine.Engine, string) error { return nil }

var askID = regexp.MustCompile(`ask_[0-9a-z]+`)

// Messages implements [channeltest.Service].
func (p *phones) Messages(person string) (all []channeltest.Message) {
	shown := p.services[person].Messages()
	if slices.Contains(replaces, p.template) {
		shown = p.services[person].Shown()
	}
	for _, m := range shown {
		out := channeltest.Message{
			ID: m.ID, Text: m.Title + "\n" + m.Text, Link: m.Link, Settled: m.Quiet ||
				strings.HasPrefix(m.Title, "Done: ") || strings.HasPrefix(m.Title, "Your answer was not needed"),
			Damage: slices.Concat(m.Damage, m.Markup),
		}
		if i := strings.Index(m.Text, channeltest.Pages); m.Link == "" && i >= 0 {
			out.Link = m.Text[i:]
		}
		for _, b := range m.Buttons {
			out.Live = out.Live || !b.View
		}
		for _, link := range m.Links {
			if !strings.HasPrefix(link, channeltest.Pages) {
				out.Damage = append(out.Damage, "the link "+link)
			}
		}
		out.AskID = askID.FindString(m.Tag + " " + out.Link)
		if _, token, ok := strings.Cut(out.Link, answerlink.Path); ok && out.AskID == "" {
			link, _ := pageSigner.Verify(token)
			out.AskID = link.AskID
		}
		all = append(all, out)
	}
	return all
}

// replyTopic is the topic to which the buttons of ntfy publish.
const replyTopic = "replies"

// Answer implements [channeltest.Service]. It publishes the token of the button for the answer.
func (p *phones) Answer(ctx context.Context, person string, m channeltest.Message, a askback.Answer) (string, error) {
	label := map[askback.Decision]string{askback.Approve: "Approve", askback.Deny: "Deny"}[a.Decision]
	if a.Decision == "" && len(a.Answers) == 1 && len(a.Answers[0].Selected) == 1 {
		label = a.Answers[0].Selected[0]
	}
	all := p.services[person].Messages()
	i := slices.IndexFunc(all, func(old Message) bool { return old.ID == m.ID })
	if i < 0 {
		return "", errors.New("there is no such message")
	}
	for _, b := range all[i].Buttons {
		if b.Label == label && !b.View {
			p.published = b.Body
			return "", publish(ctx, b.URL, b.Body)
		}
	}
	return "", errors.ErrUnsupported
}

// publish publishes a text to the topic at an address.
func publish(ctx context.Context, address, text string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(text))
	if err != nil {
		return err
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return errors.New("the topic answered " + reply.Status)
	}
	return nil
}

// Attack implements [channeltest.Service].
func (p *phones) Attack(ctx context.Context, how channeltest.Attack, m channeltest.Message, a askback.Answer) error {
	all := p.services["ana"].Messages()
	i := slices.IndexFunc(all, func(old Message) bool { return old.ID == m.ID })
	if i < 0 || len(all[i].Buttons) == 0 {
		return errors.ErrUnsupported
	}
	b, text := all[i].Buttons[0], ""
	switch how {
	case channeltest.Stranger:
		text = a.Answers[0].Selected[0]
	case channeltest.Forged:
		key := func() ([]byte, error) { return bytes.Repeat([]byte{8}, 32), nil }
		link := answerlink.Link{AskID: m.AskID, Person: "ana", Channel: askback.ChannelPush, Choice: 1}
		token, err := answerlink.New(key, answerlink.Reply).Sign(link)
		if err != nil {
			return err
		}
		text = token
	case channeltest.Tampered:
		text = "B" + b.Body[1:]
	case channeltest.Replayed:
		text = p.published
	default:
		return errors.ErrUnsupported
	}
	return publish(ctx, b.URL, text)
}

// Fail implements [channeltest.Service].
func (p *phones) Fail(how channeltest.Failure, skip, count int) (failed func() int) {
	ofAna, ofBen := p.services["ana"].FailAs(how, skip, count), p.services["ben"].FailAs(how, skip, count)
	return func() int { return ofAna() + ofBen() }
}

// Secrets implements [channeltest.Service].
func (p *phones) Secrets() (all []string) {
	for _, r := range p.receivers {
		all = append(all, strings.TrimPrefix(r.URL, r.Origin()), r.Token)
	}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}
