package httpapi

import (
	"context"
	"net/http"
	"net/url"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/decode"
)

func (c *call) contacts() error {
	return c.result(itemsOf(c.client.Contacts(c.r.Context())))
}

func (c *call) addContact() error {
	r, err := decode.ContactRequest(c.body)
	if err != nil {
		return err
	}
	made, err := c.client.AddContact(c.r.Context(), r)
	if err != nil {
		return err
	}
	return c.reply(http.StatusCreated, made)
}

func (c *call) deleteContact() error {
	return c.result(c.client.DeleteContact(c.r.Context(), c.id()))
}

func (c *call) contactCode() error {
	channel, err := decode.ContactCode(c.body)
	if err != nil {
		return err
	}
	code, err := c.client.ContactCode(c.r.Context(), channel)
	if err != nil {
		return err
	}
	return c.reply(http.StatusCreated, code)
}

type wireContactCode struct {
	Channel string `json:"channel"`
}

// Contacts implements [askback.Contacts].
func (c *Client) Contacts(ctx context.Context) ([]askback.Contact, error) {
	return fetchItems[askback.Contact](ctx, c, "/contacts")
}

// AddContact implements [askback.Contacts].
func (c *Client) AddContact(ctx context.Context, r askback.ContactRequest) (askback.Contact, error) {
	return fetch[askback.Contact](ctx, c,
		request{method: "POST", path: base + "/contacts", body: body[askback.ContactRequest]{r, appendContactRequest}})
}

// DeleteContact implements [askback.Contacts].
func (c *Client) DeleteContact(ctx context.Context, id string) (askback.Contact, error) {
	return fetch[askback.Contact](ctx, c, request{method: "DELETE", path: base + "/contacts/" + url.PathEscape(id)})
}

// ContactCode implements [askback.Contacts].
func (c *Client) ContactCode(ctx context.Context, channel string) (askback.ContactCode, error) {
	return fetch[askback.ContactCode](ctx, c,
		request{method: "POST", path: base + "/contact-codes", body: wireContactCode{channel}})
}
