// Package limits has the limits of what Askback accepts and keeps, and how long.
package limits

import "time"

// The limits of asks and answers (docs/wire.md §1). Strings are measured in code points,
// headers in grapheme clusters, inputs and drafts in bytes.
const (
	MaxQuestions   = 4
	MinOptions     = 2
	MaxOptions     = 50
	MaxQuestion    = 10_000
	MaxHeader      = 12
	MaxLabel       = 200
	MaxDescription = 2_000
	MaxPreview     = 100_000
	MaxInput       = 1 << 20
	MaxText        = 20_000 // notes, other, reason, comment
	MaxName        = 200    // names, labels of agents, tags, titles
	MaxKey         = 255
	MaxSearch      = 1_000 // of a query
	MaxNames       = 100   // people whom an ask is addressed to, tags
	MaxTo          = 2_000 // all names of these people together; each change of the ask stores them again
	MaxDraft       = 1 << 18
	MaxTimeout     = 10 * 366 * 24 * time.Hour
	MaxCallback    = 2000 // bytes of a callback address
)

// An ask does not expire within ClaimHold after a claim, unless its deadline passed at least
// MaxClaimHold ago (docs/wire.md §1).
const (
	ClaimHold    = 5 * time.Minute
	MaxClaimHold = 30 * time.Minute
)

const (
	// DefaultUndo is how long an answer is held, if the settings do not say.
	DefaultUndo = 5 * time.Second
	// MaxHeld is how many answers to one ask can be held at the same time.
	MaxHeld = 20
	// MaxSnooze is how long an ask can be snoozed.
	MaxSnooze = 366 * 24 * time.Hour
)

const (
	// DefaultGrant is the lifetime of a grant for which none is given.
	DefaultGrant = 24 * time.Hour
	// MaxGrant is the maximum lifetime of a grant.
	MaxGrant = 366 * 24 * time.Hour
	// MaxGrantInput is the maximum length of the arguments in a grant, in bytes. It is small
	// because each confirmation of an agent may read all grants of that agent.
	MaxGrantInput = 1 << 16
)

// The limits of sessions: todos in code points, metadata in bytes.
const (
	MaxTodos    = 100
	MaxTodo     = 500
	MaxMetadata = 1 << 16
)

const (
	// MaxFollowUps is the maximum number of reminders and escalations of one route.
	MaxFollowUps = 10
	// MaxQuorum is the maximum number of people who must approve.
	MaxQuorum = 20
	// MaxContactAddress is the maximum length of the address of a contact in bytes.
	MaxContactAddress = 4000
)
