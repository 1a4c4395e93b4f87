package posttest

import (
	"context"
	"errors"
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
)

// long are the cases that fit into no message of a service.
var long = []string{"1 MB", "call of 20 kB", "call of 1 MB"}

// short are the other cases that do not fit.
var short = map[post.Template][]string{
	post.Ntfy:          {"quotes and newlines", "10 000 characters"},
	post.Gotify:        nil,
	post.Teams:         {"quotes and newlines"},
	post.Mattermost:    nil,
	post.Discord:       {"quotes and newlines", "10 000 characters", "3 800 characters"},
	post.Pushover:      {"quotes and newlines", "10 000 characters", "3 800 characters", "50 options", "hostile"},
	post.HomeAssistant: {"quotes and newlines", "10 000 characters", "3 800 characters", "hostile", "hostile call", "call with lines"},
}

// replaces are the templates whose messages about an ask replace each other.
var replaces = []post.Template{post.Ntfy, post.HomeAssistant}

// Driver returns the driver for a service.
func Driver(template post.Template) channeltest.Driver {
	return channeltest.Driver{
		Channel: "post", Short: slices.Concat(long, short[template]), RetryAfter: RetryAfter, Appends: !slices.Contains(replaces, template),
		Start: func(t testing.TB, s channeltest.Settings) channeltest.Service { return newPhones(t, template, s) },
	}
}

// Receiver returns the settings of a receiver at the address of a service.
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

// phones is a service with a receiver for each person.
type phones struct {
	template  post.Template
	settings  channeltest.Settings
	receivers map[string]post.Receiver
	services  map[string]*Service
}

func newPhones(t testing.TB, template post.Template, s channeltest.Settings) *phones {
	t.Helper()
	p := &phones{template: template, settings: s, receivers: map[string]post.Receiver{}, services: map[string]*Service{}}
	for _, person := range []string{"ana", "ben"} {
		service := NewService(t, string(template))
		p.services[person] = service
		p.receivers[p.Address(person)] = Receiver(t, template, service.URL)
	}
	return p
}

// Open implements [channeltest.Service].
func (p *phones) Open(t testing.TB) channeltest.Channel {
	c, err := post.New(post.Options{Receivers: p.receivers, Now: p.settings.Now, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return channeltest.Channel{Send: c}
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
			ID: m.ID, Text: m.Title + "\n" + m.Text, Link: m.Link, Settled: m.Quiet || strings.HasPrefix(m.Title, "Done: "),
			Damage: slices.Concat(m.Damage, m.Markup),
		}
		if i := strings.Index(m.Text, channeltest.Pages); m.Link == "" && i >= 0 {
			out.Link = m.Text[i:]
		}
		for _, link := range m.Links {
			if !strings.HasPrefix(link, channeltest.Pages) {
				out.Damage = append(out.Damage, "the link "+link)
			}
		}
		out.AskID = askID.FindString(m.Tag + " " + out.Link)
		all = append(all, out)
	}
	return all
}

// Answer implements [channeltest.Service].
func (p *phones) Answer(context.Context, string, channeltest.Message, askback.Answer) (string, error) {
	return "", errors.ErrUnsupported
}

// Attack implements [channeltest.Service].
func (p *phones) Attack(context.Context, channeltest.Attack, channeltest.Message, askback.Answer) error {
	return errors.ErrUnsupported
}

// Fail implements [channeltest.Service].
func (p *phones) Fail(how channeltest.Failure, skip, count int) (failed func() int) {
	ofAna, ofBen := p.services["ana"].FailAs(string(how), skip, count), p.services["ben"].FailAs(string(how), skip, count)
	return func() int { return ofAna() + ofBen() }
}

// Secrets implements [channeltest.Service].
func (p *phones) Secrets() (all []string) {
	for _, r := range p.receivers {
		all = append(all, strings.TrimPrefix(r.URL, r.Origin()), r.Token)
	}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}
