package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/conversation"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/store"
)

// KindRun is the kind of the record of a hosted run. The id of the record is the id of the session. The model
// of the run reads the events of that session. The record is found only by its id and is in no list or index.
// A list would have the run twice, and each index would cost as much as the state of the run.
const KindRun = "run"

// runFormat is the version number of the fixed part of a run. In format 1, the fixed part repeated columns of
// the record: the id, the agent, and the person who started the run as the owner.
const runFormat = 2

// A runFixed is the part of a run that never changes.
type runFixed struct {
	Format int `json:"format"`
	conversation.Run
	StartedBy string `json:"started_by,omitempty"` // the person who started the run, or ""

	// Parent, Call and Child are set for a child. Parent is the session of the run that started the child.
	// Call is the number of the call in that run, and Child the index of its task.
	Parent string `json:"parent,omitempty"`
	Call   int    `json:"call,omitempty"`
	Child  int    `json:"child,omitempty"`
}

// A runRecord is a stored run that a tx has read or made.
type runRecord struct {
	row     store.Record // the columns of the record, without Fixed and State
	fixed   runFixed
	state   conversation.State
	changed bool
	cancel  lifecycle.Cancelled // cancels the open ask of the run, if a step ends the turn
}

// lockRun locks and reads a run, unless the tx holds the run already. A tx locks runs before other records.
func lockRun(t *txn.Tx, id string) (*runRecord, error) {
	for _, r := range t.Records {
		if r, ok := r.(*runRecord); ok && r.row.ID == id {
			return r, nil
		}
	}
	if err := t.Lock(KindRun + " " + id); err != nil { // the session of the run has the same id
		return nil, err
	}
	row, err := t.DB.Store.Read(t.Context(), KindRun, id)
	if err != nil {
		return nil, err
	}
	r, err := decodeRun(row)
	if err != nil {
		return nil, err
	}
	return addRun(t, r), nil
}

// lockKnownRun locks a run that was read before, and does not read the run again. If the run has changed
// since it was read, the commit is a conflict, and the next attempt reads the run.
func lockKnownRun(t *txn.Tx, known *runRecord) (*runRecord, error) {
	if t.Attempt > 0 {
		return lockRun(t, known.row.ID)
	}
	if err := t.Lock(KindRun + " " + known.row.ID); err != nil {
		return nil, err
	}
	return addRun(t, &runRecord{row: known.row, fixed: known.fixed, state: known.state}), nil
}

// addRun adds a run that was read to the tx.
func addRun(t *txn.Tx, r *runRecord) *runRecord {
	t.Append(r, r.row.Updated)
	return r
}

// decodeRun returns the run in a record.
func decodeRun(row store.Record) (*runRecord, error) {
	r := &runRecord{row: row}
	r.row.Fixed, r.row.State = nil, nil
	err := json.Unmarshal(row.Fixed, &r.fixed)
	if err == nil && r.fixed.Format > runFormat {
		err = fmt.Errorf("run %s is stored in format %d, and this release reads up to %d: use a newer release", row.ID,
			r.fixed.Format, runFormat)
	}
	r.fixed.ID = row.ID
	if r.fixed.Format > 1 {
		r.fixed.Agent, r.fixed.StartedBy = row.Agent, row.Owner
	}
	if err == nil {
		r.state, err = conversation.Decode(row.State)
	}
	_, err = txn.Readable(r.state, err)
	return r, err
}

func (r *runRecord) ID() string { return r.row.ID }

// Encode adds the record to the change, if it has changed.
func (r *runRecord) Encode(t *txn.Tx) (err error) {
	if !r.changed {
		return nil
	}
	row := r.row
	// the column status is not set, because no list selects runs by status and the state has the phase
	row.Due, row.Updated = r.state.Due(), t.Now()
	if row.Version == 0 {
		fixed := r.fixed
		fixed.ID, fixed.Agent, fixed.StartedBy = "", "", "" // the row already has these fields
		if row.Fixed, err = json.Marshal(fixed); err != nil {
			return err
		}
	}
	if row.State, err = r.state.Encode(); err == nil {
		if row.Version == 0 {
			row.State = txn.Pad(row.State, txn.RunRoom)
		}
		t.Put(row)
	}
	return err
}

