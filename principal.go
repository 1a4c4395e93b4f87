package askback

// A Principal is who acts. Its kind says what it may do, its name who it is;
// both belong to the credential and never come from a request.
type Principal struct {
	Kind  Kind
	Name  string
	Via   Via    // where this credential is used; settled asks carry it
	Token string // the id of the token it showed; "" is the program itself
}

// A Kind of principal.
type Kind string

// The kinds. An agent can never answer, however it calls itself. An admin may
// do what a responder and an operator may.
const (
	Agent     Kind = "agent"
	Responder Kind = "responder"
	Operator  Kind = "operator"
	Admin     Kind = "admin"
)

// Kinds lists every [Kind].
var Kinds = []Kind{Agent, Responder, Operator, Admin}

// A Via is the way an answer came.
type Via string

// The ways, wire.md §2. A timer and a policy have none.
const (
	ViaWeb      Via = "web"
	ViaTerminal Via = "terminal"
	ViaSlack    Via = "slack"
	ViaEmail    Via = "email"
	ViaPush     Via = "push"
	ViaAPI      Via = "api"
	ViaHook     Via = "hook"
	ViaMCP      Via = "mcp"
)

// An Action is something a principal may or may not do.
type Action string

// The actions.
const (
	ActAsk       Action = "ask"
	ActGet       Action = "get"
	ActList      Action = "list"
	ActAnswer    Action = "answer"
	ActDecline   Action = "decline"
	ActClaim     Action = "claim"
	ActCancel    Action = "cancel"
	ActConsume   Action = "consume"
	ActReceive   Action = "receive"    // say that one has the outcome
	ActDraft     Action = "draft"      // keep what one typed so far
	ActGrants    Action = "grants"     // see standing approvals
	ActRevoke    Action = "revoke"     // end one
	ActStart     Action = "start"      // announce a run
	ActFollow    Action = "follow"     // see a session, what is said there and what happens
	ActSessions  Action = "sessions"   // see which sessions there are and how they stand, and nothing that is said
	ActMessage   Action = "message"    // speak to a run
	ActReport    Action = "report"     // say what a run does, and how it ended
	ActEnd       Action = "end"        // end a run, or its turn
	ActResume    Action = "resume"     // let a run go on
	ActFeed      Action = "feed"       // see what happens in every session
	ActPeople    Action = "people"     // see who may answer, who asks, and how long it takes
	ActLogin     Action = "login"      // log a browser in as oneself
	ActTokens    Action = "tokens"     // make and revoke tokens
	ActTokenList Action = "token_list" // see which tokens there are, without their secrets
	ActYield     Action = "yield"      // make the server hand over its database
)

// Actions lists every [Action].
var Actions = []Action{
	ActAsk, ActGet, ActList, ActAnswer, ActDecline, ActClaim, ActCancel, ActConsume, ActReceive, ActDraft,
	ActGrants, ActRevoke, ActStart, ActFollow, ActSessions, ActMessage, ActReport, ActEnd, ActResume, ActFeed, ActPeople, ActLogin, ActTokens, ActTokenList, ActYield,
}

// A Relation is how a principal stands to what it acts on.
type Relation string

// The relations.
const (
	Own       Relation = "own"       // it asked
	Addressed Relation = "addressed" // the ask is put to it, or to everybody
	Bystander Relation = "bystander" // neither
	Starter   Relation = "starter"   // it started the session that asks
)

// Relations lists every [Relation].
var Relations = []Relation{Own, Addressed, Bystander, Starter}
