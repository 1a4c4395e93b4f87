package fakes

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// A Browser is a browser in which a person is logged in to the pages of a server, to answer messages there.
type Browser struct {
	// Server returns the address of the server and a client for it.
	Server func(context.Context) (address string, c *http.Client, err error)
	Cookie string // the name and the value of the cookie of the log-in
}

// LogIn logs the browser in with the secret of a link.
func (b *Browser) LogIn(ctx context.Context, secret string) error {
	reply, _, err := b.send(ctx, http.MethodPost, "/login", url.Values{"secret": {secret}})
	if err != nil {
		return err
	}
	for _, c := range reply.Cookies() {
		if c.Value != "" {
			b.Cookie = c.Name + "=" + c.Value
		}
	}
	if b.Cookie == "" {
		return fmt.Errorf("the log-in was answered %s", reply.Status)
	}
	return nil
}

// send sends a request as the pages do, and returns the response and its body. It does not follow redirects.
func (b *Browser) send(ctx context.Context, method, path string, form url.Values) (*http.Response, string, error) {
	address, client, err := b.Server(ctx)
	if err != nil {
		return nil, "", err
	}
	r, err := http.NewRequestWithContext(ctx, method, address+path, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, "", err
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if b.Cookie != "" {
		r.Header.Set("Cookie", b.Cookie)
	}
	staying := *client
	staying.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	reply, err := staying.Do(r)
	if err != nil {
		return nil, "", err
	}
	defer reply.Body.Close()
	page, err := io.ReadAll(reply.Body)
	return reply, string(page), err
}

// Patterns for the data in the pages.
var (
	pushKey = regexp.MustCompile(`data-key="([\w-]{87})"`)
	choice  = regexp.MustCompile(`(?s)<input type="radio" name="(q\d+)" value="(\d+)"[^>]*>\s*<span class="text">\s*<bdi class="name">(.*?)</bdi>`)
	winner  = regexp.MustCompile(`(?s)<p class="winner">(.*?)</p>`)
	element = regexp.MustCompile(`<[^>]*>`)
)

// PushKey returns the key for the subscriptions of browsers, from the inbox.
func (b *Browser) PushKey(ctx context.Context) (string, error) {
	reply, page, err := b.send(ctx, http.MethodGet, "/", nil)
	if err != nil {
		return "", err
	}
	found := pushKey.FindStringSubmatch(page)
	if found == nil {
		return "", fmt.Errorf("the inbox has no key for browsers: %s", reply.Status)
	}
	return found[1], nil
}

// Open opens the page of a message, as a click on a notification does. It returns the message with the
// options of the page as its buttons. A settled message has no buttons.
func (b *Browser) Open(ctx context.Context, m Message) (Message, error) {
	if len(m.Links) == 0 {
		return m, errors.New("the message has no link")
	}
	reply, page, err := b.send(ctx, http.MethodGet, m.Links[0], nil)
	if err != nil {
		return m, err
	}
	if reply.StatusCode != http.StatusOK {
		return m, fmt.Errorf("the page of the message was answered %s", reply.Status)
	}
	for _, c := range choice.FindAllStringSubmatch(page, -1) {
		m.Buttons = append(m.Buttons,
			Button{Label: html.UnescapeString(c[3]), Value: url.Values{c[1]: {c[2]}, "action": {"answer"}}.Encode()})
	}
	return m, nil
}

// Press sends the form of a page with one option. If the ask is already settled, it returns the text of the
// page about the person who answered first.
func (b *Browser) Press(ctx context.Context, m Message, pressed Button) (string, error) {
	form, err := url.ParseQuery(pressed.Value)
	if err != nil {
		return "", err
	}
	reply, page, err := b.send(ctx, http.MethodPost, m.Links[0], form)
	if err != nil {
		return "", err
	}
	switch reply.StatusCode {
	case http.StatusSeeOther:
		return "", nil
	case http.StatusConflict:
		if found := winner.FindStringSubmatch(page); found != nil {
			return html.UnescapeString(element.ReplaceAllString(found[1], "")), nil
		}
		return "", errors.New("the page of a late answer does not tell who was first")
	}
	return "", fmt.Errorf("the answer was answered %s", reply.Status)
}
