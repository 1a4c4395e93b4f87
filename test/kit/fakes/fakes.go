// Package fakes has the fakes of all services that channels send to, with the accounts of two
// people, and does there what these people do. The fakes run in this process, or in another one
// that is controlled over HTTP; program test/fakes is that process.
//
// How the services behave is in the packages of the fakes, such as channel/post/posttest.
package fakes

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/askback/askback/channel/channeltest"
)

// People are the people with accounts at each service.
var People = []string{"ana", "ben"}

// Receiver is the name of the program that receives webhooks.
const Receiver = "program"

// A Service is the fake of a service. It is safe for concurrent use.
type Service interface {
	Describe() Description
	// Messages returns the messages about asks that a person sees now, in order; if there
	// are texts, only those in which one of the texts is, or whose ask has it as its id.
	Messages(person string, texts ...string) ([]Message, error)
	// Press presses a button of a message as the person saw it, and returns what the service
	// shows the person at once, or "".
	Press(ctx context.Context, person, message string, b Button) (reply string, err error)
	// Write writes a text, as a reply to a message unless message is "".
	Write(ctx context.Context, person, message, text string) (reply string, err error)
	// Fail lets the next requests to send or change a message succeed, as many as skip, and
	// then lets count of them fail. It replaces what it did before.
	Fail(how channeltest.Failure, skip, count int) error
	// State returns what the service has counted so far.
	State() (State, error)
}

// A Subscriber is a service with browsers that subscribe.
type Subscriber interface {
	// Subscribe lets the browser of a person subscribe with the public key of a server, and
	// returns the subscription.
	Subscribe(person, key string) (subscription string, err error)
}

// A Description has what a server needs to know about a [Service].
type Description struct {
	Name      string            `json:"name"`
	Channel   string            `json:"channel"` // in deliveries
	Addresses map[string]string `json:"addresses"`
	// Settings are those of the channel, as YAML below channels.
	Settings    string            `json:"settings"`
	People      map[string]string `json:"people,omitempty"` // what the settings of a person need, such as an address
	Secrets     []string          `json:"secrets"`
	Certificate string            `json:"certificate,omitempty"` // PEM; its clients must trust it
}

// A State is what a service has counted.
type State struct {
	Failed   int      `json:"failed"`             // requests since the last call of Fail
	Rejected []string `json:"rejected,omitempty"` // why it rejected requests
	Secrets  []string `json:"secrets,omitempty"`  // those that it has made since it was described
}

// A Message is a message as a person sees it.
type Message struct {
	ID      string   `json:"id"`
	Ask     string   `json:"ask,omitempty"` // its id, if the message has it
	Text    string   `json:"text"`
	Links   []string `json:"links,omitempty"`
	Buttons []Button `json:"buttons,omitempty"` // those that answer
	ReplyTo string   `json:"reply_to,omitempty"`
	Live    bool     `json:"live"`              // it can be answered
	Settled bool     `json:"settled"`           // it tells that no answer is needed
	Private bool     `json:"private,omitempty"` // a note that only this person sees
	Event   string   `json:"event,omitempty"`   // of a webhook
	Problem string   `json:"problem,omitempty"` // why a webhook is not valid
}

// A Button is a button of a [Message].
type Button struct {
	Label string `json:"label"`
	Value string `json:"value,omitempty"` // what the service sends if it is pressed
}

// ErrNoButton is returned if a message has no such button.
var ErrNoButton = errors.New("the message has no such button")

// errUnsupported is returned for what people cannot do at a service, or not in this fake.
var errUnsupported = fmt.Errorf("this fake does not have it: %w", errors.ErrUnsupported)

// Button returns the button with a label, with or without its number. A message that is
// answered by a reply has each button.
func (m Message) Button(label string) (Button, error) {
	if m.ReplyTo != "" {
		return Button{Label: label, Value: m.ReplyTo}, nil
	}
	i := slices.IndexFunc(m.Buttons, func(b Button) bool { return b.Label == label || strings.HasSuffix(b.Label, ". "+label) })
	if i < 0 {
		return Button{}, ErrNoButton
	}
	return m.Buttons[i], nil
}

// Options configure the services.
type Options struct {
	Open bool // ntfy has no access control
}

// services are the fakes, in the order in which all of them are started.
var services = []struct {
	name string
	new  func(t testing.TB, o Options) Service
}{
	{"ntfy", newNtfy},
	{"slack", newSlack},
	{"telegram", newTelegram},
	{"email", newEmail},
	{"push", newPush},
	{"webhook", newWebhook},
}

// Names returns the names of the services.
func Names() (names []string) {
	for _, s := range services {
		names = append(names, s.name)
	}
	return names
}

// Start starts services, which end with the test.
func Start(t testing.TB, o Options, names ...string) (all []Service, err error) {
	for _, name := range names {
		i := slices.Index(Names(), name)
		if i < 0 {
			return nil, fmt.Errorf("there is no service %q: use some of %s, or all", name, strings.Join(Names(), ", "))
		}
		all = append(all, services[i].new(t, o))
	}
	return all, nil
}

// Settings returns the settings of a server that sends to services, as YAML.
func Settings(all []Service) string {
	var people, channels strings.Builder
	for _, person := range People {
		fmt.Fprintf(&people, "  - {name: %s", person)
		for _, s := range all {
			if more := s.Describe().People[person]; more != "" {
				people.WriteString(", " + more)
			}
		}
		people.WriteString("}\n")
	}
	for _, s := range all {
		channels.WriteString(s.Describe().Settings)
	}
	return "people:\n" + people.String() + "channels:\n" + channels.String()
}

var askIDs = regexp.MustCompile(`ask_[0-9a-z]{26}`)

// has reports whether a message has one of the texts, or no texts are given.
func (m Message) has(texts []string) bool {
	return len(texts) == 0 || slices.ContainsFunc(texts, func(s string) bool { return m.Ask == s || strings.Contains(m.Text, s) })
}

// only returns the messages with one of the texts.
func only(all []Message, texts []string) []Message {
	return slices.DeleteFunc(all, func(m Message) bool { return !m.has(texts) })
}

func isPerson(person string) error {
	if !slices.Contains(People, person) {
		return fmt.Errorf("there is no %q: use one of %s", person, strings.Join(People, ", "))
	}
	return nil
}

// failures count what failed since the last call of [Service.Fail].
type failures struct {
	mu  sync.Mutex
	all []func() int
}

func (f *failures) since(all ...func() int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = all
}

func (f *failures) failed() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, count := range f.all {
		n += count()
	}
	return n
}
