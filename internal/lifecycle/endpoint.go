package lifecycle

import (
	"fmt"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
)

// An EndpointState is the state of a receiver of webhooks. Its secrets are in their stored form. The machine
// does not read them.
type EndpointState struct {
	Endpoint  askback.Endpoint `store:",inline"`
	Address   string           `store:"address"`           // an address of the receiver, for test messages
	Secret    string           `store:"secret,moving"`     // "" if the secret of the settings signs
	OldSecret string           `store:"old_secret,moving"` // the previous secret; "" is the secret of the settings
}

// EndpointMade begins an endpoint. Without a Secret, the secret of the settings signs.
type EndpointMade struct {
	Endpoint askback.Endpoint // has ID, Owner and Origin
	Address  string
	Secret   string
	At       time.Time
}

// EndpointPaused makes an active endpoint paused, so that its deliveries are held.
type EndpointPaused struct {
	By string
	At time.Time
}

// EndpointResumed makes a paused or disabled endpoint active.
type EndpointResumed struct {
	By string
	At time.Time
}

// EndpointRotated replaces the secret of an endpoint. The previous secret also signs for
// [limits.OldSecretTime].
type EndpointRotated struct {
	Secret string
	At     time.Time
}

// EndpointAccepted records that an attempt succeeded. It clears FailingSince of the endpoint.
type EndpointAccepted struct{ At time.Time }

// EndpointFailed records that an attempt failed. The endpoint is disabled if Gone is set, or if it has failed
// for [limits.EndpointFailing].
type EndpointFailed struct {
	Gone bool // the receiver refuses further messages
	At   time.Time
}

func (EndpointMade) input()     {}
func (EndpointPaused) input()   {}
func (EndpointResumed) input()  {}
func (EndpointRotated) input()  {}
func (EndpointAccepted) input() {}
func (EndpointFailed) input()   {}

// Step returns the result of an input. The first input of an endpoint must be [EndpointMade]. Each later
// input is any other input of an endpoint. For an input that these rules do not allow, Step returns an error,
// and nothing changes. Endpoints have no history, because they belong to no session.
func (s EndpointState) Step(in Input) (Result[EndpointState], error) {
	if made, ok := in.(EndpointMade); ok != (s.Endpoint.ID == "") {
		return unchanged(s), fmt.Errorf("%T for endpoint %q: EndpointMade must be the first input, and only the first",
			in, s.Endpoint.ID)
	} else if ok {
		return endpointMade(made), nil
	}
	switch in := in.(type) {
	case EndpointPaused:
		return endpointPaused(s, in), nil
	case EndpointResumed:
		return endpointResumed(s, in), nil
	case EndpointRotated:
		return endpointRotated(s, in), nil
	case EndpointAccepted:
		return endpointAccepted(s), nil
	case EndpointFailed:
		return endpointFailed(s, in), nil
	}
	return unchanged(s), fmt.Errorf("%T is not an input of an endpoint", in)
}

// Columns returns the parts of the state by which a store selects the record of the endpoint.
func (s EndpointState) Columns() Columns {
	return Columns{Open: true, Status: string(s.Endpoint.Status)}
}

// Matters reports whether the input would change the endpoint. If not, the endpoint need not be stepped.
func (s EndpointState) Matters(failed EndpointFailed) bool {
	return !endpointFailed(s, failed).Unchanged
}

// SigningSecrets returns the secrets that sign at the time now, the newest first. A secret "" is the secret
// of the settings.
func (s EndpointState) SigningSecrets(now time.Time) []string {
	if s.Secret == "" || !now.Before(s.Endpoint.OldSecretUntil) {
		return []string{s.Secret}
	}
	return []string{s.Secret, s.OldSecret}
}

func endpointMade(in EndpointMade) Result[EndpointState] {
	s := EndpointState{Endpoint: in.Endpoint, Address: in.Address, Secret: in.Secret}
	s.Endpoint.Status, s.Endpoint.CreatedAt, s.Endpoint.ChangedAt = askback.EndpointActive, in.At, in.At
	if in.Secret != "" {
		s.Endpoint.SecretAt = in.At
	}
	return changed(s)
}

func endpointPaused(s EndpointState, in EndpointPaused) Result[EndpointState] {
	if s.Endpoint.Status != askback.EndpointActive {
		return unchanged(s)
	}
	s.Endpoint.Status, s.Endpoint.By, s.Endpoint.ChangedAt = askback.EndpointPaused, in.By, in.At
	return changed(s)
}

func endpointResumed(s EndpointState, in EndpointResumed) Result[EndpointState] {
	if s.Endpoint.Status == askback.EndpointActive {
		return unchanged(s)
	}
	s.Endpoint.Status, s.Endpoint.By, s.Endpoint.ChangedAt = askback.EndpointActive, in.By, in.At
	s.Endpoint.Reason, s.Endpoint.FailingSince = "", time.Time{}
	return changed(s)
}

func endpointRotated(s EndpointState, in EndpointRotated) Result[EndpointState] {
	s.OldSecret, s.Secret = s.Secret, in.Secret
	s.Endpoint.SecretAt, s.Endpoint.OldSecretUntil = in.At, in.At.Add(limits.OldSecretTime)
	return changed(s)
}

func endpointAccepted(s EndpointState) Result[EndpointState] {
	if s.Endpoint.FailingSince.IsZero() {
		return unchanged(s)
	}
	s.Endpoint.FailingSince = time.Time{}
	return changed(s)
}

func endpointFailed(s EndpointState, in EndpointFailed) Result[EndpointState] {
	e := &s.Endpoint
	first := e.FailingSince.IsZero()
	long := !first && in.At.Sub(e.FailingSince) >= limits.EndpointFailing
	disables := in.Gone || long && e.Status == askback.EndpointActive
	if e.Status == askback.EndpointDisabled || !first && !disables {
		return unchanged(s)
	}
	if first {
		e.FailingSince = in.At
	}
	if disables {
		e.Status, e.By, e.ChangedAt, e.Reason = askback.EndpointDisabled, "", in.At,
			"it has accepted no message for five days"
		if in.Gone {
			e.Reason = "it answered 410 Gone"
		}
	}
	return changed(s)
}
