package main

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/webpush"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/pause"
	"github.com/askback/askback/test/kit/fakes"
	"github.com/askback/askback/test/kit/proctest"
	"github.com/askback/askback/web"
)

// A venue is the fake of a service with the accounts of ana and ben. At the venue of push messages, a person
// answers on the page that a click on the notification opens.
type venue struct {
	fakes.Service
	name, channel string
	addresses     map[string]string
	push          *webpush.Channel          // a channel in this process
	browsers      map[string]*fakes.Browser // the browsers of the people, for the pages
	hides         func(person string, m fakes.Message) bool

	mu  sync.Mutex
	err error // why the fake cannot be reached
}

// newVenues returns the venues of the services in which people can answer.
func newVenues(all []fakes.Service) (venues []*venue) {
	for _, s := range all {
		if d := s.Describe(); d.Name != "webhook" {
			venues = append(venues, &venue{
				Service: s, name: d.Name, channel: d.Channel, addresses: d.Addresses,
				browsers: map[string]*fakes.Browser{},
				hides:    func(string, fakes.Message) bool { return false },
			})
		}
	}
	return venues
}

// localVenues starts services in this process, and returns their venues.
func localVenues(t testing.TB) []*venue {
	all, err := fakes.Start(t, fakes.Options{}, "ntfy", "slack", "telegram", "email", "push")
	if err != nil {
		panic(err) // they exist
	}
	return newVenues(all)
}

// programServices returns the services that the program can reach. The program finds the certificate of the
// push service only where Go reads SSL_CERT_FILE.
func programServices() []string {
	if runtime.GOOS == "linux" {
		return fakes.Names()
	}
	return slices.DeleteFunc(fakes.Names(), func(name string) bool { return name == "push" })
}

// fakesArg is the first argument of the child process that runs the fakes.
const fakesArg = "fakes"

// startFakes starts the fakes of services as a child process, which is this program.
func startFakes(ctx context.Context) (*fakes.Program, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, append([]string{fakesArg, "-bound"}, programServices()...)...)
	proctest.Bind(cmd)
	return fakes.StartProgram(cmd)
}

// seen returns the messages about asks that a person sees at a venue. If there are texts, it returns only
// messages with one of them. If the service has ended, it returns no messages, and problem returns the error.
func (v *venue) seen(person string, texts ...string) []fakes.Message {
	all, err := v.Messages(person, texts...)
	if err != nil {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.err = err
	}
	return slices.DeleteFunc(all, func(m fakes.Message) bool { return v.hides(person, m) })
}

func (v *venue) problem() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.err
}

// opened returns a message with its buttons. If the person has a browser, it reads the buttons on the page of
// the message.
func (v *venue) opened(ctx context.Context, person string, m fakes.Message) (fakes.Message, error) {
	if b := v.browsers[person]; b != nil {
		return b.Open(ctx, m)
	}
	return m, nil
}

// press presses the button with a label, and returns the immediate reply to the person.
func (v *venue) press(ctx context.Context, person string, m fakes.Message, label string) (reply string, err error) {
	browser := v.browsers[person]
	if browser != nil && len(m.Buttons) == 0 {
		if m, err = browser.Open(ctx, m); err != nil {
			return "", err
		}
	}
	b, err := m.Button(label)
	switch {
	case err != nil:
		return "", err
	case browser != nil:
		return browser.Press(ctx, m, b)
	}
	return v.Press(ctx, person, m.ID, b)
}

// told returns the texts of the private notes that a person sees, one per line.
func (v *venue) told(person string) (text string) {
	for _, m := range v.seen(person) {
		if m.Private {
			text += m.Text + "\n"
		}
	}
	return text
}

// join registers a person who has no receiver in the settings. browser returns a browser that is logged in,
// which only push messages need.
func (v *venue) join(
	ctx context.Context, person string, c askback.Contacts, browser func(context.Context) (*fakes.Browser, error),
) error {
	switch v.name {
	case "telegram":
		return v.joinTelegram(ctx, person, c)
	case "push":
		b, err := browser(ctx)
		if err != nil {
			return err
		}
		key := ""
		if !until(ctx, func() bool { key, err = b.PushKey(ctx); return err == nil }) {
			return err
		}
		subscription, err := v.Service.(fakes.Subscriber).Subscribe(person, key)
		if err != nil {
			return err
		}
		v.browsers[person] = b
		_, err = c.AddContact(ctx,
			askback.ContactRequest{Channel: v.channel, Label: "browser of " + person, Address: subscription})
		return err
	}
	return nil
}

