package webhook

import (
	"github.com/askback/askback/internal/channels"
	"github.com/askback/askback/internal/egress"
	"github.com/askback/askback/internal/settings"
)

// Settings configure the webhooks that the server sends.
type Settings struct {
	URL    string // address that receives the events of asks without a callback, or ""
	Secret string // signs messages to endpoints without their own secret; if "", each endpoint gets a secret
	Allow  []egress.Allowed
}

func readSettings(r *settings.Reader, v settings.Value) channels.Settings {
	var s Settings
	r.Group([]settings.Setting{
		{Key: "url", Read: r.TextTo(&s.URL, "the address of a program, as in https://agents.example.com/answers",
			settings.CallbackProblem)},
		{Key: "secret", Read: ReadSecret(r, &s.Secret, "ASKBACK_WEBHOOK_SECRET")},
		{Key: "allow", Read: channels.Allow(r, &s.Allow)},
	})(v)
	return s
}

// ReadSecret returns a function that reads a secret into dst. Its problems do not repeat the secret. They
// name a variable that could contain the secret.
func ReadSecret(r *settings.Reader, dst *string, variable string) func(settings.Value) {
	example := `a variable with the secret, as in "${` + variable + `}"`
	return func(v settings.Value) {
		r.Text(example, func(s string) string {
			if p := CheckSecret(s); p != "" {
				r.AddProblem(v.At, "write "+example, "%s: the secret %s", v.Key, p)
			}
			*dst = s
			return ""
		})(v)
	}
}

// Reload implements [channels.Reloading]. Only a new URL applies without a restart.
func (s Settings) Reload(next channels.Settings) channels.Settings {
	n, _ := next.(Settings)
	s.URL = n.URL
	return s
}
