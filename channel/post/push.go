package post

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// The services that show notifications on phones. Each limit is that of its documentation, or
// noted as our own.

// Ntfy takes a message as text if it is shorter than 4096 bytes, and makes a file of a longer
// one. The whole JSON may have twice as much (docs.ntfy.sh/publish, "Limitations").
const (
	ntfyMaxMessage = 4095
	ntfyMaxBody    = 8192
	ntfyMaxActions = 3
)

// The priorities of ntfy.
const (
	ntfyLow     = 2
	ntfyDefault = 3
	ntfyHigh    = 4
)

type ntfyMessage struct {
	Topic      string       `json:"topic"`
	Title      string       `json:"title"`
	Message    string       `json:"message"`
	Priority   int          `json:"priority"`
	Tags       []string     `json:"tags"`
	Click      string       `json:"click,omitempty"`
	SequenceID string       `json:"sequence_id"` // servers before 2.16 ignore it
	Actions    []ntfyAction `json:"actions,omitempty"`
}

type ntfyAction struct {
	Action string `json:"action"`
	Label  string `json:"label"`
	URL    string `json:"url"`
	Method string `json:"method,omitempty"`
	Body   string `json:"body,omitempty"`
	Clear  bool   `json:"clear"`
}

// drawNtfy draws a message for ntfy. A notice has the sequence id of the question, so that it
// replaces it together with its buttons.
func drawNtfy(r Receiver, m message) (content, bool) {
	u, err := url.Parse(r.URL)
	if err != nil {
		return content{}, false
	}
	out := ntfyMessage{
		Topic: strings.Trim(u.Path, "/"), Title: m.title, Message: m.text(plain), Priority: ntfyDefault, Tags: []string{"question"},
		Click: m.link, SequenceID: m.tag,
	}
	switch {
	case m.quiet:
		out.Priority, out.Tags = ntfyLow, []string{"white_check_mark"}
	case m.urgent:
		out.Priority, out.Tags = ntfyHigh, []string{"warning"}
	}
	for _, b := range m.buttons {
		out.Actions = append(out.Actions, ntfyAction{Action: "http", Label: b.Label, URL: b.URL, Method: "POST", Body: b.Body, Clear: true})
	}
	if m.link != "" && len(out.Actions) < ntfyMaxActions && !m.quiet {
		out.Actions = append(out.Actions, ntfyAction{Action: "view", Label: "Open", URL: m.link})
	}
	c := content{url: u.Scheme + "://" + u.Host + "/", body: out, maxBody: ntfyMaxBody}
	c.header, c.secret = bearer(r.Token)
	return c, len(out.Message) <= ntfyMaxMessage && len(out.Actions) <= ntfyMaxActions
}

// The limits of Pushover in characters (pushover.net/api, "Message limits").
const (
	pushoverMaxMessage = 1024
	pushoverMaxURL     = 512
)

type pushoverMessage struct {
	Token    string `json:"token"`
	User     string `json:"user"`
	Title    string `json:"title"`
	Message  string `json:"message"`
	Priority int    `json:"priority"` // -1 is silent, 1 is high
	URL      string `json:"url,omitempty"`
	URLTitle string `json:"url_title,omitempty"`
}

// drawPushover draws a message for Pushover. The link has its own field, so it is not in the
// text.
func drawPushover(r Receiver, m message) (content, bool) {
	out := pushoverMessage{Token: r.Token, User: r.User, Title: m.title}
	if utf8.RuneCountInString(m.link) <= pushoverMaxURL && m.link != "" {
		out.URL, out.URLTitle = m.link, "Open"
		m = m.withoutLink()
	}
	out.Message = m.text(plain)
	switch {
	case m.quiet:
		out.Priority = -1
	case m.urgent:
		out.Priority = 1
	}
	address := r.URL
	if address == "" {
		address = pushoverURL
	}
	return content{url: address, body: out}, utf8.RuneCountInString(out.Message) <= pushoverMaxMessage
}

// withoutLink returns the message without the address of the link in its text, for a service
// that opens the link with a tap.
func (m message) withoutLink() message {
	lines := slices.Clone(m.lines)
	for i, l := range lines {
		if l.link != "" {
			lines[i] = own("Open this to answer.")
			if m.quiet {
				lines[i] = own("Open this for details.")
			}
		}
	}
	m.lines = lines
	return m
}

// Gotify documents no limit, but MySQL cuts texts of more than 65 535 bytes, and a phone is no
// place for such; the limit is our own.
const gotifyMaxMessage = 16_000

// drawGotify draws a message for Gotify, as plain text.
func drawGotify(r Receiver, m message) (content, bool) {
	priority := 5
	switch {
	case m.quiet:
		priority = 1
	case m.urgent:
		priority = 8
	}
	extras := map[string]any{"client::display": map[string]any{"contentType": "text/plain"}}
	if m.link != "" {
		extras["client::notification"] = map[string]any{"click": map[string]any{"url": m.link}}
	}
	text := m.text(plain)
	return content{
		url: strings.TrimSuffix(r.URL, "/") + "/message", header: "X-Gotify-Key", secret: r.Token,
		body: map[string]any{"title": m.title, "message": text, "priority": priority, "extras": extras},
	}, len(text) <= gotifyMaxMessage
}

// Home Assistant hands messages to the push services of Apple and Google, which take 4096
// bytes with their own parts; the limit leaves room for these.
const homeAssistantMaxBody = 3000

// changedByAndroid matches what Home Assistant's app for Android would change: it reads HTML,
// the escapes of line ends, and names of emoji.
var changedByAndroid = regexp.MustCompile(`[<&]|\\[rn]|:[-+\w|]+:`)

// drawHomeAssistant draws a message for Home Assistant: for an action notify, or for the
// webhook of an automation, which finds the same members in trigger.json. A message with the
// same tag replaces the one before.
func drawHomeAssistant(r Receiver, m message) (content, bool) {
	for _, l := range m.lines {
		if changedByAndroid.MatchString(l.foreign) {
			return content{}, false
		}
	}
	if changedByAndroid.MatchString(m.title) {
		return content{}, false
	}
	data := map[string]any{"tag": m.tag, "group": "askback"}
	if m.link != "" {
		data["url"], data["clickAction"] = m.link, m.link // iOS, Android
	}
	if m.urgent {
		data["priority"], data["ttl"] = "high", 0
	}
	if m.link != "" {
		m = m.withoutLink()
	}
	c := content{
		url: r.URL, maxBody: homeAssistantMaxBody,
		body: map[string]any{"title": m.title, "message": m.text(plain), "data": data},
	}
	c.header, c.secret = bearer(r.Token)
	return c, true
}
