package config

import (
	"github.com/askback/askback"
	"github.com/askback/askback/channel/webhook"
	"github.com/askback/askback/internal/egress"
)

// Channels configure how asks reach programs and people.
type Channels struct {
	Webhook  Webhook
	Post     []PostReceiver
	Telegram Telegram
	Email    Email
	Slack    Slack
	Webpush  Webpush
}

// Webhook configures the webhooks that the server sends.
type Webhook struct {
	Enabled bool   // the settings have the channel; otherwise the server sends none
	URL     string // receives the events of asks that name no callback; "" for none
	Secret  string // signs messages to endpoints without a secret of their own; "": each gets one
	Allow   []egress.Allowed
}

// channels returns a function that reads the settings of the channels into c.
func (l *loader) channels(c *Config) func(value) {
	w := &c.Channels.Webhook
	return l.group([]setting{
		{key: "webhook", read: func(v value) {
			l.group([]setting{
				{key: "url", read: l.textTo(&w.URL, "the address of a program, as in https://agents.example.com/answers", callbackProblem)},
				{key: "secret", read: func(v value) { l.webhookSecret(v, w) }},
				{key: "allow", read: func(v value) { l.list(v, func(v value) { l.allowed(v, &w.Allow) }) }},
			})(v)
			w.Enabled = true
		}},
		{key: "post", read: func(v value) { l.post(v, &c.Channels) }},
		{key: "telegram", read: func(v value) { l.telegram(v, &c.Channels.Telegram) }},
		{key: "slack", read: func(v value) { l.slack(v, &c.Channels.Slack) }},
		{key: "email", read: func(v value) { l.email(v, &c.Channels.Email) }},
		{key: "webpush", read: func(v value) { l.webpush(v, &c.Channels.Webpush) }},
	})
}

// webhookSecret reads a secret. Its problems do not repeat it.
func (l *loader) webhookSecret(v value, w *Webhook) {
	const example = `a variable with the secret, as in "${ASKBACK_WEBHOOK_SECRET}"`
	l.text(example, func(s string) string {
		if p := webhook.CheckSecret(s); p != "" {
			l.addProblem(v.at, "write "+example, "%s: the secret %s", v.key, p)
			return ""
		}
		w.Secret = s
		return ""
	})(v)
}

// callbackProblem returns what is wrong with an address, in the form of the other problems.
func callbackProblem(s string) (problem string) {
	if p := askback.CallbackProblem(s); p != "" {
		return "is wrong: " + p
	}
	return ""
}
