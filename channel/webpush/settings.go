package webpush

import (
	"github.com/askback/askback/internal/channels"
	"github.com/askback/askback/internal/egress"
	"github.com/askback/askback/internal/settings"
)

// Settings configure notifications in browsers.
type Settings struct {
	Subject string // see [Options]; if "", the public address of the server
	Allow   []egress.Allowed
}

// readSettings reads channels.webpush, which may be empty.
func readSettings(r *settings.Reader, v settings.Value) channels.Settings {
	var s Settings
	r.Group([]settings.Setting{
		{Key: "subject", Read: r.TextTo(&s.Subject, "an address that begins with mailto: or https://", SubjectProblem)},
		{Key: "allow", Read: channels.Allow(r, &s.Allow)},
	})(v)
	return s
}
