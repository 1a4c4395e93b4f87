package config

import (
	"github.com/askback/askback"
	"github.com/askback/askback/channel/webhook"
	"github.com/askback/askback/internal/egress"
	"github.com/askback/askback/internal/settings"
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
func (l *loader) channels(c *Config) func(settings.Value) {
	w := &c.Channels.Webhook
	return l.Group([]settings.Setting{
		{Key: "webhook", Read: func(v settings.Value) {
			l.Group([]settings.Setting{
				{Key: "url", Read: l.TextTo(&w.URL, "the address of a program, as in https://agents.example.com/answers", callbackProblem)},
				{Key: "secret", Read: func(v settings.Value) { l.webhookSecret(v, w) }},
				{Key: "allow", Read: func(v settings.Value) { l.List(v, func(v settings.Value) { l.allowed(v, &w.Allow) }) }},
			})(v)
			w.Enabled = true
		}},
		{Key: "post", Read: func(v settings.Value) { l.post(v, &c.Channels) }},
		{Key: "telegram", Read: func(v settings.Value) { l.telegram(v, &c.Channels.Telegram) }},
		{Key: "slack", Read: func(v settings.Value) { l.slack(v, &c.Channels.Slack) }},
		{Key: "email", Read: func(v settings.Value) { l.email(v, &c.Channels.Email) }},
		{Key: "webpush", Read: func(v settings.Value) { l.webpush(v, &c.Channels.Webpush) }},
	})
}

// webhookSecret reads a secret. Its problems do not repeat it.
func (l *loader) webhookSecret(v settings.Value, w *Webhook) {
	const example = `a variable with the secret, as in "${ASKBACK_WEBHOOK_SECRET}"`
	l.Text(example, func(s string) string {
		if p := webhook.CheckSecret(s); p != "" {
			l.AddProblem(v.At, "write "+example, "%s: the secret %s", v.Key, p)
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
