package config

import (
	"github.com/askback/askback/channel/webpush"
	"github.com/askback/askback/internal/egress"
)

// Webpush configures notifications in browsers.
type Webpush struct {
	Enabled bool   // the settings have the channel
	Subject string // see [webpush.Options]; "": the public address of the server
	Allow   []egress.Allowed
}

// webpush reads channels.webpush, which may be empty.
func (l *loader) webpush(v value, w *Webpush) {
	l.group([]setting{
		{key: "subject", read: l.textTo(&w.Subject, "an address that begins with mailto: or https://", webpush.SubjectProblem)},
		{key: "allow", read: func(v value) { l.list(v, func(v value) { l.allowed(v, &w.Allow) }) }},
	})(v)
	w.Enabled = true
}
