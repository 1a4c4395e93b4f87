package config

import (
	"regexp"
	"strings"
	"sync"

	"github.com/goccy/go-yaml/ast"

	"github.com/askback/askback/channel/post"
	"github.com/askback/askback/internal/directory"
	"github.com/askback/askback/internal/egress"
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
func (l *loader) post(v value, c *Channels) {
	if !l.hasValue(v) {
		return
	}
	m, ok := v.node.(*ast.MappingNode)
	if !ok {
		l.addProblem(v.at, "write a name and its settings, as in phone: {template: ntfy, url: …}", "%s is %s", v.key, describe(v.node))
		return
	}
	seen := map[string]position{}
	for _, n := range m.Values {
		here, name := positionOf(n.Key), keyName(n.Key)
		if first, twice := seen[name]; twice {
			l.addProblem(here, "write it once", "%s.%s is already set in line %d", v.key, name, first.line)
			continue
		}
		seen[name] = here
		if !receiverName().MatchString(name) {
			l.addProblem(here, "use lower-case letters, digits and -, as in phone", "%s: %s is not the name of a receiver", v.key, quote(name))
			continue
		}
		if r, ok := l.postReceiver(value{n.Value, v.key + "." + name, valuePosition(n.Value, here)}, here); ok {
			r.Name = name
			c.Post = append(c.Post, r)
		}
	}
}

// postReceiver reads one receiver. Its problems do not repeat a token or an address, which can
// contain a secret.
func (l *loader) postReceiver(v value, here position) (r PostReceiver, ok bool) {
	before := len(l.problems)
	at := map[string]position{}
	secret := func(key, example string, dst *string) setting {
		return setting{key: key, read: func(v value) {
			at[key] = v.at
			l.text(example, func(s string) string { *dst = s; return "" })(v)
		}}
	}
	var template string
	l.group([]setting{
		{key: "template", read: func(v value) {
			at["template"] = v.at
			l.oneOf(&template, templates()...)(v)
		}},
		secret("url", "the address that the service gives", &r.URL),
		secret("token", `a variable with the token, as in "${NTFY_TOKEN}"`, &r.Token),
		secret("user", "the user key of Pushover", &r.User),
		secret("reply_topic", "another topic on the same server, as in a-long-random-topic-replies", &r.ReplyTopic),
		secret("reply_token", `a variable with the token, as in "${NTFY_REPLY_TOKEN}"`, &r.ReplyToken),
		{key: "to", read: l.textTo(&r.Person, "the name of a person, as in ana", directory.NameProblem)},
		{key: "allow", read: func(v value) { l.list(v, func(v value) { l.allowed(v, &r.Allow) }) }},
	})(v)
	r.Template = post.Template(template)
	if len(l.problems) > before {
		return r, false
	}
	if setting, problem := r.Check(); problem != "" {
		where, known := at[setting]
		if !known {
			where = here
		}
		l.addProblem(where, postFixes[setting], "%s.%s %s", v.key, setting, problem)
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
func (l *loader) allowed(v value, dst *[]egress.Allowed) {
	l.text("addresses and a port, as in 10.1.0.0/16:8080", func(s string) string {
		a, err := egress.ParseAllowed(s)
		if err != nil {
			return err.Error()
		}
		*dst = append(*dst, a)
		return ""
	})(v)
}
