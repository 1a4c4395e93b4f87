package engine_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/conversation"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
)

// A host is a server with hosted agents whose models follow scripts.
type host struct {
	t       *testing.T
	engine  *engine.Engine
	ana     askback.Client
	runner  *scriptRunner
	wrapped engine.Runner // the runner of the engine; if nil, the engine uses the field runner

	channels map[string]engine.Channel
	stop     context.CancelFunc
}

// A scriptRunner replies to the n-th request of an agent's run with the n-th entry of its
// script. The tools of calls are "read", "write", "confirmed", "ask" and "spawn".
type scriptRunner struct {
	scripts map[string][]conversation.ModelReplied
	execute func(ctx context.Context, call conversation.Call) conversation.Executed
	// if not nil, called with each outcome of an ask
	settled func(o askback.Outcome)
	// the MCP server of the tools; "" means files
	server string
	// if not nil, returns the replies of the model in place of scripts
	reply func(ctx context.Context, run conversation.Run, piece func(string)) conversation.Input

	mu       sync.Mutex
	messages map[string][]conversation.Message // the messages of the last request of each run
	executed []string                          // the tools that ran
	runs     map[string]conversation.Run       // by id
}

func call(tool, input string) conversation.Call {
	plan := map[string]conversation.Plan{
		"read": {Kind: conversation.KindTool, Reads: true}, "write": {Kind: conversation.KindTool},
		"confirmed": {Kind: conversation.KindTool, Confirm: true}, "ask": {Kind: conversation.KindAsk},
		"spawn": {Kind: conversation.KindDelegate, Tasks: 2},
	}[tool]
	return conversation.Call{ID: "c", Tool: tool, Input: json.RawMessage(input), Plan: plan}
}

func says(text string, calls ...conversation.Call) conversation.ModelReplied {
	return conversation.ModelReplied{
		Text: text, Calls: calls, Usage: conversation.Usage{InputTokens: 10, OutputTokens: 2, CostUSD: 0.5},
	}
}

// unattended reports whether a program started a run.
func (r *scriptRunner) unattended(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.runs[id].Unattended
}

func (r *scriptRunner) Agents() []askback.HostedAgent { return nil }

func (r *scriptRunner) Limits(agent string) (conversation.Limits, error) {
	if agent != "poem" && agent != "child" {
		return conversation.Limits{}, askback.ErrNotFound
	}
	return conversation.Limits{}, nil
}

func (r *scriptRunner) Reply(
	ctx context.Context, run conversation.Run, q conversation.RequestModel, messages []conversation.Message,
	piece func(string),
) conversation.Input {
	r.mu.Lock()
	if r.messages == nil {
		r.messages, r.runs = map[string][]conversation.Message{}, map[string]conversation.Run{}
	}
	r.messages[run.ID], r.runs[run.ID] = messages, run
	r.mu.Unlock()
	if r.reply != nil {
		return r.reply(ctx, run, piece)
	}
	script := r.scripts[run.Agent]
	if q.Request > len(script) {
		return conversation.RunFailed{Error: "the script has ended"}
	}
	return script[q.Request-1]
}

func (r *scriptRunner) Execute(ctx context.Context, _ conversation.Run, call conversation.Call) conversation.Executed {
	r.mu.Lock()
	r.executed = append(r.executed, call.Tool+" "+string(call.Input))
	r.mu.Unlock()
	if r.execute != nil {
		return r.execute(ctx, call)
	}
	return conversation.Executed{Text: "done " + call.Tool}
}

func (r *scriptRunner) Question(_ conversation.Run, call conversation.Call) (askback.Request, error) {
	if call.Kind == conversation.KindAsk {
		var in struct{ Question string }
		err := json.Unmarshal(call.Input, &in)
		return askback.Request{
			Questions: []askback.Question{{Text: in.Question, Options: askback.Options("A", "B")}},
		}, err
	}
	return askback.Request{
		Confirmation: &askback.Confirmation{Server: cmp.Or(r.server, "files"), ToolName: call.Tool, Input: call.Input},
	}, nil
}

