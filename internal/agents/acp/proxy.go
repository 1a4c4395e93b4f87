package acp

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"strconv"
	"strings"
	"sync"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/dialog"
	"github.com/askback/askback/internal/agents/dialog/jsonrpc2"
	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/wire/jcs"
)

const (
	// maxLine is the maximum size of a message.
	maxLine = 64 << 20
	// maxCalls is the maximum number of tool calls whose members are kept. It includes the ids that several
	// calls share.
	maxCalls = 1000
	// maxNotes is the maximum number of different notes about requests that Askback does not know.
	maxNotes = 100
)

// The reasons of withdrawn asks.
const (
	errDecided hook.Reason = "Decided in the editor"
	errStopped hook.Reason = "The turn was cancelled"
	errEnded   hook.Reason = "The agent or the editor was disconnected"
	errUnread  hook.Reason = "A message of the agent or the editor could not be read"
)

var errTooLong = errors.New("a message is longer than 64 MiB")

// A Proxy forwards the messages between an editor and an agent. Its fields must not change while
// it runs.
type Proxy struct {
	Asks    hook.Client
	Command string // the agent's command, and the agent's name until the agent sends a name
	Run     string // identifies this process, because other processes use the same ids of requests
	// Program returns the program in the labels of an agent with this name. It returns "" if the name is
	// unknown.
	Program func(agent string) string
	Note    func(text string) // called with messages for the user; calls do not overlap

	asker   *dialog.Asker
	dialogs dialog.Set[openDialog]

	agent, editor lockedWriter

	mu       sync.Mutex         // guards the fields below; not held while writing
	version  string             // the version of the protocol
	name     string             // the name of the agent
	initID   string             // the id of the editor's request initialize
	opening  map[string]string  // the folders of sessions that the editor opens, keyed by the id of the request
	folders  map[string]string  // the folders of sessions, keyed by session
	prompted string             // the session of the last prompt; requests of Cursor name no session
	asked    int                // the number of requests that people were asked about
	noted    map[string]bool    // the notes that the user gets only once
	calls    map[string]members // the members of tool calls that run, keyed by session and id
	reused   map[string]bool    // the keys of calls whose id the model gave to several calls
	crowded  bool               // no members are kept, because of maxCalls or forget
	ids      requestIDs
}

type members = map[string]json.RawMessage

// An openDialog is a request of the agent that has no answer yet. The editor knows it by another id if the
// agent used the id again.
type openDialog struct {
	question
	id, editorID json.RawMessage
}

// Start prepares p to forward messages to the writers agent and editor. Call Start before the other methods.
func (p *Proxy) Start(agent, editor io.Writer) {
	p.agent.to, p.editor.to = agent, editor
	p.asker = &dialog.Asker{Client: p.Asks, Otherwise: "only the editor asks", Notify: p.Note}
	p.name = p.Command
	p.opening, p.folders, p.calls, p.reused = map[string]string{}, map[string]string{}, map[string]members{},
		map[string]bool{}
	p.noted = map[string]bool{}
	p.ids = newRequestIDs()
}

// Watch checks repeatedly whether Askback can be reached, until ctx ends. It calls Note when the connection
// is lost or found again.
func (p *Proxy) Watch(ctx context.Context) { p.asker.Watch(ctx) }

// FromEditor forwards the messages of the editor from in to the agent until EOF. It does not forward a late
// answer.
func (p *Proxy) FromEditor(in io.Reader) error {
	return eachLine(in, func(line []byte) error {
		m, ok, err := jsonrpc2.Read(line)
		if err != nil {
			p.forget()
		}
		if ok {
			if line = p.fromEditor(m, line); line == nil {
				return nil
			}
		}
		return p.agent.write(line)
	})
}

// FromAgent forwards the messages of the agent from in to the editor until EOF, and asks people about
// requests.
func (p *Proxy) FromAgent(ctx context.Context, in io.Reader) error {
	return eachLine(in, func(line []byte) error {
		m, ok, err := jsonrpc2.Read(line)
		if err != nil {
			p.forget()
		}
		var opened *dialog.Dialog[openDialog]
		if ok {
			opened, line = p.fromAgent(ctx, m, line)
		}
		if err := p.editor.write(line); err != nil {
			return err
		}
		if opened != nil {
			p.dialogs.Ask(opened, func(ctx context.Context) { p.ask(ctx, opened) })
		}
		return nil
	})
}

// Close ends all dialogs and waits until their asks are withdrawn. A later decision of a person has no
// effect.
func (p *Proxy) Close() {
	p.dialogs.EndAll(errEnded)
	p.dialogs.Wait()
}

