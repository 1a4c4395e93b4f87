package telegram

import (
	"strconv"

	"github.com/askback/askback/internal/channels"
	"github.com/askback/askback/internal/egress"
	"github.com/askback/askback/internal/settings"
)

// Settings configure a bot of Telegram.
type Settings struct {
	Token  string // token of the bot
	URL    string // address of a Bot API server; if "", Telegram's server
	Groups []int64
	Allow  []egress.Allowed
}

// readSettings reads channels.telegram. Its problems do not repeat the token.
func readSettings(r *settings.Reader, v settings.Value) channels.Settings {
	const example = `a variable with the token, as in "${TELEGRAM_TOKEN}"`
	var s Settings
	before := r.Problems()
	r.Group([]settings.Setting{
		{Key: "token", Read: func(v settings.Value) {
			r.Text(example, func(token string) string {
				if p := CheckToken(token); p != "" {
					r.AddProblem(v.At, "write "+example, "%s %s", v.Key, p)
					return ""
				}
				s.Token = token
				return ""
			})(v)
		}},
		{Key: "groups", Read: func(v settings.Value) { r.List(v, s.readGroup(r)) }},
		{
			Key:  "url",
			Read: r.TextTo(&s.URL, "the address of a Bot API server, as in https://bots.example.com", CheckURL),
		},
		{Key: "allow", Read: channels.Allow(r, &s.Allow)},
	})(v)
	if s.Token == "" && r.Problems() == before {
		r.AddProblem(v.At, "write "+example, "%s.token is required", v.Key)
	}
	return s
}

// readGroup returns a function that reads the id of a group and adds it to s.Groups. The id of a group is
// negative.
func (s *Settings) readGroup(r *settings.Reader) func(settings.Value) {
	return r.Number("the id of a group, as in -1001234567890; docs/telegram.md explains how to find it",
		func(text string) string {
			id, err := strconv.ParseInt(text, 10, 64)
			if err != nil || id >= 0 {
				return "is not the id of a group"
			}
			s.Groups = append(s.Groups, id)
			return ""
		})
}