// step steps a run. It adds the effects to the change, except for effects on its session, which are performed
// before the commit.
func (r *runRecord) step(t *txn.Tx, in conversation.Input) error {
	result, err := r.state.Step(in)
	if result.Unchanged {
		return err
	}
	r.state, r.changed = result.State, true
	for _, h := range result.History {
		if h, ok := runEvent(h); ok {
			if err := t.AddEvent(store.Record{ID: r.row.ID, Stream: r.row.ID}, h); err != nil {
				return err
			}
		}
	}
	for _, f := range result.Effects {
		if err := r.addEffect(t, f); err != nil {
			return err
		}
	}
	return nil
}

// addEffect adds an effect of the run to the tx.
func (r *runRecord) addEffect(t *txn.Tx, effect conversation.Effect) error {
	switch f := effect.(type) {
	case conversation.UpdateSession:
		return r.updateSession(t, f)
	case conversation.RequestModel:
		return r.queue(t, kindRequest, runWork{Request: f.Request, Attempt: f.Attempt})
	case conversation.ExecuteTool:
		return r.queue(t, kindTool, runWork{Call: f.Call, AskID: f.AskID, Input: f.Input})
	case conversation.OpenAsk:
		return r.queue(t, kindOpenAsk, runWork{Call: f.Call})
	case conversation.WithdrawAsk:
		return nil // the turn of the run ends, and with it the asks of the session
	case conversation.StartChild:
		return r.queue(t, kindStartChild, runWork{Call: f.Call, Child: f.Child})
	case conversation.CancelChild:
		return r.queue(t, kindCancelChild, runWork{Call: f.Call, Child: f.Child})
	}
	return fmt.Errorf("unknown effect %T", effect)
}

// updateSession steps the session of the run. If a parent started the run, it also notifies the parent when
// the turn or the run ends.
func (r *runRecord) updateSession(t *txn.Tx, f conversation.UpdateSession) error {
	in := lifecycle.RunChanged{
		Status: f.Status, Idle: f.Idle, Error: f.Error, Tokens: f.Usage.InputTokens + f.Usage.OutputTokens,
		CostUSD: f.Usage.CostUSD, Cancel: r.cancel, At: t.Now(),
	}
	if f.Status == askback.SessionCancelled {
		in.Error = r.cancel.Reason
	}
	if in.Cancel.At.IsZero() {
		in.Cancel = lifecycle.Cancelled{
			By: askback.Actor{Kind: askback.ActorAgent, Name: r.fixed.Agent}, Reason: f.Error, At: t.Now(),
		}
	}
	if f.Result != "" {
		in.Result = resultOf(f.Result)
	}
	t.Effects = append(t.Effects, lifecycle.NotifySession{ID: r.row.ID, Input: in, MustExist: true})
	if r.fixed.Parent == "" || f.Status == askback.SessionRunning {
		return nil
	}
	done := runWork{Text: f.Result}
	switch {
	case f.Status != askback.SessionCompleted:
		done = runWork{Failed: true, Text: "The run " + strings.TrimSuffix(string(f.Status)+": "+in.Error, ": ")}
	case f.Result == "":
		done.Text = "The run ended without a text."
	}
	return r.queue(t, kindFinished, done)
}

// resultOf returns the result of a session whose agent wrote a text. If the text is a JSON object, the result
// is this object. Otherwise the result is the text as a JSON string.
func resultOf(text string) json.RawMessage {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &object) == nil && object != nil && len(text) <= limits.MaxResult {
		return json.RawMessage(strings.TrimSpace(text))
	}
	raw, _ := json.Marshal(text) // a string can always be marshaled
	return raw
}

