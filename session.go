package askback

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/wire/codec"
)

// A Session is one run of one agent (docs/wire.md §1). Until it ends, it is waiting
// while an ask is open, and running otherwise.
type Session struct {
	ID     string `api:"id" store:"id,keep,follows"`                // the id of the session
	Agent  string `api:"agent" store:"agent,keep,follows"`          // the label that people read
	Owner  string `api:"owner" store:"owner,keep,follows,after=id"` // the name of the token that runs it
	Hosted bool   `api:"hosted" store:"hosted"`                     // whether Askback itself runs it
	Title  string `api:"title,null" store:"title"`                  // the subject of the run
	// the status of the session; failed and cancelled are final
	Status SessionStatus `api:"status" store:"status,keep,follows,moving,first"`
	// Phase is "idle" if the turn of the session has ended and the next turn may start.
	Phase    string          `api:"phase,null" store:"phase,moving"`
	Payload  json.RawMessage `api:"payload" store:"payload"`         // the input of the run: any JSON
	Result   json.RawMessage `api:"result" store:"result,moving"`    // any JSON
	Error    string          `api:"error,null" store:"error,moving"` // the reason of a failure
	Metadata json.RawMessage `api:"metadata" store:"metadata"`       // a JSON object
	Todos    []Todo          `api:"todos" store:"todos,moving"`      // the todo list of the agent
	ParentID string          `api:"parent_id,null" store:"parent"`   // the id of the session that started it
	// StartedBy is the person who started it, if it is hosted.
	StartedBy   string    `api:"started_by,omitempty" store:"starter"`
	AsksPending int       `api:"asks_pending" store:"pending,moving"`     // the number of its open asks
	AsksTotal   int       `api:"asks_total" store:"total,moving"`         // the number of its asks
	Tokens      int64     `api:"tokens" store:"tokens,moving"`            // the number of model tokens that it used
	CostUSD     float64   `api:"cost_usd" store:"cost,moving"`            // the cost of these tokens, in US dollars
	CreatedAt   time.Time `api:"created_at" store:"created,keep,follows"` // the time when it began
	UpdatedAt   time.Time `api:"updated_at" store:"updated,keep,moving"`  // the time of the last change
	CompletedAt time.Time `api:"completed_at" store:"completed,moving"`   // zero: it has not ended
	// ResumedAt is the time when its present turn began. If it is zero, the turn began at CreatedAt.
	ResumedAt time.Time `api:"resumed_at" store:"resumed,moving"`
	// ReadsMessages is set once the agent of the session has read its messages or followed its events. It is
	// not set for hosted sessions, whose agents always get messages.
	ReadsMessages bool `api:"reads_messages,omitempty" store:"reads,moving"`

	// Repeated is set if Start found this session by its key and created no new
	// one. It is not part of the JSON.
	Repeated bool `api:"-" store:"-"`
}

// Ended reports whether the session is over, for good or until it is resumed.
func (s Session) Ended() bool { return s.Status != SessionRunning && s.Status != SessionWaiting }

// Final reports whether the session is over for good: it failed, was cancelled or was completed. If only its
// turn has ended (phase idle), a person's message, an ask or [ResumeSession] starts the next turn.
func (s Session) Final() bool { return s.Ended() && s.Phase != "idle" }

// A SessionStatus is the state of a session: running, waiting for people, or how it ended.
type SessionStatus string

// The statuses of a session. Failed and cancelled are final. Completed is final
// unless the phase is idle.
const (
	SessionRunning   SessionStatus = "running"
	SessionWaiting   SessionStatus = "waiting_for_input"
	SessionCompleted SessionStatus = "completed"
	SessionFailed    SessionStatus = "failed"
	SessionCancelled SessionStatus = "cancelled"
)

// A Todo is one entry of an agent's list of tasks.
type Todo struct {
	Content string     `api:"content" store:"content,keep" request:"content"` // the text of the entry
	Status  TodoStatus `api:"status" store:"status,keep" request:"status"`    // the status of the entry
}

// A TodoStatus is the progress of a todo.
type TodoStatus string

// The statuses of a todo.
const (
	TodoPending    TodoStatus = "pending"
	TodoInProgress TodoStatus = "in_progress"
	TodoCompleted  TodoStatus = "completed"
)