func (r *scriptRunner) Outcome(_ conversation.Run, call conversation.Call, a askback.Ask) conversation.AskSettled {
	o := a.Outcome
	r.mu.Lock()
	settled := r.settled
	r.mu.Unlock()
	if settled != nil {
		settled(*o)
	}
	if call.Kind == conversation.KindTool {
		return conversation.AskSettled{Approved: o.Approved(), Input: o.Input, Text: "denied: " + o.Reason}
	}
	if o.Status != askback.Answered {
		return conversation.AskSettled{Text: string(o.Status), IsError: true}
	}
	return conversation.AskSettled{Text: "answer: " + strings.Join(o.Answers[0].Selected, ",")}
}

func (r *scriptRunner) Asks(conversation.Run) (to []string, asks bool, err error) {
	return nil, true, nil
}

func (r *scriptRunner) Task(_ conversation.Run, _ conversation.Call, child int) (agent, prompt string) {
	return "child", fmt.Sprintf("task %d", child)
}

// ran returns the calls of tools that ran, each as the name of the tool and the arguments.
func (r *scriptRunner) ran() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.executed)
}

// whenSettled sets the function that is called with each outcome.
func (r *scriptRunner) whenSettled(fn func(o askback.Outcome)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.settled = fn
}

func newHost(t *testing.T, r *scriptRunner) *host {
	t.Helper()
	h := &host{t: t, runner: r}
	h.start(memstore.New())
	return h
}

func (h *host) start(s engine.Store) {
	var runner engine.Runner = h.runner
	if h.wrapped != nil {
		runner = h.wrapped
	}
	h.engine = engine.New(s, &engine.Options{Runner: runner, Channels: h.channels, MaxOpen: 100})
	h.ana = h.engine.As(askback.Principal{Kind: askback.Responder, Name: "ana", Channel: askback.ChannelWeb})
	ctx, stop := context.WithCancel(h.t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = h.engine.Run(ctx) }()
	h.stop = func() { stop(); <-done }
}

// run starts a run of the agent poem, waits until the bubble is idle, and returns the session.
func (h *host) run(prompt string) askback.Session {
	h.t.Helper()
	s, err := h.ana.Start(h.t.Context(), askback.SessionRequest{Agent: "poem", Prompt: prompt})
	if err != nil {
		h.t.Fatal(err)
	}
	return h.settled(s.ID)
}

