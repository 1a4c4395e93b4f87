package askback

// A Principal is the authenticated caller. Kind determines the permissions, and Name identifies the caller.
// Both come from the credential, never from the request.
type Principal struct {
	Kind    Kind
	Name    string
	Channel Channel // the channel of this credential; outcomes record it
	Token   string  // the id of its token; "" for the program itself
}

// LocalAgent is the name of the agent for which commands ask on the machine of the database.
const LocalAgent = "local"

// A Kind is the kind of a principal. It determines what the principal may do.
type Kind string

// The kinds. An agent can never answer, whatever its name. An admin may do
// everything that a responder or an operator may do.
const (
	Agent     Kind = "agent"
	Responder Kind = "responder"
	Operator  Kind = "operator"
	Admin     Kind = "admin"
)

// Kinds lists every [Kind].
var Kinds = []Kind{Agent, Responder, Operator, Admin}

// A Channel is the way by which a principal reaches Askback, such as the web pages. An outcome records the
// channel through which the ask was settled.
type Channel string

// The channels (docs/wire.md §2). A timer and a policy have no channel.
const (
	ChannelWeb      Channel = "web"
	ChannelTerminal Channel = "terminal"
	ChannelSlack    Channel = "slack"
	ChannelEmail    Channel = "email"
	ChannelPush     Channel = "push"
	ChannelAPI      Channel = "api"
	ChannelTelegram Channel = "telegram"
	ChannelHook     Channel = "hook"
	ChannelMCP      Channel = "mcp"
)

// Channels lists every [Channel].
var Channels = []Channel{
	ChannelWeb, ChannelTerminal, ChannelSlack, ChannelEmail, ChannelPush, ChannelAPI, ChannelTelegram, ChannelHook,
	ChannelMCP,
}
