package acp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"sync"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/hook"
	"github.com/askback/askback/internal/jcs"
	"github.com/askback/askback/internal/jsonrpc2"
)

const (
	// maxLine is the maximum size of a message.
	maxLine = 64 << 20
	// maxCalls is the number of tool calls that may run at once. Agents end each call.
	maxCalls = 1000
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
	Command string            // of the agent, for its name
	Run     string            // a unique text of this process, because ids of requests repeat
	Note    func(text string) // called with what the user should know

	asks sync.WaitGroup

	agent, editor lockedWriter

	mu       sync.Mutex // guards what follows; not held while writing
	over     bool
	version  string             // of the protocol
	name     string             // of the agent
	started  string             // the id of the editor's request initialize
	opening  map[string]string  // the folders of sessions that the editor opens, by the id of the request
	folders  map[string]string  // the folders of sessions
	calls    map[string]members // tool calls that run, by session and id
	reused   map[string]bool    // the same, for ids of several calls at once, which the model can make
	crowded  bool               // nothing is kept of any call: more than maxCalls ran at once, or see forget
	open     map[string]*dialog // by the id of the request
	answered map[string]bool    // requests that Askback answered, and the editor has not answered yet
}

type members = map[string]json.RawMessage

// A dialog is a request of the agent that has no answer yet.
type dialog struct {
	question
	id     json.RawMessage
	start  func()
	cancel context.CancelCauseFunc
}

// Start prepares the proxy for an agent and an editor, to which it writes.
func (p *Proxy) Start(agent, editor io.Writer) {
	p.agent.to, p.editor.to = agent, editor
	p.name = p.Command
	p.opening, p.folders, p.calls, p.reused = map[string]string{}, map[string]string{}, map[string]members{}, map[string]bool{}
	p.open, p.answered = map[string]*dialog{}, map[string]bool{}
}

// FromEditor forwards the messages of the editor, until they end.
func (p *Proxy) FromEditor(in io.Reader) error {
	return eachLine(in, func(line []byte) error {
		m, ok, err := jsonrpc2.Read(line)
		if err != nil {
			p.forget()
		}
		if ok && !p.editorSaid(m) {
			return nil
		}
		return p.agent.write(line)
	})
}

// FromAgent forwards the messages of the agent, until they end.
func (p *Proxy) FromAgent(ctx context.Context, in io.Reader) error {
	return eachLine(in, func(line []byte) error {
		m, ok, err := jsonrpc2.Read(line)
		if err != nil {
			p.forget()
		}
		if ok && p.reusesID(m) {
			p.agent.send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": -32600, "message": "this id is in use"}})
			return nil
		}
		var opened *dialog
		if ok {
			opened = p.agentSaid(ctx, m)
		}
		if err := p.editor.write(line); err != nil {
			return err
		}
		if opened != nil {
			opened.start()
		}
		return nil
	})
}

// Close ends all dialogs. What the person decides afterwards has no effect.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.over = true
	p.end(errEnded, func(*dialog) bool { return true })
	p.mu.Unlock()
	p.asks.Wait()
}

// editorSaid handles a message of the editor. It reports false if the message is a late answer, which
// must not be forwarded.
func (p *Proxy) editorSaid(m jsonrpc2.Message) (forward bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	id := string(m.ID)
	switch method := m.Method; {
	case method == "" && p.answered[id]:
		delete(p.answered, id)
		return false
	case method == "":
		p.end(errDecided, func(d *dialog) bool { return string(d.id) == id })
	case method == "initialize":
		p.started = id
	case method == "session/cancel":
		session := jsonrpc2.StringAt(m.Params, "sessionId")
		p.end(errStopped, func(d *dialog) bool { return d.session == session })
	case m.ID != nil && jsonrpc2.At(m.Params, "cwd") != nil:
		if session := jsonrpc2.StringAt(m.Params, "sessionId"); session != "" {
			p.folders[session] = jsonrpc2.StringAt(m.Params, "cwd")
		}
		p.opening[id] = jsonrpc2.StringAt(m.Params, "cwd")
	}
	return true
}

// reusesID reports whether the agent sends a request with the id of one that Askback
// answered, and to which the editor's answer is still expected. That answer could be taken
// for one to the new request.
func (p *Proxy) reusesID(m jsonrpc2.Message) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return m.IsRequest() && p.answered[string(m.ID)]
}

