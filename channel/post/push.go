package post

import (
	"net/url"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/askback/askback/internal/message/notice"
)

// This file draws messages for services that show notifications on phones. Each limit is from the
// documentation of the service, unless its comment says otherwise.

// Ntfy takes a message as text if it is shorter than 4096 bytes, and makes a file of a longer message. The
// JSON may have twice as many bytes (docs.ntfy.sh/publish, "Limitations").
const (
	ntfyMaxMessage = 4095
	ntfyMaxBody    = 8192
	ntfyMaxActions = 3
)

// ButtonLimits are the limits of ntfy for choices: three actions, and labels that phones do not truncate.
var ButtonLimits = notice.Limits{Choices: ntfyMaxActions, Label: 24}

// Priorities of ntfy.
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
	SequenceID string       `json:"sequence_id"` // ignored by servers before 2.16
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

// drawNtfy draws a message for ntfy, and reports whether the message fits. A notice has the sequence id of
// the question, so it replaces the question together with its buttons.
func drawNtfy(r Receiver, m notice.Message) (content, bool) {
	u, err := url.Parse(r.URL)
	if err != nil {
		return content{}, false
	}
	m = withoutLink(m)
	out := ntfyMessage{
		Topic: strings.Trim(u.Path, "/"), Title: m.Title.String(), Message: m.Text(notice.Plain), Priority: ntfyDefault,
		Tags: []string{"question"}, Click: m.Link, SequenceID: m.Tag,
	}
	switch {
	case m.Quiet:
		out.Priority, out.Tags = ntfyLow, []string{"white_check_mark"}
	case m.Urgent:
		out.Priority, out.Tags = ntfyHigh, []string{"warning"}
	}
	for _, b := range m.Buttons {
		out.Actions = append(out.Actions,
			ntfyAction{Action: "http", Label: b.Label, URL: b.URL, Method: "POST", Body: b.Body, Clear: true})
	}
	if m.Link != "" && len(out.Actions) < ntfyMaxActions && !m.Quiet {
		out.Actions = append(out.Actions, ntfyAction{Action: "view", Label: "Open", URL: m.Link})
	}
	c := content{url: u.Scheme + "://" + u.Host + "/", body: out, maxBody: ntfyMaxBody}
	c.header, c.secret = bearer(r.Token)
	return c, len(out.Message) <= ntfyMaxMessage && len(out.Actions) <= ntfyMaxActions
}

// Limits of Pushover in characters (pushover.net/api, "Message limits").
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

// drawPushover draws a message for Pushover, and reports whether the message fits. If the link is short
// enough, it is in a separate field and not in the text.
func drawPushover(r Receiver, m notice.Message) (content, bool) {
	out := pushoverMessage{Token: r.Token, User: r.User, Title: m.Title.String()}
	if utf8.RuneCountInString(m.Link) <= pushoverMaxURL && m.Link != "" {
		out.URL, out.URLTitle = m.Link, "Open"
		m = withoutLink(m)
	}
	out.Message = m.Text(notice.Plain)
	switch {
	case m.Quiet:
		out.Priority = -1
	case m.Urgent:
		out.Priority = 1
	}
	address := r.URL
	if address == "" {
		address = pushoverURL
	}
	return content{url: address, body: out}, utf8.RuneCountInString(out.Message) <= pushoverMaxMessage
}

// withoutLink returns m without the address of the link in its text, for services that open the link with a
// tap. A message without a link is returned unchanged.
func withoutLink(m notice.Message) notice.Message {
	if m.Link == "" {
		return m
	}
	footer := "Open this to answer."
	switch {
	case m.Quiet:
		footer = "Open this for details."
	case len(m.Buttons) > 0:
		footer = "Answer with a button, or open this."
	}
	m.Footer = []notice.Line{notice.Own("%s", footer)}
	return m
}

// gotifyMaxMessage is the maximum length of a message in bytes. Gotify documents no limit, but MySQL
// truncates texts of more than 65 535 bytes, and phones are not made for longer texts. So Askback sets the
// limit.
const gotifyMaxMessage = 16_000

// drawGotify draws a message for Gotify as plain text, and reports whether the message fits.
func drawGotify(r Receiver, m notice.Message) (content, bool) {
	priority := 5
	switch {
	case m.Quiet:
		priority = 1
	case m.Urgent:
		priority = 8
	}
	extras := map[string]any{"client::display": map[string]any{"contentType": "text/plain"}}
	if m.Link != "" {
		extras["client::notification"] = map[string]any{"click": map[string]any{"url": m.Link}}
	}
	text := m.Text(notice.Plain)
	return content{
		url: strings.TrimSuffix(r.URL, "/") + "/message", header: "X-Gotify-Key", secret: r.Token,
		body: map[string]any{"title": m.Title.String(), "message": text, "priority": priority, "extras": extras},
	}, len(text) <= gotifyMaxMessage
}

// homeAssistantMaxBody is the maximum size of the JSON in bytes. Home Assistant passes messages to the push
// services of Apple and Google, which accept 4096 bytes. The limit leaves room for parts that Home Assistant
// adds.
const homeAssistantMaxBody = 3000

// changedByAndroid matches text that Home Assistant's app for Android would change: HTML, the escapes of line
// ends, and names of emoji.
var changedByAndroid = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[<&]|\\[rn]|:[-+\w|]+:`) })

// drawHomeAssistant draws a message for an action notify of Home Assistant, or for the webhook of an
// automation, which finds the same members in trigger.json. It reports false if the app for Android would
// change the text. A message replaces an earlier message with the same tag.
func drawHomeAssistant(r Receiver, m notice.Message) (content, bool) {
	for _, l := range m.All() {
		if changedByAndroid().MatchString(l.Foreign) {
			return content{}, false
		}
	}
	if changedByAndroid().MatchString(m.Title.String()) {
		return content{}, false
	}
	data := map[string]any{"tag": m.Tag, "group": "askback"}
	if m.Link != "" {
		data["url"], data["clickAction"] = m.Link, m.Link // for iOS and for Android
	}
	if m.Urgent {
		data["priority"], data["ttl"] = "high", 0
	}
	m = withoutLink(m)
	c := content{
		url: r.URL, maxBody: homeAssistantMaxBody,
		body: map[string]any{"title": m.Title.String(), "message": m.Text(notice.Plain), "data": data},
	}
	c.header, c.secret = bearer(r.Token)
	return c, true
}
