package config

import (
	"github.com/askback/askback/channel/webpush"
	"github.com/askback/askback/internal/egress"
	"github.com/askback/askback/internal/settings"
)

// Webpush configures notifications in browsers.
type Webpush struct {
	Enabled bool   // the settings have the channel
	Subject string // see [webpush.Options]; "": the public address of the server
	Allow   []egress.Allowed
}

// webpush reads channels.webpush, which may be empty.
func (l *loader) webpush(v settings.Value, w *Webpush) {
	l.Group([]settings.Setting{
		{Key: "subject", Read: l.TextTo(&w.Subject, "an address that begins with mailto: or https://", webpush.SubjectProblem)},
		{Key: "allow", Read: func(v settings.Value) { l.List(v, func(v settings.Value) { l.allowed(v, &w.Allow) }) }},
	})(v)
	w.Enabled = true
}
