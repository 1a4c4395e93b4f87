package post

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/egress"
	"github.com/askback/askback/internal/message/answerlink"
	"github.com/askback/askback/internal/message/notice"
)

// publicURL returns the address of the server, or "" if other devices cannot reach it.
func publicURL(a askback.Ask) string {
	if u, err := url.Parse(a.PageURL); err != nil || egress.IsLoopback(u.Host) {
		return ""
	}
	return strings.TrimSuffix(a.PageURL, askback.PagePath(a.ID))
}

// isPersonal reports whether messages to a receiver are for one person. Other receivers are rooms of a chat,
// where anyone could use a link that needs no log-in.
func (r Receiver) isPersonal() bool {
	return r.Template == Ntfy || r.Template == Pushover || r.Template == Gotify || r.Template == HomeAssistant
}

// link returns the address where a person answers an ask, or "" without a public address. If the receiver is
// personal, the page needs no log-in.
func (c *Channel) link(r Receiver, a askback.Ask, person, public string) string {
	if public == "" {
		return ""
	}
	if r.isPersonal() && person != "" && c.options.Pages != nil {
		if link := c.options.Pages.URL(public,
			answerlink.Link{AskID: a.ID, Person: person, Channel: askback.ChannelPush}); link != "" {
			return link
		}
	}
	return a.PageURL
}

// buttons returns the buttons of a message to a person, one for each choice. It returns nil if not all
// choices fit, or if the receiver does not use ntfy. The buttons publish a token to the reply topic of the
// receiver. Without a reply topic, they send the token to this server.
func (c *Channel) buttons(r Receiver, a askback.Ask, person, public string) (buttons []notice.Button) {
	if r.Template != Ntfy || person == "" {
		return nil
	}
	for i, choice := range notice.Choices(a, ButtonLimits) {
		l := answerlink.Link{AskID: a.ID, Person: person, Channel: askback.ChannelPush, Choice: i + 1}
		b := notice.Button{Label: choice.Label}
		switch {
		case r.ReplyTopic != "" && c.options.Replies != nil:
			token, err := c.options.Replies.Sign(l)
			if err != nil {
				return nil
			}
			b.URL, b.Body = r.Origin()+"/"+r.ReplyTopic, token
		case public != "" && c.options.Pages != nil:
			b.URL, b.Body = c.options.Pages.URL(public, l), fmt.Sprint("choice=", l.Choice)
		}
		if b.URL == "" {
			return nil
		}
		buttons = append(buttons, b)
	}
	return buttons
}