// fromEditor handles a message of the editor. It returns the message to forward, or nil if the message is a
// late answer.
func (p *Proxy) fromEditor(m jsonrpc2.Message, line []byte) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	id := string(m.ID)
	switch method := m.Method; {
	case method == "":
		agentID, late := p.ids.answeredByEditor(id)
		if late {
			return nil
		}
		p.dialogs.End(errDecided, func(d openDialog) bool { return string(d.id) == agentID })
		return withID(line, id, agentID)
	case method == "initialize":
		p.initID = id
	case method == "session/cancel":
		session := jsonrpc2.StringAt(m.Params, "sessionId")
		p.dialogs.End(errStopped, func(d openDialog) bool { return d.session == session })
	case method == "session/prompt":
		p.prompted = jsonrpc2.StringAt(m.Params, "sessionId")
	case m.ID != nil && jsonrpc2.At(m.Params, "cwd") != nil:
		if session := jsonrpc2.StringAt(m.Params, "sessionId"); session != "" {
			p.folders[session] = jsonrpc2.StringAt(m.Params, "cwd")
		}
		p.opening[id] = jsonrpc2.StringAt(m.Params, "cwd")
	}
	return line
}

// fromAgent handles a message of the agent before it is forwarded. It returns the dialog that the message
// opens, if any, and the message to forward.
func (p *Proxy) fromAgent(
	ctx context.Context, m jsonrpc2.Message, line []byte,
) (*dialog.Dialog[openDialog], []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m.IsRequest() {
		editorID := p.ids.forEditor(string(m.ID))
		return p.request(ctx, m, editorID), withID(line, string(m.ID), editorID)
	}
	switch id := string(m.ID); m.Method {
	case "":
		p.response(id, m)
	case "session/update":
		p.update(jsonrpc2.StringAt(m.Params, "sessionId"), jsonrpc2.At(m.Params, "update"))
	case "$/cancel_request":
		request := string(jsonrpc2.CanonicalID(jsonrpc2.At(m.Params, "requestId")))
		p.dialogs.End(errStopped, func(d openDialog) bool { return string(d.id) == request })
		if editorID := p.ids.atEditor(request); editorID != request {
			line = cancellation(json.RawMessage(editorID))
		}
	}
	return nil, line
}

// response handles the response of the agent to the request of the editor with an id.
func (p *Proxy) response(id string, m jsonrpc2.Message) {
	if id == p.initID && p.initID != "" {
		p.version = string(jsonrpc2.At(m.Result, "protocolVersion"))
		if name := jsonrpc2.StringAt(m.Result, "agentInfo", "name"); name != "" {
			p.name = name
		}
	}
	if folder, ok := p.opening[id]; ok {
		delete(p.opening, id)
		if session := jsonrpc2.StringAt(m.Result, "sessionId"); session != "" {
			p.folders[session] = folder
		}
	}
}

// update stores the members of a tool call, because a request for a permission refers to them. It deletes the
// members when the call ends. If the members change while people are asked about the call, update ends the
// dialog, because people would approve something else. For the same reason, update stores no members for
// calls that share an id. A form, a question and a plan are complete in their request, and stay: Claude's agent
// sends the members of its question after the form.
func (p *Proxy) update(session string, update json.RawMessage) {
	kind, id := jsonrpc2.StringAt(update, "sessionUpdate"), jsonrpc2.StringAt(update, "toolCallId")
	if kind != "tool_call" && kind != "tool_call_update" || id == "" {
		return
	}
	key := session + "\n" + id
	before := p.calls[key]
	call := maps.Clone(before)
	if call == nil || kind == "tool_call" {
		call = members{}
	}
	for _, name := range shownMembers {
		if value := jsonrpc2.At(update, name); value != nil && string(value) != "null" {
			call[name] = bytes.Clone(value)
		}
	}
	if !maps.EqualFunc(call, before, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
		p.dialogs.End(errStopped, func(d openDialog) bool {
			return d.refers && d.session == session && d.tool == id
		})
		if kind == "tool_call" && before != nil {
			p.reused[key] = true
		}
	}
	if status := jsonrpc2.StringAt(update, "status"); p.crowded || p.reused[key] ||
		status == "completed" || status == "failed" {
		delete(p.calls, key)
		return
	}
	p.calls[key] = call
	if len(p.calls)+len(p.reused) > maxCalls {
		// Keeping only some calls would hide reused ids. Without stored members, people see less of a call,
		// or only the editor asks about the call.
		p.crowded = true
		clear(p.calls)
	}
}

// forget ends all dialogs and discards the members of all tool calls. No members are kept afterwards. It
// handles a message that could not be read. The message may have changed a call that people are asked about,
// or reused the id of a call.
func (p *Proxy) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dialogs.End(errUnread, func(openDialog) bool { return true })
	p.crowded = true
	clear(p.calls)
}

