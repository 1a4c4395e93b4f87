// Package limits has the limits of the sizes, the numbers and the times that Askback accepts and keeps.
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
	MaxContext     = 200_000
	MaxInput       = 1 << 20
	MaxText        = 20_000 // notes, other, reason, comment
	MaxName        = 200    // names, labels of agents, tags, titles
	MaxKey         = 255
	MaxSearch      = 1_000 // length of a search text
	MaxNames       = 100   // people to whom an ask is addressed, tags
	// length of all names of these people together; each change of the ask stores the names again
	MaxTo       = 2_000
	MaxDraft    = 1 << 18
	MaxTimeout  = 10 * 366 * 24 * time.Hour
	MaxCallback = 2000 // bytes of a callback address
)

// MaxProblems is the maximum number of problems in an error that lists them. Further problems are
// omitted.
const MaxProblems = 20

// Within ClaimHold after a claim, an ask does not expire. But claims postpone its deadline by at most
// MaxClaimHold (docs/wire.md §1).
const (
	ClaimHold    = 5 * time.Minute
	MaxClaimHold = 30 * time.Minute
)

const (
	// DefaultUndo is how long an answer is held if the settings have no value.
	DefaultUndo = 5 * time.Second
	// MaxUndo is the maximum time for which an answer can be held.
	MaxUndo = time.Minute
	// MaxHeld is the maximum number of answers to one ask that are held at the same time.
	MaxHeld = 20
	// MaxSnooze is the maximum time for which an ask can be snoozed.
	MaxSnooze = 366 * 24 * time.Hour
	// SnoozeMarkTime is how long a snooze is stored after its end, to mark the ask that has
	// come back.
	SnoozeMarkTime = 7 * 24 * time.Hour
	// MaxSnoozes is the maximum number of stored snoozes of a person.
	MaxSnoozes = 500
)

const (
	// DefaultGrant is the lifetime of a grant if its request has no lifetime.
	DefaultGrant = 24 * time.Hour
	// MaxGrant is the maximum lifetime of a grant.
	MaxGrant = 366 * 24 * time.Hour
	// MaxGrantInput is the maximum length of the arguments in a grant, in bytes. It is small
	// because each confirmation of an agent may read all grants of that agent.
	MaxGrantInput = 1 << 16
)

// The limits of sessions: messages and todos in code points, results and metadata in bytes.
const (
	MaxTodos    = 100
	MaxTodo     = 500
	MaxMessage  = 200_000
	MaxResult   = 1 << 20
	MaxMetadata = 1 << 16
)

const (
	// MaxFollowUps is the maximum number of reminders and escalations of one route.
	MaxFollowUps = 10
	// MaxQuorum is the maximum number of people who must approve.
	MaxQuorum = 20
)

// The maximum numbers of people, groups and routes that are not in the settings.
const (
	MaxPeople = 1000
	MaxGroups = 200
	MaxRoutes = 100
)

const (
	// MaxContactAddress is the maximum length of the address of a contact in bytes.
	MaxContactAddress = 4000
	// MaxContacts is the maximum number of contacts of a person.
	MaxContacts = 20
	// MaxContactCodes is the maximum number of valid codes of a person. If a person has this number, a new
	// code replaces the oldest code.
	MaxContactCodes = 3
	// ContactCodeTime is how long a code is valid.
	ContactCodeTime = 10 * time.Minute
)

const (
	// MaxEndpoints is the maximum number of endpoints of one owner.
	MaxEndpoints = 1000
	// EndpointFailing is how long an endpoint may fail without accepting a message before it is disabled. It
	// is longer than all attempts at one delivery together.
	EndpointFailing = 5 * 24 * time.Hour
	// OldSecretTime is how long deliveries are also signed with the previous secret. In this time a receiver
	// can change to the new secret without losing a message.
	OldSecretTime = 24 * time.Hour
)

const (
	// LoginTime is how long a log-in link is valid.
	LoginTime = 10 * time.Minute
	// BrowserTime is how long a browser stays logged in.
	BrowserTime = 30 * 24 * time.Hour
	// SignInTime is how long a browser stays logged in through an OpenID Connect issuer. Then
	// the issuer must confirm the person again.
	SignInTime = 24 * time.Hour
)

// StatsTime is the period over which settled asks are counted in statistics.
const StatsTime = 24 * time.Hour
