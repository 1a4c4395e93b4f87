package post

import (
	"regexp"
	"strings"
	"sync"

	"github.com/askback/askback/internal/channels"
	"github.com/askback/askback/internal/directory"
	"github.com/askback/askback/internal/settings"
)

// Settings are the receivers that the settings file lists, in the order of the file.
type Settings []NamedReceiver

// A NamedReceiver is a phone or a room of a chat that gets the questions of a person.
type NamedReceiver struct {
	Name     string
	Receiver // if Person is "", the user of the server reads the messages
}

// receiverName matches the names of receivers. Such a name can be written in a command.
var receiverName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`) })

// readSettings reads channels.post, whose keys are the names of receivers. Without valid receivers it returns
// nil.
func readSettings(r *settings.Reader, v settings.Value) channels.Settings {
	var all Settings
	r.Named(v, "write a name and its settings, as in phone: {template: ntfy, url: …}",
		receiverProblem, func(name string, here settings.Position, v settings.Value) {
			if one, ok := readReceiver(r, v, here); ok {
				all = append(all, NamedReceiver{name, one})
			}
		})
	if all == nil {
		return nil
	}
	return all
}

func receiverProblem(name string) (problem, fix string) {
	if !receiverName().MatchString(name) {
		return "is not the name of a receiver", "use lower-case letters, digits and -, as in phone"
	}
	return "", ""
}

// readReceiver reads one receiver. Its problems do not repeat a token or a URL, which can contain a secret.
func readReceiver(r *settings.Reader, v settings.Value, here settings.Position) (to Receiver, ok bool) {
	before := r.Problems()
	at := map[string]settings.Position{}
	secret := func(key, example string, dst *string) settings.Setting {
		return settings.Setting{Key: key, Read: func(v settings.Value) {
			at[key] = v.At
			r.Text(example, func(s string) string { *dst = s; return "" })(v)
		}}
	}
	var template string
	r.Group([]settings.Setting{
		{Key: "template", Read: func(v settings.Value) {
			at["template"] = v.At
			r.OneOf(&template, templates()...)(v)
		}},
		secret("url", "the address that the service gives", &to.URL),
		secret("token", `a variable with the token, as in "${NTFY_TOKEN}"`, &to.Token),
		secret("user", "the user key of Pushover", &to.User),
		secret("reply_topic", "another topic on the same server, as in a-long-random-topic-replies", &to.ReplyTopic),
		secret("reply_token", `a variable with the token, as in "${NTFY_REPLY_TOKEN}"`, &to.ReplyToken),
		{Key: "to", Read: r.TextTo(&to.Person, "the name of a person, as in ana", directory.NameProblem)},
		{Key: "allow", Read: channels.Allow(r, &to.Allow)},
	})(v)
	to.Template = Template(template)
	if r.Problems() > before {
		return to, false
	}
	if setting, problem := to.Check(); problem != "" {
		where, known := at[setting]
		if !known {
			where = here
		}
		r.AddProblem(where, fixes[setting], "%s.%s %s", v.Key, setting, problem)
		return to, false
	}
	return to, true
}

// fixes maps a setting of a receiver to the fix in its problems.
var fixes = map[string]string{
	"template": "write one of " + strings.Join(templates(), ", "),
	"url":      "write the address that the service gives, as in https://ntfy.sh/a-long-random-topic",
	"token":    "see the service in docs/phone.md",
	"user":     "see Pushover in docs/phone.md",

	"reply_topic": "write another topic on the same server, as in a-long-random-topic-replies",
	"reply_token": "see ntfy in docs/phone.md",
}

func templates() (names []string) {
	for _, t := range Templates {
		names = append(names, string(t))
	}
	return names
}
