package view

import (
	"strconv"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
)

// An Endpoint is an [askback.Endpoint] for display. It has no secret.
type Endpoint struct {
	ID             safetext.Text
	Owner          safetext.Text // name of a token; empty if the endpoint receives asks without a callback
	Origin         safetext.Text
	Status         askback.EndpointStatus
	Reason         safetext.Text // reason why the endpoint is disabled
	By             safetext.Text // person who made the last pause or resumption
	Created        time.Time
	Changed        time.Time // time when the status began
	FailingSince   time.Time // zero if the last finished attempt did not fail
	SecretAt       time.Time // time when the endpoint's own secret was made; zero if the secret of the settings signs
	OldSecretUntil time.Time // time until which the previous secret signs as well; zero if there is no previous secret
}

// OfEndpoint returns the view of an endpoint.
func OfEndpoint(e askback.Endpoint) Endpoint {
	return Endpoint{
		ID: safetext.Line(e.ID), Owner: safetext.Name(e.Owner), Origin: safetext.Line(e.Origin), Status: e.Status,
		Reason: safetext.Line(e.Reason), By: safetext.Name(e.By), Created: e.CreatedAt, Changed: e.ChangedAt,
		FailingSince: e.FailingSince, SecretAt: e.SecretAt, OldSecretUntil: e.OldSecretUntil,
	}
}

// Word returns the status as people read it.
func (e Endpoint) Word() string {
	return map[askback.EndpointStatus]string{
		askback.EndpointActive: "Active", askback.EndpointPaused: "Paused", askback.EndpointDisabled: "Disabled",
	}[e.Status]
}

// Active reports whether messages are sent to the endpoint.
func (e Endpoint) Active() bool { return e.Status == askback.EndpointActive }

// Paused reports whether messages to the endpoint are kept until it is resumed.
func (e Endpoint) Paused() bool { return e.Status == askback.EndpointPaused }

// Disabled reports whether messages to the endpoint are given up.
func (e Endpoint) Disabled() bool { return e.Status == askback.EndpointDisabled }

// SecretVersion identifies the secrets of the endpoint. A form contains the version, so that a form that is
// sent twice replaces the secret only once.
func (e Endpoint) SecretVersion() string {
	return strconv.FormatInt(e.SecretAt.UnixMilli(), 10) + "-" + strconv.FormatInt(e.OldSecretUntil.UnixMilli(), 10)
}

// An EndpointResult is the result of a form for an endpoint.
type EndpointResult struct {
	ID     string // id of the endpoint
	Good   bool
	Word   string // the result in a word or two
	Detail string // sentence about the result
}

// OfTest returns the result of a test message to the endpoint id.
func OfTest(id string, t askback.EndpointTest) *EndpointResult {
	r := &EndpointResult{ID: id, Good: t.Accepted, Word: "Test accepted"}
	var parts []string
	if t.Code != 0 {
		parts = append(parts, "status "+strconv.Itoa(t.Code),
			"in "+strconv.FormatInt(t.Duration.Milliseconds(), 10)+" ms")
	}
	if !t.Accepted {
		r.Word = "Test not accepted"
		parts = append(parts, safetext.Line(t.Error).String())
	}
	r.Detail = strings.Join(parts, ", ") + "."
	return r
}
