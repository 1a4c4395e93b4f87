package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/askback/askback"
	"github.com/askback/askback/conversation"
)

// A Runner performs the effects of hosted runs: it requests models, runs tools, and prepares asks. It
// implements the interface Runner of package engine with the optional interfaces Scheduler, CallbackRunner
// and RestrictedRunner. It keeps no state of a run.
type Runner struct {
	mu     sync.RWMutex
	agents map[string]*hosted
}

// hosted is a definition with its servers.
type hosted struct {
	Definition
	servers []*server
}

// NewRunner returns a runner of the agents with these definitions. It returns the errors of [Runner.Set].
func NewRunner(definitions ...Definition) (*Runner, error) {
	r := &Runner{}
	return r, r.Set(definitions)
}

// Set replaces the definitions, also for the runs in progress. A run whose definition was removed fails with
// its next step. If a definition is not valid, Set changes nothing and returns an error with a line for every
// mistake.
func (r *Runner) Set(definitions []Definition) error {
	agents := map[string]*hosted{}
	var all []error
	for _, d := range definitions {
		if err := d.Check(); err != nil {
			all = append(all, err)
		} else if agents[d.Name] != nil {
			all = append(all, fmt.Errorf("two agents have the name %s", d.Name))
		} else {
			agents[d.Name] = &hosted{Definition: d, servers: servers(&d)}
		}
	}
	if len(all) > 0 {
		return errors.Join(all...)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.agents = agents
	return nil
}

// agent returns the agent with the given name, or nil.
func (r *Runner) agent(name string) *hosted {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.agents[name]
}

// all returns the agents, sorted by name.
func (r *Runner) all() []*hosted {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.SortedFunc(maps.Values(r.agents), func(a, b *hosted) int { return strings.Compare(a.Name, b.Name) })
}

// Agents returns the agents, sorted by name.
func (r *Runner) Agents() []askback.HostedAgent {
	var list []askback.HostedAgent
	for _, a := range r.all() {
		one := askback.HostedAgent{Name: a.Name, Description: a.Description}
		if a.Schedule != nil {
			one.Schedule, one.TimeZone = a.Schedule.Text(), a.Schedule.Zone()
		}
		list = append(list, one)
	}
	return list
}

// Recipients returns the people and groups who get the asks of each agent, keyed by the name of the agent. An
// agent whose definition has no recipients is missing.
func (r *Runner) Recipients() map[string][]string {
	to := map[string][]string{}
	for _, a := range r.all() {
		if len(a.To) > 0 {
			to[a.Name] = slices.Clone(a.To)
		}
	}
	return to
}

// Limits returns the limits for a run of the agent with the given name. The error is [askback.ErrNotFound] if
// there is no such agent.
func (r *Runner) Limits(name string) (conversation.Limits, error) {
	a := r.agent(name)
	if a == nil {
		return conversation.Limits{}, fmt.Errorf("agent %s: %w", name, askback.ErrNotFound)
	}
	return conversation.Limits{Requests: a.MaxTurns, Asks: a.MaxAsks}, nil
}

// A session is a run with its definition.
type session struct {
	*hosted
	conversation.Run
	// asker is the agent whose definition has the recipients of the run's asks. It is the outermost agent, or
	// nil if the run may not ask people.
	asker *hosted
}

// session returns a run with its definition. It returns false if the agent of the run has no definition.
func (r *Runner) session(run conversation.Run) (session, bool) {
	a := r.agent(run.Agent)
	if a == nil {
		return session{}, false
	}
	asker := a
	if len(run.Path) > 0 {
		if asker = r.agent(run.Path[0]); asker != nil && !asker.Bubble {
			asker = nil
		}
	}
	if asker != nil && run.Unattended && !asker.AsyncQuestions {
		asker = nil
	}
	return session{a, run, asker}, true
}

// isChild reports whether another run started s.
func (s session) isChild() bool { return len(s.Path) > 0 }

// gone returns the sentence for a run without a definition.
func gone(agent string) string {
	return fmt.Sprintf("the definition of the agent %s does not exist any more", agent)
}

// Reply requests the model once. It returns a [conversation.ModelReplied] with a plan for each call, a
// [conversation.ModelFailed], or a [conversation.RunFailed] if the run has no definition. If piece is not
// nil, Reply calls it with each piece of the text as the piece arrives. A ModelReplied or ModelFailed has the
// Request of q; a ModelFailed also has its Attempt. At is not set.
func (r *Runner) Reply(
	ctx context.Context, run conversation.Run, q conversation.RequestModel, messages []conversation.Message,
	piece func(string),
) conversation.Input {
	s, ok := r.session(run)
	if !ok {
		return conversation.RunFailed{Error: gone(run.Agent)}
	}
	agents := r.all()
	offer, err := s.offer(ctx, agents)
	if err == nil {
		var reply ModelReply
		reply, err = s.request(ctx, ModelRequest{
			System: s.prompt(offer, agents), Messages: messages, Tools: offer.tools, MaxTokens: s.MaxTokens,
			Attempt: q.Attempt,
		}, piece)
		if err == nil {
			return s.replied(q, reply, offer)
		}
	}
	failed := conversation.ModelFailed{Request: q.Request, Attempt: q.Attempt, Error: err.Error()}
	if e, ok := errors.AsType[*ModelError](err); ok {
		failed.Retry, failed.After, failed.Usage = e.Retry, e.After, e.Usage
	}
	failed.Retry = failed.Retry || ctx.Err() != nil // the model is not the cause
	return failed
}

// request sends a request to the model. A panic of the model becomes an error. An incomplete reply without
// calls ends in the text cut. An incomplete reply without text and calls becomes an error.
func (s session) request(ctx context.Context, q ModelRequest, piece func(string)) (reply ModelReply, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the model of the agent %s panicked: %v", s.Agent, p)
		}
	}()
	reply, err = s.Model.Reply(ctx, q, piece)
	switch {
	case err == nil && reply.Cut && strings.TrimSpace(reply.Text) == "" && len(reply.Calls) == 0:
		return reply, &ModelError{Err: errors.New("the reply of the model reached its maximum length before its " +
			"first word; raise max_tokens of this model"), Usage: reply.Usage}
	case err == nil && reply.Cut && len(reply.Calls) == 0:
		reply.Text += cut
	}
	return reply, err
}

// cut marks the end of an incomplete reply for the people who read it.
const cut = "\n\n[The reply ends here because it reached its maximum length.]"

// maxCalls is the maximum number of calls in a reply that are made. If a reply has more calls, one further
// call is stored with an error for all further calls.
const maxCalls = 64

// replied returns the input for a reply, with a plan for each call.
func (s session) replied(q conversation.RequestModel, reply ModelReply, o offer) conversation.Input {
	in := conversation.ModelReplied{
		Request: q.Request, Text: strings.ToValidUTF8(reply.Text, "�"), Provider: reply.Provider, Usage: reply.Usage,
	}
	calls := reply.Calls[:min(len(reply.Calls), maxCalls)]
	for _, c := range calls {
		in.Calls = append(in.Calls, s.plan(c, o))
	}
	if more := len(reply.Calls) - len(calls); more > 0 { // one call has the error for all of them
		c := s.plan(reply.Calls[maxCalls], o)
		c.Input, c.Plan = json.RawMessage("{}"), rejected(fmt.Sprintf(tooManyCalls, maxCalls, more))
		in.Calls = append(in.Calls, c)
	}
	return in
}
