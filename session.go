package askback

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// A Session is one run of one agent (wire.md §1). Its status follows from its
// asks until it ends: an open ask makes it wait.
type Session struct {
	ID          string
	Agent       string // the label of who runs, for people
	Owner       string // the name of the token that runs it
	Hosted      bool   // run by Askback itself
	Title       string
	Status      SessionStatus
	Phase       string // "idle" of a session whose turn ended and may go on
	Payload     json.RawMessage
	Result      json.RawMessage // any JSON
	Error       string
	Metadata    json.RawMessage // a JSON object
	Todos       []Todo
	ParentID    string
	AsksPending int
	AsksTotal   int
	Tokens      int64
	CostUSD     float64
	CreatedAt   time.Time
	UpdatedAt   time.Time
	CompletedAt time.Time // zero: it has not ended
	ResumedAt   time.Time // when its present turn began; zero: with the session

	// Repeated says that Start found this session by its key instead of making
	// it. It is not on the wire.
	Repeated bool
}

// Ended says whether the session is over, for good or until it is resumed.
func (s Session) Ended() bool { return s.Status != SessionRunning && s.Status != SessionWaiting }

// Final reports whether the session is over for good: it failed, it was cancelled,
// or its agent completed it. A session whose turn ended (phase idle) goes on with a
// message, an ask or a resumption.
func (s Session) Final() bool { return s.Ended() && s.Phase != "idle" }

// A SessionStatus is where a session stands.
type SessionStatus string

// The statuses of a session. Failed and cancelled are for good, and so is completed
// unless the phase is idle.
const (
	SessionRunning   SessionStatus = "running"
	SessionWaiting   SessionStatus = "waiting_for_input"
	SessionCompleted SessionStatus = "completed"
	SessionFailed    SessionStatus = "failed"
	SessionCancelled SessionStatus = "cancelled"
)

// A Todo is one thing an agent means to do.
type Todo struct {
	Content string     `json:"content"`
	Status  TodoStatus `json:"status"`
}

// A TodoStatus is where a todo stands.
type TodoStatus string

// The statuses of a todo.
const (
	TodoPending    TodoStatus = "pending"
	TodoInProgress TodoStatus = "in_progress"
	TodoCompleted  TodoStatus = "completed"
)

// The limits of sessions, in code points; the JSON in bytes.
const (
	MaxTodos    = 100
	MaxTodo     = 500
	MaxMessage  = 200_000
	MaxResult   = 1 << 20
	MaxMetadata = 1 << 16
)

// A SessionRequest announces a run that happens elsewhere.
type SessionRequest struct {
	Key      string // the asker's own name for its run: the same key is the same session
	Agent    string // a label for people; "" is the asker's name
	Title    string
	Metadata json.RawMessage // a JSON object
}

// Check says whether a session can be made of this; the error is [Invalid].
func (r SessionRequest) Check() error {
	var bad problems
	name(&bad, "/session_key", r.Key, MaxKey)
	name(&bad, "/agent", r.Agent, MaxName)
	text(&bad, "/title", r.Title, MaxName)
	checkObject(&bad, "/metadata", r.Metadata, MaxMetadata)
	return bad.err()
}

func checkObject(bad *problems, at string, raw json.RawMessage, limit int) {
	if len(raw) == 0 {
		return
	}
	checkJSON(bad, at, raw, limit)
	if strings.TrimLeft(string(raw), " \t\r\n")[:1] != "{" {
		bad.add(at, "this is no object", "{}")
	}
}

func checkJSON(bad *problems, at string, raw json.RawMessage, limit int) {
	switch {
	case len(raw) > limit:
		bad.add(at, fmt.Sprintf("%d bytes; at most %d", len(raw), limit), "shorten it")
	case !json.Valid(raw) || !utf8.Valid(raw):
		bad.add(at, "this is no JSON in UTF-8", "{}")
	}
}

// A SessionQuery selects sessions. The zero value selects all, newest first.
type SessionQuery struct {
	Status SessionStatus // "" is every one
	Agent  string        // the agent's label
	Search string        // only those whose title or label contains this, in any case
	Cursor string        // NextCursor of the page before
	Limit  int           // 1 to 200; 0 is 50
}

// Check says whether a query can be answered; the error is [Invalid].
func (q SessionQuery) Check() error {
	var bad problems
	switch q.Status {
	case "", SessionRunning, SessionWaiting, SessionCompleted, SessionFailed, SessionCancelled:
	default:
		bad.add("/status", "a status is running, waiting_for_input, completed, failed or cancelled", "status=running")
	}
	checkLimit(&bad, q.Limit)
	return bad.err()
}

// A SessionPage is a part of a list of sessions.
type SessionPage struct {
	Items      []Session
	NextCursor string // "" after the last page
}

// A Message is something said in a session.
type Message struct {
	Seq  int64 // its place in the session's history
	Role Role
	By   string // who said it, where that is a person
	Text string
	At   time.Time
}