// A SessionRequest is a request to start a session. With a Prompt or a Payload, it starts a hosted agent.
// Otherwise it records a run outside of Askback.
type SessionRequest struct {
	Key string `request:"session_key"` // the asker's own name for its run; the same key returns the same session
	// Agent is the name of a hosted agent, or a label for people. If it is "", the asker's name is used.
	Agent    string          `request:"agent"`
	Prompt   string          `request:"prompt"`  // the task of a hosted agent
	Payload  json.RawMessage `request:"payload"` // any JSON; a hosted agent gets it as its first message, after Prompt
	Title    string          `request:"title"`
	Metadata json.RawMessage `request:"metadata,object"` // a JSON object
	// CallbackURL is the address of a program. It receives the end of the session, and the events of its asks
	// that have no callback of their own (docs/wire.md §8). If it is "", the address of the server's settings
	// is used. A repeated request with another address changes it, unless the session is over.
	CallbackURL string `request:"callback_url"`
	// Unattended is set if an event started a hosted agent, such as a webhook or a schedule. The agent then
	// asks people only if its definition allows it.
	Unattended bool `request:"-"`
}

// Hosted reports whether the request is for a run of a hosted agent.
func (r SessionRequest) Hosted() bool { return r.Prompt != "" || len(r.Payload) > 0 }

// Check returns an [Invalid] if the request is not valid.
func (r SessionRequest) Check() error {
	var bad problems
	checkName(&bad, "/session_key", r.Key, limits.MaxKey)
	checkName(&bad, "/agent", r.Agent, limits.MaxName)
	checkText(&bad, "/title", r.Title, limits.MaxName)
	checkObject(&bad, "/metadata", r.Metadata, limits.MaxMetadata)
	checkText(&bad, "/prompt", r.Prompt, limits.MaxMessage)
	if len(r.Payload) > 0 {
		checkJSON(&bad, "/payload", r.Payload, limits.MaxInput)
	}
	if r.Hosted() && r.Agent == "" {
		bad.add("/agent", "is blank", "name the agent to run")
	}
	checkCallback(&bad, r.CallbackURL)
	return bad.err()
}

func checkObject(bad *problems, at string, raw json.RawMessage, limit int) {
	if len(raw) == 0 {
		return
	}
	checkJSON(bad, at, raw, limit)
	if strings.TrimLeft(string(raw), " \t\r\n")[:1] != "{" {
		bad.add(at, "this is not an object", "{}")
	}
}

func checkJSON(bad *problems, at string, raw json.RawMessage, limit int) {
	switch {
	case len(raw) > limit:
		bad.add(at, fmt.Sprintf("%d bytes are too many; at most %d are allowed", len(raw), limit), "shorten it")
	case !codec.Valid(raw):
		bad.add(at, "is not JSON in UTF-8, or a name is repeated in it", "{}")
	}
}

// A HostedAgent is an agent that Askback itself runs. [Sessions] starts its runs.
type HostedAgent struct {
	Name        string `api:"name"`             // the name in its definition
	Description string `api:"description,null"` // its purpose, for people
	// Schedule is a cron line with the start times of its runs, or "" without a schedule (E15).
	Schedule string    `api:"schedule,null"`
	TimeZone string    `api:"time_zone,null"` // the time zone of the schedule
	NextRun  time.Time `api:"next_run"`       // when the schedule starts the next run; zero: never
}

// A SessionQuery selects sessions. The zero value selects all sessions, newest first.
type SessionQuery struct {
	Status SessionStatus // "" is every status
	Agent  string        // the agent's label
	Search string        // part of the title or the label; case is ignored
	Cursor string        // NextCursor of the previous page
	Limit  int           // 1 to 200; 0 is 50
}

// Check returns an [Invalid] if the query is not valid. It does not check the cursor.
func (q SessionQuery) Check() error {
	var bad problems
	switch q.Status {
	case "", SessionRunning, SessionWaiting, SessionCompleted, SessionFailed, SessionCancelled:
	default:
		bad.add("/status", "must be running, waiting_for_input, completed, failed or cancelled", "status=running")
	}
	checkLimit(&bad, q.Limit)
	return bad.err()
}

// A SessionPage is a part of a list of sessions, newest first.
type SessionPage struct {
	Items      []Session `api:"items"`            // the entries of this page
	NextCursor string    `api:"next_cursor,null"` // "" after the last page
}

// A Message is a text from a person to the agent of a session, or from the agent to the people who follow the
// session.
type Message struct {
	Seq  int64     `api:"seq"`     // its number in the session's history
	Role Role      `api:"role"`    // whether a person or the agent sent it
	By   string    `api:"by,null"` // the person who sent it; "" if the agent did
	Text string    `api:"text"`    // the text of the message
	At   time.Time `api:"at"`      // the time of the message
}

// A Role is the author of a message: a person or the agent.
type Role string

// The roles: a person, and the agent.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// A MessagePage is a part of the messages of a session, oldest first.
type MessagePage struct {
	Items      []Message `api:"items"`            // the entries of this page
	NextCursor string    `api:"next_cursor,null"` // "" after the last page
}

// A Command is a change of a session, or a message in it. It is a [SendMessage], [Report], [EndTurn],
// [EndSession], [ResumeSession], [Complete] or [SetTodos].
type Command interface {
	// Check returns an [Invalid] if the command breaks a rule.
	Check() error
	command()
}

