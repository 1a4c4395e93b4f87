package connection

import (
	"context"
	"encoding/json"
	"time"

	"github.com/askback/askback"
)

// These methods implement [askback.Client]. They only repeat lost calls.

func (c client) Cancel(ctx context.Context, id, reason string) (askback.Ask, error) {
	return retry2(ctx, c, askback.Client.Cancel, id, reason)
}

func (c client) Consume(ctx context.Context, id, digest string) (askback.Ask, error) {
	return retry2(ctx, c, askback.Client.Consume, id, digest)
}

func (c client) Ack(ctx context.Context, id string) (askback.Ask, error) {
	return retry1(ctx, c, askback.Client.Ack, id)
}

func (c client) Get(ctx context.Context, id string) (askback.Ask, error) {
	return retry1(ctx, c, askback.Client.Get, id)
}

func (c client) List(ctx context.Context, q askback.Query) (askback.Page, error) {
	return retry1(ctx, c, askback.Client.List, q)
}

func (c client) Answer(ctx context.Context, id string, a askback.Answer) (askback.Ask, error) {
	return retry2(ctx, c, askback.Client.Answer, id, a)
}

func (c client) Decline(ctx context.Context, id, reason string) (askback.Ask, error) {
	return retry2(ctx, c, askback.Client.Decline, id, reason)
}

func (c client) Reassign(ctx context.Context, id string, r askback.Reassignment) (askback.Ask, error) {
	return retry2(ctx, c, askback.Client.Reassign, id, r)
}

func (c client) Claim(ctx context.Context, id string) (askback.Ask, error) {
	return retry1(ctx, c, askback.Client.Claim, id)
}

func (c client) Seen(ctx context.Context, id string) error {
	_, err := retry(ctx, c, func(ctx context.Context, to askback.Client) (struct{}, error) {
		return struct{}{}, to.Seen(ctx, id)
	})
	return err
}

func (c client) Draft(ctx context.Context, id string) (json.RawMessage, error) {
	return retry1(ctx, c, askback.Client.Draft, id)
}

func (c client) SaveDraft(ctx context.Context, id string, draft json.RawMessage) error {
	_, err := retry(ctx, c, func(ctx context.Context, to askback.Client) (struct{}, error) {
		return struct{}{}, to.SaveDraft(ctx, id, draft)
	})
	return err
}

func (c client) Grants(ctx context.Context, q askback.GrantQuery) (askback.GrantPage, error) {
	return retry1(ctx, c, askback.Client.Grants, q)
}

func (c client) Revoke(ctx context.Context, id string) (askback.Grant, error) {
	return retry1(ctx, c, askback.Client.Revoke, id)
}

func (c client) Tokens(ctx context.Context) ([]askback.Token, error) {
	return retry0(ctx, c, askback.Client.Tokens)
}

func (c client) RevokeToken(ctx context.Context, id string) (askback.Token, error) {
	return retry1(ctx, c, askback.Client.RevokeToken, id)
}

func (c client) LoginSecret(ctx context.Context) (string, error) {
	return retry0(ctx, c, askback.Client.LoginSecret)
}

func (c client) Groups(ctx context.Context) ([]askback.Group, error) {
	return retry0(ctx, c, askback.Client.Groups)
}

func (c client) Routes(ctx context.Context) (askback.RouteList, error) {
	return retry0(ctx, c, askback.Client.Routes)
}

func (c client) PutPerson(ctx context.Context, r askback.PersonRequest) (askback.Person, error) {
	return retry1(ctx, c, askback.Client.PutPerson, r)
}

func (c client) DeletePerson(ctx context.Context, name string) (askback.Person, error) {
	return retry1(ctx, c, askback.Client.DeletePerson, name)
}

func (c client) PutGroup(ctx context.Context, name string, people []string) (askback.Group, error) {
	return retry2(ctx, c, askback.Client.PutGroup, name, people)
}

