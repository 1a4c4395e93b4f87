package config

import (
	"strconv"

	"github.com/askback/askback/channel/telegram"
	"github.com/askback/askback/internal/egress"
	"github.com/askback/askback/internal/settings"
)

// Telegram configures a bot of Telegram.
type Telegram struct {
	Token  string // of the bot; "": the settings have no bot
	URL    string // of a Bot API server; "": that of Telegram
	Groups []int64
	Allow  []egress.Allowed
}

// telegram reads channels.telegram. Its problems do not repeat the token.
func (l *loader) telegram(v settings.Value, t *Telegram) {
	const example = `a variable with the token, as in "${TELEGRAM_TOKEN}"`
	before := l.Problems()
	l.Group([]settings.Setting{
		{Key: "token", Read: func(v settings.Value) {
			l.Text(example, func(s string) string {
				if p := telegram.CheckToken(s); p != "" {
					l.AddProblem(v.At, "write "+example, "%s %s", v.Key, p)
					return ""
				}
				t.Token = s
				return ""
			})(v)
		}},
		{Key: "groups", Read: func(v settings.Value) { l.List(v, func(v settings.Value) { l.telegramGroup(v, t) }) }},
		{Key: "url", Read: l.TextTo(&t.URL, "the address of a Bot API server, as in https://bots.example.com", telegram.CheckURL)},
		{Key: "allow", Read: func(v settings.Value) { l.List(v, func(v settings.Value) { l.allowed(v, &t.Allow) }) }},
	})(v)
	if t.Token == "" && l.Problems() == before {
		l.AddProblem(v.At, "write "+example, "%s.token is required", v.Key)
	}
}

// telegramGroup reads the id of a group, which is negative.
func (l *loader) telegramGroup(v settings.Value, t *Telegram) {
	l.Number("the id of a group, as in -1001234567890; docs/telegram.md explains how to find it", func(s string) string {
		id, err := strconv.ParseInt(s, 10, 64)
		if err != nil || id >= 0 {
			return "is not the id of a group"
		}
		t.Groups = append(t.Groups, id)
		return ""
	})(v)
}
