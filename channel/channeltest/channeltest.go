// Package channeltest tests channels that carry questions to people and bring their answers back. A channel
// passes [Test] with a [Driver]. The driver provides a fake service that behaves as the real service is
// documented, and acts there as people do. The suite sends as the engine does. It repeats deliveries as after
// a crash, with the same ids.
package channeltest

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
)

// A Driver connects the suite to a channel. It is in the package of the fake service, such as posttest,
// because test/faults also uses the driver.
type Driver struct {
	Channel string          // name in deliveries
	Via     askback.Channel // channel of answers that people give in a message; "" if people cannot answer in a message
	Start   func(t testing.TB, s Settings) Service

	// Short lists the names of the [Cases] that do not fit into a message. All other cases must be whole.
	Short []string
	// InPlace lists the answers that people can give in a message, as CASE/ANSWER of [Cases]. Messages about
	// other asks must have only the link.
	InPlace []string
	// Handled is the name of a case whose message has an action that does not settle the ask; see [Handler].
	// Handled is "" if no message has such an action, or if the service does not report the action.
	Handled string
	// RetryAfter is the delay that the service requests with [TooMany]; 0 if the service requests no delay.
	RetryAfter time.Duration
	// Appends is true if the service cannot change a message. The outcome is then another message, and the
	// question stays as it was.
	Appends bool
	// Programs is true if programs read the messages, and not people.
	Programs bool
	// Without lists the failures and attacks that are impossible with the service, with the reason. Each key
	// is a [Failure] or an [Attack].
	Without map[string]string
	// Patience is how long the suite waits for other goroutines. Zero means a minute.
	Patience time.Duration
}

// Settings are values that a channel gets from the server in addition to its own settings.
type Settings struct {
	Now  func() time.Time
	Log  *slog.Logger
	Link func(a askback.Ask, person string) string // returns the address of the page where the person answers the ask
	Zone func(person string) *time.Location        // returns the time zone for messages to the person
}

// A Service is a fake service, with the channel that uses it.
type Service interface {
	// Open returns a new channel with the same settings each time, as after a restart of the server.
	Open(t testing.TB) Channel
	// Join makes a person known to the service, unless the settings do so. The suite calls Join once for each
	// person, while the channel takes answers.
	Join(ctx context.Context, e *engine.Engine, person string) error
	// Receivers returns the receivers of ana and ben in the settings. It returns nil if Join introduces
	// people.
	Receivers() []engine.Receiver
	// Address returns the destination of messages to a person: the name of the receiver, or the address of
	// the contact.
	Address(person string) string
	// Messages returns the messages that the service shows a person now, in order.
	Messages(person string) []Message
	// Answer answers an ask in a message, as a person does. It returns the reply that the service shows the
	// person, or "".
	Answer(ctx context.Context, person string, m Message, a askback.Answer) (reply string, err error)
	// Attack answers an ask in a message to ana, as an attacker does. If the attack is in [Driver].Without,
	// the error is errors.ErrUnsupported.
	Attack(ctx context.Context, how Attack, m Message, a askback.Answer) error
	// Fail makes count requests fail that send or change messages, after skip such requests that succeed. A
	// later call replaces an earlier call. The function failed returns the number of failures so far.
	Fail(how Failure, skip, count int) (failed func() int)
	// Secrets returns the secrets in the settings.
	Secrets() []string
}

// A Channel is the channel that the server makes from its settings.
type Channel struct {
	Send engine.Channel
	// reads answers until ctx ends; nil if the channel reads no answers
	Run func(ctx context.Context, e *engine.Engine)
}

// A Message is a message as the service shows it to a person.
type Message struct {
	ID      string   // id that the service gave
	AskID   string   // ask that the message is about
	Text    string   // all readable text, with the title and the files
	Also    []string // the text in other forms, of which a program shows only one
	Link    string   // address of the page of the ask
	Live    bool     // whether the ask can be answered in the message
	Settled bool     // whether the message shows that no answer is needed any more
	Damage  []string // text that the service changed, or that the service would act on
}

// A Failure is a way in which a service fails a request.
type Failure string

// The failures.
const (
	TooMany   Failure = "too many"   // the service refuses the request for some time
	Broken    Failure = "broken"     // the service fails, and has done nothing
	LostReply Failure = "lost reply" // the request takes effect, but the reply is lost
	Slow      Failure = "slow"       // the service does not reply until the caller gives up
)

// An Attack is an action of a person or program that may not answer.
type Attack string

// The attacks.
const (
	Stranger Attack = "stranger"     // a user of the service who is not a person of the settings answers
	Forged   Attack = "forged"       // the answer has the right form, without the secret or the signature
	Tampered Attack = "tampered"     // a part of an authentic answer was changed
	Other    Attack = "other person" // ben answers in a message to ana
	Replayed Attack = "replayed"     // the last answer that the service carried arrives again
)

// Attacks lists every [Attack].
var Attacks = []Attack{Stranger, Forged, Tampered, Other, Replayed}

// A Check is one test of the suite.
type Check struct {
	Name string
	Run  func(t testing.TB, d Driver)
}

// Test runs the checks of the suite against the channel of d.
func Test(t *testing.T, d Driver) {
	t.Helper()
	for _, c := range Checks() {
		t.Run(c.Name, func(t *testing.T) { c.Run(t, d) })
	}
}

// Checks returns the tests of the suite.
func Checks() []Check {
	return []Check{
		{"the driver names what exists", testDriver},
		{"each ask is whole or a link", testMatrix},
		{"an answer in a message is the same as elsewhere", testAnswers},
		{"an old message can be answered after a restart", testRestart},
		{"an ask settled elsewhere is not live", testSettled},
		{"a late answer learns who was first", testLate},
		{"two people race and one wins", testRace},
		{"an answer after the deadline is not taken", testDeadline},
		{"the deadline is in the time zone of the person", testZone},
		{"foreign input changes nothing and is logged", testAttacks},
		{"a delivery is seen when its person handles the message", testSeen},
		{"a removed person cannot answer", testLeft},
		{"a person who is no approver decides nothing", testApprovers},
		{"a repeat after a lost reply leaves nothing live", testLostReply},
		{"a repeat without a record leaves nothing live", testLostRecord},
		{"an outcome follows a question that may have arrived", testUnknownQuestion},
		{"a settled question is never live", testSettledQuestion},
		{"an unknown event shows the ask as it is", testUnknownEvent},
		{"a service that wants a pause gets it", testTooMany},
		{"a broken service is tried again", testBroken},
		{"a slow service holds nothing up", testSlow},
		{"a broken service gets everything in order", testOrder},
	}
}
