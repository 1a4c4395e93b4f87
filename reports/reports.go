// Package reports defines the reports that the engine computes for the web pages from its whole store. The
// API does not have them, so they are not part of [askback.Client].
package reports

import (
	"context"
	"time"

	"github.com/askback/askback"
)

// A Reader reads the reports of one principal. Package engine implements it.
type Reader interface {
	// Figures returns the figures of a period, if this principal may read statistics. The figures count the
	// asks that the principal may see, or all asks for an operator. The time of the call is limited, whatever
	// the number of asks.
	Figures(ctx context.Context, q FiguresQuery) (Figures, error)
	// LateAnswers returns the late answers to an ask, or to all asks of a session, oldest first. It omits the
	// asks that this principal may not see. If more is set, there may be older late answers.
	LateAnswers(ctx context.Context, id string) (late []LateAnswer, more bool, err error)
	// SessionHistory returns the newest events of a session that this principal may see, oldest first. If
	// more is set, there are older events.
	SessionHistory(ctx context.Context, id string) (events []askback.Event, more bool, err error)
	// Children returns the sessions that the hosted agent of a session started, oldest first.
	Children(ctx context.Context, id string) ([]askback.Session, error)
}

// Figures has the outcomes and waiting times of the asks that were made in a period, for
// the web pages (F16). Open asks are counted even if they are older.
type Figures struct {
	Since    time.Time
	Asked    int            // the number of asks in the period
	Wait     WaitFigures    // statistics over all answers of people
	Outcomes []OutcomeCount // sorted by status and actor
	Agents   []AgentFigures // sorted by label and owner
	People   []PersonFigures
	// OpenForAll is the number of open asks that are addressed to every person.
	OpenForAll int
	Waiting    []WaitingCount // at equal intervals until now, oldest first
	Partial    bool           // set if there are too many asks, so that only the newest are counted
}

// WaitFigures are statistics of the time from asks to the answers of people.
type WaitFigures struct {
	Answers     int // if it is 0, the other fields have no meaning
	Median, P90 time.Duration
}

// An OutcomeCount counts the asks with a status that a kind of actor settled.
type OutcomeCount struct {
	Status askback.Status
	Actor  askback.ActorKind
	Count  int
}

// AgentFigures are the figures of one agent, which has a label and a token.
type AgentFigures struct {
	Label, Owner string
	Open, Asked  int
	Wait         WaitFigures
	LastSeen     time.Time // the time of the newest ask or acknowledgement of the agent in the period; zero without one
}

// PersonFigures are the figures of one person who has answered, or who has an open ask.
type PersonFigures struct {
	Name             string
	Open             int // open asks that are addressed to this person by name
	Approved, Denied int
	Wait             WaitFigures
}

// A WaitingCount is the number of asks that were open at one time.
type WaitingCount struct {
	At    time.Time
	Count int
}

// A FiguresQuery selects [Figures].
type FiguresQuery struct {
	Period time.Duration // until now
	Points int           // the length of Figures.Waiting
}

// A LateAnswer is an answer to an ask that was already settled, or an attempt to decline it. It is kept in
// the history and did not reach the agent.
type LateAnswer struct {
	AskID   string
	Name    string          // the person
	Channel askback.Channel // the channel of the late answer
	At      time.Time
	// Answer is the content of the late answer. It is empty if the content was too long to be kept, and has
	// only a Reason if the person declined.
	Answer askback.Answer
}
