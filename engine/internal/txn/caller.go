package txn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/store"
)

// A Caller is the principal of a client, with its permissions.
type Caller struct {
	db  *DB
	Who askback.Principal
}

// As returns the caller of a principal.
func (db *DB) As(p askback.Principal) Caller { return Caller{db, p} }

// May returns [askback.ErrForbidden] if principals of this kind may never do an action.
func May(p askback.Principal, action access.Action) error {
	if !access.Ever(p.Kind, action) {
		return fmt.Errorf("%s: %w", action, askback.ErrForbidden)
	}
	return nil
}

// OwnerKey returns key prefixed with the length and the name of this principal. So equal keys of principals
// with different names do not collide. If key is "", it returns "".
func (c *Caller) OwnerKey(key string) string {
	if key == "" {
		return ""
	}
	return strconv.Itoa(len(c.Who.Name)) + ":" + c.Who.Name + ":" + key
}

// AuthorizeAsk returns an error unless this principal may do an action on an ask. The error is
// [askback.ErrForbidden] if a principal of this kind may never do the action. It is [askback.ErrNotFound] if
// such a principal may do the action only on other asks. It is [askback.ErrSelfApproval] or an
// [askback.NotApproverError] if the principal may see the ask but not decide it.
func (c *Caller) AuthorizeAsk(action access.Action, state *lifecycle.AskState) error {
	handOver := action == access.ActReassign && state.Ask.Kind == askback.Confirm
	if handOver {
		action = access.ActHandOver
	}
	err := c.AuthorizeRelation(action, c.relation(state))
	switch {
	case err == nil:
	case errors.Is(err, askback.ErrNotApprover):
		return askback.NotApproverError{Who: state.Ask.Deciders()}
	case handOver && errors.Is(err, askback.ErrForbidden):
		return fmt.Errorf("only an admin, or a person who may decide the confirmation, may reassign it: %w", err)
	}
	return err
}

// AuthorizeRelation returns an error unless this principal may do an action on an ask or session to which it
// has the given relation. The errors are the same as the errors of AuthorizeAsk.
func (c *Caller) AuthorizeRelation(action access.Action, relation access.Relation) error {
	switch {
	case access.Allowed(c.Who.Kind, action, relation):
		return nil
	case relation == access.Starter && access.Allowed(c.Who.Kind, action, access.Recipient):
		return askback.ErrSelfApproval
	case relation == access.Viewer && access.Allowed(c.Who.Kind, action, access.Recipient):
		return askback.ErrNotApprover
	case access.Ever(c.Who.Kind, action):
		return askback.ErrNotFound
	}
	return askback.ErrForbidden
}

// relation returns the relation of this principal to an ask. The agent that asked is the owner. A person to
// whom the ask is addressed is a recipient. If the person started the session and must not settle the ask,
// the relation is Starter. If routes let only other people decide, the relation is Viewer. Any other
// principal is unrelated.
func (c *Caller) relation(state *lifecycle.AskState) access.Relation {
	switch {
	case c.Who.Kind == askback.Agent && c.Who.Name == state.Owner:
		return access.Owner
	case c.Who.Kind == askback.Agent || !state.Ask.Addressed(c.Who.Name):
		return access.Unrelated
	case state.Ask.SelfApproval(c.Who.Name):
		return access.Starter
	case !state.Ask.IsApprover(c.Who.Name):
		return access.Viewer
	}
	return access.Recipient
}

// Actor returns this principal as the actor of a cancellation or a session command: an
// agent, or else a person.
func (c *Caller) Actor() askback.Actor {
	if c.Who.Kind == askback.Agent {
		return askback.Actor{Kind: askback.ActorAgent, Name: c.Who.Name}
	}
	return askback.Actor{Kind: askback.ActorPerson, Name: c.Who.Name}
}

