package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/egress"
)

// A venue is a service on loopback with the accounts of ana and ben, and the channel to it.
type venue interface {
	// name returns the name of the venue, and channel that of its channel in the settings.
	name() string
	channel() string
	// open returns the channel for an engine of this process, as fast as it can be.
	open(log *slog.Logger) (engine.Channel, func(context.Context, *engine.Engine), error)
	// receivers returns the receivers of the settings, and join makes a person known who has
	// no receiver.
	receivers() []engine.Receiver
	join(ctx context.Context, person string, c askback.Contacts) error
	// settings returns the settings of the channel for the program, as YAML below channels.
	settings() string
	// secrets returns what is secret in the settings.
	secrets() []string
	// seen returns the messages about asks that a person sees.
	seen(person string) []sight
	// press presses the button with a label, and returns what the person reads at once.
	press(ctx context.Context, person string, m sight, label string) (reply string, err error)
}

// A sight is a message about an ask as a person sees it.
type sight struct {
	id, text      string
	ask           string // its id, if the message has it
	step          string // in the text of its question
	live, settled bool
	raw           any // the message of the service, with its buttons as the person saw them
}

// String returns what matters in a message.
func (s sight) String() string {
	return fmt.Sprintf("%s about %s %s, live: %v, settled: %v: %.300q", s.id, s.ask, s.step, s.live, s.settled, s.text)
}

// steps matches the part of a question that no other one has. Links for a person do not show
// the id of the ask.
var steps = regexp.MustCompile(`step [0-9]+`)

// newSight returns a message with a text and links.
func newSight(id, text, links string, raw any) sight {
	return sight{id: id, text: text, ask: askIDs.FindString(links), step: steps.FindString(text), raw: raw}
}

// isAbout reports whether a message is about an ask whose question has a step.
func (s sight) isAbout(ask, step string) bool {
	return s.ask == ask || s.ask == "" && s.step == step
}

// newVenues starts the services that answer in their messages.
func newVenues(t testing.TB) []venue {
	return []venue{newNtfyVenue(t), newSlackVenue(t), newTelegramVenue(t), newEmailVenue(t)}
}

// The people of the venues.
var venuePeople = []string{"ana", "ben"}

// publicPages is the address of the server in messages.
const publicPages = "https://ask.example.com"

// askLink returns the link of messages from an engine of this process.
func askLink(a askback.Ask, person string) string { return publicPages + "/a/" + a.ID + "/" + person }

var askIDs = regexp.MustCompile(`ask_[0-9a-z]{26}`)

// allowedAt returns the entry for a service on this machine.
func allowedAt(address string) (egress.Allowed, error) {
	u, err := url.Parse(address)
	if err != nil {
		return egress.Allowed{}, err
	}
	at, err := netip.ParseAddrPort(u.Host)
	if err != nil {
		return egress.Allowed{}, err
	}
	return egress.ParseAllowed(at.String())
}

// A stage is what services of tests need, outside of a test.
type stage struct {
	testing.TB // nil: other methods panic
	ctx        context.Context

	mu       sync.Mutex
	cleanups []func()
}

func newStage(ctx context.Context) *stage { return &stage{ctx: ctx} }

func (s *stage) Helper()                  {}
func (s *stage) Context() context.Context { return s.ctx }
func (s *stage) Logf(string, ...any)      {}

func (s *stage) Cleanup(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cleanups = append(s.cleanups, f)
}

func (s *stage) TempDir() string {
	dir, err := os.MkdirTemp("", "askback-faults-*")
	if err != nil {
		panic(err)
	}
	s.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func (s *stage) Error(args ...any)                 { panic(fmt.Sprint(args...)) }
func (s *stage) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (s *stage) Fatal(args ...any)                 { panic(fmt.Sprint(args...)) }
func (s *stage) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// end ends the services.
func (s *stage) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.cleanups) - 1; i >= 0; i-- {
		s.cleanups[i]()
	}
	s.cleanups = nil
}

// venueTime is how long a message may take.
const venueTime = 30 * time.Second