// startRun adds a new session and its run to the tx.
func startRun(
	t *txn.Tx, fixed runFixed, one askback.Session, key string, to txn.Callback, prompt conversation.Message,
	limits conversation.Limits,
) (*txn.SessionRecord, error) {
	id, err := t.DB.IDs.New(ids.Session, t.Now())
	if err != nil {
		return nil, err
	}
	fixed.Format, fixed.ID = runFormat, id
	one.ID, one.Hosted, one.Agent, one.StartedBy, one.ParentID = id, true, fixed.Agent, fixed.StartedBy, fixed.Parent
	r := &runRecord{fixed: fixed, row: store.Record{
		Kind: KindRun, ID: id, Agent: fixed.Agent, Owner: fixed.StartedBy, Created: t.Now(),
	}}
	t.Records = append(t.Records, r)
	s := txn.Add(t, store.Record{
		Kind: txn.KindSession, ID: id, Key: key, Owner: one.Owner, Agent: fixed.Agent, Created: t.Now(),
	}, lifecycle.SessionState{})
	err = s.Step(t, lifecycle.SessionStarted{
		Session: one, Callback: to.Address, CallbackOf: to.Of, Configured: t.DB.Callback(), At: t.Now(),
	})
	if err != nil {
		return nil, err
	}
	return s, r.step(t, conversation.Started{Prompt: prompt, Limits: limits, At: t.Now()})
}

// StartHosted adds a new session of a hosted agent to the tx, as a principal has requested it.
func (c *Client) StartHosted(t *txn.Tx, r askback.SessionRequest, key string) (*txn.SessionRecord, error) {
	limits, err := c.service.Runner.Limits(r.Agent)
	if err != nil {
		return nil, err
	}
	fixed := runFixed{Run: conversation.Run{Agent: r.Agent, Unattended: r.Unattended || c.Who.Kind == askback.Agent}}
	prompt := conversation.Message{Role: conversation.RoleUser, Text: promptOf(r)}
	one := askback.Session{
		Owner: askback.HostedPrefix + r.Agent, Title: r.Title, Payload: r.Payload, Metadata: r.Metadata,
	}
	if c.Who.Kind == askback.Agent {
		one.Owner = c.Who.Name
	} else {
		fixed.StartedBy, prompt.By = c.Who.Name, c.Who.Name
	}
	to := txn.Callback{Address: r.CallbackURL, Of: c.CallbackOf()}
	if to.Address == "" {
		to = txn.Callback{}
		if to.Address, err = c.service.agentCallback(r.Agent); err != nil {
			return nil, err
		}
	}
	return startRun(t, fixed, one, key, to, prompt, limits)
}

// payloadHead is the line before the payload in the first message of a run.
const payloadHead = "The payload:"

// promptOf returns the first message of a run. The payload comes from a program and is data: it follows the
// prompt in a fence that the payload cannot close.
func promptOf(r askback.SessionRequest) string {
	if len(r.Payload) == 0 {
		return r.Prompt
	}
	fence := "```"
	for strings.Contains(string(r.Payload), fence) {
		fence += "`"
	}
	return strings.TrimLeft(r.Prompt+"\n\n",
		"\n") + payloadHead + "\n" + fence + "json\n" + string(r.Payload) + "\n" + fence
}

// CheckHosted checks a request for a hosted agent. It returns an [askback.Invalid] if this engine does not
// have the agent, and [askback.ErrStartBy] if the principal may not start it. For any other request it
// returns nil.
func (c *Client) CheckHosted(ctx context.Context, r askback.SessionRequest) error {
	if !r.Hosted() {
		return nil
	}
	e := c.service
	if e.Runner == nil {
		return askback.Invalid{{
			Pointer: "/agent", Detail: "this server hosts no agents",
			Fix: "start it with --agents, or send \"external\": true without a prompt",
		}}
	}
	_, err := e.Runner.Limits(r.Agent)
	if errors.Is(err, askback.ErrNotFound) {
		return askback.Invalid{
			{Pointer: "/agent", Detail: fmt.Sprintf("there is no agent %q here", r.Agent), Fix: e.agentNames()},
		}
	}
	if err == nil {
		err = c.mayStart(ctx, r.Agent)
	}
	return err
}