// AuthorizePending returns an error unless this principal may do an action on an ask and the ask is pending.
// If the ask is settled, the error is [askback.ErrSettled].
func (c *Caller) AuthorizePending(ctx context.Context, action access.Action, id string) error {
	if err := c.Authorize(action); err != nil {
		return err
	}
	a, err := c.db.Read(ctx, id)
	if err == nil {
		err = c.AuthorizeAsk(action, &a.State)
	}
	if err == nil && a.State.Ask.Settled() {
		err = askback.ErrSettled
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", action, id, err)
	}
	return nil
}

// Visible returns the ask of a state in the form for this principal. Agents and operators get no held
// answers. The ask shares the memory of the state.
func (c *Caller) Visible(s *lifecycle.AskState) askback.Ask {
	a := s.Ask
	if len(s.Held) == 0 || c.Who.Kind != askback.Responder && c.Who.Kind != askback.Admin {
		return a
	}
	a.Held = slices.Clone(s.Held)
	for i := range a.Held {
		a.Held[i].Yours = a.Held[i].Name == c.Who.Name
	}
	return a
}

// CallbackOf returns the name of the principal, or "" for an agent. A callback that a person names gets only
// content that the person may see.
func (c *Caller) CallbackOf() string {
	if c.Who.Kind == askback.Agent {
		return ""
	}
	return c.Who.Name
}

// AuthorizeSession returns an error unless this principal may do an action on a
// session of this owner.
func (c *Caller) AuthorizeSession(action access.Action, owner string) error {
	relation := access.Recipient // people see all sessions, but only the asks addressed to them
	if c.Who.Kind == askback.Agent {
		relation = access.Unrelated
		if owner == c.Who.Name {
			relation = access.Owner
		}
	}
	return c.AuthorizeRelation(action, relation)
}

// FindSession returns a session if this principal may do an action on the session. Otherwise it returns an
// error. It also finds the implicit session of a single ask.
func (c *Caller) FindSession(ctx context.Context, action access.Action, id string) (askback.Session, error) {
	r, err := c.db.Store.Read(ctx, KindSession, id)
	if errors.Is(err, store.ErrNotFound) && ids.Valid(ids.Session, id) {
		a, err := c.db.Read(ctx, ids.Swap(id, ids.Ask))
		if err != nil {
			return askback.Session{}, err
		}
		return c.OwnSession(a.State, action)
	}
	if err != nil {
		return askback.Session{}, FromStore(err)
	}
	state, err := DecodeSession(r)
	if err != nil {
		return askback.Session{}, err
	}
	return state.Session, c.AuthorizeSession(action, state.Session.Owner)
}

// OwnSession returns the implicit session of a single ask. The session is waiting while the ask is open, and
// ends with the ask. A principal that may not see the ask may see the session only with [access.ActSessions].
// If the ask belongs to another session, the error is [askback.ErrNotFound].
func (c *Caller) OwnSession(state lifecycle.AskState, action access.Action) (askback.Session, error) {
	err := c.AuthorizeAsk(access.ActGet, &state)
	if action == access.ActSessions { // the status of a session reveals nothing of the ask
		err = c.Authorize(action)
	}
	if err == nil && !state.OwnSession() {
		err = askback.ErrNotFound
	}
	if err != nil {
		return askback.Session{}, err
	}
	a := state.Ask
	one := askback.Session{
		ID: a.SessionID, Agent: a.Agent, Owner: a.Owner, Title: a.Title, Status: askback.SessionWaiting,
		AsksPending: 1, AsksTotal: 1, CreatedAt: a.CreatedAt, UpdatedAt: a.CreatedAt,
	}
	if o := a.Outcome; o != nil {
		one.Status, one.AsksPending, one.UpdatedAt, one.CompletedAt = askback.SessionCompleted, 0, o.At, o.At
		if o.Status == askback.Expired && a.OnTimeout == askback.OnTimeoutFail {
			one.Status, one.Error = askback.SessionFailed, o.Reason
		}
	}
	return one, c.AuthorizeSession(action, a.Owner)
}

// Authorize returns [askback.ErrForbidden] unless the kind of this principal may do an
// action. It is enough for actions that concern no single ask or session.
func (c *Caller) Authorize(action access.Action) error { return May(c.Who, action) }
