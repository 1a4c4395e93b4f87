package slack

import (
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/askback/askback/internal/channels"
	"github.com/askback/askback/internal/egress"
	"github.com/askback/askback/internal/settings"
)

// Settings configure the app in a workspace of Slack.
type Settings struct {
	BotToken      string
	SigningSecret string // verifies requests over HTTP
	AppToken      string // for Socket Mode
	Channel       string // id, or name with #
	Team          string // id of the workspace
	APIURL        string // URL of the Web API, with a slash at the end; "" for slack.com
}

var (
	channelForm = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^([CG][A-Z0-9]{2,20}|#[^\s#]{1,80})$`)
	})
	teamForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^T[A-Z0-9]{2,20}$`) })
)

// readSettings reads channels.slack. Its problems do not repeat tokens and secrets.
func readSettings(r *settings.Reader, v settings.Value) channels.Settings {
	var s Settings
	before := r.Problems()
	token := func(key, prefix, variable string, dst *string) settings.Setting {
		example := `a variable with the token, as in "${` + variable + `}"`
		return settings.Setting{Key: key, Read: func(v settings.Value) {
			r.Text(example, func(text string) string {
				*dst = text
				if !strings.HasPrefix(text, prefix) || strings.ContainsAny(text, " \n") {
					r.AddProblem(v.At, "write "+example, "%s: the value does not begin with %s", v.Key, prefix)
				}
				return ""
			})(v)
		}}
	}
	r.Group([]settings.Setting{
		token("bot_token", "xoxb-", "SLACK_BOT_TOKEN", &s.BotToken),
		token("signing_secret", "", "SLACK_SIGNING_SECRET", &s.SigningSecret),
		token("app_token", "xapp-", "SLACK_APP_TOKEN", &s.AppToken),
		{Key: "channel", Read: r.TextTo(&s.Channel,
			`the id or the name of a channel, as in C012AB3CD or "#agents"`, func(text string) string {
				if !channelForm().MatchString(text) {
					return "is not a channel of Slack"
				}
				return ""
			})},
		{Key: "team", Read: r.TextTo(&s.Team, "the id of the workspace, as in T012AB3CD", func(text string) string {
			if !teamForm().MatchString(text) {
				return "is not the id of a workspace of Slack"
			}
			return ""
		})},
		{Key: "api_url", Read: r.Text("the address of the Web API, as in "+
			"https://slack-gov.com/api/", func(text string) string {
			u, err := url.Parse(text)
			if err != nil || u.Host == "" || u.Scheme != "https" && !(u.Scheme == "http" && egress.IsLoopback(u.Host)) {
				return "is not an address with https"
			}
			s.APIURL = strings.TrimSuffix(text, "/") + "/"
			return ""
		})},
	})(v)
	if r.Problems() > before {
		return s
	}
	s.addMissing(r, v)
	return s
}

// addMissing adds a problem for each required setting that is missing.
func (s Settings) addMissing(r *settings.Reader, v settings.Value) {
	for _, required := range []struct{ key, value, fix string }{
		{"bot_token", s.BotToken, `write bot_token: "${SLACK_BOT_TOKEN}"`},
		{"channel", s.Channel, `write the channel for questions, as in channel: "#agents"`},
		{
			"team", s.Team,
			"write the id of the workspace, as in team: T012AB3CD; it is in the address of Slack in a browser",
		},
		{
			"app_token or signing_secret", s.AppToken + s.SigningSecret,
			`write app_token: "${SLACK_APP_TOKEN}", so that answers arrive without an open port`,
		},
	} {
		if required.value == "" {
			r.AddProblem(v.At, required.fix, "%s has no %s", v.Key, required.key)
		}
	}
}
