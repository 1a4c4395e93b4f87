package view

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
)

// A RunEvent is an event of a session, for display. Its fields depend on its type (docs/wire.md §4).
type RunEvent struct {
	Type    askback.EventType
	Seq     int64 // 0 if the event is not part of the history
	At      time.Time
	State   string        // set for state_change
	Message *RunMessage   // set for message, message_queued and message_delta
	Call    *Call         // set for tool_input_ready, tool_start and tool_complete
	Todos   []Todo        // set for todos_changed
	Session *Session      // set for session_started and the ends of a session
	Ask     *Ask          // set for question_pending and the ends of an ask
	AskID   safetext.Text // set for the events of an ask
}

// A RunMessage is a message of a run, or the received part of a message.
type RunMessage struct {
	Text    safetext.Text
	By      safetext.Text // person who wrote the message; empty if no person wrote it
	OfAgent bool
	// Markdown is a whole message with its formatting; nil for a part, and for a text that is shown exactly.
	Markdown Markdown

	Final bool // whether the turn ends with the message
	Again bool // for a part: whether the model began again, so that the text before it is void
}

// A Call is a tool call of a run.
type Call struct {
	ID        string
	Tool      safetext.Text
	Server    safetext.Text // empty for a tool of Askback
	Line      safetext.Text // the beginning of the arguments, in one line
	Arguments safetext.Text // all arguments
	Output    safetext.Text
	Asks      bool // whether people are asked, so that the call is shown as an ask
	SetsTodos bool
	Started   bool // whether the tool runs, or ran
	Finished  bool
	Failed    bool
	// Withheld is true if the reader may not see the question about the call. The arguments and the output are
	// then empty.
	Withheld bool
}

// A Run reads the events of one session, in their order. The zero value is ready to use.
type Run struct {
	request int    // number of the request to the model whose text is arriving
	text    string // received text of that request
	calls   map[string]*Call
}

// runData is the data of the events that a [Run] reads.
type runData struct {
	Type    string           `json:"type"`
	Role    askback.Role     `json:"role"`
	By      string           `json:"by"`
	Text    string           `json:"text"`
	Final   bool             `json:"final"`
	Request int              `json:"request"`
	Offset  int              `json:"offset"`
	CallID  json.RawMessage  `json:"call_id"`
	Tool    string           `json:"tool"`
	Name    string           `json:"name"`
	Input   json.RawMessage  `json:"input"`
	IsError bool             `json:"is_error"`
	Hidden  bool             `json:"withheld"`
	Output  json.RawMessage  `json:"output"`
	Todos   []askback.Todo   `json:"todos"`
	Session *askback.Session `json:"session"`
	AskID   string           `json:"question_id"`
	Ask     *askback.Ask     `json:"ask"`
}

// Read returns the view of an event. It omits data that it cannot read.
func (r *Run) Read(ev askback.Event) RunEvent {
	e := RunEvent{Type: ev.Type, Seq: ev.Seq, At: ev.At}
	var d runData
	if json.Unmarshal(ev.Data, &d) != nil {
		return e
	}
	e.State, e.AskID = d.Type, safetext.Line(d.AskID)
	if d.Session != nil {
		s := SessionOf(*d.Session)
		e.Session = &s
	}
	if d.Ask != nil {
		a := Of(*d.Ask)
		e.Ask = &a
	}
	switch ev.Type {
	case askback.EventMessageDelta:
		e.Message = r.delta(d)
	case askback.EventMessage, askback.EventMessageQueued:
		e.Message = r.message(ev.Type, d)
	case askback.EventToolInput, askback.EventToolStart, askback.EventToolComplete:
		e.Call = r.call(ev.Type, d)
	case askback.EventTodosChanged:
		e.Todos = todosOf(d.Todos)
	}
	return e
}

// delta adds a part to the text of a request, and returns the text so far. The beginning is missing if it was
// not received. If the part differs from text that was received, the model began again: the part replaces
// that text and what follows.
func (r *Run) delta(d runData) *RunMessage {
	m := &RunMessage{OfAgent: true}
	switch {
	case d.Request != r.request:
		r.request, r.text = d.Request, d.Text
	case d.Offset >= 0 && d.Offset < len(r.text):
		m.Again = !strings.HasPrefix(r.text[d.Offset:], d.Text)
		if m.Again || d.Offset+len(d.Text) > len(r.text) {
			r.text = r.text[:d.Offset] + d.Text
		}
	default:
		r.text += d.Text
	}
	m.Text = safetext.Block(r.text)
	return m
}

// message returns a message. A message of the agent replaces the received parts of its text.
func (r *Run) message(kind askback.EventType, d runData) *RunMessage {
	m := &RunMessage{
		Text: safetext.Block(d.Text), By: safetext.Name(d.By), OfAgent: d.Role == askback.RoleAssistant, Final: d.Final,
	}
	m.Markdown = formattedMessage(m.OfAgent, d.Text)
	if m.OfAgent && kind == askback.EventMessage {
		r.text = ""
	}
	return m
}

// call returns the call of an event, with the data of earlier events about the call.
func (r *Run) call(kind askback.EventType, d runData) *Call {
	id := strings.Trim(string(d.CallID), `"`)
	c := Call{ID: id, Tool: safetext.Line(id)}
	if known := r.calls[id]; known != nil {
		c = *known
	}
	if name := cmp.Or(d.Name, d.Tool); name != "" {
		server, tool := splitTool(name)
		c.Tool, c.Server = safetext.Line(tool), safetext.Line(server)
		c.Asks, c.SetsTodos = isAskTool(name), name == "todo_write"
	}
	c.Withheld = c.Withheld || d.Hidden
	if len(d.Input) > 0 && !c.Withheld {
		c.Line = oneLine(d.Input)
		c.Arguments, _ = FormatJSON(d.Input)
	}
	switch kind {
	case askback.EventToolStart:
		c.Started = true
	case askback.EventToolComplete:
		c.Finished, c.Failed, c.Output = true, d.IsError, safetext.Block(outputText(d.Output))
	}
	if r.calls == nil {
		r.calls = map[string]*Call{}
	}
	r.calls[id] = &c
	return &c
}

// Name returns the tool with its server, as on the page of an ask about the call.
func (c Call) Name() safetext.Text {
	if c.Server.String() == "" {
		return c.Tool
	}
	return safetext.Line(c.Tool.String() + " (" + c.Server.String() + ")")
}

// splitTool returns the server and the tool in a name such as server__tool. A name that could be read in two
// ways, or is shortened and ends in a hash, is returned as the tool.
func splitTool(name string) (server, tool string) {
	server, tool, found := strings.Cut(name, "__")
	if !found || server == "" || tool == "" || strings.HasPrefix(tool, "_") || strings.Contains(tool, "__") ||
		strings.Contains(name, ".") || hashedName.MatchString(name) {
		return "", name
	}
	return server, tool
}

// hashedName matches the names of tools that package agent has changed.
var hashedName = regexp.MustCompile(`_[0-9a-f]{10}$`)

// isAskTool reports whether a tool of this name asks people.
func isAskTool(name string) bool { return name == "ask_user_question" || name == "confirm_action" }

// outputText returns the output of a tool: a text, or JSON.
func outputText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// todosOf returns the views of todos, in the same order.
func todosOf(all []askback.Todo) (out []Todo) {
	for _, t := range all {
		out = append(out,
			Todo{safetext.Line(t.Content), t.Status == askback.TodoCompleted, t.Status == askback.TodoInProgress})
	}
	return out
}