// SendHosted applies a command to the session of a run, and returns the new state of the session.
func (c *Client) SendHosted(t *txn.Tx, id string, cmd askback.Command) (askback.Session, error) {
	r, err := lockRun(t, id)
	if err != nil {
		return askback.Session{}, err
	}
	s, err := t.DB.Store.Read(t.Context(), txn.KindSession, id)
	if err != nil {
		return askback.Session{}, err
	}
	state, err := txn.DecodeSession(s)
	if err != nil {
		return askback.Session{}, err
	}
	in, err := c.runInput(t, r, state.Session, cmd)
	if err == nil && in != nil {
		err = r.step(t, in)
	}
	if err == nil {
		err = t.PerformEffects()
	}
	if err != nil {
		return askback.Session{}, err
	}
	one, err := t.Session(id)
	if err != nil {
		return askback.Session{}, err
	}
	return one.State.Session, nil
}

// runInput returns the input of a run for a command. It also sets r.cancel to this principal. The error is an
// [askback.Invalid] for a command that hosted runs do not accept.
func (c *Client) runInput(
	t *txn.Tx, r *runRecord, one askback.Session, cmd askback.Command,
) (conversation.Input, error) {
	wrote := conversation.PersonWrote{At: t.Now()}
	if c.Who.Kind != askback.Agent {
		wrote.By = c.Who.Name
	}
	r.cancel = lifecycle.Cancelled{By: c.Actor(), Via: c.Who.Channel, At: t.Now()}
	switch cmd.(type) {
	case askback.SendMessage, askback.ResumeSession: // the model obeys it like the prompt
		if err := c.mayStart(t.Context(), r.fixed.Agent); err != nil {
			return nil, err
		}
	}
	switch cmd := cmd.(type) {
	case askback.SendMessage:
		wrote.Text = cmd.Text
		return wrote, nil
	case askback.ResumeSession:
		if one.AsksPending > 0 && !one.Ended() {
			return nil, askback.ErrAsksOpen
		}
		if wrote.Text = cmd.Message; wrote.Text == "" {
			wrote.Text = "Go on."
		}
		return wrote, nil
	case askback.EndTurn:
		if one.Final() {
			return nil, askback.ErrEnded
		}
		r.cancel.Reason = cmd.Reason
		return conversation.TurnCancelled{At: t.Now()}, nil
	case askback.EndSession:
		if one.Final() && one.Status != askback.SessionCancelled {
			return nil, askback.ErrEnded
		}
		r.cancel.Reason = cmd.Reason
		return conversation.RunCancelled{At: t.Now()}, nil
	}
	return nil, askback.Invalid{
		{Detail: "no agent may report for a hosted session", Fix: "send a message, or cancel it"},
	}
}

// runEvent returns the session event for an event of its run. If the run begins to wait for people, there is
// no such event, because the event of the ask reports the change.
func runEvent(e conversation.Event) (h lifecycle.Event, ok bool) {
	h = lifecycle.Event{
		Type: askback.EventType(e.Type), By: e.By, Text: e.Text, Role: askback.Role(e.Role), Final: e.Final,
		Call: e.Call, CallID: e.ID, Tool: e.Tool, Input: e.Input, IsError: e.IsError, Provider: e.Provider,
		Kind: string(e.Kind),
	}
	if e.Type == conversation.EventStateChange {
		h.State = string(e.Phase)
		switch e.Phase {
		case conversation.Awaiting:
			return h, false
		case conversation.Requesting:
			h.State = "llm_requesting"
		case conversation.Executing:
			h.State = "tool_executing"
		}
	}
	return h, true
}

// messageEvent returns the run event for an event of its session, without the phase and the kind of a call.
// It is the reverse of runEvent.
func messageEvent(h lifecycle.Event) conversation.Event {
	return conversation.Event{
		Type: conversation.EventType(h.Type), By: h.By, Text: h.Text, Role: conversation.Role(h.Role), Final: h.Final,
		Call: h.Call, ID: h.CallID, Tool: h.Tool, Input: h.Input, IsError: h.IsError, Provider: h.Provider,
	}
}

// open returns the open call with this number, and whether the run is making the call in this phase.
func (r *runRecord) open(phase conversation.Phase, call int) (conversation.Open, bool) {
	if r.state.Phase != phase ||
		!slices.ContainsFunc(r.state.Open[:1], func(c conversation.Open) bool { return c.N == call }) {
		return conversation.Open{}, false
	}
	return r.state.Open[0], true
}