// settled waits until the bubble is idle and returns the session with this id.
func (h *host) settled(id string) askback.Session {
	h.t.Helper()
	synctest.Wait()
	s, err := h.ana.Session(h.t.Context(), id)
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

// asked returns the only open ask, and fails the test if the number of open asks is not one.
func (h *host) asked() askback.Ask {
	h.t.Helper()
	page, err := h.ana.List(h.t.Context(), askback.Query{})
	if err != nil || len(page.Items) != 1 {
		h.t.Fatalf("got %d open asks, %v, want one", len(page.Items), err)
	}
	return page.Items[0]
}

// heard returns the messages of the last request that the model of a run got, one per line.
func (h *host) heard(id string) (lines []string) {
	h.runner.mu.Lock()
	defer h.runner.mu.Unlock()
	for _, m := range h.runner.messages[id] {
		line := string(m.Role) + ": " + m.Text
		for _, c := range m.Calls {
			line += " " + c.Tool
		}
		if m.Result != nil {
			line = fmt.Sprintf("result %d: %s", m.Result.N, m.Result.Text)
		}
		lines = append(lines, line)
	}
	return lines
}

func (h *host) check(what string, got, want any) {
	h.t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		h.t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// events returns the types of the events of a session, with a few of their fields.
func (h *host) events(id string) (all []string) {
	h.t.Helper()
	ctx, stop := context.WithTimeout(h.t.Context(), time.Second)
	defer stop()
	for ev, err := range h.ana.Events(ctx, id, "MC4w") {
		if err != nil {
			break
		}
		var d struct {
			Type, Role, Text, Name, Output string
			CallID                         string `json:"call_id"`
		}
		if err := json.Unmarshal(ev.Data, &d); err != nil {
			h.t.Fatalf("%s: %v", ev.Data, err)
		}
		all = append(all, strings.Join(strings.Fields(fmt.Sprint(string(ev.Type), " ", d.Type, " ", d.Role, " ",
			d.CallID, " ", d.Text, " ", d.Name, " ", d.Output)), " "))
	}
	return all
}

// A run asks, reads and writes in the order of its calls, and ends its turn (A2, B1, B3).
func TestHostedRunContinuesWithAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, &scriptRunner{scripts: map[string][]conversation.ModelReplied{"poem": {
			says("First.", call("read", `{"path":"x"}`), call("ask", `{"question":"Which?"}`),
				call("write", `{"n":1}`)),
			says("All done."),
		}}})
		defer h.stop()
		s := h.run("Write.")
		h.check("status", s.Status, askback.SessionWaiting)
		h.check("executed", h.runner.ran(), []string{`read {"path":"x"}`})
		a := h.asked()
		h.check("ask", fmt.Sprint(a.SessionID, a.Agent, a.Owner, a.StartedBy), s.ID+"poemhosted:poemana")
		<-time.After(48 * time.Hour) // the clock of the bubble advances; the person answers two days later
		if _, err := h.ana.Answer(t.Context(), a.ID, askback.Choose("B")); err != nil {
			t.Fatal(err)
		}
		s = h.settled(s.ID)
		h.check("session",
			fmt.Sprint(s.Status, s.Phase, string(s.Result), s.Tokens, s.CostUSD, s.Hosted, s.StartedBy, s.AsksTotal),
			`completedidle"All done."24 1 trueana1`)
		h.check("executed", h.runner.ran(), []string{`read {"path":"x"}`, `write {"n":1}`})
		h.check("the model read", strings.Join(h.heard(s.ID), "\n"), strings.Join([]string{
			"user: Write.", "assistant: First. read ask write", "result 1: done read", "result 2: answer: B",
			"result 3: done write",
		}, "\n"))
		h.check("events", strings.Join(h.events(s.ID), "\n"), strings.Join([]string{
			"session_started", "message user Write.", "state_change llm_requesting", "message assistant First.",
			"tool_input_ready call_1 read", "tool_input_ready call_2 ask", "tool_input_ready call_3 write",
			"state_change tool_executing", "tool_start call_1 read", "tool_complete call_1 read done read",
			"question_pending", "state_change awaiting_user_response", "question_answered", "answer_acked",
			"tool_complete call_2 ask answer: B", "state_change tool_executing", "tool_start call_3 write",
			"tool_complete call_3 write done write", "state_change llm_requesting", "message assistant All done.",
			"state_change idle", "agent_complete", "session_completed",
		}, "\n"))
	})
}

// An approval is bound to the arguments, and used when the tool runs (F7). A person may change the arguments,
// deny the call, and approve all calls (D1, F8).
func TestToolOfHostedRunRunsOnlyAfterApproval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, &scriptRunner{scripts: map[string][]conversation.ModelReplied{"poem": {
			says("", call("confirmed", `{"n":1}`)), says("", call("confirmed", `{"n":2}`)),
			says("", call("confirmed", `{"n":3}`)), says("", call("confirmed", `{"n":3}`)),
			says("End."),
		}}})
		defer h.stop()
		s := h.run("Go.")
		for _, answer := range []askback.Answer{
			{Decision: askback.Deny, Reason: "not now"},
			{Decision: askback.Approve, Input: json.RawMessage(`{"n":20}`)},
			{Decision: askback.ApproveAll},
		} {
			a := h.asked()
			if _, err := h.ana.Answer(t.Context(), a.ID, answer); err != nil {
				t.Fatal(err)
			}
			s = h.settled(s.ID)
			if a, _ = h.ana.Get(t.Context(), a.ID); a.Outcome.Approved() == a.ConsumedAt.IsZero() {
				t.Errorf("%s: approved %v, consumed at %v", a.Outcome.Decision, a.Outcome.Approved(), a.ConsumedAt)
			}
		}
		h.check("status", fmt.Sprint(s.Status, s.AsksTotal), "completed4")
		h.check("executed", h.runner.ran(), []string{`confirmed {"n":20}`, `confirmed {"n":3}`, `confirmed {"n":3}`})
		h.check("denied", h.heard(s.ID)[2], "result 1: denied: not now")
		page, _ := h.ana.List(t.Context(), askback.Query{Status: askback.Answered, Limit: 1})
		h.check("by", page.Items[0].Outcome.Actor.Kind, askback.ActorPolicy)
	})
}

