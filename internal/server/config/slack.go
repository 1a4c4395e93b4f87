package config

import (
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/askback/askback/internal/egress"
)

// Slack configures the app in a workspace of Slack. Without a token, the server does not use it.
type Slack struct {
	BotToken      string
	SigningSecret string // for requests over HTTP
	AppToken      string // for Socket Mode
	Channel       string // an id, or a name with #
	Team          string // the id of the workspace
	APIURL        string // of the Web API, with a slash at the end; "": that of slack.com
}

var (
	slackChannel = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([CG][A-Z0-9]{2,20}|#[^\s#]{1,80})$`) })
	slackTeam    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^T[A-Z0-9]{2,20}$`) })
)

// slack reads channels.slack. Its problems do not repeat tokens and secrets.
func (l *loader) slack(v value, s *Slack) {
	before := len(l.problems)
	token := func(key, prefix, variable string, dst *string) setting {
		example := `a variable with the token, as in "${` + variable + `}"`
		return setting{key: key, read: func(v value) {
			l.text(example, func(text string) string {
				*dst = text
				if !strings.HasPrefix(text, prefix) || strings.ContainsAny(text, " \n") {
					l.addProblem(v.at, "write "+example, "%s: the value does not begin with %s", v.key, prefix)
				}
				return ""
			})(v)
		}}
	}
	l.group([]setting{
		token("bot_token", "xoxb-", "SLACK_BOT_TOKEN", &s.BotToken),
		token("signing_secret", "", "SLACK_SIGNING_SECRET", &s.SigningSecret),
		token("app_token", "xapp-", "SLACK_APP_TOKEN", &s.AppToken),
		{key: "channel", read: l.textTo(&s.Channel, `the id or the name of a channel, as in C012AB3CD or "#agents"`, func(text string) string {
			if !slackChannel().MatchString(text) {
				return "is not a channel of Slack"
			}
			return ""
		})},
		{key: "team", read: l.textTo(&s.Team, "the id of the workspace, as in T012AB3CD", func(text string) string {
			if !slackTeam().MatchString(text) {
				return "is not the id of a workspace of Slack"
			}
			return ""
		})},
		{key: "api_url", read: l.text("the address of the Web API, as in https://slack-gov.com/api/", func(text string) string {
			u, err := url.Parse(text)
			if err != nil || u.Host == "" || u.Scheme != "https" && !(u.Scheme == "http" && egress.IsLoopback(u.Host)) {
				return "is not an address with https"
			}
			s.APIURL = strings.TrimSuffix(text, "/") + "/"
			return ""
		})},
	})(v)
	if len(l.problems) > before {
		return
	}
	for _, required := range []struct{ key, value, fix string }{
		{"bot_token", s.BotToken, `write bot_token: "${SLACK_BOT_TOKEN}"`},
		{"channel", s.Channel, `write the channel for questions, as in channel: "#agents"`},
		{"team", s.Team, "write the id of the workspace, as in team: T012AB3CD; it is in the address of Slack in a browser"},
		{"app_token or signing_secret", s.AppToken + s.SigningSecret, `write app_token: "${SLACK_APP_TOKEN}", with which answers arrive without a port`},
	} {
		if required.value == "" {
			l.addProblem(v.at, required.fix, "%s has no %s", v.key, required.key)
		}
	}
}
