package config

import (
	"strconv"

	"github.com/askback/askback/channel/telegram"
	"github.com/askback/askback/internal/egress"
)

// Telegram configures a bot of Telegram.
type Telegram struct {
	Token  string // of the bot; "": the settings have no bot
	URL    string // of a Bot API server; "": that of Telegram
	Groups []int64
	Allow  []egress.Allowed
}

// telegram reads channels.telegram. Its problems do not repeat the token.
func (l *loader) telegram(v value, t *Telegram) {
	const example = `a variable with the token, as in "${TELEGRAM_TOKEN}"`
	before := len(l.problems)
	l.group([]setting{
		{key: "token", read: func(v value) {
			l.text(example, func(s string) string {
				if p := telegram.CheckToken(s); p != "" {
					l.addProblem(v.at, "write "+example, "%s %s", v.key, p)
					return ""
				}
				t.Token = s
				return ""
			})(v)
		}},
		{key: "groups", read: func(v value) { l.list(v, func(v value) { l.telegramGroup(v, t) }) }},
		{key: "url", read: l.textTo(&t.URL, "the address of a Bot API server, as in https://bots.example.com", telegram.CheckURL)},
		{key: "allow", read: func(v value) { l.list(v, func(v value) { l.allowed(v, &t.Allow) }) }},
	})(v)
	if t.Token == "" && len(l.problems) == before {
		l.addProblem(v.at, "write "+example, "%s.token is required", v.key)
	}
}

// telegramGroup reads the id of a group, which is negative.
func (l *loader) telegramGroup(v value, t *Telegram) {
	l.number("the id of a group, as in -1001234567890; docs/telegram.md explains how to find it", func(s string) string {
		id, err := strconv.ParseInt(s, 10, 64)
		if err != nil || id >= 0 {
			return "is not the id of a group"
		}
		t.Groups = append(t.Groups, id)
		return ""
	})(v)
}
