package post

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/egress"
)

// A Receiver is a destination of messages: a phone, or a room of a chat.
type Receiver struct {
	Template Template
	URL      string // address as the service gives it; see [Template]
	Token    string // token, if the service has one
	User     string // for Pushover: the key of the user or the group
	// ReplyTopic is the topic on the same server of ntfy to which buttons publish answers. ReplyToken is the
	// token that reads the topic. If ReplyToken is empty, Token is used.
	ReplyTopic, ReplyToken string
	// the person who reads the messages; only this person can answer through ReplyTopic
	Person string
	Allow  []egress.Allowed // addresses that messages may go to although they are not public
}

// A Template is the name of a service, which determines the form of the messages.
type Template string

// The templates, with the URL that each expects.
const (
	Ntfy       Template = "ntfy"       // https://ntfy.sh/TOPIC
	Pushover   Template = "pushover"   // the URL may be ""
	Gotify     Template = "gotify"     // https://gotify.example.com
	Discord    Template = "discord"    // https://discord.com/api/webhooks/ID/TOKEN
	Teams      Template = "teams"      // the URL of a workflow "When a Teams webhook request is received"
	Mattermost Template = "mattermost" // https://chat.example.com/hooks/KEY
	// HomeAssistant expects https://home.example.com:8123/api/services/notify/NAME or …/api/webhook/ID.
	HomeAssistant Template = "home-assistant"
)

// Templates lists every [Template].
var Templates = []Template{Ntfy, Pushover, Gotify, Discord, Teams, Mattermost, HomeAssistant}

// pushoverURL is the only address of Pushover.
const pushoverURL = "https://api.pushover.net/1/messages.json"

// topic matches the names of topics that ntfy accepts.
var topic = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[-_A-Za-z0-9]{1,64}$`) })

// Check returns the problem with a receiver and the name of the wrong setting, or "". The problem does not
// repeat a URL or a token.
func (r Receiver) Check() (setting, problem string) {
	switch {
	case r.Template == "":
		return "template", "is required"
	case !slices.Contains(Templates, r.Template):
		return "template", fmt.Sprintf("there is no template %q", r.Template)
	case r.URL == "" && r.Template != Pushover:
		return "url", "is required"
	case r.Template == Pushover && r.User == "":
		return "user", "is required: the user key of Pushover"
	case r.Template != Pushover && r.User != "":
		return "user", "is for the template pushover only"
	}
	if r.URL != "" {
		if p := askback.CallbackProblem(r.URL); p != "" {
			return "url", strings.TrimPrefix(p, "the address ")
		}
		if p := r.pathProblem(); p != "" {
			return "url", p
		}
	}
	if setting, problem = r.checkReplies(); problem != "" {
		return setting, problem
	}
	return r.checkToken()
}

// checkReplies returns the problem with the reply topic of a receiver, as Check does.
func (r Receiver) checkReplies() (setting, problem string) {
	u, err := url.Parse(r.URL)
	switch {
	case r.ReplyTopic == "" && r.ReplyToken == "":
		return "", ""
	case r.Template != Ntfy && r.ReplyTopic != "":
		return "reply_topic", "is for the template ntfy only"
	case r.ReplyTopic == "":
		return "reply_token", "needs a reply_topic"
	case !topic().MatchString(r.ReplyTopic):
		return "reply_topic", "must be one topic of 1 to 64 letters, digits, - and _"
	case err == nil && strings.Trim(u.Path, "/") == r.ReplyTopic:
		return "reply_topic", "must not be the topic of the questions"
	case !isToken(r.ReplyToken):
		return "reply_token", "has a character that a token cannot have"
	}
	return "", ""
}

// isToken reports whether s can be in the header of a request.
func isToken(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c >= 0x7f })
}

// checkToken returns the problem with the token of a receiver, as Check does.
func (r Receiver) checkToken() (setting, problem string) {
	needed := r.Template == Pushover || r.Template == Gotify ||
		r.Template == HomeAssistant && strings.Contains(r.URL, "/api/services/")
	inURL := r.Template == Discord || r.Template == Teams || r.Template == Mattermost ||
		r.Template == HomeAssistant && !needed
	switch {
	case needed && r.Token == "":
		return "token", "is required by " + string(r.Template)
	case inURL && r.Token != "":
		return "token", "is not used: the address of " + string(r.Template) + " has the secret"
	case !isToken(r.Token):
		return "token", "has a character that a token cannot have"
	}
	return "", ""
}

// pathProblem returns the problem with the path of the URL, or "".
func (r Receiver) pathProblem() string {
	u, err := url.Parse(r.URL)
	if err != nil {
		return "is not an address"
	}
	path := strings.Trim(u.Path, "/")
	switch {
	case r.Template == Ntfy && !topic().MatchString(path):
		return "must be the address of the server and one topic of 1 to 64 letters, digits, - and _"
	case r.Template == Ntfy && u.RawQuery != "":
		return "must have nothing after the topic"
	case r.Template == Discord && !strings.Contains(u.Path, "/api/webhooks/"):
		return "must be the address of a Discord webhook, as in https://discord.com/api/webhooks/…"
	case r.Template == Mattermost && !strings.Contains(u.Path, "/hooks/"):
		return "must be the address of an incoming webhook of Mattermost, as in https://chat.example.com/hooks/…"
	case r.Template == HomeAssistant && !strings.Contains(u.Path, "/api/services/notify/") &&
		!strings.Contains(u.Path, "/api/webhook/"):
		return "must be the address of a notify service or a webhook of Home Assistant, which contains " +
			"/api/services/notify/ or /api/webhook/"
	}
	return ""
}

// Origin returns the scheme and the host of the receiver's URL, or "" for an invalid URL. The rest of the URL
// may be secret.
func (r Receiver) Origin() string {
	address := r.URL
	if address == "" && r.Template == Pushover {
		address = pushoverURL
	}
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + strings.ToLower(u.Host)
}
