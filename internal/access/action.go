package access

import "github.com/askback/askback"

// An Action is an operation that requires permission.
type Action string

// The actions.
const (
	ActAsk        Action = "ask"
	ActGet        Action = "get"
	ActList       Action = "list"
	ActAnswer     Action = "answer"
	ActDecline    Action = "decline"
	ActClaim      Action = "claim"
	ActSeen       Action = "seen" // record that an ask is on the person's screen
	ActCancel     Action = "cancel"
	ActReassign   Action = "reassign"  // give questions to other people
	ActHandOver   Action = "hand_over" // give a confirmation to other people
	ActConsume    Action = "consume"
	ActAck        Action = "ack"        // acknowledge an outcome
	ActDraft      Action = "draft"      // read and save a draft of an answer
	ActSnooze     Action = "snooze"     // hide an ask from the person's own list
	ActGrants     Action = "grants"     // list standing approvals
	ActRevoke     Action = "revoke"     // revoke a standing approval
	ActDeliveries Action = "deliveries" // list deliveries
	ActRetry      Action = "retry"      // send a delivery again that was given up
	ActEndpoints  Action = "endpoints"  // list and change receivers of webhooks
	ActStart      Action = "start"      // start a session for a run outside of Askback
	ActRun        Action = "run"        // start a hosted agent
	ActFollow     Action = "follow"     // read a session with its messages and events
	ActSessions   Action = "sessions"   // list sessions with their status, without messages
	ActMessage    Action = "message"    // send a message to a session
	ActReport     Action = "report"     // report progress, todos or the result of a session
	ActEnd        Action = "end"        // end a session or its turn
	ActResume     Action = "resume"     // start the next turn of a session
	ActEvents     Action = "events"     // read the events of every session
	ActPeople     Action = "people"     // list people, groups, routes, agents and statistics
	ActDirectory  Action = "directory"  // change people, groups and routes
	ActContacts   Action = "contacts"   // list, add and remove contacts
	ActLogin      Action = "login"      // log in a browser as the same principal
	ActTokens     Action = "tokens"     // create and revoke tokens
	ActTokenList  Action = "token_list" // list tokens, without their secrets
	ActYield      Action = "yield"      // make the server hand over its database
	ActMetrics    Action = "metrics"    // read the metrics of the server
)

// Actions lists every [Action].
var Actions = []Action{
	ActAsk, ActGet, ActList, ActAnswer, ActDecline, ActClaim, ActCancel, ActConsume, ActAck, ActDraft, ActSnooze,
	ActGrants, ActRevoke, ActStart, ActRun, ActFollow, ActSessions, ActMessage, ActReport, ActEnd, ActResume,
	ActEvents, ActPeople, ActLogin, ActTokens, ActTokenList, ActYield, ActDeliveries, ActRetry, ActEndpoints,
	ActMetrics, ActContacts, ActReassign, ActHandOver, ActSeen, ActDirectory,
}

// A Relation is the relation of a principal to the record on which it acts.
type Relation string

// The relations.
const (
	Owner Relation = "owner" // the principal is the agent that made the ask or runs the session
	// the ask is addressed to the principal, or to every person; all people have this relation to a session
	Recipient Relation = "recipient"
	Unrelated Relation = "unrelated" // no other relation applies
	Starter   Relation = "starter"   // the principal started the session of the ask
	// the confirmation is addressed to the principal, but other people decide the confirmation
	Viewer Relation = "viewer"
)

// Relations lists every [Relation].
var Relations = []Relation{Owner, Recipient, Unrelated, Starter, Viewer}

// OfCommand returns the action that sending the command c requires. For a command that no principal may send,
// it returns "".
func OfCommand(c askback.Command) Action {
	switch c.(type) {
	case askback.SendMessage:
		return ActMessage
	case askback.EndTurn, askback.EndSession:
		return ActEnd
	case askback.ResumeSession:
		return ActResume
	case askback.Report, askback.Complete, askback.SetTodos:
		return ActReport
	}
	return "" // no principal may send this command
}