// A Role says from which side a message comes.
type Role string

// The roles.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// A MessagePage is a part of what was said, oldest first.
type MessagePage struct {
	Items      []Message
	NextCursor string // "" after the last page
}

// A Tell is something said to a session: [SendMessage], [Report], [EndTurn],
// [EndSession], [ResumeSession], [Complete] or [SetTodos].
type Tell interface {
	// Action is what a principal must be allowed to do.
	Action() Action
	// Check says whether it can be said; the error is [Invalid].
	Check() error
	tell()
}

// SendMessage is a person speaking to the run. It answers no ask.
type SendMessage struct{ Text string }

// Report is the run saying something to those who follow it.
type Report struct {
	Text  string
	Final bool
}

// EndTurn ends the present turn (wire.md §1): open asks are cancelled, and a message
// or [ResumeSession] starts the next one.
type EndTurn struct{ Reason string }

// EndSession cancels the run for good, with its open asks.
type EndSession struct{ Reason string }

// ResumeSession starts the next turn. [ErrAsksOpen] while an ask is open.
type ResumeSession struct{ Message string }

// Complete says how the run ended. Open asks are withdrawn.
type Complete struct {
	Status SessionStatus   // completed or failed; "" is completed
	Result json.RawMessage // any JSON
	Error  string
}

// SetTodos replaces what the run means to do.
type SetTodos struct{ Todos []Todo }

// Action implements [Tell].
func (SendMessage) Action() Action { return ActMessage }

// Action implements [Tell].
func (Report) Action() Action { return ActReport }

// Action implements [Tell].
func (EndTurn) Action() Action { return ActEnd }

// Action implements [Tell].
func (EndSession) Action() Action { return ActEnd }

// Action implements [Tell].
func (ResumeSession) Action() Action { return ActResume }

// Action implements [Tell].
func (Complete) Action() Action { return ActReport }

// Action implements [Tell].
func (SetTodos) Action() Action { return ActReport }

func (SendMessage) tell()   {}
func (Report) tell()        {}
func (EndTurn) tell()       {}
func (EndSession) tell()    {}
func (ResumeSession) tell() {}
func (Complete) tell()      {}
func (SetTodos) tell()      {}

// Check implements [Tell].
func (m SendMessage) Check() error { return checkSaid("/text", m.Text) }

// Check implements [Tell].
func (r Report) Check() error { return checkSaid("/text", r.Text) }

// Check implements [Tell].
func (e EndTurn) Check() error { return CheckReason(e.Reason) }

// Check implements [Tell].
func (e EndSession) Check() error { return CheckReason(e.Reason) }

// Check implements [Tell].
func (r ResumeSession) Check() error {
	if r.Message == "" {
		return nil
	}
	return checkSaid("/message", r.Message)
}

// Check implements [Tell].
func (c Complete) Check() error {
	var bad problems
	if c.Status != "" && c.Status != SessionCompleted && c.Status != SessionFailed {
		bad.add("/status", "a run ends completed or failed", `"status": "completed"`)
	}
	if len(c.Result) > 0 {
		checkJSON(&bad, "/result", c.Result, MaxResult)
	}
	text(&bad, "/error", c.Error, MaxText)
	return bad.err()
}

// Check implements [Tell].
func (s SetTodos) Check() error {
	var bad problems
	if len(s.Todos) > MaxTodos {
		bad.add("/todos", fmt.Sprintf("%d todos; at most %d", len(s.Todos), MaxTodos), "keep fewer")
		return bad.err()
	}
	for i, t := range s.Todos {
		at := fmt.Sprintf("/todos/%d", i)
		required(&bad, at+"/content", t.Content, MaxTodo)
		switch t.Status {
		case TodoPending, TodoInProgress, TodoCompleted:
		default:
			bad.add(at+"/status", "a todo is pending, in_progress or completed", `"status": "pending"`)
		}
	}
	return bad.err()
}

func checkSaid(at, said string) error {
	var bad problems
	required(&bad, at, said, MaxMessage)
	return bad.err()
}

// Sessions are the runs of agents. The errors are those of [Asker], and
// [ErrEnded] where a session is over for good.
type Sessions interface {
	// Start announces a run. With the key of an earlier one it returns that,
	// Repeated, as it stands now.
	Start(ctx context.Context, r SessionRequest) (Session, error)
	// Session returns a session.
	Session(ctx context.Context, id string) (Session, error)
	// Sessions returns the sessions this principal may see.
	Sessions(ctx context.Context, q SessionQuery) (SessionPage, error)
	// Tell says something to a session, and returns it as it then stands.
	Tell(ctx context.Context, id string, t Tell) (Session, error)
	// Messages returns what was said in a session after a cursor ("" is the
	// beginning), at most limit (0 is 50).
	Messages(ctx context.Context, id, cursor string, limit int) (MessagePage, error)
}