// A SendMessage is the [Command] that sends a person's message to the agent. If the turn of the session has
// ended, the message starts the next turn. A message does not answer an ask.
type SendMessage struct {
	Text string `request:"text"`
}

// A Report is the [Command] that sends a message of the agent to the people who follow the session.
type Report struct {
	Text  string `request:"text"`
	Final bool   `request:"final"` // set if this is the last message of the run
}

// An EndTurn is the [Command] that ends the present turn and cancels its open asks (docs/wire.md §1). A
// person's message, an ask or [ResumeSession] starts the next turn.
type EndTurn struct {
	Reason string `request:"reason"`
}

// An EndSession is the [Command] that cancels the session for good, with its open asks.
type EndSession struct {
	Reason string `request:"reason"`
}

// A ResumeSession is the [Command] that starts the next turn. While an ask is open, the error is
// [ErrAsksOpen].
type ResumeSession struct {
	Message string `request:"message"`
}

// A Complete is the [Command] that ends the session for good, with the result that the agent reports. Open
// asks are withdrawn.
type Complete struct {
	Status SessionStatus   `request:"status"` // completed or failed; "" is completed
	Result json.RawMessage `request:"result"` // any JSON
	Error  string          `request:"error"`
}

// A SetTodos is the [Command] that replaces the todos of the session.
type SetTodos struct {
	Todos []Todo `request:"todos,manual,keep"`
}

func (SendMessage) command()   {}
func (Report) command()        {}
func (EndTurn) command()       {}
func (EndSession) command()    {}
func (ResumeSession) command() {}
func (Complete) command()      {}
func (SetTodos) command()      {}

// Check implements [Command].
func (m SendMessage) Check() error { return checkMessage("/text", m.Text) }

// Check implements [Command].
func (r Report) Check() error { return checkMessage("/text", r.Text) }

// Check implements [Command].
func (e EndTurn) Check() error { return CheckReason(e.Reason) }

// Check implements [Command].
func (e EndSession) Check() error { return CheckReason(e.Reason) }

// Check implements [Command].
func (r ResumeSession) Check() error {
	if r.Message == "" {
		return nil
	}
	return checkMessage("/message", r.Message)
}

// Check implements [Command].
func (c Complete) Check() error {
	var bad problems
	if c.Status != "" && c.Status != SessionCompleted && c.Status != SessionFailed {
		bad.add("/status", "must be completed or failed", `"status": "completed"`)
	}
	if len(c.Result) > 0 {
		checkJSON(&bad, "/result", c.Result, limits.MaxResult)
	}
	checkText(&bad, "/error", c.Error, limits.MaxText)
	return bad.err()
}

// Check implements [Command].
func (s SetTodos) Check() error {
	var bad problems
	if len(s.Todos) > limits.MaxTodos {
		bad.add("/todos", fmt.Sprintf("%d todos are too many; at most %d are allowed", len(s.Todos), limits.MaxTodos),
			"keep fewer")
		return bad.err()
	}
	for i, t := range s.Todos {
		bad.enter("/todos", i)
		checkRequired(&bad, "/content", t.Content, limits.MaxTodo)
		switch t.Status {
		case TodoPending, TodoInProgress, TodoCompleted:
		default:
			bad.add("/status", "must be pending, in_progress or completed", `"status": "pending"`)
		}
		bad.leave()
	}
	return bad.err()
}

func checkMessage(at, text string) error {
	var bad problems
	checkRequired(&bad, at, text, limits.MaxMessage)
	return bad.err()
}

// Sessions is the interface to the runs of agents. Its methods may return the errors
// that every method of [Asker] may return. Send also returns [ErrAsksOpen], and
// [ErrEnded] if the session is over for good.
type Sessions interface {
	// HostedAgents returns the agents that Askback runs itself, sorted by name.
	HostedAgents(ctx context.Context) ([]HostedAgent, error)
	// Start creates a session. With the key of an earlier session, it returns that session in its present
	// state, with Repeated set. The error is [ErrEnded] if the session is over for good and the request would
	// change its callback.
	Start(ctx context.Context, r SessionRequest) (Session, error)
	// Session returns the session with this id.
	Session(ctx context.Context, id string) (Session, error)
	// Sessions returns a page of the sessions that this principal may read.
	Sessions(ctx context.Context, q SessionQuery) (SessionPage, error)
	// Send applies a command to a session and returns its new state.
	Send(ctx context.Context, id string, t Command) (Session, error)
	// Messages returns at most limit messages of a session (0 is 50) after a
	// cursor. The cursor "" is the beginning.
	Messages(ctx context.Context, id, cursor string, limit int) (MessagePage, error)
}