// joinTelegram sends the code of a link to the bot.
func (v *venue) joinTelegram(ctx context.Context, person string, c askback.Contacts) error {
	code, err := c.ContactCode(ctx, v.channel)
	if err != nil {
		return err
	}
	if _, err := v.Write(ctx, person, "", "/start "+code.Code); err != nil {
		return err
	}
	linked := func() bool {
		return slices.ContainsFunc(v.seen(person),
			func(m fakes.Message) bool { return strings.HasPrefix(m.Text, "This chat is linked") })
	}
	if !until(ctx, linked) {
		return errors.Join(errors.New("the chat was not linked"), v.problem(), context.Cause(ctx))
	}
	return nil
}

// localBrowser returns a browser for the pages of an engine of this process.
func (v *venue) localBrowser(e *engine.Engine, person string) func(context.Context) (*fakes.Browser, error) {
	return func(ctx context.Context) (*fakes.Browser, error) {
		secret, err := e.NewSecret()
		if err == nil {
			err = e.Adopt(ctx, askback.Principal{Kind: askback.Responder, Name: person, Channel: askback.ChannelWeb},
				secret)
		}
		pages := &http.Client{Transport: handlerTransport{web.New(e, e, e, &web.Options{Push: v.push})}}
		return &fakes.Browser{
			Server: func(context.Context) (string, *http.Client, error) { return "http://localhost", pages, nil },
			Cookie: "askback=" + secret,
		}, err
	}
}

// A handlerTransport calls a handler without a connection.
type handlerTransport struct{ http.Handler }

// RoundTrip implements [http.RoundTripper].
func (t handlerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	t.ServeHTTP(w, r)
	return w.Result(), nil
}

// roots returns the certificates of the service.
func (v *venue) roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(v.Describe().Certificate))
	return pool
}

// steps matches the part of a question that is unique. Links for a person do not contain the id of the ask.
var steps = regexp.MustCompile(`step [0-9]+`)

// sightsOf returns the messages about an ask that a person sees at a venue.
func sightsOf(v *venue, person string, a askback.Ask) []fakes.Message {
	text := ""
	if len(a.Questions) > 0 {
		text = a.Questions[0].Text
	}
	return sightsWith(v, person, a.ID, steps.FindString(text))
}

// sightsWith returns the messages about the ask with this id. A message without an id matches if its text
// contains the step. Private notes are omitted.
func sightsWith(v *venue, person, ask, step string) []fakes.Message {
	return slices.DeleteFunc(v.seen(person, ask, step), func(m fakes.Message) bool {
		return m.Private || m.Ask != ask && (m.Ask != "" || steps.FindString(m.Text) != step)
	})
}

// publicPages is the address of the server in messages.
const publicPages = "https://ask.example.com"

// askLink returns the link of messages from an engine of this process.
func askLink(a askback.Ask, person string) string { return publicPages + "/a/" + a.ID + "/" + person }

// venueTime is how long to wait for a message.
const venueTime = 30 * time.Second

// until waits until so returns true. It returns false if ctx ends first. The pauses between the calls of so
// grow, because so may send a request.
func until(ctx context.Context, so func() bool) bool {
	for wait := time.Millisecond; !so(); wait = min(wait*5/4, 50*time.Millisecond) {
		if pause.For(ctx, wait) != nil {
			return false
		}
	}
	return true
}

// shownAs returns a description of messages for an error.
func shownAs(all []fakes.Message) string {
	var b strings.Builder
	for _, m := range all {
		fmt.Fprintf(&b, "[%s about %s, live: %v, settled: %v: %.300q]", m.ID, m.Ask, m.Live, m.Settled, m.Text)
	}
	return b.String()
}