// agentSaid handles a message of the agent before it is forwarded. It returns the dialog that
// the message opens, if any.
func (p *Proxy) agentSaid(ctx context.Context, m jsonrpc2.Message) *dialog {
	p.mu.Lock()
	defer p.mu.Unlock()
	id := string(m.ID)
	switch method := m.Method; method {
	case "":
		if id == p.started && p.started != "" {
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
	case "session/update":
		p.update(jsonrpc2.StringAt(m.Params, "sessionId"), jsonrpc2.At(m.Params, "update"))
	case "$/cancel_request":
		request := string(jsonrpc2.CanonicalID(jsonrpc2.At(m.Params, "requestId")))
		p.end(errStopped, func(d *dialog) bool { return string(d.id) == request })
	case methodPermission, methodForm:
		if m.ID != nil {
			return p.request(ctx, m)
		}
	}
	return nil
}

// update keeps the members of a tool call, which its permission refers to. If they change while a
// permission is asked, its ask ends, because people would approve something else. For the same reason,
// nothing is kept of calls that have the same id.
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
		p.end(errStopped, func(d *dialog) bool { return d.session == session && d.tool == id })
		if kind == "tool_call" && before != nil {
			p.reused[key] = true
		}
	}
	if status := jsonrpc2.StringAt(update, "status"); p.crowded || p.reused[key] || status == "completed" || status == "failed" {
		delete(p.calls, key)
		return
	}
	p.calls[key] = call
	if len(p.calls)+len(p.reused) > maxCalls {
		// If some were kept, reused ids would not be noticed. Without its call, a permission
		// shows less, or is left to the editor.
		p.crowded = true
		clear(p.calls)
	}
}

// forget ends all dialogs, and keeps no more tool calls. It is for a message that was not understood: it may
// have changed a call that people are asked about, or have the id of one.
func (p *Proxy) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end(errUnread, func(*dialog) bool { return true })
	p.crowded = true
	clear(p.calls)
}

// request opens a dialog. It returns nil if only the editor can ask. p.mu must be
// held.
func (p *Proxy) request(ctx context.Context, m jsonrpc2.Message) *dialog {
	session := jsonrpc2.StringAt(m.Params, "sessionId")
	key := session + "\n" + jsonrpc2.StringAt(m.Params, "toolCall", "toolCallId")
	call := p.calls[key]
	if (p.crowded || p.reused[key]) && m.Method == methodPermission && jsonrpc2.At(m.Params, "toolCall", "rawInput") == nil {
		return nil // the editor may show arguments that are not known here
	}
	from := origin{Origin: hook.Origin{CWD: p.folders[session]}, Agent: p.name}
	q, ok := readQuestion(m.Method, m.Params, string(m.ID), p.Run, from, call)
	if !ok || p.over || p.version != "1" || p.open[string(m.ID)] != nil {
		return nil
	}
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	d := &dialog{question: q, id: bytes.Clone(m.ID), cancel: cancel}
	d.start = func() { p.asks.Go(func() { p.race(ctx, d) }) }
	p.open[string(d.id)] = d
	return d
}

// race asks people and, if they are first, answers the agent and cancels the editor's dialog.
func (p *Proxy) race(ctx context.Context, d *dialog) {
	defer d.cancel(nil)
	ask, err := hook.Race(ctx, p.Asks, d.ask, func(err error) {
		p.Note("Askback cannot be reached, so only the editor asks: " + err.Error())
	})
	if err != nil && ctx.Err() == nil {
		p.Note("Not asked, so only the editor asks: " + err.Error())
	}
	result, ok := p.decide(d, ask, err)
	if !ok {
		return
	}
	p.agent.send(response(d.id, result))
	p.editor.send(map[string]any{"jsonrpc": "2.0", "method": "$/cancel_request", "params": map[string]any{"requestId": d.id}})
	hook.Delivered(ctx, p.Asks, ask)
}

// decide removes a dialog. It returns the result to send, or false if the agent must not get one from Askback.
func (p *Proxy) decide(d *dialog, ask askback.Ask, err error) (any, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	live := p.open[string(d.id)] == d
	if live {
		delete(p.open, string(d.id))
	}
	if !live || err != nil {
		return nil, false
	}
	result, ok := d.result(ask)
	p.answered[string(d.id)] = p.answered[string(d.id)] || ok
	return result, ok
}

// end ends the dialogs that which selects. p.mu must be held.
func (p *Proxy) end(cause error, which func(*dialog) bool) {
	for id, d := range p.open {
		if which(d) {
			delete(p.open, id)
			d.cancel(cause)
		}
	}
}

func response(id json.RawMessage, result any) any {
	return map[string]any{"jsonrpc": "2.0", "id": id, "result": result}
}

// A lockedWriter writes whole messages.
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

func (w *lockedWriter) send(message any) {
	line, _ := jcs.Marshal(message) // its values are valid JSON
	_ = w.write(append(line, '\n')) // the reader notices that the other side has ended
}

// eachLine calls do with each line, including its end. The error is nil at the end of the input.
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
