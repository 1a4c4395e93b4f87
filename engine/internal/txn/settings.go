package txn

import (
	"slices"
	"strings"
	"time"

	"github.com/askback/askback"
)

// Settings are the part of the configuration that Set of the engine can replace while the
// engine runs.
type Settings struct {
	// People may answer, in addition to people with a token and people of the API.
	People []askback.Person
	// Groups are the names of people, keyed by the name of the group without "@".
	Groups map[string][]string
	// Routes determine who gets an ask. The first route that matches applies.
	Routes []askback.Route
	// Issuer verifies the e-mail addresses of people who sign in; "" disables sign-in.
	// People who signed in through another issuer are logged out.
	Issuer string
	// MaxOpen is the maximum number of open asks of an agent; 0 is [Options.MaxOpen].
	MaxOpen int
	// AsksPerMinute is the maximum number of asks that an agent may make in a minute. It is also the maximum
	// number of runs of hosted agents that an agent may start. 0 is no limit. For webhooks, it applies to
	// each hosted agent.
	AsksPerMinute int
	// DigestAfter limits the messages with a question of one agent that a person gets in a minute through one
	// receiver; 0 is no limit. The next message counts the other questions.
	DigestAfter int
	// Undo is the time, at most one minute, for which an answer is held so that its author may undo it. If
	// Undo is 0, no answer is held.
	Undo time.Duration
	// CallbackURL is the callback of asks and sessions that name no callback; "" disables it.
	CallbackURL string
	// Receivers are the phones and chats that get the asks which their person may answer.
	Receivers []Receiver
	// Reach returns the receivers of a person of the API, such as a receiver for mail. The receivers of
	// People are in Receivers. If Reach is nil, people of the API have no receivers.
	Reach func(askback.Person) []Receiver
	// Retention is how long settled asks and ended sessions and grants are kept after
	// their last change; 0 is forever (E9).
	Retention time.Duration
}

// A Receiver is a phone or a chat room in the settings.
type Receiver struct {
	Channel string // a name of [Options.Channels]
	Name    string // the name of the receiver in the settings of the channel
	Person  string // the person who reads it
	// Addressed is set if the receiver gets only asks that name people. Other asks reach its person in
	// another place, such as a room of the same chat.
	Addressed bool
}

// Members returns the people in a list of people and groups, and the groups of the list that do not exist.
func (s *Settings) Members(names []string) (all, missing []string) {
	for _, name := range names {
		group, isGroup := strings.CutPrefix(name, "@")
		people, exists := s.Groups[group]
		switch {
		case !isGroup:
			people = []string{name}
		case !exists:
			missing = append(missing, name)
		}
		for _, one := range people {
			if !slices.Contains(all, one) {
				all = append(all, one)
			}
		}
	}
	return all, missing
}

// GroupsOf returns the sorted names of the groups of a person.
func (s *Settings) GroupsOf(person string) (names []string) {
	for name, members := range s.Groups {
		if slices.Contains(members, person) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