// The cancellation of a run ends its tool and cancels its ask. No event follows (A2, D3).
func TestCancelledHostedRunStopsItsTool(t *testing.T) {
	for _, cmd := range []askback.Command{askback.EndTurn{Reason: "enough"}, askback.EndSession{Reason: "enough"}} {
		synctest.Test(t, func(t *testing.T) {
			r := &scriptRunner{
				scripts: map[string][]conversation.ModelReplied{
					"poem": {says("", call("write", `{}`)), says("Again.")},
				},
			}
			ended := false
			r.execute = func(ctx context.Context, _ conversation.Call) conversation.Executed {
				<-ctx.Done()
				ended = true
				return conversation.Executed{Text: "stopped", IsError: true}
			}
			h := newHost(t, r)
			defer h.stop()
			s := h.run("Go.")
			h.check("phase", s.Status, askback.SessionRunning)
			begun := time.Now()
			if _, err := h.ana.Send(t.Context(), s.ID, cmd); err != nil {
				t.Fatal(err)
			}
			s = h.settled(s.ID)
			h.check("the tool ended", fmt.Sprint(ended, time.Since(begun)), "true 0s")
			want, final := askback.SessionCancelled, true
			if _, turn := cmd.(askback.EndTurn); turn {
				want, final = askback.SessionCompleted, false
			}
			h.check("status", fmt.Sprint(s.Status, s.Final()), fmt.Sprint(want, final))
			if _, err := h.ana.Send(t.Context(), s.ID, askback.SendMessage{Text: "Go on."}); (err != nil) != final {
				t.Errorf("%T: a message to it: %v", cmd, err)
			}
			if s = h.settled(s.ID); !final {
				h.check("the model read", h.heard(s.ID)[2:], []string{
					"result 1: A person cancelled the turn while this tool ran. Its outcome is unknown.",
					"user: Go on.",
				})
				h.check("result", string(s.Result), `"Again."`)
			}
		})
	}
}

// The ask of a cancelled run is cancelled by the person who cancelled the run, and a later answer is late.
func TestAskOfACancelledRunIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, &scriptRunner{scripts: map[string][]conversation.ModelReplied{
			"poem": {says("", call("ask", `{"question":"Which?"}`)), says("Again.")},
		}})
		defer h.stop()
		s := h.run("Go.")
		a := h.asked()
		if _, err := h.ana.Send(t.Context(), s.ID, askback.EndTurn{}); err != nil {
			t.Fatal(err)
		}
		s = h.settled(s.ID)
		a, err := h.ana.Get(t.Context(), a.ID)
		h.check("outcome", fmt.Sprint(a.Status, a.Outcome.Actor.Name, err), "cancelledana<nil>")
		h.check("session", fmt.Sprint(s.Status, s.AsksPending), "completed0")
	})
}

// Children run concurrently, and their asks have the path of their parents (F10).
func TestChildrenRunConcurrently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, &scriptRunner{scripts: map[string][]conversation.ModelReplied{
			"poem":  {says("", call("spawn", `{}`)), says("End.")},
			"child": {says("", call("ask", `{"question":"Which?"}`)), says("Result.")},
		}})
		defer h.stop()
		s := h.run("Go.")
		page, err := h.ana.List(t.Context(), askback.Query{})
		if err != nil || len(page.Items) != 2 {
			t.Fatalf("got %d asks, %v, want two", len(page.Items), err)
		}
		for _, a := range page.Items {
			h.check("path", a.Path, []string{"poem"})
			if _, err := h.ana.Answer(t.Context(), a.ID, askback.Choose("A")); err != nil {
				t.Fatal(err)
			}
			child := h.settled(a.SessionID)
			h.check("child", fmt.Sprint(child.ParentID, child.Agent, child.Status), s.ID+"childcompleted")
		}
		s = h.settled(s.ID)
		h.check("status", s.Status, askback.SessionCompleted)
		h.check("the model read", h.heard(s.ID)[2],
			`result 1: {"task":1,"result":"Result."}`+"\n"+`{"task":2,"result":"Result."}`)
	})
}

