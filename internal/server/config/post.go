package config

import (
	"regexp"
	"strings"
	"sync"

	"github.com/askback/askback/channel/post"
	"github.com/askback/askback/internal/directory"
	"github.com/askback/askback/internal/egress"
	"github.com/askback/askback/internal/settings"
)

// A PostReceiver is a phone or a room of a chat that gets the questions of a person.
type PostReceiver struct {
	Name          string
	post.Receiver // with the Person who reads it; "" is the user of the server
}

// receiverName is what the names of receivers consist of, so that they can be written in a
// command.
var receiverName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`) })

// post reads channels.post: receivers by name.
func (l *loader) post(v settings.Value, c *Channels) {
	l.Named(v, "write a name and its settings, as in phone: {template: ntfy, url: …}", receiverProblem, func(name string, here settings.Position, v settings.Value) {
		if r, ok := l.postReceiver(v, here); ok {
			r.Name = name
			c.Post = append(c.Post, r)
		}
	})
}

func receiverProblem(name string) (problem, fix string) {
	if !receiverName().MatchString(name) {
		return "is not the name of a receiver", "use lower-case letters, digits and -, as in phone"
	}
	return "", ""
}

// postReceiver reads one receiver. Its problems do not repeat a token or an address, which can
// contain a secret.
func (l *loader) postReceiver(v settings.Value, here settings.Position) (r PostReceiver, ok bool) {
	before := l.Problems()
	at := map[string]settings.Position{}
	secret := func(key, example string, dst *string) settings.Setting {
		return settings.Setting{Key: key, Read: func(v settings.Value) {
			at[key] = v.At
			l.Text(example, func(s string) string { *dst = s; return "" })(v)
		}}
	}
	var template string
	l.Group([]settings.Setting{
		{Key: "template", Read: func(v settings.Value) {
			at["template"] = v.At
			l.OneOf(&template, templates()...)(v)
		}},
		secret("url", "the address that the service gives", &r.URL),
		secret("token", `a variable with the token, as in "${NTFY_TOKEN}"`, &r.Token),
		secret("user", "the user key of Pushover", &r.User),
		secret("reply_topic", "another topic on the same server, as in a-long-random-topic-replies", &r.ReplyTopic),
		secret("reply_token", `a variable with the token, as in "${NTFY_REPLY_TOKEN}"`, &r.ReplyToken),
		{Key: "to", Read: l.TextTo(&r.Person, "the name of a person, as in ana", directory.NameProblem)},
		{Key: "allow", Read: func(v settings.Value) { l.List(v, func(v settings.Value) { l.allowed(v, &r.Allow) }) }},
	})(v)
	r.Template = post.Template(template)
	if l.Problems() > before {
		return r, false
	}
	if setting, problem := r.Check(); problem != "" {
		where, known := at[setting]
		if !known {
			where = here
		}
		l.AddProblem(where, postFixes[setting], "%s.%s %s", v.Key, setting, problem)
		return r, false
	}
	return r, true
}

// postFixes are what to write for the settings of a receiver.
var postFixes = map[string]string{
	"template": "write one of " + strings.Join(templates(), ", "),
	"url":      "write the address that the service gives, as in https://ntfy.sh/a-long-random-topic",
	"token":    "see the service in docs/phone.md",
	"user":     "see Pushover in docs/phone.md",

	"reply_topic": "write another topic on the same server, as in a-long-random-topic-replies",
	"reply_token": "see ntfy in docs/phone.md",
}

func templates() (names []string) {
	for _, t := range post.Templates {
		names = append(names, string(t))
	}
	return names
}

// allowed reads an entry of a list of addresses to which messages may go although they are not
// public.
func (l *loader) allowed(v settings.Value, dst *[]egress.Allowed) {
	l.Text("addresses and a port, as in 10.1.0.0/16:8080", func(s string) string {
		a, err := egress.ParseAllowed(s)
		if err != nil {
			return err.Error()
		}
		*dst = append(*dst, a)
		return ""
	})(v)
}
