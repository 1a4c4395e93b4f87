package access

import "github.com/askback/askback"

// A Share is how much of an event a principal gets.
type Share int

// The shares. Outline is the event without the content that belongs to an ask.
const (
	None Share = iota
	Outline
	Whole
)

// events has, for each type of event, the share of a principal that may not read the ask to which the event
// belongs. An event about an ask belongs to that ask. If people are asked about a call of a hosted agent, the
// call and its message belong to that ask. A grant belongs to the ask whose answer made the grant. An event
// of a type with the share Whole never belongs to an ask.
var events = map[askback.EventType]Share{
	askback.EventSnapshot: Whole, // a snapshot has only the asks that the principal may list

	askback.EventQuestionPending:    None,
	askback.EventQuestionClaimed:    None,
	askback.EventQuestionVoted:      None,
	askback.EventQuestionReminded:   None,
	askback.EventQuestionEscalated:  None,
	askback.EventQuestionReassigned: None,
	askback.EventQuestionRepeated:   None,
	askback.EventQuestionAnswered:   None,
	askback.EventQuestionDeclined:   None,
	askback.EventQuestionCancelled:  None,
	askback.EventQuestionExpired:    None,
	askback.EventQuestionConsumed:   None,
	askback.EventAnswerAcked:        None,
	askback.EventAnswerRefused:      None,
	askback.EventAnswerHeld:         None, // events of this type are never sent to agents
	askback.EventAnswerUndone:       None,

	askback.EventGrantMade:    Outline,
	askback.EventGrantUsed:    Outline,
	askback.EventGrantRevoked: Outline,
	askback.EventGrantExpired: Outline,

	askback.EventSessionStarted:   Whole,
	askback.EventSessionCompleted: Whole,
	askback.EventSessionFailed:    Whole,
	askback.EventSessionCancelled: Whole,
	askback.EventStateChange:      None,
	askback.EventMessage:          Outline,
	askback.EventMessageQueued:    Whole,
	askback.EventMessageDelta:     None,
	askback.EventToolInput:        Outline,
	askback.EventToolStart:        Whole, // the event has only the name of the tool
	askback.EventToolComplete:     Outline,
	askback.EventAgentComplete:    Whole,
	askback.EventTodosChanged:     Whole,

	askback.EventDeliveryQueued:  None,
	askback.EventDeliverySent:    None,
	askback.EventDeliveryFailed:  None,
	askback.EventDeliverySkipped: None,
}

// Unaddressed returns the share of an event of a type for a principal that may not read the ask to which the
// event belongs. For an unknown type it returns None.
func Unaddressed(t askback.EventType) Share { return events[t] }

// KnowsEvent reports whether the table has a type of event. Events of other types are not sent.
func KnowsEvent(t askback.EventType) bool {
	_, ok := events[t]
	return ok
}