// request opens a dialog about the request m, which the editor knows by the id editorID. It returns nil if
// only the editor can ask, if m asks nothing, or if the dialog is already open. The user gets a note if a
// request that may ask something is left to the editor. p.mu must be held.
func (p *Proxy) request(ctx context.Context, m jsonrpc2.Message, editorID string) *dialog.Dialog[openDialog] {
	if m.Method != methodPermission && m.Method != methodForm && extensions[m.Method] == nil {
		if !asksNothing(m.Method) {
			p.noteOnce("The agent sent the request " + m.Method + ", which Askback does not know. If it asks " +
				"something, " + p.asker.Otherwise + ".")
		}
		return nil
	}
	if p.version != "1" {
		p.noteOnce("The agent does not use version 1 of the Agent Client Protocol, so " + p.asker.Otherwise + ".")
		return nil
	}
	session, tool := p.sessionOf(m), jsonrpc2.StringAt(m.Params, "toolCall", "toolCallId")
	key := session + "\n" + tool
	if (p.crowded || p.reused[key]) && m.Method == methodPermission &&
		jsonrpc2.At(m.Params, "toolCall", "rawInput") == nil {
		p.asker.NoteUnasked(errUnknownCall) // the editor may show arguments that are not known here
		return nil
	}
	from := origin{
		Origin: hook.Origin{Session: session, CWD: p.folders[session]}, Agent: p.name,
		label: hook.Label(cmp.Or(p.Program(p.name), hook.ReadableName(p.name), Name), p.folders[session]),
	}
	p.asked++ // an agent may use an id again
	q, err := readQuestion(m.Method, m.Params, string(m.ID)+" "+strconv.Itoa(p.asked), p.Run, from, p.calls[key])
	if errors.Is(err, errOwn) {
		p.noteOnce("Askback does not ask about its own tools, so " + p.asker.Otherwise + ": " + err.Error())
		return nil
	}
	if err != nil {
		p.asker.NoteUnasked(err)
		return nil
	}
	return p.dialogs.Open(context.WithoutCancel(ctx), string(m.ID),
		openDialog{q, bytes.Clone(m.ID), json.RawMessage(editorID)})
}

// errUnknownCall is the reason why a permission is left to the editor if the arguments of its call are not
// known.
var errUnknownCall = errors.New("what the call will do is not known here")

// sessionOf returns the session of a request. A request of Cursor names only its tool call, or nothing: it is
// then of the session of the last prompt.
func (p *Proxy) sessionOf(m jsonrpc2.Message) string {
	if session := jsonrpc2.StringAt(m.Params, "sessionId"); session != "" || extensions[m.Method] == nil {
		return session
	}
	if tool := jsonrpc2.StringAt(m.Params, "toolCallId"); tool != "" {
		for key := range p.calls {
			if session, found := strings.CutSuffix(key, "\n"+tool); found {
				return session
			}
		}
	}
	return p.prompted
}

// noteOnce notifies the user, unless the user got the same note before. p.mu must be held.
func (p *Proxy) noteOnce(text string) {
	if !p.noted[text] && len(p.noted) < maxNotes {
		p.noted[text] = true
		p.asker.Note(text)
	}
}

// ask asks people and, if they are first, answers the agent and cancels the editor's dialog.
func (p *Proxy) ask(ctx context.Context, open *dialog.Dialog[openDialog]) {
	d := open.About
	p.asker.Ask(ctx, d.ask, func(ask askback.Ask) bool {
		result, ok := d.result(ask)
		if !ok {
			p.asker.NoteUndelivered(ask)
		}
		if !p.decide(open, ok) || p.agent.send(response(d.id, result)) != nil {
			return false
		}
		_ = p.editor.write(cancellation(d.editorID))
		return true
	})
	p.dialogs.Close(open)
}

// decide removes a dialog. ok is true if Askback has an answer. decide reports whether this answer must be
// sent to the agent.
func (p *Proxy) decide(open *dialog.Dialog[openDialog], ok bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.dialogs.Close(open) || !ok {
		return false
	}
	p.ids.answeredHere(string(open.About.editorID))
	return true
}

func response(id json.RawMessage, result any) any {
	return map[string]any{"jsonrpc": "2.0", "id": id, "result": result}
}

// A lockedWriter writes whole messages, one at a time.
type lockedWriter struct {
	mu sync.Mutex
	to io.Writer
}

func (w *lockedWriter) write(line []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.to.Write(line)
	return err
}

func (w *lockedWriter) send(message any) error {
	line, _ := jcs.Marshal(message) // the values are valid JSON
	return w.write(append(line, '\n'))
}

// eachLine calls do with each line of in, including its newline, until do returns an error. The error is nil
// at EOF.
func eachLine(in io.Reader, do func([]byte) error) error {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := readLine(r)
		if len(line) > 0 {
			if err := do(line); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if line = append(line, part...); len(line) > maxLine {
			return nil, errTooLong
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}
