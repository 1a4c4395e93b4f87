// Package fakes has the fakes of all services that channels send to, with the accounts of two people. Its
// functions act at the services as these people. The fakes run in this process, or in another process that is
// controlled over HTTP: the program test/fakes. The packages of the fakes, such as channel/post/posttest,
// define how the services behave.
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

// People lists the people with accounts at each service.
var People = []string{"ana", "ben"}

// Receiver is the name of the program that receives webhooks.
const Receiver = "program"

// A Service is the fake of a service. It is safe for concurrent use.
type Service interface {
	Describe() Description
	// Messages returns the messages about asks that a person currently sees, in order. If there are texts, it
	// returns only some messages: a message must contain one of the texts, or its ask must have one of the
	// texts as its id.
	Messages(person string, texts ...string) ([]Message, error)
	// Press presses a button of a message as the person saw it. It returns the immediate reply of the service
	// to the person, or "".
	Press(ctx context.Context, person, message string, b Button) (reply string, err error)
	// Write writes a text, as a reply to a message unless message is "".
	Write(ctx context.Context, person, message, text string) (reply string, err error)
	// Fail lets skip requests to send or change a message succeed, and makes the next count requests fail. It
	// replaces an earlier Fail.
	Fail(how channeltest.Failure, skip, count int) error
	// State returns the counts of the service.
	State() (State, error)
}

// A Subscriber is a service with browsers that subscribe.
type Subscriber interface {
	// Subscribe subscribes the browser of a person with the public key of a server, and returns the
	// subscription.
	Subscribe(person, key string) (subscription string, err error)
}

// A Description has the data that a server needs about a [Service].
type Description struct {
	Name      string            `json:"name"`
	Channel   string            `json:"channel"` // the name of the service in deliveries
	Addresses map[string]string `json:"addresses"`
	// Settings contains the settings of the channel, as YAML below channels.
	Settings string `json:"settings"`
	// People maps each person to the member to add to their settings, such as an address.
	People      map[string]string `json:"people,omitempty"`
	Secrets     []string          `json:"secrets"`
	Certificate string            `json:"certificate,omitempty"` // in PEM; clients of the service must trust it
}

// A State has the counts of a service.
type State struct {
	Failed   int      `json:"failed"`             // requests that failed since the last call of Fail
	Rejected []string `json:"rejected,omitempty"` // the reasons of rejected requests
	Secrets  []string `json:"secrets,omitempty"`  // the secrets that the service has created since Describe
}

// A Message is a message as a person sees it.
type Message struct {
	ID      string   `json:"id"`
	Ask     string   `json:"ask,omitempty"` // the id of the ask, if the message contains the id
	Text    string   `json:"text"`
	Links   []string `json:"links,omitempty"`
	Buttons []Button `json:"buttons,omitempty"` // the buttons that answer
	ReplyTo string   `json:"reply_to,omitempty"`
	Live    bool     `json:"live"`              // the message can be answered
	Settled bool     `json:"settled"`           // the text shows that no answer is needed
	Private bool     `json:"private,omitempty"` // a note that only this person sees
	Event   string   `json:"event,omitempty"`   // the event of a webhook
	Problem string   `json:"problem,omitempty"` // the reason why a webhook is not valid
}

// A Button is a button of a [Message].
type Button struct {
	Label string `json:"label"`
	Value string `json:"value,omitempty"` // the value that the service sends if the button is pressed
}

// ErrNoButton is returned if a message has no such button.
var ErrNoButton = errors.New("the message has no such button")

// errUnsupported is returned for an action that the service or this fake lacks.
var errUnsupported = fmt.Errorf("this fake does not have it: %w", errors.ErrUnsupported)

// Button returns the button with a label, with or without its number. For a message that is answered by a
// reply, it returns a button for any label.
func (m Message) Button(label string) (Button, error) {
	if m.ReplyTo != "" {
		return Button{Label: label, Value: m.ReplyTo}, nil
	}
	i := slices.IndexFunc(m.Buttons,
		func(b Button) bool { return b.Label == label || strings.HasSuffix(b.Label, ". "+label) })
	if i < 0 {
		return Button{}, ErrNoButton
	}
	return m.Buttons[i], nil
}

// Options configure the services.
type Options struct {
	Open bool // ntfy has no access control
}

// services lists the fakes, in the order in which they are started.
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

// Start starts services and returns them. They end with the test.
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
	return len(texts) == 0 ||
		slices.ContainsFunc(texts, func(s string) bool { return m.Ask == s || strings.Contains(m.Text, s) })
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

// failures counts the requests that failed since the last call of [Service.Fail].
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