func (c client) DeleteGroup(ctx context.Context, name string) (askback.Group, error) {
	return retry1(ctx, c, askback.Client.DeleteGroup, name)
}

func (c client) PutRoutes(ctx context.Context, routes []askback.Route, revision int64) (askback.RouteList, error) {
	return retry2(ctx, c, askback.Client.PutRoutes, routes, revision)
}

func (c client) People(ctx context.Context) ([]askback.Person, error) {
	return retry0(ctx, c, askback.Client.People)
}

func (c client) HostedAgents(ctx context.Context) ([]askback.HostedAgent, error) {
	return retry0(ctx, c, askback.Client.HostedAgents)
}

func (c client) Agents(ctx context.Context) ([]askback.AgentStats, error) {
	return retry0(ctx, c, askback.Client.Agents)
}

func (c client) Stats(ctx context.Context) (askback.Stats, error) {
	return retry0(ctx, c, askback.Client.Stats)
}

func (c client) Deliveries(ctx context.Context, q askback.DeliveryQuery) (askback.DeliveryPage, error) {
	return retry1(ctx, c, askback.Client.Deliveries, q)
}

func (c client) RetryDelivery(ctx context.Context, id string) (askback.Delivery, error) {
	return retry1(ctx, c, askback.Client.RetryDelivery, id)
}

func (c client) Endpoints(ctx context.Context, q askback.EndpointQuery) (askback.EndpointPage, error) {
	return retry1(ctx, c, askback.Client.Endpoints, q)
}

func (c client) DeleteEndpoint(ctx context.Context, id string) (askback.Endpoint, error) {
	return retry1(ctx, c, askback.Client.DeleteEndpoint, id)
}

func (c client) PauseEndpoint(ctx context.Context, id string) (askback.Endpoint, error) {
	return retry1(ctx, c, askback.Client.PauseEndpoint, id)
}

func (c client) ResumeEndpoint(ctx context.Context, id string) (askback.Endpoint, error) {
	return retry1(ctx, c, askback.Client.ResumeEndpoint, id)
}

func (c client) TestEndpoint(ctx context.Context, id string) (askback.EndpointTest, error) {
	return retry1(ctx, c, askback.Client.TestEndpoint, id)
}

func (c client) Contacts(ctx context.Context) ([]askback.Contact, error) {
	return retry0(ctx, c, askback.Client.Contacts)
}

func (c client) AddContact(ctx context.Context, r askback.ContactRequest) (askback.Contact, error) {
	return retry1(ctx, c, askback.Client.AddContact, r)
}

func (c client) DeleteContact(ctx context.Context, id string) (askback.Contact, error) {
	return retry1(ctx, c, askback.Client.DeleteContact, id)
}

func (c client) ContactCode(ctx context.Context, channel string) (askback.ContactCode, error) {
	return retry1(ctx, c, askback.Client.ContactCode, channel)
}

func (c client) ResendToEndpoint(ctx context.Context, id string, since time.Time) (int, error) {
	return retry2(ctx, c, askback.Client.ResendToEndpoint, id, since)
}

func (c client) Session(ctx context.Context, id string) (askback.Session, error) {
	return retry1(ctx, c, askback.Client.Session, id)
}

func (c client) Sessions(ctx context.Context, q askback.SessionQuery) (askback.SessionPage, error) {
	return retry1(ctx, c, askback.Client.Sessions, q)
}

func (c client) Messages(ctx context.Context, id, cursor string, limit int) (askback.MessagePage, error) {
	return retry(ctx, c, func(ctx context.Context, to askback.Client) (askback.MessagePage, error) {
		return to.Messages(ctx, id, cursor, limit)
	})
}

// Send implements [askback.Sessions]. A repeated message may arrive twice.
func (c client) Send(ctx context.Context, id string, t askback.Command) (askback.Session, error) {
	return retry2(ctx, c, askback.Client.Send, id, t)
}