// The children of a cancelled run are cancelled, with their asks.
func TestCancelCancelsChildren(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, &scriptRunner{scripts: map[string][]conversation.ModelReplied{
			"poem":  {says("", call("spawn", `{}`)), says("End.")},
			"child": {says("", call("ask", `{"question":"Which?"}`)), says("Result.")},
		}})
		defer h.stop()
		s := h.run("Go.")
		if _, err := h.ana.Send(t.Context(), s.ID, askback.EndSession{}); err != nil {
			t.Fatal(err)
		}
		h.settled(s.ID)
		page, err := h.ana.Sessions(t.Context(), askback.SessionQuery{Status: askback.SessionCancelled})
		h.check("cancelled sessions", fmt.Sprint(len(page.Items), err), "3 <nil>")
		asks, err := h.ana.List(t.Context(), askback.Query{})
		h.check("open asks", fmt.Sprint(len(asks.Items), err), "0 <nil>")
	})
}

// The text of a model can be read while the model writes the text, and as a whole afterwards.
func TestTextOfAModelIsStreamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := make(chan string)
		h := newHost(t,
			&scriptRunner{reply: func(ctx context.Context, _ conversation.Run, piece func(string)) conversation.Input {
				for p := range next {
					piece(p)
				}
				return says("Old pond.")
			}})
		defer h.stop()
		s := h.run("Go.")
		var got []string
		ctx, stop := context.WithCancel(t.Context())
		go func() {
			for ev, err := range h.ana.Events(ctx, s.ID, "") {
				if err != nil {
					return
				}
				if ev.Type == askback.EventMessageDelta || ev.Type == askback.EventMessage {
					got = append(got, fmt.Sprint(ev.Seq, string(ev.Data)))
				}
			}
		}()
		for _, p := range []string{"Old", " po"} {
			synctest.Wait()
			next <- p
		}
		synctest.Wait()
		close(next)
		h.settled(s.ID)
		stop()
		h.check("events", strings.Join(got, "\n"),
			`0{"request":1,"offset":0,"text":"Old"}`+"\n"+`0{"request":1,"offset":3,"text":" po"}`+"\n"+
				`4{"role":"assistant","text":"Old pond.","final":true}`)
	})
}

// After a crash in a tool, a read-only tool runs again, and any other tool has an unknown outcome. A request
// to a model is repeated.
func TestHostedRunContinuesAfterCrash(t *testing.T) {
	for tool, want := range map[string][]string{
		"read": {"read {}", "read {}"}, "write": {"write {}"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := memstore.New()
			begun := make(chan struct{})
			h := &host{t: t, runner: &scriptRunner{
				scripts: map[string][]conversation.ModelReplied{"poem": {says("", call(tool, `{}`)), says("End.")}},
				execute: func(ctx context.Context, _ conversation.Call) conversation.Executed {
					close(begun)
					<-ctx.Done()
					return conversation.Executed{Text: "stopped", IsError: true}
				},
			}}
			h.start(s)
			one := h.run("Go.")
			<-begun
			h.stop() // stop waits ten seconds for the tool, which is still running then
			h.runner.execute = nil
			h.start(s)
			defer h.stop()
			restarted := time.Now()
			for one = h.settled(one.ID); one.Status == askback.SessionRunning; one = h.settled(one.ID) {
				<-time.After(time.Second)
			}
			if took := time.Since(restarted); took > 20*time.Second {
				t.Errorf("it went on after %v, want at most 20s", took)
			}
			h.check("status", one.Status, askback.SessionCompleted)
			if !slices.Equal(h.runner.ran(), want) {
				t.Errorf("%s ran %v, want %v", tool, h.runner.ran(), want)
			}
			if result := h.heard(one.ID)[2]; strings.Contains(result, "unknown") != (tool == "write") {
				t.Errorf("%s: the model read %q", tool, result)
			}
		})
	}
}
