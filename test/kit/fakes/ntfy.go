package fakes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/askback/askback/channel/channeltest"
	"github.com/askback/askback/channel/post/posttest"
)

// NtfyReplies is the topic of ntfy for replies, which is secret.
const NtfyReplies = "replies-4f2c81"

// NtfyToken returns the token with which Askback publishes to a person.
func NtfyToken(person string) string { return "tk_ntfy_secret_of_" + person }

// ntfy has a server of ntfy for each person.
type ntfy struct {
	servers map[string]*posttest.Ntfy
	failures
}

func newNtfy(t testing.TB, o Options) Service {
	n := &ntfy{servers: map[string]*posttest.Ntfy{}}
	for _, person := range People {
		n.servers[person] = posttest.NewNtfy(t)
		if !o.Open {
			n.servers[person].Token = NtfyToken(person)
		}
	}
	return n
}

// Describe implements [Service].
func (n *ntfy) Describe() Description {
	d := Description{Name: "ntfy", Channel: "post", Addresses: map[string]string{}, Secrets: []string{NtfyReplies}}
	var b strings.Builder
	b.WriteString("  post:\n")
	for _, person := range People {
		s := n.servers[person]
		d.Addresses[person] = s.Server
		fmt.Fprintf(&b, "    %s-phone:\n      template: ntfy\n      url: %q\n      reply_topic: %s\n      to: %s\n  "+
			"    allow: [%q]\n",
			person, s.URL, NtfyReplies, person, strings.TrimPrefix(s.Server, "http://"))
		if s.Token != "" {
			fmt.Fprintf(&b, "      token: %q\n", s.Token)
			d.Secrets = append(d.Secrets, s.Token)
		}
	}
	d.Settings = b.String()
	return d
}

// Messages implements [Service].
func (n *ntfy) Messages(person string, texts ...string) (all []Message, err error) {
	if err := isPerson(person); err != nil {
		return nil, err
	}
	for _, shown := range n.servers[person].Shown() {
		m := Message{ID: shown.ID, Ask: askIDs.FindString(shown.Tag), Text: shown.Title + "\n" + shown.Text}
		m.Settled = shown.Quiet || strings.HasPrefix(shown.Title, "Your answer was not needed")
		if shown.Link != "" {
			m.Links = append(m.Links, shown.Link)
		}
		for _, b := range shown.Buttons {
			if b.View {
				m.Links = append(m.Links, b.URL)
				continue
			}
			value, err := json.Marshal(b)
			if err != nil {
				return nil, err
			}
			m.Buttons, m.Live = append(m.Buttons, Button{b.Label, string(value)}), true
		}
		all = append(all, m)
	}
	return only(all, texts), nil
}

// Press implements [Service]. The phone posts the request of the button.
func (n *ntfy) Press(ctx context.Context, _, _ string, pressed Button) (string, error) {
	var b posttest.Button
	if err := json.Unmarshal([]byte(pressed.Value), &b); err != nil {
		return "", err
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

// Write implements [Service].
func (n *ntfy) Write(context.Context, string, string, string) (string, error) {
	return "", errUnsupported
}

// Fail implements [Service].
func (n *ntfy) Fail(how channeltest.Failure, skip, count int) error {
	var failed []func() int
	for _, s := range n.servers {
		failed = append(failed, s.FailAs(how, skip, count))
	}
	n.since(failed...)
	return nil
}

// State implements [Service].
func (n *ntfy) State() (out State, err error) {
	out.Failed = n.failed()
	for _, s := range n.servers {
		out.Rejected = append(out.Rejected, s.Rejected()...)
	}
	return out, nil
}
