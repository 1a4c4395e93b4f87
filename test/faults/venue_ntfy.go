package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/channel/post"
	"github.com/askback/askback/channel/post/posttest"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/answerlink"
	"github.com/askback/askback/internal/egress"
)

// An ntfyVenue is a server of ntfy for each person, with a topic for questions and one for
// replies.
type ntfyVenue struct{ servers map[string]*posttest.Ntfy }

func newNtfyVenue(t testing.TB) *ntfyVenue {
	v := &ntfyVenue{map[string]*posttest.Ntfy{}}
	for _, person := range venuePeople {
		v.servers[person] = posttest.NewNtfy(t)
		v.servers[person].Token = "tk_ntfy_secret_of_" + person
	}
	return v
}

func (v *ntfyVenue) name() string    { return "ntfy" }
func (v *ntfyVenue) channel() string { return "post" }

// ntfyReplies is the topic of the replies, which is secret.
const ntfyReplies = "replies-4f2c81"

func (v *ntfyVenue) open(log *slog.Logger) (engine.Channel, func(context.Context, *engine.Engine), error) {
	key := func() ([]byte, error) { return bytes.Repeat([]byte{9}, 32), nil }
	o := post.Options{
		Receivers: map[string]post.Receiver{}, Log: log,
		Pages: answerlink.New(key, answerlink.Page), Replies: answerlink.New(key, answerlink.Reply),
	}
	for person, s := range v.servers {
		allowed, err := allowedAt(s.URL)
		if err != nil {
			return nil, nil, err
		}
		o.Receivers[person+"-phone"] = post.Receiver{
			Template: post.Ntfy, URL: s.URL, Token: s.Token, ReplyTopic: ntfyReplies, Person: person, Allow: []egress.Allowed{allowed},
		}
	}
	c, err := post.New(o)
	if err != nil {
		return nil, nil, err
	}
	return c, func(ctx context.Context, e *engine.Engine) { defer c.Close(); c.Run(ctx, e) }, nil
}

func (v *ntfyVenue) receivers() (all []engine.Receiver) {
	for _, person := range venuePeople {
		all = append(all, engine.Receiver{Channel: "post", Name: person + "-phone", Person: person})
	}
	return all
}

func (v *ntfyVenue) join(context.Context, string, askback.Contacts) error { return nil }

func (v *ntfyVenue) settings() string {
	var b strings.Builder
	b.WriteString("  post:\n")
	for _, person := range venuePeople {
		s := v.servers[person]
		fmt.Fprintf(&b, "    %s-phone:\n      template: ntfy\n      url: %q\n      token: %q\n      reply_topic: %s\n      to: %s\n      allow: [%q]\n",
			person, s.URL, s.Token, ntfyReplies, person, strings.TrimPrefix(s.Server, "http://"))
	}
	return b.String()
}

func (v *ntfyVenue) secrets() (all []string) {
	for _, s := range v.servers {
		all = append(all, s.Token)
	}
	return append(all, ntfyReplies)
}

func (v *ntfyVenue) seen(person string) (all []sight) {
	for _, m := range v.servers[person].Shown() {
		at := newSight(m.ID, m.Title+"\n"+m.Text, m.Tag, m)
		at.settled = m.Quiet || strings.HasPrefix(m.Title, "Your answer was not needed")
		for _, b := range m.Buttons {
			at.live = at.live || !b.View
		}
		all = append(all, at)
	}
	return all
}

func (v *ntfyVenue) press(ctx context.Context, _ string, at sight, label string) (string, error) {
	for _, b := range at.raw.(posttest.Message).Buttons {
		if b.Label != label || b.View {
			continue
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, b.URL, strings.NewReader(b.Body))
		if err != nil {
			return "", err
		}
		reply, err := http.DefaultClient.Do(r)
		if err != nil {
			return "", err
		}
		if err := reply.Body.Close(); err != nil || reply.StatusCode != http.StatusOK {
			return "", errors.Join(err, fmt.Errorf("the reply topic answered %s", reply.Status))
		}
		return "", nil
	}
	return "", errNoButton
}
