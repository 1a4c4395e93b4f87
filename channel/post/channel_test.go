package post_test

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/channeltest"
	"github.com/askback/askback/channel/post"
	"github.com/askback/askback/channel/post/posttest"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/racedetector"
)

// phones is a service with a receiver for each person.
type phones struct {
	template  post.Template
	settings  channeltest.Settings
	receivers map[string]post.Receiver
	services  map[string]*posttest.Service
}

func newPhones(t testing.TB, template post.Template, s channeltest.Settings) *phones {
	t.Helper()
	p := &phones{template: template, settings: s, receivers: map[string]post.Receiver{}, services: map[string]*posttest.Service{}}
	for _, person := range []string{"ana", "ben"} {
		service := posttest.NewService(t, string(template))
		p.services[person] = service
		p.receivers[person+"-phone"] = receiverAt(t, template, service.URL)
	}
	return p
}

// replaces are the templates whose messages about an ask replace each other.
var replaces = []post.Template{post.Ntfy, post.HomeAssistant}

var askID = regexp.MustCompile(`ask_[0-9a-z]+`)

func (p *phones) Open(t testing.TB) channeltest.Channel {
	c, err := post.New(post.Options{Receivers: p.receivers, Now: p.settings.Now, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return channeltest.Channel{Send: c}
}

func (p *phones) Receivers() (all []engine.Receiver) {
	for _, person := range []string{"ana", "ben"} {
		all = append(all, engine.Receiver{Channel: "post", Name: p.Address(person), Person: person})
	}
	return all
}

func (p *phones) Address(person string) string { return person + "-phone" }

func (p *phones) Join(context.Context, *engine.Engine, string) error { return nil }

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

func (p *phones) Answer(context.Context, string, channeltest.Message, askback.Answer) (string, error) {
	return "", errors.ErrUnsupported
}

func (p *phones) Attack(context.Context, channeltest.Attack, channeltest.Message, askback.Answer) error {
	return errors.ErrUnsupported
}

func (p *phones) Fail(how channeltest.Failure, skip, count int) (failed func() int) {
	ofAna, ofBen := p.services["ana"].FailAs(string(how), skip, count), p.services["ben"].FailAs(string(how), skip, count)
	return func() int { return ofAna() + ofBen() }
}

func (p *phones) Secrets() (all []string) {
	for _, r := range p.receivers {
		all = append(all, strings.TrimPrefix(r.URL, r.Origin()), r.Token)
	}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

// Every service passes the suite of channels (F3, T7, T9, T10).
func TestServicesPassTheSuite(t *testing.T) {
	racedetector.Omit(t)
	long := []string{"1 MB", "call of 20 kB", "call of 1 MB"}
	for template, short := range map[post.Template][]string{
		post.Ntfy:          {"quotes and newlines", "10 000 characters"},
		post.Gotify:        nil,
		post.Teams:         {"quotes and newlines"},
		post.Mattermost:    nil,
		post.Discord:       {"quotes and newlines", "10 000 characters", "3 800 characters"},
		post.Pushover:      {"quotes and newlines", "10 000 characters", "3 800 characters", "50 options", "hostile"},
		post.HomeAssistant: {"quotes and newlines", "10 000 characters", "3 800 characters", "hostile", "hostile call", "call with lines"},
	} {
		t.Run(string(template), func(t *testing.T) {
			channeltest.Test(t, channeltest.Driver{
				Channel: "post", Short: slices.Concat(long, short), RetryAfter: posttest.RetryAfter, Appends: !slices.Contains(replaces, template),
				Start: func(t testing.TB, s channeltest.Settings) channeltest.Service { return newPhones(t, template, s) },
			})
		})
	}
}
